"""`pretrain_lm` by torchrun: two and three processes have the loss curve of one, at the same global batch."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from reprlab.artifacts.tables import read_tsv
from reprlab.registry.models import load_models
from reprlab.stages.build_model import build_model
from reprlab.training.settings import PretrainSettings

from tests.unit.training_samples import write_tokens

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]
STEPS = 12


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Options of the stage that are the same for all: tokens, tokenizer and model."""
    folder = tmp_path_factory.mktemp("inputs")
    tokens, tokenizer = write_tokens(folder, "depth")
    entry = load_models(ROOT / "config/models.yaml")["t5_nano"]
    build_model(entry=entry, tokenizer=tokenizer, out=folder / "model", seed=0)
    return {"tokens": tokens, "tokenizer": tokenizer, "init": folder / "model"}


@pytest.fixture(scope="module")
def alone(inputs, tmp_path_factory):
    """The curve of one process, and how far another order of summation moves it."""
    whole = curve(inputs, tmp_path_factory.mktemp("whole"))
    parts = curve(inputs, tmp_path_factory.mktemp("parts"), accumulation=3)
    return whole, difference(whole, parts)


def curve(inputs, folder, processes=1, accumulation=1, nodes=1):
    """Losses and gradient norms of all steps. `nodes` torchruns meet as those of several machines do."""
    settings = PretrainSettings.model_validate(
        {
            "objective": "depth",
            "input_length": 48,
            "target_length": 48,
            "engine": {
                **{"steps": STEPS, "batch_size": 12, "accumulation": accumulation, "log_every": 1, "seed": 3},
                "optimizer": {"learning_rate": 3e-3},
                "schedule": {"name": "linear", "warmup_steps": 4},
            },
        }
    )
    places = {"out": "ladder", "metrics": "metrics.tsv", "throughput": "throughput.tsv", "work": "work"}
    options = {**inputs, **{name: folder / path for name, path in places.items()}}
    launch = ["-m"]
    if processes > 1:
        launch = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}", "--module"]
    if nodes > 1:
        with socket.socket() as free:
            free.bind(("localhost", 0))
            meeting = f"localhost:{free.getsockname()[1]}"
        launch = ["-m", "torch.distributed.run", f"--nnodes={nodes}", f"--nproc-per-node={processes}"]
        launch += ["--rdzv-backend=c10d", "--rdzv-id=1", f"--rdzv-endpoint={meeting}", "--module"]
    command = [sys.executable, *launch, "reprlab.stages.pretrain_lm", "--settings", settings.model_dump_json()]
    command += ["--fingerprint", "x", "--device", "cpu"]
    command += [text for name, path in options.items() for text in (f"--{name}", str(path))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), "OMP_NUM_THREADS": "1"}
    started = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(nodes)]
    for one in started:
        _, errors = one.communicate(timeout=300)
        assert one.returncode == 0, errors
    metrics = read_tsv(folder / "metrics.tsv")
    assert len(metrics) == STEPS
    return [*metrics["loss"], *metrics["gradient_norm"]]


def difference(left, right):
    """The largest relative difference of two curves."""
    return max(abs(one - other) / abs(one) for one, other in zip(left, right, strict=True))


@pytest.mark.parametrize(("processes", "nodes"), [(2, 1), (3, 1), (1, 2)])
def test_several_processes_have_the_curve_of_one(inputs, alone, tmp_path, processes, nodes):
    """The batch is cut and the gradients are summed in another order, and nothing else differs.

    So the tolerance is what another order of summation does in one process (three accumulated parts), times ten, since
    rounding adds up differently in each order. A gradient that is averaged wrongly, a part seen twice or another
    random state moves the curve by more than 1e-3.
    """
    whole, rounding = alone
    assert 0 < rounding < 1e-5
    assert difference(whole, curve(inputs, tmp_path, processes, nodes=nodes)) <= 10 * rounding
