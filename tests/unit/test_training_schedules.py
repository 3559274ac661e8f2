import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from reprlab.training.schedules import learning_rate_factor
from reprlab.training.settings import EngineSettings, InfiniteSettings, ScheduleSettings
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


INFINITE = {"warmup_steps": 10, "cooldown_steps": 40, "constant": 0.5, "anneal_steps": 20, "final": 0.125}


@pytest.mark.parametrize(
    ("step", "factor"),
    [  # Up in 10 updates, down half a cosine in 40, level, and in the last 20 of 100 by a factor of four.
        (0, 0.0), (5, 0.5), (10, 1.0), (20, 0.5 + 0.25 * (1 + 0.5**0.5)), (30, 0.75), (50, 0.5), (65, 0.5), (80, 0.5),
        (90, 0.25), (95, 0.125 * 2**0.5), (100, 0.125), (150, 0.125),
    ],
)  # fmt: skip
def test_the_infinite_course_by_known_answers(step, factor):
    assert learning_rate_factor(step, 100, InfiniteSettings(**INFINITE)) == pytest.approx(factor)
    # A run that ends earlier or later than the horizon has the same rates.
    bound = InfiniteSettings(**INFINITE, horizon_steps=100)
    assert learning_rate_factor(step, 1000, bound) == pytest.approx(factor)


@given(
    warmup=st.integers(0, 30), cooldown=st.integers(0, 30), anneal=st.integers(0, 30), steps=st.integers(61, 200),
    step=st.integers(0, 250), constant=st.floats(0.1, 1), final=st.floats(0.01, 0.1),
)  # fmt: skip
def test_an_infinite_course_is_level_between_and_does_not_depend_on_the_end_before_it_is_annealed(
    warmup, cooldown, anneal, steps, step, constant, final
):
    own = {"warmup_steps": warmup, "cooldown_steps": cooldown, "constant": constant, "anneal_steps": anneal}
    schedule = InfiniteSettings(**own, final=final)
    steps += anneal
    now, later = (learning_rate_factor(one, steps, schedule) for one in (step, step + 1))
    assert 0 <= now <= 1 and (later <= now + 1e-12 if step >= warmup else later > now)
    if step <= steps - anneal and step < steps:
        assert now == learning_rate_factor(step, 2 * steps, schedule)
    if warmup + cooldown <= step <= steps - anneal and step < steps:
        assert now == pytest.approx(constant)


def test_an_engine_takes_the_course_by_its_name_and_refuses_one_that_rises():
    given_ = {"steps": 10, "batch_size": 8, "optimizer": {"learning_rate": 1e-3}}
    engine = EngineSettings.model_validate({**given_, "schedule": {"name": "infinite", **INFINITE}})
    assert isinstance(engine.schedule, InfiniteSettings)
    assert EngineSettings.model_validate_json(engine.model_dump_json()) == engine
    with pytest.raises(ValidationError, match="must not exceed constant"):
        InfiniteSettings(**{**INFINITE, "final": 0.6})
