"""Coreference: documents, encoders that are trained for it, states of frozen ones, heads on them."""

from reprlab.planning.stage import Stage, within

_SHARED = "results/shared/coreference"

STAGES = (
    Stage(
        "build_coreference",
        "Segment the documents of {dataset} ({cell})",
        {"out": f"{_SHARED}/{{dataset}}/{{cell}}/documents/"},
    ),
    Stage(
        "link_names",
        "Link the names of {dataset} by rule ({cell})",
        {"out": f"{_SHARED}/{{dataset}}/{{cell}}/rules.tsv"},
    ),
    # The longest chain of a run begins with it.
    Stage(
        "train_coreference",
        "Train {model} on the chains of {dataset} ({cell})",
        within(
            f"{_SHARED}_encoders/{{model}}/{{dataset}}/{{cell}}",
            out="models/",
            metrics="metrics.tsv",
            passes="passes.tsv",
        ),
        mb=4000,
        minutes=1440,
        grows="both",
        gpu=True,
        priority=10,
    ),
    Stage(
        "embed_documents",
        "Store the states of {model} for {dataset} ({cell})",
        {"out": f"{_SHARED}_states/{{model}}/{{dataset}}/{{cell}}/layers/"},
        mb=4000,
        minutes=240,
        grows="both",
        priority=5,
    ),
    Stage(
        "probe_coreference",
        "Probe {model} with the chains of {dataset} ({cell})",
        within(f"{_SHARED}_probes/{{model}}/{{dataset}}/{{cell}}", out="metrics.tsv", passes="passes.tsv"),
        mb=4000,
        minutes=1440,
        grows="both",
        gpu=True,
    ),
    Stage(
        "select_layer",
        "Choose the layer of {model} for {dataset} ({cell})",
        {"out": f"{_SHARED}_probes/{{model}}/{{dataset}}/{{cell}}/layer.json"},
        local=True,
        priority=5,
    ),
    Stage(
        "measure_similarity",
        "Compare states of encoders for {dataset} ({cell})",
        {"out": f"{_SHARED}_similarity/{{dataset}}/{{cell}}.tsv"},
        mb=4000,
        minutes=120,
        grows="both",
    ),
)
