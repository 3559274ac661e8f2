"""Every repository that scale `paper` names, in its published layout, through the real clients of the hub."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet
import pytest
import torch
from music_samples import annotated
from reprlab.artifacts.json_files import read_json
from reprlab.config.load import PAPERS, load_config
from reprlab.features.interpretation import likeliest_digit
from reprlab.inference.chat import converse
from reprlab.inference.chat_settings import ChatSettings
from reprlab.models.build import load_model
from reprlab.music.annotation import STEPS, checks, conversation
from reprlab.planning.paper_plans import make_plan
from reprlab.registry.dataset_entries import CorpusEntry, Wanted
from reprlab.registry.datasets import load_registry
from reprlab.registry.models import HubOrigin, load_models
from reprlab.text.model_tokenizers import load_tokenizer
from safetensors.torch import load_file
from torch.testing import assert_close

from tests.checkouts import ROOT
from tests.published_hub import published_hub
from tests.published_hub.archives import ARCHIVES
from tests.published_hub.layouts import DRAWN, layouts
from tests.published_hub.repository_files import data_table
from tests.published_hub.tokenizers import _wordpiece

DATA = load_registry(ROOT / "config/datasets.yaml")
MODELS = load_models(ROOT / "config/models.yaml")
HUB = {name: entry for name, entry in MODELS.items() if isinstance(entry.origin, HubOrigin)}
# One of each architecture and kind of layout; the others are gone through before a release.
FIRST = {
    "bert_base_uncased", "distilbert_base_uncased", "roberta_base", "deberta_v3_base", "all_mpnet_base_v2",
    "electra_base", "bart_base", "gpt2", "llama_2_7b", "llama_3_8b", "llama_2_7b_chat_mntp", "mistral_7b_v0_3",
    "qwen2_7b_instruct", "phi_3_mini_4k", "olmo_1b", "opt_125m", "opt_350m", "mamba_130m", "mamba2_130m",
    "t5_base_pretrained", "t5_v1_1_base_pretrained", "vicuna_7b", "xls_r_300m", "ast_audioset", "gte_large",
}  # fmt: skip
# The same of readers and formats of data.
FIRST_DATA = {
    "c4", "wikipedia_20231101_en", "conceptnet", "glue_cola", "glue_stsb", "xsum", "hellaswag", "openbookqa",
    "tulu_v2", "beir_arguana", "beir_scifact", "msmarco_documents", "msmarco_passages_dl20", "simcse_nli",
    "twenty_newsgroups", "scidocs_titles", "biorxiv_titles", "massive_intent", "sts17", "bc2gm", "conll2003",
    "conll2000_pos", "ptb_passages", "species_800", "carb", "oie2016", "conll04_relations", "genia",
    "conll2012_coreference", "conll2012_roles", "conll2012_names", "tacred_relations", "squad_v2_answers", "e5_fever",
    "subak_speech", "discoeval_sp_rocstory", "super_natural_instructions", "id_sst2", "event_storyline_v0_9",
}  # fmt: skip
CODE = """
import importlib, json, sys, typing
from pydantic import TypeAdapter
from reprlab.runtime.errors import ReprlabError
for line in sys.stdin:
    name, given = json.loads(line)
    stage, said = getattr(importlib.import_module(f"reprlab.stages.{name}"), name), ""
    kinds = typing.get_type_hints(stage)
    try:
        stage(**{key: TypeAdapter(kinds[key]).validate_python(value) for key, value in given.items()})
    except ReprlabError as error:
        said = str(error)
    print("answer " + json.dumps(said), flush=True)
