"""Learning-rate schedules, in the formulas of transformers' `LambdaLR` factories."""

import math

from reprlab.training.settings import InfiniteSettings, ScheduleSettings


def learning_rate_factor(step: int, steps: int, schedule: ScheduleSettings | InfiniteSettings) -> float:
    """Share of the peak learning rate that the update after `step` updates uses, in 0..1.

    The formulas are those of `transformers.get_{constant,linear,cosine}_schedule_with_warmup` and, for
    `inverse_sqrt`, `get_inverse_sqrt_schedule` with its time scale at the warm-up (1 without warm-up): the factor is
    sqrt(warmup / step). They are written here because importing `transformers.optimization` costs
    seconds. `infinite` is that of Ibrahim et al. 2024, with a cool-down by a cosine.

    Args:
        step: updates already made; the first update has 0, whose factor is 0 under a warm-up.
        steps: updates in the run, the horizon where the schedule names none.
        schedule: course and warm-up.
    """
    warmup = schedule.warmup_steps
    if step < warmup:
        return step / warmup
    horizon = schedule.horizon_steps if schedule.horizon_steps is not None else steps
    if isinstance(schedule, InfiniteSettings):
        return _infinite(step, horizon, schedule)
    if schedule.name == "constant":
        return 1.0
    if schedule.name == "inverse_sqrt":
        return math.sqrt(max(1, warmup) / max(1, step))
    progress = min(1.0, (step - warmup) / max(1, horizon - warmup))
    if schedule.name == "linear":
        return 1.0 - progress
    return 0.5 * (1.0 + math.cos(math.pi * progress))


def _infinite(step: int, horizon: int, schedule: InfiniteSettings) -> float:
    """The factor after the warm-up; where the annealing begins before the cool-down ends, it begins all the same."""
    left = horizon - step
    if left < schedule.anneal_steps or left <= 0:
        share = 1.0 if left <= 0 else 1 - left / schedule.anneal_steps
        return float(schedule.constant * (schedule.final / schedule.constant) ** share)
    cooled = (step - schedule.warmup_steps) / schedule.cooldown_steps if schedule.cooldown_steps else 1.0
    return schedule.constant + (1 - schedule.constant) * 0.5 * (1.0 + math.cos(math.pi * min(1.0, cooled)))
