"""Learning-rate schedules, in the formulas of transformers' `LambdaLR` factories."""

import math

from reprlab.training.settings import ScheduleSettings


def learning_rate_factor(step: int, steps: int, schedule: ScheduleSettings) -> float:
    """Share of the peak learning rate that the update after `step` updates uses, in 0..1.

    The formulas are those of `transformers.get_{constant,linear,cosine}_schedule_with_warmup` and, for
    `inverse_sqrt`, `get_inverse_sqrt_schedule` with its time scale at the warm-up (1 without warm-up): the factor is
    sqrt(warmup / step). They are written here because importing `transformers.optimization` costs seconds.

    Args:
        step: updates already made; the first update has 0, whose factor is 0 under a warm-up.
        steps: updates in the run, the horizon where the schedule names none.
        schedule: course and warm-up.
    """
    warmup = schedule.warmup_steps
    if step < warmup:
        return step / warmup
    if schedule.name == "constant":
        return 1.0
    if schedule.name == "inverse_sqrt":
        return math.sqrt(max(1, warmup) / max(1, step))
    horizon = schedule.horizon_steps if schedule.horizon_steps is not None else steps
    progress = min(1.0, (step - warmup) / max(1, horizon - warmup))
    if schedule.name == "linear":
        return 1.0 - progress
    return 0.5 * (1.0 + math.cos(math.pi * progress))
