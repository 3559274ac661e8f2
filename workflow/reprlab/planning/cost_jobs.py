"""The job that says what a paper's plan costs: a run of `cost.tsv` for equal jobs, read off their settings."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.config.runtime import REHEARSAL
from reprlab.planning import paths
from reprlab.planning.cost_rules.jobs import Described, Jobs, common_name
from reprlab.planning.cost_rules.other_jobs import other_jobs
from reprlab.planning.cost_rules.rules import RULES
from reprlab.planning.plan import Job, Plan
from reprlab.planning.published_jobs import COSTS
from reprlab.reporting.cost_layout import TOTAL, CostLayout, CostRun

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig

Printed = Callable[[CostRun], CostRun]
"""Puts what a paper prints of a run into it: its hours, a size that nothing else tells."""

# The output of a job that tells its times or its tokens.
_MEASURED = {
    "pretrain_lm": "throughput",
    "evaluate_lm": "out",
    "finetune_model": "out_metrics",
    "measure_finetuning": "out",
    "train_adapter": "metrics",
    "collect_states": "table",
    "train_encoder": "metrics",
    "train_reranker": "metrics",
}
# That of a job that writes its seconds apart from its losses.
_SPENT = {"train_encoder": "cost"}
_TIMES_ITSELF = ("pretrain_lm", "measure_finetuning", "train_encoder")
_TIMED_WHOLE = "seconds hold the start of the process and loading"


def add_cost(plan: Plan, config: "LoadedConfig", slug: str, printed: Printed = lambda run: run) -> None:
    """Plan `cost.tsv` as a target, of all that is a target so far. Below paper scale the published rows are those of
    `resources/costs`, which a command writes; at paper scale nothing need have run.

    Args:
        printed: puts what the paper prints into a run of its own scale.
    """
    jobs = Jobs(plan, config, slug)
    # A rehearsal says what the published runs cost, and nothing of its own.
    found = [] if config.scale == REHEARSAL else cost_runs(jobs, config.scale)
    published = f"{COSTS}/{slug}.tsv"
    files: dict[str, str | list[str]] = {} if config.scale == "paper" else {"published": published}
    hours = {row: one if isinstance(one, str) else f"{one:g}" for row, one in config.papers[slug].cost.hours.items()}
    if config.scale == "paper":
        found = [printed(run.model_copy(update={"published_hours": hours.get(_row(run), "")})) for run in found]
    layout = CostLayout(
        published_hours=hours.get(TOTAL, "") if config.scale == "paper" else "",
        accelerator=config.papers[slug].cost.accelerator,
        others=list(other_jobs(jobs)),
        models=jobs.models,
        runs=found,
    )
    measured = sorted({str(path) for run in found for path in (*run.measured, *run.spent)})
    # It goes through a command line.
    short = layout.model_dump(mode="json", exclude_defaults=True)
    job = Job(inputs={"inputs": measured}, settings={"layout": short, "scale": config.scale}, files=files)
    plan.add_targets(slug, [plan.add("estimate_cost", slug, job)["out"]])


def _row(run: CostRun) -> str:
    """Stage and name of a run as the settings write them."""
    return re.sub(r"[^a-z0-9]+", "_", f"{run.stage}_{run.name}").strip("_")


def cost_runs(jobs: Jobs, scale: str) -> list[CostRun]:
    """Runs of all stages with a rule, jobs that are equal but for their lengths and data together."""
    groups: dict[Any, list[tuple[str, Described]]] = defaultdict(list)
    for stage, key, job in jobs.behind():
        for described in RULES[stage](jobs, key, job) if stage in RULES else ():
            groups[stage, _alike(described)].append((key, described))
    return [_united(scale, stage, found) for (stage, _), found in groups.items()]


_SUMMED = ("jobs", "kept", "kept_bytes")
_AVERAGED = (*_SUMMED, "text_length", "part_size", "note")


def _alike(described: Described) -> Any:
    """What equal jobs have in common; the work of those that only infer is a sum over what they read."""
    free = _AVERAGED if described["steps"] else (*_AVERAGED, "forwarded")
    return repr(sorted((name, value) for name, value in described.items() if name not in free))


def _united(scale: str, stage: str, found: Sequence[tuple[str, Described]]) -> CostRun:
    """One run of jobs whose lengths have a mean; what a device holds at once is the most that any of them has."""
    keys = list(dict.fromkeys(key for key, _ in found))
    count = sum(each["jobs"] for _, each in found)
    forwarded = sum(each["jobs"] * each.get("forwarded", 0) for _, each in found) / count
    shares = [each["jobs"] * (1 if each["steps"] else each["forwarded"]) for _, each in found]
    length = sum(share * each["text_length"] for share, (_, each) in zip(shares, found, strict=True)) / sum(shares)
    most = max(each["part_size"] * each["text_length"] for _, each in found)
    sums = {name: sum(each.get(name, 0) for _, each in found) for name in _SUMMED}
    described = {
        **found[0][1],
        **sums,
        "forwarded": forwarded,
        "text_length": length,
        "part_size": max(1, math.ceil(most / length)),
    }
    notes = dict.fromkeys(note for _, each in found for note in each.get("note", "").split("; ") if note)
    for name in ("apart", "note"):
        described.pop(name, None)
    name = common_name(keys)
    if scale == "paper" or stage not in _MEASURED:
        benchmarks = [] if scale == "paper" else [_benchmark(stage, key) for key in keys]
        return CostRun(scale=scale, stage=stage, name=name, note="; ".join(notes), benchmarks=benchmarks, **described)
    if stage not in _TIMES_ITSELF:
        notes[_TIMED_WHOLE] = None
    return CostRun(
        scale=scale,
        stage=stage,
        name=name,
        measured=[Path(paths.output(stage, _MEASURED[stage], key)) for key in keys],
        spent=[Path(paths.output(stage, _SPENT[stage], key)) for key in keys] if stage in _SPENT else [],
        benchmarks=[_benchmark(stage, key) for key in keys],
        note="; ".join(notes),
        **described,
    )


def _benchmark(stage: str, key: str) -> str:
    return paths.benchmark(stage, key).removeprefix("results/benchmarks/")
