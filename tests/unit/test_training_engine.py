import contextlib
import itertools
import json
import math
import random
import types

import numpy
import pytest
import torch
from finetune_fixtures import make_bert, make_tokenizer
from reprlab.models.build import load_model
from reprlab.runtime.errors import ReprlabError
from reprlab.training.checkpoints import Progress, load_resume_point, save_resume_point
from reprlab.training.engine import _SEED_STRIDE, _seed_everything, build_optimizer, train
from reprlab.training.ladder import keep_step
from reprlab.training.metrics import means_of
from reprlab.training.moments import begin_with_moments, keep_moments, moments_of
from training_samples import tiny_batch, tiny_loss, tiny_model, tiny_settings, train_tiny

pytestmark = pytest.mark.usefixtures("one_thread")


def weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_each_step_of_each_process_draws_other_numbers():
    """Of every library that draws, and the same ones again."""
    keys = [(seed, step, rank) for seed in (0, 1, 42) for step in range(100) for rank in range(2)]
    drawn = []
    for key in (*keys, *keys):
        _seed_everything(*key)
        drawn.append((numpy.random.random(), random.random(), float(torch.rand(1, dtype=torch.float64))))
    assert drawn[: len(keys)] == drawn[len(keys) :]
    assert all(len(set(numbers)) == len(keys) for numbers in zip(*drawn, strict=True))


def test_a_process_counts_on_from_the_step():
    """Another rule would be other draws in all runs of several processes that were made."""
    _seed_everything(2, 3, 1)
    mixed = (2 * _SEED_STRIDE + 3) * _SEED_STRIDE + 1
    assert torch.initial_seed() == mixed and numpy.random.get_state()[1][0] == mixed % 2**32


def test_training_lowers_the_loss_and_keeps_the_ladder(tmp_path):
    run, _ = train_tiny(tmp_path / "work", tmp_path / "out", tiny_settings(steps=60, ladder=[0, 7, 60], log_every=20))
    assert sorted(files(tmp_path / "out")) == ["0.safetensors", "60.safetensors", "7.safetensors"]
    assert [row["step"] for row in run.metrics] == [7, 20, 40, 60]
    assert run.metrics[-1]["loss"] < 0.6 * run.metrics[0]["loss"]
    assert list(run.metrics[0])[:3] == ["step", "loss", "objective"]
    # One is a sum over a sum, the other a mean of the steps' quotients: equal up to how the machine rounds.
    assert run.metrics[0]["loss"] == pytest.approx(run.metrics[0]["objective"], rel=1e-12)
    assert run.tokens == run.metrics[-1]["tokens"] > 0
    assert run.diverged_at is None


