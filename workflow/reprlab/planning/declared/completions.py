"""Decoders: prompts with completions, fine-tuning on them, scores."""

from reprlab.planning.stage import Stage, within

STAGES = (
    Stage(
        "build_completions",
        "Write the prompts {cell} of {dataset}",
        {"out": "results/shared/completions/{dataset}/{cell}.parquet"},
    ),
    Stage(
        "finetune_completions",
        "Fine-tune {model} on {task} ({cell})",
        within("results/shared/tuned/{model}/{task}/{cell}", out="models/", metrics="metrics.tsv"),
        mb=4000,
        minutes=1440,
        grows="both",
        gpu=True,
        torchrun=True,
    ),
    # Scores of a large model before fine-tuning need no training: left to the end they would run alone.
    Stage(
        "score_completions",
        "Score {model}, {task} ({cell})",
        within("results/shared/scored/{model}/{task}/{cell}", out="scores.tsv", predictions="predictions.parquet"),
        mb=4000,
        minutes=1440,
        grows="both",
        gpu=True,
        priority=10,
        array=True,
    ),
    Stage(
        "score_completion_baselines",
        "Score answers to the prompts of {paper} that need no model",
        {"out": "results/shared/scored/baselines/{paper}.tsv"},
    ),
)
