import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from reprlab.training.schedules import learning_rate_factor
from reprlab.training.settings import EngineSettings, ScheduleSettings
from transformers.optimization import get_scheduler

PEAK = 1e-4
STEPS = 1_000_000


@pytest.mark.parametrize(
    ("name", "step", "rate"),
    [  # DEPTH specification 5.10
        ("linear", 256_000, 7.515e-5),
        ("linear", 1_000_000, 0.0),
        ("inverse_sqrt", 256_000, 1.976e-5),
        ("inverse_sqrt", 1_000_000, 1e-5),
        ("inverse_sqrt", 10_000, 1e-4),
        ("linear", 5_000, 5e-5),
    ],
)
def test_published_rates(name, step, rate):
    schedule = ScheduleSettings(name=name, warmup_steps=10_000)
    assert PEAK * learning_rate_factor(step, STEPS, schedule) == pytest.approx(rate, rel=3e-4, abs=1e-12)


def test_the_horizon_may_lie_beyond_the_run():
    schedule = ScheduleSettings(name="linear", warmup_steps=10_000, horizon_steps=STEPS)
    assert PEAK * learning_rate_factor(256_000, 256_000, schedule) == pytest.approx(7.515e-5, rel=1e-4)


# Without warm-up the time scale of transformers' inverse_sqrt is 10,000 and ours is 1: not compared.
@pytest.mark.parametrize(
    ("name", "warmup"),
    [*((name, warmup) for name in ("constant", "linear", "cosine") for warmup in (0, 7)), ("inverse_sqrt", 7)],
)
def test_the_formulas_are_those_of_transformers(name, warmup):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    theirs = {"constant": "constant_with_warmup"}.get(name, name)
    scheduler = get_scheduler(theirs, optimizer, num_warmup_steps=warmup, num_training_steps=40)
    schedule = ScheduleSettings(name=name, warmup_steps=warmup)
    for step in range(41):
        assert learning_rate_factor(step, 40, schedule) == pytest.approx(scheduler.get_last_lr()[0], abs=1e-12)
        optimizer.step()
        scheduler.step()


@given(
    name=st.sampled_from(["constant", "linear", "cosine", "inverse_sqrt"]),
    warmup=st.integers(0, 50),
    steps=st.integers(1, 100),
    step=st.integers(0, 200),
)
def test_the_factor_is_a_share_and_never_rises_after_the_warm_up(name, warmup, steps, step):
    schedule = ScheduleSettings(name=name, warmup_steps=warmup)
    now, later = (learning_rate_factor(s, steps, schedule) for s in (step, step + 1))
    assert 0 <= now <= 1
    assert later <= now if step >= warmup else later > now


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ladder": [3, 2]}, "ascend"),
        ({"ladder": [11]}, "0..10"),
        ({"accumulation": 3}, "multiple of accumulation"),
        ({"schedule": {"name": "linear", "warmup_steps": 5, "horizon_steps": 5}}, "must exceed warmup_steps"),
        ({"optimizer": {"learning_rate": 1, "momentum": 1}}, "momentum"),
    ],
)
def test_bad_settings_are_named(change, words):
    good = {"steps": 10, "batch_size": 8, "optimizer": {"learning_rate": 1e-3}}
    EngineSettings.model_validate(good)
    with pytest.raises(ValidationError, match=words):
        EngineSettings.model_validate({**good, **change})
