"""Disk and memory that a plan needs, against what is there."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from reprlab.models.counting import parameter_count
from reprlab.planning import paths
from reprlab.planning.data_sizes import KNOWN_BYTES
from reprlab.planning.plan import Plan
from reprlab.preflight.findings import Finding
from reprlab.preflight.sources import setting
from reprlab.registry.models import ModelEntry, PackageOrigin
from reprlab.reporting.cost import RunCost
from reprlab.reporting.cost_layout import CostLayout
from reprlab.reporting.cost_memory import weights_gb
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.machine import count_gpus
from reprlab.runtime.training_memory import TrainingMemory

_GB = 10**9
# Documents, passages and two token files, each compressed about as well as the download, and the tokens once more for
# memory mapping.
_COPIES_OF_TEXT = 5
# Float32 weights of a checkpoint; weights and both moments of a resume point.
_CHECKPOINT_BYTES, _RESUME_BYTES = 4, 12


def check_disk(plan: Plan, missing: dict[str, int], unknown: list[str], cache: Path, run: Path) -> Iterator[Finding]:
    """Room for downloads, and for what the run writes.

    Args:
        missing: bytes still to download, by archive.
        unknown: archives whose origin told no size.
    """
    sizes = {**{name: KNOWN_BYTES[name] for name in unknown if name in KNOWN_BYTES}, **missing}
    unsized = [name for name in unknown if name not in sizes]
    yield _compare("downloads", sum(sizes.values()), cache)
    if unsized:
        yield Finding("disk", "downloads", "note", f"sizes not known: {', '.join(unsized)}")
    corpora = {
        archive
        for job in plan.jobs.get("build_documents", {}).values()
        for archive in setting(job, "entry")["archives"]
    }
    text = _COPIES_OF_TEXT * sum(size for name, size in sizes.items() if name in corpora)
    yield _compare("results", text + _checkpoints(plan), run)


def _checkpoints(plan: Plan) -> int:
    """Bytes of initial models and of all checkpoints that are kept, each model by its own size, and of the largest
    resume points, one for each processor: a job deletes its own when it is done."""
    built = plan.jobs.get("build_model", {})
    entries = {paths.model(name): ModelEntry.model_validate_json(job.settings["entry"]) for name, job in built.items()}
    sizes = {path: parameter_count(entry) for path, entry in entries.items()}
    initial = sum(sizes[path] * _saved_bytes(entry) for path, entry in entries.items())
    kept, trained = 0, []
    waiting = dict(plan.jobs.get("pretrain_lm", {}))
    while waiting:
        # A run that continues another has its size; the plan holds the other one too.
        known = {name: sizes[job.inputs["init"]] for name, job in waiting.items() if job.inputs["init"] in sizes}
        if not known:
            raise ReprlabError(f"{', '.join(waiting)}: the plan holds no model that this pre-training starts from")
        for name, parameters in known.items():
            kept += parameters * (len(setting(waiting.pop(name), "settings")["engine"]["ladder"]) or 1)
            sizes[paths.pretrained(name)] = parameters
            trained.append(parameters)
    for job in plan.jobs.get("finetune_completions", {}).values():
        parameters = max(sizes[source] for source in job.inputs["after"])
        kept += parameters * len(job.settings["models"]) * len(setting(job, "settings")["learning_rates"])
        trained.append(parameters)
    running = sorted(trained)[-(os.cpu_count() or 1) :]
    return initial + kept * _CHECKPOINT_BYTES + sum(running) * _RESUME_BYTES


def _saved_bytes(entry: ModelEntry) -> int:
    """Bytes of a weight of an initial model as `build_model` writes it."""
    halved = isinstance(entry.origin, PackageOrigin) and entry.origin.dtype != "float32"
    return _CHECKPOINT_BYTES // 2 if halved else _CHECKPOINT_BYTES


def _compare(what: str, needed: int, folder: Path) -> Finding:
    place = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(place).free
    text = f"about {needed / _GB:,.1f} GB needed, {free / _GB:,.1f} GB free"
    if needed <= free:
        return Finding("disk", what, "ok", text)
    remedy = "set REPRLAB_CACHE to a larger disk" if what == "downloads" else "move the checkout to a larger disk"
    return Finding("disk", what, "problem", f"{text}; {remedy}")


def check_memory(plan: Plan, scale: str, saved: TrainingMemory = TrainingMemory()) -> Iterator[Finding]:  # noqa: B008
    """Memory of each job by the formula of `cost.tsv` against the smallest GPU here, else the paper's accelerator, or
    this machine's memory below paper scale.

    Args:
        saved: how the runtime's settings save it.
    """
    for layout in _layouts(plan):
        here, device = _device(layout, scale)
        runs = [
            RunCost(run, layout.models[run.model])
            for run in layout.runs
            if run.scale == scale and run.stage != "evaluate_lm"
        ]
        needed = {cost.run.stage + " " + cost.run.name: (cost, cost.memory_with(saved)) for cost in runs}
        large = {name: found for name, found in needed.items() if found[1] > here}
        for name, (cost, memory) in large.items():
            message = f"up to {memory:.0f} GB with inputs filled to their length, {device}; {_remedy(cost, here)}"
            yield Finding("memory", name, "problem", message)
        if not large and runs:
            most = max(memory for _, memory in needed.values())
            yield Finding("memory", "training", "ok", f"up to {most:.1f} GB a job, {device}")


def _remedy(cost: RunCost, here: float) -> str:
    """The runtime's settings with which a job fits: parts alone, which cost no time, or blocks computed again, and both
    where one is not enough."""
    weights = weights_gb(cost.parameters)
    if weights > here:
        return f"its weights alone take {weights:.0f} GB"
    if not cost.run.steps:
        return "take smaller batches"
    cuttable = cost.run.cuttable
    ways = [TrainingMemory(parts, again) for again in (False, True) for parts in range(1, cuttable + 1)]
    fitting = [way for way in ways if way.parts(cuttable) == way.accumulation and cost.memory_with(way) <= here]
    # The fewest parts, without blocks computed again and with them.
    best = {way.checkpointing: way for way in reversed(fitting)}
    if not best:
        least = min(cost.memory_with(way) for way in ways)
        return f"{least:.0f} GB at least, whatever runtime.accumulation and runtime.activation_checkpointing are"
    if False in best and best[False].accumulation <= best[True].accumulation:
        best.pop(True)
    return "set " + " or ".join(f"{_named(way)} ({cost.memory_with(way):.0f} GB)" for way in best.values())


def _named(memory: TrainingMemory) -> str:
    parts = [f"runtime.accumulation={memory.accumulation}"] if memory.accumulation > 1 else []
    return " with ".join([*parts, *(["runtime.activation_checkpointing=true"] if memory.checkpointing else [])])


def _layouts(plan: Plan) -> list[CostLayout]:
    return [
        CostLayout.model_validate_json(job.settings["layout"]) for job in plan.jobs.get("estimate_cost", {}).values()
    ]


def _device(layout: CostLayout, scale: str) -> tuple[float, str]:
    if count_gpus():
        import torch

        sizes = [torch.cuda.get_device_properties(number).total_memory for number in range(torch.cuda.device_count())]
        if sizes:
            return min(sizes) / _GB, f"the smallest GPU here has {min(sizes) / _GB:.0f} GB"
    if scale == "paper":
        accelerator = layout.accelerator
        return accelerator.memory_gb, f"no GPU here; the paper's {accelerator.name} has {accelerator.memory_gb:.0f} GB"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GB
    return memory, f"this machine has {memory:.0f} GB"
