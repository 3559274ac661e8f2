"""Music: tracks, what is heard in them, annotations, and describers."""

from reprlab.planning.stage import Stage, within

STAGES = (
    Stage(
        "build_tracks",
        "Render and cut the tracks of {dataset}",
        {"out": "results/shared/tracks/{dataset}.parquet"},
        mb=4000,
        minutes=240,
    ),
    Stage(
        "hear_tracks",
        "Hear tempo, key, downbeats and chords of {dataset} ({cell})",
        {"out": "results/shared/heard/{dataset}/{cell}.jsonl"},
        mb=4000,
        minutes=240,
        array=True,
    ),
    Stage(
        "judge_hearing",
        "Judge what is heard in {dataset}",
        within("results/shared/heard/{dataset}", out="accuracy.tsv", features="features.tsv"),
    ),
    Stage(
        "estimate_annotation",
        "Estimate the cost of annotating {dataset}",
        {"out": "results/shared/annotations/{dataset}/estimate.tsv"},
    ),
    Stage(
        "annotate_tracks",
        "Annotate the tracks of {dataset} ({cell})",
        {"out": "results/shared/annotations/{dataset}/{cell}.parquet"},
        mb=4000,
        minutes=1440,
        asks=True,
    ),
    Stage(
        "encode_audio",
        "Encode the audio of {dataset}",
        {"out": "results/shared/audio_states/{dataset}.parquet"},
        mb=4000,
        minutes=240,
    ),
    Stage(
        "train_describer",
        "Train {model} to describe {dataset} ({cell})",
        within("results/shared/describers/{model}/{dataset}/{cell}", out="describer/", metrics="metrics.tsv"),
        mb=4000,
        minutes=1440,
        grows="both",
        gpu=True,
        array=True,
        priority=5,
    ),
    Stage(
        "describe_tracks",
        "Describe the tracks of {dataset} with {model} ({cell})",
        {"out": "results/shared/descriptions/{model}/{dataset}/{cell}.parquet"},
        mb=4000,
        minutes=720,
        gpu=True,
        array=True,
    ),
    Stage(
        "score_descriptions",
        "Score the descriptions of {dataset} by {model} ({cell})",
        {"out": "results/shared/description_scores/{model}/{dataset}/{cell}.tsv"},
        mb=4000,
    ),
    Stage(
        "score_description_baselines",
        "Score descriptions of {dataset} that need no model",
        {"out": "results/shared/description_scores/{dataset}/baselines.tsv"},
        mb=4000,
    ),
    Stage(
        "show_tracks",
        "Show tracks and their descriptions in {paper}",
        {"out": "results/{paper}/examples/"},
    ),
)
