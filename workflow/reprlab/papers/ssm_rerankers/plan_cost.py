"""Cost of rerankers: training on questions, and the scoring of what first stages found."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reprlab.config.load import LoadedConfig
from reprlab.planning.cost_jobs import computed, equal_jobs, examples_of
from reprlab.reporting.cost_layout import CostRun

if TYPE_CHECKING:
    from reprlab.papers.ssm_rerankers.schema import SsmRerankersSettings, Task

_SETTING = "papers.ssm-rerankers.cost"
_FILLED = "sequences filled to their length"
_COMPILED = "with Mamba's compiled kernels; the scans in plain PyTorch hold more"


def cost_runs(config: LoadedConfig, paper: "SsmRerankersSettings", scale: str) -> Iterator[CostRun]:
    """The cost runs of one scale, without training on spans and without best passages (MaxP)."""
    recipe = paper.training
    for task, given in (("passages", paper.passages), ("documents", paper.documents)):
        if given.dataset is None:
            continue
        trained, note = examples_of(paper.cost.trained, given.dataset, given.training_queries, f"{_SETTING}.trained")
        asked = _queries(paper, given)
        group, pairs = 1 + given.negatives, given.depth * sum(count for count, _ in asked)
        notes = dict.fromkeys([note, *(each for _, each in asked)])
        for name in paper.compared:
            reranker = paper.rerankers[name]
            scans = _COMPILED if config.models[reranker.model].architecture.startswith("mamba") else ""
            for truncation, length in given.lengths.items():
                if truncation == "longp" and not reranker.long:
                    continue
                shared: dict[str, Any] = {
                    "name": f"{name}/{task}_{truncation}",
                    "jobs": len(recipe.seeds),
                    "model": reranker.model,
                    "headless": True,
                    "text_length": length,
                    "dtype": computed(config, paper.dtype, scale),
                    "note": "; ".join(filter(None, [_FILLED, scans, *notes])),
                }
                yield equal_jobs(
                    scale,
                    "train_reranker",
                    [f"{name}/{given.dataset}/{task}_{truncation}"],
                    steps=math.ceil(reranker.epochs * trained / reranker.batch_size),
                    batch_size=reranker.batch_size,
                    sequences=group,
                    part_size=group * max(1, reranker.batch_size // recipe.accumulation),
                    **shared,
                )
                batch: dict[str, Any] = dict.fromkeys(("batch_size", "part_size"), paper.speed.batch)
                yield equal_jobs(scale, "rerank_passages", [], steps=0, forwarded=pairs, **batch, **shared)


def _queries(paper: "SsmRerankersSettings", task: "Task") -> list[tuple[int, str]]:
    """Queries whose passages are scored, in and out of domain, with a note where their number is not known."""

    def asked(dataset: str, splits: int) -> tuple[int, str]:
        limit = task.queries_of.get(dataset, task.queries)
        return examples_of(paper.cost.scored, dataset, limit and limit * splits, f"{_SETTING}.scored")

    return [
        asked(str(task.dataset), len(task.splits)),
        *(asked(dataset, 1) for dataset in (*task.again, *task.further)),
    ]
