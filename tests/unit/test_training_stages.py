"""The pre-training and validation stages on real objectives with a tiny T5."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from reprlab.artifacts.tables import read_tsv
from reprlab.models.build import load_model
from reprlab.registry.models import load_models
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.build_model import build_model
from reprlab.stages.evaluate_lm import evaluate_lm
from reprlab.stages.pretrain_lm import pretrain_lm
from reprlab.training.settings import EvaluationRun, EvaluationRuns, EvaluationSettings, PretrainSettings
from training_samples import write_tokens

pytestmark = pytest.mark.usefixtures("one_thread")

ENTRY = load_models(Path(__file__).parents[2] / "config" / "models.yaml")["t5_nano"]
GOLDEN = Path(__file__).parent / "golden" / "pretrain_losses.json"
# The losses come from float32 products whose order of summation differs by CPU and BLAS (1e-7 relative each), and Adam
# carries such differences into steps of the size of the learning rate where a gradient is nearly zero. Measured after
# 24 updates between AVX-512, plain C (ATEN_CPU_CAPABILITY=default) and SSE4.1 kernels: 3e-7. The tolerance leaves a
# factor of 300; a wrong mask, shift or sentinel moves these losses by more than 1e-2.
GOLDEN_TOLERANCE = 1e-4


def settings_of(objective, **engine):
    values = {"steps": 24, "ladder": [0, 8, 24], "batch_size": 16, "log_every": 8, "seed": 3}
    schedule = {"name": "linear", "warmup_steps": 4}
    return PretrainSettings.model_validate(
        {
            "objective": objective,
            "input_length": 48,
            "target_length": 48,
            "engine": {**values, "optimizer": {"learning_rate": 3e-3}, "schedule": schedule, **engine},
        }
    )


@pytest.fixture(scope="module", params=["t5", "depth"])
def made(request, tmp_path_factory):
    """Inputs of the stage and its finished outputs, once per objective."""
    folder = tmp_path_factory.mktemp(request.param)
    tokens, tokenizer = write_tokens(folder, request.param)
    build_model(entry=ENTRY, tokenizer=tokenizer, out=folder / "model", seed=0)
    torch.set_num_threads(1)
    inputs = {"tokens": tokens, "tokenizer": tokenizer, "init": folder / "model"}
    pretrain(inputs, folder / "run", settings_of(request.param))
    return request.param, folder, inputs


def places(folder):
    names = {"out": "ladder", "metrics": "metrics.tsv", "throughput": "throughput.tsv", "work": "work"}
    return {name: folder / path for name, path in names.items()}


def pretrain(inputs, folder, settings, **changes):
    pretrain_lm(
        **{**inputs, **changes}, **places(folder), settings=settings, fingerprint="x", save_every=4, device="cpu"
    )


def outputs(folder):
    paths = [folder / "metrics.tsv", *(path for path in (folder / "ladder").rglob("*") if path.is_file())]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_losses_are_the_golden_ones(made):
    objective, folder, _ = made
    losses = read_tsv(folder / "run" / "metrics.tsv")["loss"].tolist()
    assert losses == pytest.approx(json.loads(GOLDEN.read_text())[objective], abs=GOLDEN_TOLERANCE)
    assert losses[-1] < losses[0] - 0.1


def test_the_ladder_opens_with_from_pretrained_and_the_work_is_gone(made):
    _, folder, _ = made
    assert sorted(path.name for path in (folder / "run" / "ladder").iterdir()) == [
        "run.json",
        "step-00000000",
        "step-00000008",
        "step-00000024",
    ]
    first, last = (load_model(folder / "run" / "ladder" / f"step-{step:08d}") for step in (0, 24))
    assert torch.equal(first.shared.weight, load_model(folder / "model").shared.weight)
    assert not torch.equal(first.shared.weight, last.shared.weight)
    assert not (folder / "run" / "work").exists()


def test_metrics_say_steps_tokens_and_parts(made):
    objective, folder, _ = made
    metrics = read_tsv(folder / "run" / "metrics.tsv")
    assert metrics["step"].tolist() == [8, 16, 24]
    assert metrics["diverged"].tolist() == [0, 0, 0]
    assert metrics["tokens"].is_monotonic_increasing
    assert metrics["sentence_loss"].notna().all() == (objective == "depth")
    assert read_tsv(folder / "run" / "throughput.tsv")["tokens_per_second"].gt(0).all()


def test_killed_with_9_then_the_same_command_gives_the_same_bytes(made):
    objective, folder, inputs = made
    if objective == "t5":
        return
    options = {
        **inputs,
        **places(folder / "cut"),
        "settings": settings_of(objective).model_dump_json(),
        "fingerprint": "x",
    }
    options |= {"save_every": 4, "device": "cpu"}
    command = [sys.executable, "-m", "reprlab.stages.pretrain_lm"]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list((folder / "cut" / "work").glob("resume-*")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (folder / "cut" / "ladder").exists()
    subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True, timeout=100)
    assert outputs(folder / "cut") == outputs(folder / "run")


def test_training_goes_on_from_a_step_of_another_ladder(made):
    objective, folder, inputs = made
    settings = settings_of(objective, steps=1, ladder=[0]).model_copy(update={"init_step": 8})
    pretrain(inputs, folder / "more", settings, init=folder / "run" / "ladder")
    start = load_model(folder / "more" / "ladder" / "step-00000000").state_dict()
    kept = load_model(folder / "run" / "ladder" / "step-00000008").state_dict()
    assert all(torch.equal(start[name], kept[name]) for name in kept)
    with pytest.raises(ReprlabError, match=r"step-00000009: no such checkpoint \(the ladder holds step-00000000, "):
        pretrain(inputs, folder / "x", settings.model_copy(update={"init_step": 9}), init=folder / "run" / "ladder")


def test_bfloat16_stays_near_float32(made):
    objective, folder, inputs = made
    pretrain(inputs, folder / "half", settings_of(objective, dtype="bfloat16"))
    losses = [read_tsv(folder / run / "metrics.tsv")["loss"].tolist() for run in ("run", "half")]
    assert losses[0] != losses[1]
    assert losses[1] == pytest.approx(losses[0], abs=0.05)


def test_divergence_is_in_the_metrics_and_ends_the_ladder(made, caplog):
    objective, folder, inputs = made
    settings = settings_of(objective, optimizer={"learning_rate": 1e30}, schedule={"name": "constant"})
    pretrain(inputs, folder / "wild", settings)
    last = read_tsv(folder / "wild" / "metrics.tsv").iloc[-1]
    assert last["diverged"] == 1 and 1 < last["step"] < 8
    assert [path.name for path in (folder / "wild" / "ladder").glob("step-*")] == ["step-00000000"]
    with caplog.at_level("WARNING", logger="reprlab"):
        evaluate(folder, inputs, objective, ladder=folder / "wild" / "ladder")
    assert "diverged at update" in caplog.text
    assert set(read_tsv(folder / "evaluation.tsv")["step"]) == {0}


def evaluation_of(objective):
    return EvaluationSettings(objective=objective, input_length=48, target_length=48, batches=3, batch_size=8)


def evaluate(folder, inputs, objective, **changes):
    options = {"ladder": folder / "run" / "ladder", "steps": [0, 24], "settings": evaluation_of(objective), **changes}
    run = EvaluationRun(name="this", tokens=inputs["tokens"], **options)
    runs = EvaluationRuns(runs=[run, run.model_copy(update={"name": "that", "steps": [0]})])
    evaluate_lm(runs=runs, tokenizer=inputs["tokenizer"], out=folder / "evaluation.tsv", device="cpu")


def test_validation_has_a_row_for_each_step_order_and_batch(made):
    objective, folder, inputs = made
    evaluate(folder, inputs, objective)
    rows = read_tsv(folder / "evaluation.tsv")
    other = rows[rows["run"] == "that"].drop(columns="run").reset_index(drop=True)
    rows = rows[rows["run"] == "this"]
    assert other.equals(rows[rows["step"] == 0].drop(columns="run").reset_index(drop=True))
    orders = 2 if objective == "depth" else 1
    assert len(rows) == 2 * 3 * orders
    assert rows["shuffled"].mean() == (orders - 1) / 2
    loss = rows.groupby("step")[["loss_sum", "count"]].sum()
    assert loss["count"][0] == loss["count"][24]
    assert loss["loss_sum"][24] < loss["loss_sum"][0]
    if objective == "depth":
        ordered, shuffled = rows[~rows["shuffled"]], rows[rows["shuffled"]]
        assert ordered["count"].tolist() == shuffled["count"].tolist()
        assert ordered["loss_sum"].tolist() != shuffled["loss_sum"].tolist()
    assert (rows["sentence_loss_sum"] + rows["reconstruction_loss_sum"]).tolist() == pytest.approx(
        rows["loss_sum"].tolist(), rel=1e-6
    )


def test_a_split_that_is_too_small_is_named(made):
    objective, folder, inputs = made
    with pytest.raises(ReprlabError, match="40 validation examples do not fill one batch of 41"):
        evaluate(folder, inputs, objective, settings=evaluation_of(objective).model_copy(update={"batch_size": 41}))


def test_dropout_replaces_that_of_the_models_configuration(made):
    objective, folder, inputs = made
    kept = settings_of(objective, steps=2, ladder=[2])
    for name, dropout in (("none", None), ("zero", 0.0), ("half", 0.5)):
        pretrain(inputs, folder / f"dropout-{name}", kept.model_copy(update={"dropout": dropout}))
    plain, zero, half = (
        read_tsv(folder / f"dropout-{name}/metrics.tsv")["loss"].tolist() for name in ("none", "zero", "half")
    )
    # The model of these tests has none.
    assert plain == zero != half
    assert load_model(folder / "dropout-half/ladder/step-00000002").config.dropout_rate == 0.5
