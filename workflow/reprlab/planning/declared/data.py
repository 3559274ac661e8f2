"""Data: downloads, corpora, tasks and their baselines."""

from reprlab.planning.stage import FIRST, Stage

STAGES = (
    Stage(
        "fetch_archive",
        "Fetch {archive}",
        {"receipt": "results/shared/archives/{archive}.json"},
        mb=1000,
        minutes=60,
        priority=FIRST,
        retries=2,
        local=True,
    ),
    Stage(
        "build_documents",
        "Read the documents of {corpus}",
        {"out": "results/shared/corpora/{corpus}/documents.parquet"},
        minutes=60,
        priority=FIRST,
    ),
    Stage(
        "build_examples",
        "Read the examples of {dataset}",
        {"out": "results/shared/tasks/{dataset}/examples.parquet"},
        mb=3000,
        minutes=60,
        priority=FIRST,
    ),
    Stage(
        "evaluate_baselines",
        "Score the baselines of {dataset}",
        {"out": "results/shared/tasks/{dataset}/baselines.tsv"},
        array=True,
    ),
    Stage(
        "count_entities",
        "Count the entities of {dataset}",
        {"out": "results/shared/tasks/{dataset}/entities.tsv"},
    ),
)
