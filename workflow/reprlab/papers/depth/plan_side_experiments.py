"""Side experiments of DEPTH: packing and learning rate, weight of the sentence loss, two upstream defects."""

from dataclasses import dataclass, replace
from typing import Any

from reprlab.papers.depth.names import number_name, run_name
from reprlab.papers.depth.plan_runs import Evaluated, RunPlanner
from reprlab.training.settings import PretrainSettings


@dataclass(frozen=True)
class Variant:
    """A run of a side experiment, with what it varies."""

    name: str
    objective: str
    seed: int
    label: str
    packing: bool
    learning_rate: float
    batch_size: int
    evaluation: Evaluated
    """The validation losses that speak for it."""


def add_side_experiments(planner: RunPlanner) -> dict[str, list[Variant]]:
    """Plan the runs of every side experiment that is switched on."""
    return {
        "packing_lr": _packing_lr(planner),
        "sentence_weight": _sentence_weight(planner),
        "padding_in_loss": _padding_in_loss(planner),
        "int8_bug": _int8_bug(planner),
    }


def _packing_lr(planner: RunPlanner) -> list[Variant]:
    """Figure 7: T5 with and without packing at two learning rates."""
    ablation, seed = planner.paper.ablations.packing_lr, planner.paper.pretraining.seeds[0]
    if not ablation.enabled:
        return []
    found = []
    for packing in ablation.packing:
        for rate in ablation.learning_rates:
            label = f"{'packed' if packing else 'unpacked'}_lr{number_name(rate)}"
            settings = planner.settings(
                "t5",
                seed,
                steps=ablation.steps,
                ladder=planner.ladder_to(ablation.steps),
                packing=packing,
                learning_rate=rate,
                batch_size=ablation.batch_size,
            )
            found.append(_add_variant(planner, "t5", seed, label, settings, "packing_lr"))
    return found


def _sentence_weight(planner: RunPlanner) -> list[Variant]:
    """Figure 10: DEPTH with the joint mean, and with the sentence loss weighted."""
    ablation, seed = planner.paper.ablations.sentence_weight, planner.paper.pretraining.seeds[0]
    if not ablation.enabled:
        return []
    found = []
    for weight in ablation.weights:
        label = "baseline" if weight is None else f"{weight:g}x"
        settings = planner.settings(
            "depth",
            seed,
            steps=ablation.steps,
            ladder=planner.ladder_to(ablation.steps),
            changes={"sentence_weight": weight},
        )
        name = f"weight_{label.replace('.', 'p')}"
        found.append(_add_variant(planner, "depth", seed, label, settings, "sentence_weight", name))
    return found


def _padding_in_loss(planner: RunPlanner) -> list[Variant]:
    """DEPTH with the loss as defined and with padding counted, each on the correct validation loss."""
    ablation = planner.paper.ablations.padding_in_loss
    return _defect(planner, "depth", "padding", "count_padding_in_loss", ablation, packing=False)


def _int8_bug(planner: RunPlanner) -> list[Variant]:
    """T5 with correct indices and with those that wrap at 128, on full-length (packed) inputs."""
    return _defect(planner, "t5", "int8", "t5_int8_bug", planner.paper.ablations.int8_bug, packing=True)


def _defect(
    planner: RunPlanner, objective: str, name: str, switch: str, ablation: Any, *, packing: bool
) -> list[Variant]:
    """A run with a defect of the upstream code, beside the correct one."""
    seed = planner.paper.pretraining.seeds[0]
    if not ablation.enabled:
        return []
    found = []
    for label, on in (("correct", False), ("upstream", True)):
        settings = planner.settings(
            objective,
            seed,
            steps=ablation.steps,
            ladder=planner.ladder_to(ablation.steps),
            length=ablation.input_length,
            packing=packing,
            changes={switch: on},
        )
        variant = _add_variant(planner, objective, seed, label, settings, f"{name}_defect", f"{name}_{label}")
        found.append(variant)
        if name == "padding":
            # The curve that the upstream code would have reported for the same weights.
            counted = planner.add_evaluation(
                f"{variant.name}_counted",
                variant.name,
                settings,
                settings.engine.ladder,
                f"{name}_defect",
                {switch: True},
            )
            label = f"{label}, padding counted in the reported loss"
            found.append(replace(variant, label=label, evaluation=counted))
    return found


def _add_variant(
    planner: RunPlanner, objective: str, seed: int, label: str, settings: PretrainSettings, group: str, name: str = ""
) -> Variant:
    """Plan the run of a side experiment from random weights."""
    run = run_name(objective, "fs", seed, name or label)
    evaluation = planner.add_run(run, settings, planner.models[seed], settings.engine.ladder, group)
    return Variant(
        name=run,
        objective=objective,
        seed=seed,
        label=label,
        packing=settings.packing,
        learning_rate=settings.engine.optimizer.learning_rate,
        batch_size=settings.engine.batch_size,
        evaluation=evaluation,
    )
