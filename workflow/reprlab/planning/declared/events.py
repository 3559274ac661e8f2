"""Events in documents: retrievers, rankings of partners, classifiers of pairs."""

from reprlab.planning.stage import Stage, table, within

STAGES = (
    Stage(
        "parse_sentences",
        "Parse the sentences of {dataset}",
        {"out": "results/shared/tasks/{dataset}/parses.parquet"},
        mb=4000,
        minutes=120,
        grows="both",
    ),
    # Ranks, a classifier and its scores wait for it: left to the end they would run alone.
    Stage(
        "train_retriever",
        "Fine-tune {model} to retrieve events of {dataset} ({cell})",
        within("results/shared/retrievers/{model}/{dataset}/{cell}", out="models/", metrics="metrics.tsv"),
        mb=4000,
        minutes=1440,
        grows="both",
        gpu=True,
        torchrun=True,
        priority=10,
    ),
    Stage(
        "rank_partners",
        "Rank partners of the events of {dataset} by {model} ({cell})",
        within(
            "results/shared/rankings/{model}/{dataset}/{cell}",
            out="seeds/",
            metrics="metrics.tsv",
            counts="documents.parquet",
        ),
        mb=4000,
        minutes=240,
        grows="both",
        gpu=True,
    ),
    # Ranks and scores are short and fill what trainings leave.
    Stage(
        "train_pair_classifier",
        "Train {model} on pairs of events of {dataset} ({cell})",
        within("results/shared/pair_classifiers/{model}/{dataset}/{cell}", out="models/", metrics="metrics.tsv"),
        mb=4000,
        minutes=1440,
        grows="both",
        gpu=True,
        torchrun=True,
        priority=5,
    ),
    Stage(
        "classify_pairs",
        "Classify pairs of events of {dataset} with {model} ({cell})",
        within(
            "results/shared/classified/{model}/{dataset}/{cell}",
            out="predictions.parquet",
            metrics="scores.tsv",
            counts="documents.parquet",
        ),
        mb=4000,
        minutes=720,
        grows="both",
        gpu=True,
    ),
    Stage(
        "ask_relations",
        "Ask a chat model for the relations of {dataset} ({cell})",
        within("results/shared/answered/{dataset}/{cell}", out="predictions.parquet", metrics="scores.tsv"),
        minutes=1440,
        asks=True,
    ),
    Stage(
        "contrast_answers",
        "Test the answers of {model} on {dataset} against others ({cell})",
        {"out": "results/shared/contrasts/{model}/{dataset}/{cell}.tsv"},
    ),
    # Waits for one training and takes a tenth of a small run: left to the end it would run alone.
    Stage(
        "time_pairs",
        "Measure the seconds of {model} over growing documents of {dataset}",
        {"out": "results/shared/timed/{model}/{dataset}/{cell}.tsv"},
        mb=4000,
        minutes=240,
        grows="both",
        gpu=True,
        priority=5,
    ),
    Stage(
        "compare_answers",
        "List pairs of events that retrieval corrects in {paper}",
        table("case_study"),
    ),
)
