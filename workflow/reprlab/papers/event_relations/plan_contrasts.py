"""Contrasts behind the paper's stars: which conditions its best retriever beats, by a test that it does not name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.events.settings import AnswerContrast
from reprlab.papers.event_relations.names import MATCHED
from reprlab.planning.plan import Job
from reprlab.results.sources import Source, Value
from reprlab.settings.base import derive

if TYPE_CHECKING:
    from reprlab.papers.event_relations.plan_folds import Fold


def contrasts(folds: Sequence[Fold], retrievers: Iterable[str]) -> list[Source]:
    """The classifiers behind the best retriever less those of the same kind behind each other one, over all folds."""
    one, found = folds[0], []
    usable = [name for name, classifier in one.paper.classifiers.items() if classifier.model is not None]
    for retriever in retrievers:
        for classifier in usable:
            best, other = ([fold.trained(classifier, name) for fold in folds] for name in (MATCHED, retriever))
            settings = derive(AnswerContrast, best[0].settings, tested=one.data.tested, seeds=other[0].settings.seeds)
            inputs: dict[str, str | list[str]] = {"examples": one.examples}
            inputs |= {
                name: [each.scored["out"] for each in side] for name, side in (("first", best), ("second", other))
            }
            key = f"{classifier}/{one.data.dataset}/{MATCHED}_less_{retriever}.k{settings.k}"
            path = Path(one.plan.add("contrast_answers", key, Job(inputs, {"settings": settings}))["out"])
            about = {"dataset": one.name, "retriever": retriever, "classifier": classifier, "part": "contrast"}
            about |= {"encoding": "wrapped", "chains": "no"}
            factors: dict[str, Value] = {**about, "k": settings.k}
            found.append(Source(path=path, factors=factors, keys={"seed": "seed"}, data=one.title))
    return found
