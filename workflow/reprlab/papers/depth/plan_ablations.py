"""DEPTH's ablations: packing and learning rate, weight of the sentence loss, two defects of the upstream code."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from reprlab.papers.depth.names import number_name
from reprlab.papers.depth.plan_runs import Run, RunPlanner


def add_ablations(planner: RunPlanner) -> dict[str, list[Run]]:
    """Plan the runs of every ablation; empty lists for those that are switched off."""
    plans = {
        "packing_lr": _packing_lr,
        "sentence_weight": _sentence_weight,
        "padding_in_loss": _padding_in_loss,
        "int8_bug": _int8_bug,
    }
    wanted = {name: getattr(planner.paper.ablations, name) for name in plans}
    return {name: list(plan(planner, wanted[name])) if wanted[name].enabled else [] for name, plan in plans.items()}


def _packing_lr(planner: RunPlanner, wanted: Any) -> Iterator[Run]:
    """Figure 7: T5 with and without packing at two learning rates."""
    for packing, rate in product(wanted.packing, wanted.learning_rates):
        label = f"{'packed' if packing else 'unpacked'}_lr{number_name(rate)}"
        changed = {"packing": packing, "learning_rate": rate, "batch_size": wanted.batch_size}
        yield planner.add_variant("t5", label, "packing_lr", label, wanted.steps, **changed)


def _sentence_weight(planner: RunPlanner, wanted: Any) -> Iterator[Run]:
    """Figure 10: DEPTH with the joint mean, and with the sentence loss weighted."""
    for weight in wanted.weights:
        label = "baseline" if weight is None else f"{weight:g}x"
        name, changes = f"weight_{label.replace('.', 'p')}", {"sentence_weight": weight}
        yield planner.add_variant("depth", name, "sentence_weight", label, wanted.steps, changes=changes)


def _padding_in_loss(planner: RunPlanner, wanted: Any) -> Iterator[Run]:
    """DEPTH with the loss as defined and with padding counted, each on the correct validation loss and on the one that
    the upstream code would have reported for the same weights."""
    switch, group = "count_padding_in_loss", "padding_defect"
    for label, on in (("correct", False), ("upstream", True)):
        changed = {"length": wanted.input_length, "packing": False, "changes": {switch: on}}
        run = planner.add_variant("depth", f"padding_{label}", group, label, wanted.steps, **changed)
        yield run
        counted = f"{run.name}_counted"
        losses = planner.note_losses(counted, run.name, run.settings, group, {switch: True})
        variant = f"{label}, padding counted in the reported loss"
        yield replace(run, variant=variant, losses=losses, evaluated=counted)


def _int8_bug(planner: RunPlanner, wanted: Any) -> Iterator[Run]:
    """T5 with correct indices and with those that wrap at 128, on full-length (packed) inputs."""
    for label, on in (("correct", False), ("upstream", True)):
        changed = {"length": wanted.input_length, "packing": True, "changes": {"t5_int8_bug": on}}
        yield planner.add_variant("t5", f"int8_{label}", "int8_defect", label, wanted.steps, **changed)
