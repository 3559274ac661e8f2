"""Every repository that scale `paper` names, in its published layout, through the real clients of the hub."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from reprlab.artifacts.json_files import read_json
from reprlab.models.build import load_model
from reprlab.models.cut import cut_entry
from reprlab.registry.models import HubOrigin, ModelEntry, load_models
from reprlab.text.model_tokenizers import load_tokenizer
from safetensors.torch import load_file
from torch.testing import assert_close

from tests.checkouts import ROOT
from tests.published_hub import published_hub
from tests.published_hub.layouts import DRAWN, build_model_repository, layouts

MODELS = load_models(ROOT / "config/models.yaml")
HUB = {name: entry for name, entry in MODELS.items() if isinstance(entry.origin, HubOrigin)}
# One of each architecture and kind of layout; the others are gone through before a release.
FIRST = {
    "bert_base_uncased", "distilbert_base_uncased", "roberta_base", "deberta_v3_base", "all_mpnet_base_v2",
    "electra_base", "bart_base", "gpt2", "llama_2_7b", "llama_3_8b", "llama_2_7b_chat_mntp", "mistral_7b_v0_3",
    "qwen2_7b_instruct", "phi_3_mini_4k", "olmo_1b", "opt_125m", "opt_350m", "mamba_130m", "mamba2_130m",
    "t5_base_pretrained", "t5_v1_1_base_pretrained", "vicuna_7b", "xls_r_300m", "ast_audioset", "gte_large",
}  # fmt: skip
CODE = """
import json, sys
from pathlib import Path
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.build_model import build_model
from reprlab.stages.extract_tokenizer import extract_tokenizer
for line in sys.stdin:
    asked, said = json.loads(line), ""
    try:
        stage = {"build_model": build_model, "extract_tokenizer": extract_tokenizer}[asked["stage"]]
        entry = ModelEntry.model_validate(asked["entry"])
        stage(entry=entry, out=Path(asked["out"]), cache=Path(asked["cache"]))
    except ReprlabError as error:
        said = str(error)
    print("answer " + json.dumps(said), flush=True)
"""


def chosen(names):
    return [pytest.param(name, marks=[] if name in FIRST else pytest.mark.release) for name in names]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with published_hub(tmp_path_factory.mktemp("hub")) as found:
        yield found


@pytest.fixture(scope="module")
def stage(hub, tmp_path_factory):
    """Runs stages in a process in which the clients know this hub as theirs; the line that is told, or nothing."""
    folder = tmp_path_factory.mktemp("made")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    process = subprocess.Popen(
        [sys.executable, "-c", CODE], env={**kept, **hub.environment, "PYTHONPATH": str(ROOT / "workflow")}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip

    def run(name: str, entry: ModelEntry, out: Path) -> str:
        asked = {"stage": name, "entry": entry.model_dump(mode="json"), "out": str(out), "cache": str(folder)}
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        answer = next((line for line in process.stdout if line.startswith("answer ")), None)
        assert answer, "the process died"
        return json.loads(answer.removeprefix("answer "))

    yield run
    process.kill()


def made(hub, repository: str, revision: str) -> Path:
    return build_model_repository(repository, revision, hub.published, hub.folder / "models")


def published_weights(hub, origin: HubOrigin) -> dict[str, torch.Tensor]:
    """What was drawn, by the names of transformers; with the adapter of the origin, where it has one."""
    weights = {
        name: value.float() for name, value in torch.load(made(hub, origin.repository, origin.revision) / DRAWN).items()
    }
    if origin.adapter:
        folder = made(hub, origin.adapter, origin.adapter_revision)
        about, low = read_json(folder / "adapter_config.json"), load_file(folder / "adapter_model.safetensors")
        for name in [name for name in low if "lora_A" in name]:
            own = name.replace("base_model.model", "model").replace(".lora_A", "")
            weights[own] += low[name.replace("lora_A", "lora_B")] @ low[name] * (about["lora_alpha"] / about["r"])
    return weights


@pytest.mark.parametrize("name", chosen(HUB))
def test_a_published_model_is_what_was_published(hub, stage, tmp_path, name):
    """Each weight has the value that was drawn for it; parts that the entry names as new are drawn here."""
    entry = cut_entry(HUB[name])
    assert stage("build_model", entry, tmp_path / "model") == ""
    model = load_model(tmp_path / "model").requires_grad_(False)
    published, merged = published_weights(hub, entry.origin), bool(entry.origin.adapter)
    prefix = f"{model.base_model_prefix}."
    for own, value in model.named_parameters():
        short = own.removeprefix(prefix)
        found = next((published[one] for one in (own, prefix + own, short) if one in published), None)
        if found is None:
            assert short.startswith(tuple(entry.origin.new_parts)), own
        else:
            assert_close(value, found, rtol=1e-5 * merged, atol=1e-6 * merged, msg=own)
    if layouts()[entry.origin.repository].tokenizer:
        tokenizer = load_tokenizer(tmp_path / "model")
        ids = tokenizer("The old cat reads a book near London.")["input_ids"]
        assert max(ids) < entry.config["vocab_size"] and tokenizer.decode(ids, skip_special_tokens=True)


def test_every_repository_that_is_named_has_a_layout():
    named = {entry.origin.repository for entry in HUB.values()}
    named |= {entry.origin.adapter for entry in HUB.values() if entry.origin.adapter}
    assert named == set(layouts())
