"""Every architecture of the paper plan goes through every stage that takes it, in little."""

import socket
from pathlib import Path

import pytest
import torch
from planned_chain import Chain, settings_of
from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.training.finetuning_heads import EncoderHead
from reprlab.training.finetuning_settings import TaskSettings
from transformers import AutoTokenizer

ROOT = Path(__file__).resolve().parents[2]
PLAN = make_plan(load_config(ROOT, {"scale": "paper"}))
# Stages that make models and tables out of what others made; no architecture decides which of their lines run.
NOT_MODELS = {
    "build_model", "extract_tokenizer", "tabulate_paper", "test_claims", "estimate_dimension", "gather_results",
    "compare_answers", "contrast_answers", "sample_predictions", "plot_figure", "show_tracks",
}  # fmt: skip


def kind_of(job):
    """What else than the architecture decides which lines of a stage run."""
    settings = settings_of(job).get("settings", {})
    task = settings.get("task", {})
    task, stage_of = ({}, task) if isinstance(task, str) else (task, "")
    data = str(job.inputs.get("examples", "")).split("/")[-2:-1]
    return (
        [settings_of(PLAN.jobs["build_examples"][name])["entry"]["kind"] for name in data],
        [task.get(name) for name in ("kind", "depth_format")],
        [stage_of, settings.get("objective"), bool(settings.get("partial_embedding")), bool(settings.get("steps"))],
        [bool(job.inputs.get(name)) for name in ("tuning", "parses", "source")],
    )


def cases():
    """The first planned job of each stage, architecture and kind of job."""
    chain, found = Chain(PLAN), {}
    for stage in PLAN.jobs.keys() - NOT_MODELS:
        for key, job in PLAN.jobs[stage].items():
            for architecture in sorted(chain.architectures(stage, key)):
                found.setdefault((stage, architecture, repr(kind_of(job))), key)
    return sorted({(stage, architecture, key) for (stage, architecture, _), key in found.items()})


CASES = cases()


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("chain"))

        def no_network(*args):
            raise AssertionError("the network was used")

        patch.setattr(socket.socket, "connect", no_network)
        yield Chain(PLAN)


@pytest.mark.parametrize(("stage", "architecture", "key"), CASES)
def test_it_runs(chain, stage, architecture, key):
    chain.run(stage, key)


def test_every_planned_model_is_among_them(chain):
    planned = {settings_of(job)["entry"]["architecture"] for job in PLAN.jobs["build_model"].values()}
    assert planned == {architecture for _, architecture, _ in CASES if architecture in planned}


@pytest.mark.parametrize("architecture", sorted({case[1] for case in CASES if case[0] == "finetune_model"} - {"t5"}))
def test_dropout_is_that_of_the_setting_in_every_layer(chain, architecture):
    key = next(key for stage, name, key in CASES if (stage, name) == ("finetune_model", architecture))
    chain.run("finetune_model", key)
    inputs = PLAN.jobs["finetune_model"][key].inputs
    (made_in,) = inputs["after"]
    # A model, or the ladder of what was trained from it.
    source = next(Path(made_in).glob("step-*"), Path(made_in))
    tokenizer = AutoTokenizer.from_pretrained(inputs.get("tokenizer") or source)
    task = TaskSettings(kind="classification", labels=["a", "b"], metrics=["accuracy"], input_length=8)
    model = EncoderHead(task, ("a", "b"), tokenizer, source).load(source, 0.3)
    rates = {name: module.p for name, module in model.named_modules() if isinstance(module, torch.nn.Dropout)}
    assert len(rates) >= 4
    # DeBERTa's pooler is not a layer of the encoder: its released configuration has no dropout there.
    assert {rate for name, rate in rates.items() if "pooler" not in name} == {0.3}
