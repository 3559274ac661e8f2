"""Checks of DEPTH against known answers: parameters, masker, masks, loss identity, chance levels, schedules.

None of these values is printed in the paper unless the row says so; they follow from its definitions and show that this
workflow computes what the paper describes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reprlab.objectives.losses import chance_sentence_loss, unshuffling_chance
from reprlab.papers.depth.audit_masks import mask_checks
from reprlab.papers.depth.audit_objective import objective_checks
from reprlab.reporting.audit import AuditRow, check, judge, not_checkable, rounded

NOT_PRINTED = "known answer, not printed in the paper"


def definition_checks(models: Path) -> list[AuditRow]:
    """Checks 5.3 to 5.10. `models` is the registry of models."""
    return [*_parameters(models), *objective_checks(), *mask_checks(), *_chance_levels(), *_schedules()]


def _parameters(registry: Path) -> Iterator[AuditRow]:
    from reprlab.config.models import load_models
    from reprlab.models.counting import parameter_count
    from reprlab.text.vocabulary import Vocabulary

    entries = load_models(registry)
    counted = (
        ("5.3a", "t5_base", True, 222_903_552, "T5 v1.0 base"),
        ("5.3b", "t5_v1_1_base", True, 222_903_552, "T5 v1.1 base, output tied"),
        ("5.3c", "t5_v1_1_base", False, 247_577_856, "T5 v1.1 base, output untied"),
        ("5.3d", "t5_v1_1_small", True, 60_511_616, "T5 v1.1 small, output tied"),
    )
    untied = None
    for id, name, tied, known, what in counted:
        if name not in entries:
            yield not_checkable(id, f"parameters of {what}", f"{known:,}", f"missing: {name} in the registry of models")
            continue
        count = parameter_count(entries[name].model_copy(update={"tie_output": tied}))
        untied = count if (name, tied) == ("t5_v1_1_base", False) else untied
        yield check(
            id, f"parameters of {what}", f"{known:,}", f"{count:,}", f"{NOT_PRINTED}; counted on the meta device"
        )
    padded = Vocabulary(32_000).padded_size
    yield check(
        "5.3e",
        "rows of the embedding with 21 tokens more, padded to a multiple of 8",
        "32,128",
        f"{padded:,}",
        "T5's own number: DEPTH adds no parameter",
    )
    if untied is not None:
        yield judge(
            "5.3f",
            "size of the model",
            "220M (section 3)",
            f"{untied / 1e6:.0f}M",
            215 <= untied / 1e6 < 225,
            "the released code trains T5 v1.1 base with untied output; 220M is T5 v1.0 or the tied form",
        )


def _chance_levels() -> Iterator[AuditRow]:
    what = "un-shuffling by chance"
    for letter, (sentences, known) in zip("abc", ((5, "0.9575"), (10, "1.5104"), (20, "2.1168")), strict=True):
        value = str(rounded(unshuffling_chance(sentences)[0], 4))
        yield check(f"5.9{letter}", f"{what}: ln(m!)/m nats per SENT, m = {sentences}", known, value, NOT_PRINTED)
    value = str(rounded(unshuffling_chance(10)[1], 3))
    yield check("5.9d", f"{what}: accuracy H_m/m, m = 10", "0.293", value, NOT_PRINTED)
    mixed = rounded(chance_sentence_loss(10), 3)
    yield judge(
        "5.9e",
        "mean sentence loss by chance, half the batches shuffled, m = 10",
        "0.3 to 0.4 (appendix B)",
        mixed,
        0.3 <= float(mixed) <= 0.4,
        "0.25 ln(m!)/m: the printed sentence loss is what a model without knowledge of the order reaches",
    )


def _schedules() -> Iterator[AuditRow]:
    from reprlab.training.schedules import learning_rate_factor
    from reprlab.training.settings import ScheduleSettings

    horizon, peak = 1_000_000, 1e-4
    known = (
        ("linear", 256_000, "7.515e-05"),
        ("inverse_sqrt", 256_000, "1.976e-05"),
        ("linear", horizon, "0.000e+00"),
        ("inverse_sqrt", horizon, "1.000e-05"),
    )
    for letter, (name, step, expected) in zip("abcd", known, strict=True):
        schedule = ScheduleSettings.model_validate({"name": name, "warmup_steps": 10_000, "horizon_steps": horizon})
        rate = peak * learning_rate_factor(step, horizon, schedule)
        what = f"learning rate of the {name} schedule at step {step:,}, peak 1e-4, warm-up 10,000"
        yield check(f"5.10{letter}", what, expected, f"{rate:.3e}", NOT_PRINTED)
