"""Sound: recognisers of speech, and what their tunings train."""

from reprlab.planning.stage import Stage, within

STAGES = (
    Stage(
        "train_recogniser",
        "Tune {model} on {dataset} ({cell})",
        within(
            "results/shared/recognisers/{model}/{dataset}/{cell}",
            out="trained/",
            metrics="metrics.tsv",
            curve="curve.tsv",
            hypotheses="hypotheses.parquet",
        ),
        mb=4000,
        minutes=1440,
        grows="both",
        gpu=True,
        array=True,
    ),
    Stage(
        "count_tunings",
        "Count the tunings of {counted}",
        {"out": "results/shared/tunings/{counted}.tsv"},
        minutes=30,
    ),
)