"""


def chosen(names, first):
    assert first <= set(names)
    return [pytest.param(name, marks=[] if name in first else pytest.mark.release) for name in names]


def served(entry) -> bool:
    """Whether all archives of a data set are among what is served."""
    archives = [DATA.archive(name) for name in entry.archives]
    hub = [archive.origins[0].removeprefix("hub:").partition("@")[0] for archive in archives]
    return bool(archives) and all(
        a.name in ARCHIVES or one in data_table() for a, one in zip(archives, hub, strict=True)
    )


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with published_hub(tmp_path_factory.mktemp("hub")) as found:
        yield found


@pytest.fixture(scope="module")
def stage(hub):
    """Runs stages in a process in which the clients know this hub as theirs; the line that is told, or nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    process = subprocess.Popen(
        [sys.executable, "-c", CODE], env={**kept, **hub.environment, "PYTHONPATH": str(ROOT / "workflow")}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip

    def run(name: str, **given) -> str:
        process.stdin.write(json.dumps([name, given], default=str) + "\n")
        process.stdin.flush()
        answer = next((line for line in process.stdout if line.startswith("answer ")), None)
        assert answer, "the process died"
        return json.loads(answer.removeprefix("answer "))

    yield run
    process.kill()


def published_weights(hub, origin: HubOrigin) -> dict[str, torch.Tensor]:
    """What was drawn, by the names of transformers; with the adapter of the origin, where it has one."""
    weights = {
        name: value.float()
        for name, value in torch.load(hub.prepare(origin.repository, origin.revision) / DRAWN).items()
    }
    if origin.adapter:
        folder = hub.prepare(origin.adapter, origin.adapter_revision)
        about, low = read_json(folder / "adapter_config.json"), load_file(folder / "adapter_model.safetensors")
        for name in [name for name in low if "lora_A" in name]:
            own = name.replace("base_model.model", "model").replace(".lora_A", "")
            weights[own] += low[name.replace("lora_A", "lora_B")] @ low[name] * (about["lora_alpha"] / about["r"])
    return weights


@pytest.mark.parametrize("name", chosen(HUB, FIRST))
def test_a_published_model_is_what_was_published(hub, stage, tmp_path, name):
    """Each weight has the value that was drawn for it; parts that the entry names as new are drawn here."""
    entry = hub.models[name]
    hub.prepare(entry.origin.repository, entry.origin.revision)
    given = {"entry": entry.model_dump(mode="json"), "out": tmp_path / "model", "cache": tmp_path}
    assert stage("build_model", **given) == ""
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


WRITE = {name: entry for name, entry in HUB.items() if layouts()[entry.origin.repository].tokenizer}


@pytest.mark.parametrize(
    "name", chosen(WRITE, {"gpt2", "deberta_v3_base", "t5_v1_1_base_pretrained", "vicuna_7b", "mistral_7b_v0_3"})
)
def test_a_published_tokenizer_is_taken_alone(hub, stage, tmp_path, name):
    """It gives the ids that the published files give, special tokens included."""
    from transformers import AutoTokenizer

    entry = HUB[name]
    published = hub.prepare(entry.origin.repository, entry.origin.revision)
    given = {"entry": entry.model_dump(mode="json"), "out": tmp_path / "tokenizer", "cache": tmp_path}
    assert stage("extract_tokenizer", **given) == ""
    ours, theirs = load_tokenizer(tmp_path / "tokenizer"), AutoTokenizer.from_pretrained(published)
    for text in ("The old cat reads a book near London.", "  two  spaces\nand <unk> of \u00fcber 12345"):
        assert ours(text)["input_ids"] == theirs(text)["input_ids"]
    if layouts()[entry.origin.repository].tokenizer.kind not in ("wordpiece", "unigram"):
        # Decoders know line ends, so that a label behind one begins with a token of its own.
        texts = ["Answer:\n", "Answer:\nno"]
        before, whole = (ours(text, add_special_tokens=False)["input_ids"] for text in texts)
        assert ours.decode(before).endswith("Answer:\n") and whole[: len(before)] == before
    assert ours.get_vocab() == theirs.get_vocab() and ours.all_special_ids == theirs.all_special_ids
    assert not list((tmp_path / "tokenizer").glob("*.safetensors")), "no weights are fetched"


def test_every_repository_that_is_named_has_a_layout():
    named = {entry.origin.repository for entry in HUB.values()}
    named |= {entry.origin.adapter for entry in HUB.values() if entry.origin.adapter}
    assert named == set(layouts())
    assert all(about["source"] for about in data_table().values())


def test_a_tokenizer_is_the_same_however_often_it_is_made():
    """A hub that is made again would otherwise serve other files at the commit of the first."""
    uncased = layouts()["google-bert/bert-base-uncased"].tokenizer
    assert len({_wordpiece(uncased)["vocab.txt"] for _ in range(4)}) == 1


def test_a_chat_model_of_this_machine_answers_in_the_wanted_forms(hub, tmp_path, monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, hub.environment[name])
    settings, track = ChatSettings(model="gpt", max_tokens=900), annotated()
    for step in STEPS:
        (answer,) = converse([conversation(step, track)], settings, tmp_path)
        assert checks(step, track)(answer.text) == "" and min(answer.tokens) > 0
    digits, text = converse(
        [conversation(step, track) for step in ("caption", "type")], settings, tmp_path, likeliest=10
    )
    assert set(digits.first) == set("0123456789") and likeliest_digit(digits.first) != likeliest_digit(text.first)


# Data sets.

ENTRIES = {name: entry for name, entry in {**DATA.corpora, **DATA.tasks}.items() if served(entry)}
# Of sets with a thousand files or a hundred, these.
_FILES = 12


@pytest.fixture(scope="module")
def config(hub, tmp_path_factory):
    """The registries that fit what is served."""
    folder = tmp_path_factory.mktemp("registries") / "config"
    shutil.copytree(ROOT / "config", folder)
    hub.write_registries(folder)
    return folder


@pytest.fixture(scope="module")
def fetched(stage, config, tmp_path_factory):
    """Fetches an archive once; its receipt and the cache."""
    cache = tmp_path_factory.mktemp("cache")
    registry = load_registry(config / "datasets.yaml")

    def fetch(name: str) -> Path:
        receipt = cache / f"{name}.json"
        archive = registry.archive(name)
        wanted = Wanted(files=[*archive.files[:_FILES], archive.files[-1]] if len(archive.files) > 500 else [])
        given = {"archive": name, "registry": config / "datasets.yaml", "cache": cache, "receipt": receipt}
        if not receipt.exists():
            assert stage("fetch_archive", **given, wanted=wanted.model_dump(mode="json")) == ""
        return receipt

    return fetch


@pytest.mark.parametrize("name", chosen(ENTRIES, FIRST_DATA))
def test_a_published_data_set_is_read(stage, config, fetched, tmp_path, name):
    registry = load_registry(config / "datasets.yaml")
    entry = {**registry.corpora, **registry.tasks}[name]
    receipts = [fetched(archive) for archive in entry.archives]
    kind = "build_documents" if isinstance(entry, CorpusEntry) else "build_examples"
    given = {"receipts": receipts, "cache": receipts[0].parent, "out": tmp_path / "rows.parquet"}
    assert stage(kind, entry=entry.model_dump(mode="json"), **given) == ""
    rows = pyarrow.parquet.read_table(tmp_path / "rows.parquet")
    assert rows.num_rows > 3


@pytest.mark.release
@pytest.mark.parametrize("slug", PAPERS)
def test_all_that_a_paper_fetches_is_served(slug):
    found = load_config(ROOT, {"scale": "paper", "build": [slug]})
    jobs = make_plan(replace(found, papers={slug: found.papers[slug]})).jobs
    archives = {name: DATA.archive(name) for name in jobs.get("fetch_archive", ())}
    hub = {name: one.origins[0].removeprefix("hub:").partition("@")[0] for name, one in archives.items()}
    assert not [name for name in archives if name not in ARCHIVES and hub[name] not in data_table()]


def test_first_rows_are_streamed_by_the_client_of_data_sets(hub):
    """`datasets` asks for the tree and the sizes of a repository, and reads a part of a file."""
    code = "import datasets; rows = datasets.load_dataset('nyu-mll/glue', split='train', streaming=True, "
    code += "data_files='cola/train-00000-of-00001.parquet', revision='main'); print(rows.features, list(rows.take(2)))"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    done = subprocess.run([sys.executable, "-c", code], env={**kept, **hub.environment}, capture_output=True, text=True)
    assert done.returncode == 0 and "'idx': 1" in done.stdout, done.stderr[-2000:]
    assert "ClassLabel(names=['unacceptable', 'acceptable'])" in done.stdout, "names as `datasets` itself reads them"
