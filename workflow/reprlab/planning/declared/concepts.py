"""A curriculum of concepts, from a graph and counts; each threshold has a stage of its own."""

from reprlab.planning.stage import Stage, within

STAGES = (
    Stage(
        "build_graph",
        "Build the graph of {corpus}",
        {"out": "results/shared/graphs/{corpus}/graph.parquet"},
        mb=8000,
        minutes=240,
    ),
    Stage(
        "count_concepts",
        "Count the concepts of {corpus} ({cell})",
        {"out": "results/shared/graphs/{corpus}/counts/{cell}.parquet"},
        mb=4000,
        minutes=600,
    ),
    Stage(
        "select_concepts",
        "Select basic concepts for {cell}",
        {"out": "results/shared/curricula/{cell}/basic.txt"},
        mb=3000,
        minutes=60,
    ),
    Stage(
        "expand_concepts",
        "Take the concepts near the basic ones for {cell}",
        {"out": "results/shared/curricula/{cell}/expanded.parquet"},
        mb=3000,
        minutes=60,
    ),
    Stage(
        "filter_concepts",
        "Filter the concepts for {cell}",
        within("results/shared/curricula/{cell}", out="concepts.txt", record="curriculum.json", metrics="sizes.tsv"),
        mb=3000,
        minutes=60,
    ),
    Stage(
        "sweep_concepts",
        "Measure what each threshold does for {cell}",
        {"out": "results/shared/curricula/{cell}/thresholds.tsv"},
        mb=4000,
        minutes=240,
    ),
)
