"""Rerankers: first stages, training, scoring, speed."""

from typing import Any

from reprlab.planning.stage import FIRST, Stage, within


def _words_first(wildcards: Any) -> int:
    """Trainings wait for the runs of BM25, which take seconds; nothing waits for those of vectors."""
    return 30 if wildcards.model == "bm25" else 0


def _awaited_first(wildcards: Any) -> int:
    """Training on spans of passages comes first, because up to three trainings of the same model wait for it; then that
    on questions about passages, whose scores take longest. Left to the end, any would run alone."""
    return {"spans": 20, "passages": 12, "lists": 12}.get(wildcards.cell.split("_")[0], 10)


STAGES = (
    Stage(
        "retrieve_passages",
        "Find passages of {dataset} by {model} ({cell})",
        within("results/shared/runs/{model}/{dataset}/{cell}", out="splits/", metrics="metrics.tsv"),
        mb=4000,
        minutes=240,
        grows="both",
        gpu=True,
        priority=_words_first,
    ),
    Stage(
        "build_span_queries",
        "Draw spans of the passages of {dataset} as queries ({cell})",
        within("results/shared/spans/{dataset}/{cell}", out="examples.parquet", run="run/"),
        minutes=60,
        grows="both",
        priority=FIRST,
    ),
    Stage(
        "train_reranker",
        "Train {model} to rerank {dataset} ({cell})",
        within("results/shared/rerankers/{model}/{dataset}/{cell}", out="models/", metrics="metrics.tsv"),
        mb=4000,
        minutes=1440,
        grows="both",
        gpu=True,
        torchrun=True,
        priority=_awaited_first,
    ),
    # A pretrained reranker's scores take as long as a training: left to the end the last of them would run alone.
    Stage(
        "rerank_passages",
        "Rerank with {model} trained on {dataset} ({cell})",
        within(
            "results/shared/reranked/{model}/{dataset}/{cell}",
            out="runs/",
            metrics="metrics.tsv",
            contrasts="contrasts.tsv",
        ),
        mb=4000,
        minutes=720,
        grows="both",
        gpu=True,
        priority=15,
    ),
    Stage(
        "measure_rerankers",
        "Measure the speed of {model} ({cell})",
        {"out": "results/shared/reranker_speed/{model}/{cell}.tsv"},
        mb=4000,
        minutes=120,
        grows="both",
        gpu=True,
    ),
)
