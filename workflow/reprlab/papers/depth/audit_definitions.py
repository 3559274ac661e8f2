"""Checks of DEPTH against known answers of its definitions: chance levels and schedules (5.9, 5.10)."""

from __future__ import annotations

from collections.abc import Iterator

from reprlab.papers.depth.chance import mixed_sentence_loss, shuffled_sent_accuracy, shuffled_sent_loss
from reprlab.reporting.audit import AuditRow, check, judge, rounded

NOT_PRINTED = "known answer, not printed in the paper"


def definition_checks() -> list[AuditRow]:
    """Checks 5.9 and 5.10."""
    return [*_chance_levels(), *_schedules()]


def _chance_levels() -> Iterator[AuditRow]:
    what = "un-shuffling by chance"
    for letter, (sentences, known) in zip("abc", ((5, "0.9575"), (10, "1.5104"), (20, "2.1168")), strict=True):
        value = str(rounded(shuffled_sent_loss(sentences), 4))
        yield check(f"5.9{letter}", f"{what}: ln(m!)/m nats per SENT, m = {sentences}", known, value, NOT_PRINTED)
    value = str(rounded(shuffled_sent_accuracy(10), 3))
    yield check("5.9d", f"{what}: accuracy H_m/m, m = 10", "0.293", value, NOT_PRINTED)
    mixed = rounded(mixed_sentence_loss(10), 3)
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
    known = (("linear", 256_000, "7.515e-05"), ("inverse_sqrt", 256_000, "1.976e-05"),
             ("linear", horizon, "0.000e+00"), ("inverse_sqrt", horizon, "1.000e-05"))  # fmt: skip
    for letter, (name, step, expected) in zip("abcd", known, strict=True):
        schedule = ScheduleSettings(name=name, warmup_steps=10_000, horizon_steps=horizon)
        rate = peak * learning_rate_factor(step, horizon, schedule)
        what = f"learning rate of the {name} schedule at step {step:,}, peak 1e-4, warm-up 10,000"
        yield check(f"5.10{letter}", what, expected, f"{rate:.3e}", NOT_PRINTED)
