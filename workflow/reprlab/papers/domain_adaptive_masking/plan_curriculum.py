"""The curriculum of a domain, and its text marked with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.concepts.settings import (
    BasicSettings,
    BlockSettings,
    CountingSettings,
    CurriculumSettings,
    ExpansionSettings,
    SweepSettings,
)
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_corpus
from reprlab.results.sources import Source
from reprlab.settings.base import derive

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.domain_adaptive_masking.schema import Curriculum as Thresholds
    from reprlab.papers.domain_adaptive_masking.schema import DomainAdaptiveMaskingSettings

_NAME = "domain_adaptive_masking"


@dataclass(frozen=True)
class Curriculum:
    """Text of the domain in blocks, the same with its concepts marked, and what the results say of both."""

    title: str
    blocks: str
    marked: str
    entries: list[Source]


def thresholds(given: "Thresholds") -> CurriculumSettings:
    """All thresholds; the general limit is f over its divisor (section 3: f/3)."""
    return derive(CurriculumSettings, given, general_limit=given.frequency / given.general_divisor)


def add_blocks(
    plan: Plan, config: "LoadedConfig", name: str, corpora: Sequence[str], tokenizer: str, settings: BlockSettings
) -> str:
    """Plan the blocks of some corpora; returns their file."""
    documents = [add_corpus(plan, config, corpus) for corpus in corpora]
    inputs: dict[str, str | list[str]] = {"documents": documents, "tokenizer": tokenizer}
    return plan.add("tokenize_blocks", name, Job(inputs, {"settings": settings}))["out"]


def add_curriculum(
    plan: Plan, config: "LoadedConfig", paper: "DomainAdaptiveMaskingSettings", tokenizer: str, blocks: BlockSettings
) -> Curriculum:
    """Plan the curriculum, step by step, and the marking of the domain's blocks."""
    given, domain = paper.curriculum, paper.domain
    chosen = thresholds(given)
    documents = add_corpus(plan, config, str(paper.graph))
    graph = plan.add("build_graph", str(paper.graph), Job({"documents": documents}))["out"]
    counts = {
        name: plan.add(
            "count_concepts",
            f"{paper.graph}/{_NAME}_{name}",
            Job(
                {"graph": graph, "documents": [add_corpus(plan, config, corpus) for corpus in corpora]},
                {"settings": CountingSettings()},
            ),
        )["out"]
        for name, corpora in (("domain", domain), ("general", paper.general))
    }
    known = {"graph": graph, **counts}
    of_domain = {"graph": graph, "domain": counts["domain"]}
    basic = plan.add("select_concepts", _NAME, Job(of_domain, {"settings": derive(BasicSettings, given)}))["out"]
    near = {"graph": graph, "basic": basic}
    expanded = plan.add("expand_concepts", _NAME, Job(near, {"settings": derive(ExpansionSettings, given)}))["out"]
    reached = {**known, "basic": basic, "expanded": expanded}
    filtered = plan.add("filter_concepts", _NAME, Job(reached, {"settings": chosen}))
    swept = SweepSettings(
        curriculum=chosen,
        hops=given.reported_hops,
        times=given.reported_times,
    )
    by_threshold = plan.add("sweep_concepts", _NAME, Job(known, {"settings": swept}))["out"]
    cut = add_blocks(plan, config, f"{_NAME}_domain", domain, tokenizer, blocks)
    inputs = {"blocks": cut, "tokenizer": tokenizer, "concepts": filtered["out"]}
    marked = plan.add("mark_concepts", _NAME, Job(inputs))
    titles = [config.datasets.corpora[corpus].title for corpus in (str(paper.graph), *domain)]
    title = "; ".join(titles[1:])
    entries = [
        Source(path=Path(filtered["metrics"]), factors={"part": "curriculum"}, keys={"after": "step"}, data=titles[0]),
        Source(
            path=Path(by_threshold),
            factors={"part": "thresholds"},
            keys={name: name for name in ("threshold", "setting")} | {"after": "step"},
            data=titles[0],
        ),
        Source(path=Path(marked["metrics"]), factors={"part": "marks"}, keys={"counted": "split"}, data=title),
    ]
    return Curriculum(title, cut, marked["out"], entries)