def test_a_step_is_adamw_on_the_clipped_mean_gradient(tmp_path):
    settings = tiny_settings(steps=3, ladder=[], schedule={"name": "constant"}, log_every=1)
    _, model = train_tiny(tmp_path / "work", tmp_path / "out", settings, dropout=0.0)
    expected = tiny_model(0.0)
    optimizer = torch.optim.AdamW(expected.parameters(), lr=0.05, weight_decay=0.01)
    for step in range(3):
        loss, _ = tiny_loss(expected, tiny_batch(settings)(step, 0, 0, 1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(expected.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    assert torch.allclose(weights(model), weights(expected), rtol=0, atol=1e-12)


def test_accumulated_parts_weigh_by_their_labels(tmp_path):
    """Eight rows at once equal two parts of four: in float64 only the order of summation differs (1e-16 relative)."""
    whole_run, whole = train_tiny(tmp_path / "a", tmp_path / "o", tiny_settings(), dropout=0.0)
    cut_run, cut = train_tiny(tmp_path / "b", tmp_path / "o", tiny_settings(accumulation=2), dropout=0.0)
    assert torch.allclose(weights(whole), weights(cut), rtol=0, atol=1e-12)
    for one, two in zip(whole_run.metrics, cut_run.metrics, strict=True):
        assert one == pytest.approx(two, rel=1e-12)


@pytest.mark.parametrize("stop_at", [1, 3, 4, 7, 11])
def test_a_resumed_run_ends_with_the_same_bytes(tmp_path, stop_at):
    settings = tiny_settings()
    whole, _ = train_tiny(tmp_path / "a", tmp_path / "whole", settings)

    class PulledPlugError(Exception):
        pass

    def batch_of(step, part, rank, world):
        if step == stop_at:
            raise PulledPlugError
        return tiny_batch(settings)(step, part, rank, world)

    with pytest.raises(PulledPlugError):
        train_tiny(tmp_path / "b", tmp_path / "cut", settings, batch_of=batch_of)
    torch.rand(3)
    seen = []

    def watching(step, part, rank, world):
        seen.append(step)
        return tiny_batch(settings)(step, part, rank, world)

    resumed, _ = train_tiny(tmp_path / "b", tmp_path / "cut", settings, batch_of=watching)
    assert seen[0] == stop_at // 3 * 3
    assert resumed.metrics == whole.metrics
    assert json.dumps(resumed.metrics) == json.dumps(whole.metrics)
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    # `state.json` also holds seconds; the tensors must be the same bytes.
    last = [files(tmp_path / run / "resume-00000012")["tensors.safetensors"] for run in ("a", "b")]
    assert last[0] == last[1]


@pytest.mark.parametrize("layout", [lambda one: one.T.contiguous().T, lambda one: one.repeat(2, 1)[::2], torch.clone])
def test_a_resumed_run_keeps_the_order_in_memory_of_every_parameter(tmp_path, layout):
    """The fused kernel walks raw memory: a transposed weight beside row-major moments would get those of others."""
    settings, ends = tiny_settings(), {}

    def model():
        made = tiny_model()
        for part in made:
            if isinstance(part, torch.nn.Linear):
                part.weight = torch.nn.Parameter(layout(part.weight.detach()))
        return made

    def slots(trained, optimizer):
        state = optimizer.state
        return {
            name: [(state[one][slot].stride(), state[one][slot].tolist()) for slot in ("exp_avg", "exp_avg_sq")]
            for name, one in trained.named_parameters()
        }

    for run, kills in (("whole", []), ("resumed", [5, 9])):
        for stop in [*kills, None]:
            trained = model()
            ends[run] = weights_after(tmp_path / run, settings, trained, stop)
    assert ends["whole"] == ends["resumed"]
    # What is restored lies as what AdamW itself makes.
    made, restored = (model() for _ in range(2))
    fresh, resumed = (build_optimizer(one, settings.optimizer) for one in (made, restored))
    tiny_loss(made, tiny_batch(settings)(0, 0, 0, 1))[0].backward()
    fresh.step()
    save_resume_point(tmp_path / "point", Progress(step=1), made, fresh, "one")
    assert load_resume_point(tmp_path / "point", restored, resumed, "one")
    assert slots(restored, resumed) == slots(made, fresh)


def weights_after(folder, settings, model, stop):
    """Train in `folder` up to the update `stop`, or to the end; the bytes of the weights."""

    class PulledPlugError(Exception):
        pass

    def batch_of(step, part, rank, world):
        if step == stop:
            raise PulledPlugError
        return tiny_batch(settings)(step, part, rank, world)

    with contextlib.suppress(PulledPlugError):
        train(
            model, batch_of, tiny_loss, settings, work=folder, save_every=2, fingerprint="one",
            on_checkpoint=lambda step, kept: None, device="cpu",
        )  # fmt: skip
    return {name: one.tolist() for name, one in model.named_parameters()}


def test_moments_of_another_run_lie_as_the_weights_that_they_are_of(tmp_path):
    """A run with a transposed weight that begins with kept moments: killed, it ends as one that was not."""
    settings = tiny_settings()

    def model():
        made = tiny_model()
        made[0].weight = torch.nn.Parameter(made[0].weight.detach().T.contiguous().T)
        return made

    def begin(folder):
        moments = tmp_path / "step/moments.safetensors"
        begin_with_moments(moments, model(), settings.optimizer, work=folder, fingerprint="one")

    def held(folder):
        restored = model()
        optimizer = build_optimizer(restored, settings.optimizer)
        assert load_resume_point(folder, restored, optimizer, "one")
        found = {name: optimizer.state[one]["exp_avg"] for name, one in restored.named_parameters()}
        assert found["0.weight"].stride() == restored[0].weight.stride() != restored[3].weight.stride()
        return {name: one.tolist() for name, one in found.items()}

    weights_after(tmp_path / "first", settings, model(), None)
    (tmp_path / "step").mkdir()
    (tmp_path / "step/config.json").touch()
    keep_moments(tmp_path / "first/resume-00000012", tmp_path / "step")
    begin(tmp_path / "new")
    assert held(tmp_path / "new") == held(tmp_path / "first")
    ends = []
    for run, stop in (("whole", None), ("resumed", 5), ("resumed", None)):
        begin(tmp_path / run)
        ends.append(weights_after(tmp_path / run, settings, model(), stop))
    assert ends[0] == ends[2] != ends[1]


def test_moments_are_those_of_the_weights_that_are_trained(tmp_path):
    """A frozen weight has none, neither where they are kept nor where a run begins with them."""
    settings = tiny_settings()

    def model(frozen):
        made = tiny_model()
        made[0].weight.requires_grad_(not frozen)
        return made

    weights_after(tmp_path / "first", settings, model(True), None)
    (tmp_path / "step").mkdir()
    (tmp_path / "step/config.json").touch()
    keep_moments(tmp_path / "first/resume-00000012", tmp_path / "step")
    moments = tmp_path / "step/moments.safetensors"
    begin_with_moments(moments, model(True), settings.optimizer, work=tmp_path / "new", fingerprint="one")
    restored = model(True)
    optimizer = build_optimizer(restored, settings.optimizer)
    assert load_resume_point(tmp_path / "new", restored, optimizer, "one")
    named = dict(restored.named_parameters())
    assert {name for name, one in named.items() if optimizer.state.get(one)} == set(named) - {"0.weight"}
    with pytest.raises(ReprlabError, match=r"not the moments of this model .*0\.weight"):
        begin_with_moments(moments, model(False), settings.optimizer, work=tmp_path / "other", fingerprint="one")


def test_a_finished_run_trains_no_further(tmp_path):
    first, model = train_tiny(tmp_path / "w", tmp_path / "o", tiny_settings())
    again, same = train_tiny(tmp_path / "w", tmp_path / "o", tiny_settings(), batch_of=None)
    assert again.metrics == first.metrics
    assert torch.equal(weights(model), weights(same))


def test_only_two_resume_points_stay(tmp_path):
    train_tiny(tmp_path / "w", tmp_path / "o", tiny_settings())
    assert sorted(path.name for path in (tmp_path / "w").iterdir()) == ["resume-00000009", "resume-00000012"]


def test_what_a_killed_save_left_is_cleared(tmp_path):
    for name in (".resume-00000003.abc.part", "ladder-1/.step-00000005.abc.part"):
        (tmp_path / "w" / name).mkdir(parents=True)
    train_tiny(tmp_path / "w", tmp_path / "o", tiny_settings())
    assert not list((tmp_path / "w").rglob(".*"))


def test_another_fingerprint_starts_afresh_and_says_so(tmp_path, caplog):
    settings = tiny_settings()
    train_tiny(tmp_path / "w", tmp_path / "o", settings)
    steps = []

    def batch_of(step, part, rank, world):
        steps.append(step)
        return tiny_batch(settings)(step, part, rank, world)

    with caplog.at_level("WARNING", logger="reprlab"):
        train_tiny(tmp_path / "w", tmp_path / "o", settings, fingerprint="two", batch_of=batch_of)
    assert steps[0] == 0
    assert "other settings" in caplog.text


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        ("tensors.safetensors", lambda path: path.write_bytes(path.read_bytes()[:100])),
        ("tensors.safetensors", lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\x55")),
        ("tensors.safetensors", lambda path: path.unlink()),
        ("state.json", lambda path: path.write_text("{")),
        ("state.json", lambda path: path.write_text('{"format": 1, "fingerprint": "one"}')),
    ],
)
def test_a_damaged_resume_point_falls_back_to_the_one_before(tmp_path, caplog, file, damage):
    settings = tiny_settings()
    whole, _ = train_tiny(tmp_path / "w", tmp_path / "whole", settings)
    damage(tmp_path / "w" / "resume-00000012" / file)
    steps = []

    def batch_of(step, part, rank, world):
        steps.append(step)
        return tiny_batch(settings)(step, part, rank, world)

    with caplog.at_level("WARNING", logger="reprlab"):
        again, _ = train_tiny(tmp_path / "w", tmp_path / "again", settings, batch_of=batch_of)
    assert steps == [9, 10, 11]
    assert "damaged resume point" in caplog.text
    assert again.metrics == whole.metrics
    assert files(tmp_path / "again")["12.safetensors"] == files(tmp_path / "whole")["12.safetensors"]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_divergence_is_recorded_and_stops_the_run(tmp_path, bad):
    settings = tiny_settings(ladder=[0, 5, 8])

    def loss_of(model, batch):
        loss, parts = tiny_loss(model, batch)
        loss_of.calls += 1
        return (loss * bad if loss_of.calls == 7 else loss), parts

    loss_of.calls = 0
    run, model = train_tiny(tmp_path / "w", tmp_path / "o", settings, loss_of=loss_of)
    assert run.diverged_at == 7
    assert run.step == 6
    assert [row["diverged"] for row in run.metrics] == [0, 0, 1]
    assert run.metrics[-1]["step"] == 7
    assert bool(torch.isfinite(weights(model)).all())
    assert sorted(files(tmp_path / "o")) == ["0.safetensors", "5.safetensors"]
    resumed, _ = train_tiny(tmp_path / "w", tmp_path / "o", settings)
    assert resumed.diverged_at == 7


def test_a_batch_without_labels_is_an_error(tmp_path):
    def batch_of(step, part, rank, world):
        batch = tiny_batch(tiny_settings())(step, part, rank, world)
        return {**batch, "labels": torch.full_like(batch["labels"], -100)}

    with pytest.raises(ReprlabError, match="step 0 has no label"):
        train_tiny(tmp_path / "w", tmp_path / "o", tiny_settings(), batch_of=batch_of)


def test_means_divide_by_their_own_counts():
    sums = {"loss_sum": 6.0, "count": 3.0, "sentence_loss_sum": 1.0, "sentence_count": 0.0}
    sums |= {"sent_correct": 1.0, "sent_count": 4.0, "correct": 2.0, "total": 4.0}
    means = means_of(sums)
    assert math.isnan(means.pop("sentence_loss"))
    assert means == {"loss": 2.0, "sent_accuracy": 0.25, "accuracy": 0.5}


def test_what_does_not_warm_up_begins_at_its_peak(tmp_path):
    """Of the first of four updates that warm up the rate is 0, without them it is the whole one."""
    schedule = {"name": "linear", "warmup_steps": 4, "horizon_steps": 20}
    model, settings = tiny_model(0.0), tiny_settings(steps=1, ladder=[], schedule=schedule)
    model[3].weight.warms_up = False
    before = {name: one.detach().clone() for name, one in model.named_parameters()}
    loss, _ = tiny_loss(model, tiny_batch(settings)(0, 0, 0, 1))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    expected = torch.nn.Parameter(before["3.weight"].clone())
    expected.grad = model[3].weight.grad.clone()
    torch.optim.AdamW([expected], lr=0.05, weight_decay=0.01).step()
    model.zero_grad()
    train(
        model, tiny_batch(settings), tiny_loss, settings, work=tmp_path, save_every=9, fingerprint="x", device="cpu",
        on_checkpoint=lambda step, model: None,
    )  # fmt: skip
    assert torch.allclose(model[3].weight, expected, rtol=0, atol=1e-12)
    assert all(torch.equal(one, before[name]) for name, one in model.named_parameters() if name != "3.weight")


def test_gradients_are_exchanged_once_an_update(tmp_path, monkeypatch):
    skipped = []

    def noted(group, module, skip):
        skipped.append(skip)
        return contextlib.nullcontext()

    monkeypatch.setattr("reprlab.training.processes.ProcessGroup.without_sync", noted)
    train_tiny(tmp_path / "work", tmp_path / "out", tiny_settings(steps=2, ladder=[], accumulation=4))
    assert skipped == [True, True, True, False] * 2


def test_throughput_is_of_the_seconds_of_its_updates(tmp_path, monkeypatch):
    """Each update takes two seconds by this clock."""
    monkeypatch.setattr("reprlab.training.engine.time", types.SimpleNamespace(monotonic=itertools.count(0, 2).__next__))
    run, _ = train_tiny(tmp_path / "work", tmp_path / "out", tiny_settings())
    assert [(row["step"], row["seconds"]) for row in run.throughput] == [(4, 8), (5, 10), (8, 16), (12, 24)]
    tokens = [row["tokens"] for row in run.throughput]
    speeds = [(one - other) / steps / 2 for one, other, steps in zip(tokens, [0, *tokens], (4, 1, 3, 4), strict=False)]
    assert [row["tokens_per_second"] for row in run.throughput] == speeds


def test_moments_are_those_of_the_last_step(tmp_path):
    for step in (5, 20, 100):
        (tmp_path / f"step-{step:08d}").mkdir()
        (tmp_path / f"step-{step:08d}/moments.safetensors").touch()
    assert moments_of(tmp_path).parent.name == "step-00000100"
    with pytest.raises(ReprlabError, match="kept no moments"):
        moments_of(tmp_path / "other")


def test_a_kept_step_has_its_tokenizer(tmp_path):
    vocabulary = make_tokenizer(tmp_path / "tokenizer")
    make_bert(tmp_path / "bert", vocabulary)
    keep_step(load_model(tmp_path / "bert"), tmp_path / "ladder", 3, tmp_path / "tokenizer")
    kept = files(tmp_path / "ladder/step-00000003")
    own = files(tmp_path / "tokenizer")
    assert own and {name: kept[name] for name in own} == own
