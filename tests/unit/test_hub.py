"""Repositories of a hub: a small one on this machine speaks its protocol, and the real clients run as they are."""

import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
import torch
from reprlab.artifacts.json_files import read_json
from reprlab.config.load import load_config
from reprlab.hub.answers import reason
from reprlab.hub.commits import read_lock
from reprlab.models.build import build_from_config, load_model
from reprlab.planning.plan import Plan
from reprlab.plugins import load_plugin
from reprlab.registry.datasets import DatasetRegistry
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError
from safetensors.torch import load_file, save_file

from tests.published_hub.server import Hub

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
NUMBERS = {"vocab_size": 60, "hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2,
           "intermediate_size": 16, "max_position_embeddings": 32}  # fmt: skip
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh"]
# Answers one request a line; the clients read their address and folders when they are imported.
CODE = """
import json, os, sys
from pathlib import Path
from reprlab.data.downloads import obtain
from reprlab.stages.build_examples import build_examples
from reprlab.stages.fetch_archive import fetch_archive
from reprlab.registry.dataset_entries import TaskEntry
from reprlab.registry.dataset_entries import ArchiveEntry
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.build_model import build_model
for line in sys.stdin:
    asked = json.loads(line)
    os.environ.update(asked["environment"])
    cache, said, path = Path(asked["cache"]), "", ""
    try:
        if "entry" in asked:
            build_model(entry=ModelEntry.model_validate(asked["entry"]), out=Path(asked["out"]), cache=cache)
        elif "task" in asked:
            registry, receipt, out = Path(asked["registry"]), cache / "receipt.json", Path(asked["out"])
            fetch_archive(archive="texts", registry=registry, cache=cache, receipt=receipt)
            task = TaskEntry.model_validate(asked["task"])
            build_examples(entry=task, receipts=[receipt], cache=cache, registry=registry, out=out)
        else:
            archive = ArchiveEntry.model_validate(asked["archive"])
            cached = obtain(archive, archive.files[0], cache)
            path = [str(cached.path), cached.file.revision]
    except ReprlabError as error:
        said = str(error)
    for name in asked["environment"]:
        del os.environ[name]
    print("answer " + json.dumps([said, path]), flush=True)
"""


def entry(repository="some/bert", revision="main", config=NUMBERS, **origin) -> ModelEntry:
    return ModelEntry.model_validate({
        "architecture": "bert", "config": config, "source": "a BERT", "tie_output": True,
        "origin": {"kind": "hub", "repository": repository, "revision": revision, **origin},
    })  # fmt: skip


def publish(hub: Hub, repository: str, **kinds) -> Path:
    """A BERT of three layers with its tokenizer, as a repository."""
    folder = hub.root / repository
    model = build_from_config(
        ModelEntry.model_validate({**entry().model_dump(), "origin": {"kind": "scratch"}}), seed=3
    )
    model.save_pretrained(folder, **kinds)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))
    (folder / "README.md").write_text("a card\n")
    return folder


def change_weights(folder: Path, change) -> None:
    file = folder / "model.safetensors"
    save_file(dict(change(load_file(file))), file, {"format": "pt"})


class Client:
    """A process in which the real clients of the hub run, with this hub as theirs."""

    def __init__(self, hub: Hub, home: Path, **environment: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
        own = {"HF_ENDPOINT": hub.address, "HF_HOME": str(home), "PYTHONPATH": str(WORKFLOW)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", CODE], env={**kept, **own, **environment}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def ask(self, folder: Path, environment: dict[str, str] | None = None, **wanted: object) -> list:
        asked = {"cache": str(folder / "cache"), "environment": environment or {}, **wanted}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        answer = next((line for line in self.process.stdout if line.startswith("answer ")), None)
        assert answer, "the process died"
        return json.loads(answer.removeprefix("answer "))


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    with Hub(folder / "repositories") as server:
        client = Client(server, folder / "home")
        yield server, client
        client.process.kill()


@pytest.fixture
def hub(shared, tmp_path):
    """The hub, empty: what an earlier test published is not known to the clients' cache by another commit."""
    server, _ = shared
    shutil.rmtree(server.root, ignore_errors=True)
    server.gated, server.busy, server.breaks, server.claimed = set(), {}, {}, {}
    server.seen.clear()
    return server


@pytest.fixture
def fetch(shared, tmp_path):
    """Build a model; the line that is told, or nothing."""

    def run(wanted: ModelEntry, name: str = "model", client: Client = shared[1], **environment: str) -> str:
        out = tmp_path / name
        said, _ = client.ask(tmp_path, environment, entry=wanted.model_dump(mode="json"), out=str(out))
        assert out.exists() != bool(said) and "\n" not in said
        return said

    return run


def test_what_is_whole_comes_through_and_a_branch_keeps_its_commit(hub, fetch, tmp_path):
    folder = publish(hub, "some/bert")
    (folder / "pytorch_model.bin").write_bytes(b"the same weights once more")
    assert fetch(entry()) == ""
    weights = load_file(folder / "model.safetensors")
    assert all(torch.equal(load_model(tmp_path / "model").state_dict()[name], value) for name, value in weights.items())
    first = hub.commit("some/bert")
    assert read_json(tmp_path / "model/origin.json") == {"some/bert": first}
    assert not any(path.endswith(("pytorch_model.bin", "README.md")) for _, path in hub.seen), "asked for once"
    # The branch moves on; what was fetched stays what it was, with and without the hub.
    change_weights(folder, lambda weights: {name: value + 1 for name, value in weights.items()})
    assert hub.commit("some/bert") != first
    offline = Client(hub, hub.root.parent / "home", HF_HUB_OFFLINE="1")
    for name, client in (("again", {}), ("offline", {"client": offline})):
        assert fetch(entry(), name, **client) == ""
        assert read_json(tmp_path / name / "origin.json") == {"some/bert": first}
    same = (tmp_path / "model/model.safetensors").read_bytes() == (tmp_path / "again/model.safetensors").read_bytes()
    assert same


def test_an_adapter_comes_at_a_commit_of_its_own(hub, fetch, tmp_path):
    from peft import LoraConfig, get_peft_model

    folder = publish(hub, "some/bert")
    scratch = ModelEntry.model_validate({**entry().model_dump(), "origin": {"kind": "scratch"}})
    adapted = get_peft_model(build_from_config(scratch, seed=3), LoraConfig(r=2, target_modules=["query"]))
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.constant_(weight, 0.1)
    adapted.save_pretrained(hub.root / "some/adapter")
    assert fetch(entry(adapter="some/adapter", adapter_revision="main")) == ""
    commits = {name: hub.commit(name) for name in ("some/bert", "some/adapter")}
    assert read_json(tmp_path / "model/origin.json") == commits
    name = "encoder.layer.2.attention.self.query.weight"
    merged = adapted.merge_and_unload().state_dict()[name]
    found = load_model(tmp_path / "model").state_dict()[name]
    assert torch.allclose(found, merged) and not torch.equal(found, load_file(folder / "model.safetensors")[name])


def test_a_file_that_was_cut_in_the_clients_cache_is_told(hub, fetch):
    publish(hub, "cut/bert")
    assert fetch(entry("cut/bert")) == ""
    cached = hub.root.parent / "home/hub/models--cut--bert/snapshots" / hub.commit("cut/bert") / "model.safetensors"
    whole = cached.read_bytes()
    cached.resolve().write_bytes(whole[:-1])
    said = fetch(entry("cut/bert"), "again")
    assert f"model.safetensors has {len(whole) - 1} bytes in the hub's cache and {len(whole)} on the hub" in said


@pytest.mark.parametrize(
    ("kinds", "left"),
    [({"max_shard_size": "2KB"}, "model-00002-of-"), ({}, "pytorch_model.bin")],
)  # fmt: skip
def test_shards_and_pickles_come_through(hub, fetch, tmp_path, kinds, left):
    folder = publish(hub, "some/bert", **kinds)
    if left == "pytorch_model.bin":
        torch.save(load_file(folder / "model.safetensors"), folder / left)
        (folder / "model.safetensors").unlink()
    assert any(path.name.startswith(left) for path in folder.iterdir())
    assert fetch(entry()) == ""


def without_a_layer(folder: Path) -> None:
    change_weights(folder, lambda weights: {name: one for name, one in weights.items() if "layer.1." not in name})


def under_other_names(folder: Path) -> None:
    change_weights(
        folder, lambda weights: {name.replace("encoder.layer.", "transformer.h."): one for name, one in weights.items()}
    )


def of_two_layers(folder: Path) -> None:
    config = read_json(folder / "config.json")
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2}))


def silent_about_layers(folder: Path) -> None:
    """The config does not say how many; transformers takes twelve."""
    config = read_json(folder / "config.json")
    config.pop("num_hidden_layers")
    (folder / "config.json").write_text(json.dumps(config))


def wider_than_it_says(folder: Path) -> None:
    """The config does not say how wide; transformers takes 3072, and the weights are."""
    model = build_from_config(
        ModelEntry.model_validate({
            **entry(config=NUMBERS | {"intermediate_size": 3072}).model_dump(), "origin": {"kind": "scratch"},
        })
    )  # fmt: skip
    model.save_pretrained(folder)
    config = read_json(folder / "config.json")
    config.pop("intermediate_size")
    (folder / "config.json").write_text(json.dumps(config))


def with_a_layer_more(folder: Path) -> None:
    change_weights(
        folder, lambda weights: weights | {n.replace("layer.2.", "layer.3."): w.clone() for n, w in weights.items()}
    )


def narrower(folder: Path) -> None:
    change_weights(folder, lambda weights: weights | {"pooler.dense.bias": torch.zeros(7)})


def of_many_words(folder: Path) -> None:
    (folder / "vocab.txt").write_text("\n".join([*WORDS, *(f"word{n}" for n in range(60))]) + "\n")


def of_another_kind(folder: Path) -> None:
    config = read_json(folder / "config.json")
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "electra"}))


def without_weights(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "tf_model.h5")


def cut(folder: Path) -> None:
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without_a_layer, r"lacks encoder\.layer\.1\.\S+, encoder\.layer\.1\.\S+, encoder\.layer\.1\.\S+ and 13 more"),
        (under_other_names, r"lacks encoder\.layer\.0\."),
        (of_two_layers, r"num_hidden_layers is 2 and models.yaml has 3"),
        (silent_about_layers, r"lacks encoder\.layer\.10\."),
        (wider_than_it_says, r"encoder\.layer\.0\.intermediate\.dense\.bias is 3072 there and 16 by models.yaml"),
        (with_a_layer_more, r"has weights that the entry's architecture lacks: encoder\.layer\.3\."),
        (narrower, r"has other shapes: pooler\.dense\.bias 7 in place of 8"),
        (of_many_words, r"its tokenizer has the id 72 and its embedding 60 rows"),
        (of_another_kind, r"model_type is electra, by models.yaml bert"),
        (without_weights, r"has no weights that are read here \(tf_model\.h5\)"),
        (cut, r"cannot be read"),
    ],
)
def test_another_model_than_the_entry_is_refused_in_one_line(hub, fetch, change, words):
    change(publish(hub, "some/bert"))
    said = fetch(entry())
    assert "some/bert@" in said
    assert re.search(words, said), said


def test_parts_that_an_entry_names_as_new_are_drawn_alike_each_time(hub, fetch, tmp_path):
    change_weights(publish(hub, "some/bert"), lambda w: {n: one for n, one in w.items() if "pooler" not in n})
    assert "lacks pooler.dense.bias, pooler.dense.weight; they would be drawn at random" in fetch(entry())
    assert "lacks pooler.dense.bias" in fetch(entry(new_parts=["decoder."])), "what is not named is not drawn"
    assert fetch(entry(new_parts=["pooler."]), "a") == "" and fetch(entry(new_parts=["pooler."]), "b") == ""
    assert (tmp_path / "a/model.safetensors").read_bytes() == (tmp_path / "b/model.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("repository", "token", "words"),
    [
        ("gated/bert", "", "its licence must be accepted; accept its licence on the page of gated/bert, then log in"),
        ("gated/bert", "hf_" + "x" * 34, "this login may not read it; accept its licence on the page of gated/bert"),
        ("busy/bert", "", "the hub asks to wait 600 s"),
        ("some/none", "", "there is no such repository, or it is private"),
    ],
)
def test_what_the_hub_refuses_is_told_with_the_remedy_that_fits(hub, fetch, repository, token, words):
    publish(hub, "gated/bert")
    publish(hub, "busy/bert")
    hub.gated, hub.busy = {"gated/bert"}, {"busy/bert": 600}
    said = fetch(entry(repository), **({"HF_TOKEN": token} if token else {}))
    assert words in said and "\n" not in said


def test_a_revision_that_does_not_exist_is_told(hub, fetch):
    publish(hub, "some/bert")
    assert "it has no revision nowhere; name a commit" in fetch(entry(revision="nowhere"))


def test_a_hub_that_cannot_be_reached_is_told(tmp_path):
    with Hub(tmp_path / "gone") as server:
        client = Client(server, tmp_path / "home")
    said, _ = client.ask(tmp_path, entry=entry().model_dump(mode="json"), out=str(tmp_path / "model"))
    assert "the hub cannot be reached" in said and "hf download some/bert --revision main" in said


def archive(repository: str = "some/texts", branch: str = "main") -> dict:
    return {
        "name": "texts", "version": branch, "origins": [f"hub:{repository}@{branch}"], "licence": "CC0",
        "homepage": "x",
        "files": [{"file": "data/rows.txt", "revision": f"{repository}@{branch}"}], "purpose": "x",
    }  # fmt: skip


@pytest.mark.parametrize("branch", ["main", "refs/convert/parquet"])
def test_a_file_of_a_branch_is_taken_at_one_commit_also_after_a_broken_transfer(hub, shared, tmp_path, branch):
    file = hub.root / "some/texts/data/rows.txt"
    file.parent.mkdir(parents=True)
    # Above one piece of what the client writes at once.
    file.write_bytes(b"0123456789abcdef" * (1 << 20))
    hub.breaks = {"data/rows.txt": 1}
    first = hub.commit("some/texts")
    said, (path, revision) = shared[1].ask(tmp_path, archive=archive(branch=branch))
    assert (said, revision) == ("", f"some/texts@{first}") and Path(path).read_bytes() == file.read_bytes()
    ranges = [asked for asked, _ in hub.seen if asked]
    assert ranges and ranges[0] != "bytes=0-", "it went on where it stopped"
    # Another file is taken at the same commit, though the branch has moved.
    file.write_bytes(b"moved")
    shutil.rmtree(Path(path).parent)
    said, (path, revision) = shared[1].ask(tmp_path, archive=archive(branch=branch))
    assert (said, revision) == ("", f"some/texts@{first}") and Path(path).stat().st_size == 1 << 24


@pytest.mark.parametrize(
    ("gated", "busy", "words"), [(True, 0, "its licence must be accepted"), (False, 9, "the hub asks to wait 9 s")]
)
def test_a_data_set_that_is_refused_is_told_with_the_remedy(hub, shared, tmp_path, gated, busy, words):
    file = hub.root / "some/texts/data/rows.txt"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"a row")
    hub.gated, hub.busy = ({"some/texts"} if gated else set()), ({"some/texts": busy} if busy else {})
    said, _ = shared[1].ask(tmp_path, archive=archive())
    assert words in said and "\n" not in said


def in_parquet(rows: dict[str, list], labels: list[str] | None = None, nested: bool = False):
    """A file as `datasets` writes it: which numbers have which names stands in the metadata of the schema."""

    def write(file: Path) -> None:
        told = {"names": labels, "_type": "ClassLabel"}
        feature = {"feature": told, "_type": "List"} if nested else told
        about = {b"huggingface": json.dumps({"info": {"features": {"label": feature}}})} if labels else {}
        pyarrow.parquet.write_table(pyarrow.table(rows).replace_schema_metadata(about), file)

    return write


def in_lines(*rows: dict):
    return lambda file: file.write_text("".join(json.dumps(row) + "\n" for row in rows))


NAMES = ["entailment", "not_entailment"]
ROWS = {"text": ["a", "b"], "label": [0, 1], "idx": [0, 1]}
TAGGED = {"text": [["a", "b"]], "label": [[0, 1]]}
LINE = {"text": "a", "label": 1, "label_text": "not entailment"}
GLUE = ("glue_hub", "train/0000.parquet", {"texts": ["text"], "label_names": NAMES})
WORDS_OF = ("tagged_parquet", "train/0000.parquet", {"tokens": "text", "tags": "label", "names": NAMES})
LINES = ("mteb_lines", "train.jsonl", {"texts": ["text"], "label": "label", "label_names": NAMES})


@pytest.mark.parametrize(
    ("form", "write", "words"),
    [
        (GLUE, in_parquet(ROWS, ["Entailment", "not entailment"]), ""),
        (GLUE, in_parquet(ROWS), ""),
        (GLUE, in_parquet(ROWS, ["0", "1"]), ""),
        ((*GLUE[:2], {**GLUE[2], "hub_names": ["yes", "no"]}), in_parquet(ROWS, ["Yes", "No"]), ""),
        (GLUE, in_parquet(ROWS | {"label_text": NAMES}), ""),
        (GLUE, in_parquet({"sentence": ["a"], "label": [0], "idx": [0]}, NAMES),
         "has sentence, label, idx and the entry reads text, label, idx: text is missing"),
        (GLUE, in_parquet(ROWS, NAMES[::-1]),
         "the label 0 of label is 'not_entailment' of 2 there and 'entailment' of 2 in the entry"),
        (GLUE, in_parquet(ROWS, [*NAMES, "none of both"]), "the label 2 of label is 'none of both' of 3 there"),
        (GLUE, in_parquet(ROWS, NAMES[:1]), "the label 1 of label is none of 1 there and 'not_entailment' of 2"),
        (GLUE, in_parquet(ROWS | {"label_text": NAMES[::-1]}), "the label 0 of label is 'not_entailment' there"),
        (GLUE, in_parquet({name: values[:0] for name, values in ROWS.items()}), "has no rows"),
        (WORDS_OF, in_parquet(TAGGED, NAMES, nested=True), ""),
        (WORDS_OF, in_parquet(TAGGED, NAMES[::-1], nested=True), "the label 0 of label is 'not_entailment' of 2 there"),
        (LINES, in_lines(LINE), ""),
        (LINES, in_lines({"sentence": "a", "label": 1}), "has sentence, label and the entry reads text, label: text"),
        (LINES, in_lines(LINE, LINE | {"label": 0}), "the label 0 of label is 'not entailment' there and 'entailment'"),
    ],
)  # fmt: skip
def test_another_data_set_than_the_entry_is_refused_in_one_line(hub, shared, tmp_path, form, write, words):
    reader, name, options = form
    (hub.root / "some/texts/train").mkdir(parents=True)
    write(hub.root / "some/texts" / name)
    said = read(shared[1], tmp_path, reader, name, options)
    if not words:
        assert said == ""
        return
    assert said.startswith(f"some/texts@{hub.commit('some/texts')}: {name}: "), said
    assert words in said and "correct the options of the entry" in said


def read(client: Client, folder: Path, reader: str, name: str, options: dict) -> str:
    """Fetch and read a data set of this file; the line that is told, or nothing."""
    files = [{"file": name, "split": "train"}]
    entry = {
        "name": "toy", "title": "Toy", "revision": "1", "reader": reader, "archives": ["texts"], "licence": "CC0",
        "kind": "tags" if reader == "tagged_parquet" else "single", "role": "toy", "labels": NAMES, "homepage": "x",
        "purpose": "x", "options": {"files": files, **options},
    }  # fmt: skip
    held = {**archive(), "files": [{"file": name, "revision": "some/texts@main"}]}
    held.pop("name")
    registry = folder / "datasets.yaml"
    registry.write_text(json.dumps({"archives": {"texts": held}, "corpora": {}, "tasks": {}}))
    out = folder / "rows.parquet"
    said, _ = client.ask(folder, task=entry, registry=str(registry), out=str(out))
    assert out.exists() != bool(said) and "\n" not in said and not list(folder.rglob("rows.parquet?*"))
    return said


def test_a_split_that_is_not_there_or_goes_on_is_told_with_what_is_there(hub, shared, tmp_path):
    folder = hub.root / "some/texts/train"
    folder.mkdir(parents=True)
    in_parquet(ROWS)(folder / "0000.parquet")
    in_parquet(ROWS)(folder / "0001.parquet")
    said = read(shared[1], tmp_path, *GLUE)
    assert "hub:some/texts@main: the split goes on with train/0001.parquet, which the entry does not list" in said
    (folder / "0001.parquet").unlink()
    (folder / "0000.parquet").rename(folder / "part-0.parquet")
    shutil.rmtree(tmp_path / "cache")
    said = read(shared[1], tmp_path, *GLUE)
    commit = hub.commit("some/texts")
    assert f"it has no train/0000.parquet at {commit}; nearest are train/part-0.parquet; correct the entry" in said


def test_a_data_set_is_fetched_at_the_commit_of_the_lock_file(hub, shared, tmp_path):
    folder = hub.root / "some/texts/train"
    folder.mkdir(parents=True)
    in_parquet(ROWS)(folder / "0000.parquet")
    pinned = hub.commit("some/texts")
    in_parquet(ROWS | {"text": ["moved", "on"]})(folder / "0000.parquet")
    assert hub.commit("some/texts") != pinned
    (tmp_path / "hub.lock.json").write_text(json.dumps({"datasets/some/texts@main": pinned}))
    assert read(shared[1], tmp_path, *GLUE) == ""
    assert pyarrow.parquet.read_table(tmp_path / "rows.parquet")["text"].to_pylist() == ROWS["text"]
    assert read_json(tmp_path / "cache/receipt.json")["files"][0]["revision"] == f"some/texts@{pinned}"


def test_what_has_no_room_on_the_disk_is_refused_before_it_is_fetched(hub, fetch, shared, tmp_path):
    publish(hub, "large/bert")
    (hub.root / "some/texts/data").mkdir(parents=True)
    (hub.root / "some/texts/data/rows.txt").write_text("a row")
    hub.claimed = dict.fromkeys(["model.safetensors", "data/rows.txt"], 10**18)
    said = fetch(entry("large/bert")), shared[1].ask(tmp_path, archive=archive())[0]
    assert all("needs 1000000000.0 GB" in one and "GB; free " in one for one in said)
    assert not any(path.endswith(("model.safetensors", "rows.txt")) for _, path in hub.seen)


def test_too_little_room_says_how_much_is_lacking(tmp_path):
    from reprlab.hub.answers import free_space

    assert "free 2.5 GB" in free_space(int(3e9), tmp_path, int(5e8))
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert "the disk is full" in reason(full, "some/bert", "main")
    wrapped = RuntimeError("download failed")
    wrapped.__cause__ = full
    assert "the disk is full" in reason(wrapped, "some/bert", "main")


def test_a_lock_file_takes_the_place_of_branches_in_both_registries(tmp_path):
    one, two = "1" * 40, "2" * 40
    commits = {"models/some/bert@main": one, "models/other/adapter@main": two, "datasets/some/texts@main": two}
    found = entry(adapter="other/adapter", adapter_revision="main").pinned(commits).origin
    assert (found.revision, found.adapter_revision) == (one, two)
    assert entry(revision="dev").pinned(commits).origin.revision == "dev"
    registry = DatasetRegistry(archives={"texts": archive()}, corpora={}, tasks={}).pinned(commits)
    assert registry.archives["texts"].files[0].revision == f"some/texts@{two}"
    lock = tmp_path / "hub.lock.json"
    assert read_lock(lock) == {}
    lock.write_text(json.dumps(commits))
    assert read_lock(lock) == commits
    lock.write_text(json.dumps({"models/some/bert@main": "main"}))
    with pytest.raises(ReprlabError, match="not a lock file"):
        read_lock(lock)


def test_branches_of_a_plan_are_pinned_at_what_was_fetched_and_moves_are_told(monkeypatch, tmp_path):
    from reprlab.preflight import branches

    moved, first = {}, lambda repository: hashlib.sha1(repository.encode(), usedforsecurity=False).hexdigest()
    monkeypatch.setattr("reprlab.hub.commits.ask", lambda name, *_: moved.get(name, first(name)))
    monkeypatch.setattr(branches, "ask", lambda name, *_: moved.get(name, first(name)))
    config = load_config(WORKFLOW.parent, {"scale": "paper"}, targets=["asr-adapters"])
    plan = Plan()
    load_plugin("papers", "asr_adapters.plan").add_jobs(plan, config)
    (told,) = branches.check_branches(plan, config)
    assert told.status == "note" and re.match(r"\S+@main, .* and \d+ more may move; `make pin`", told.message)
    lock, failed = branches.pin(config, plan, tmp_path, update=False)
    key = "models/facebook/wav2vec2-xls-r-300m@main"
    assert not failed and lock[key] == first("facebook/wav2vec2-xls-r-300m")
    # Fetched at the first commit, and moved since: pinned at what was fetched, unless asked anew.
    moved["facebook/wav2vec2-xls-r-300m"] = "3" * 40
    assert branches.pin(config, plan, tmp_path, update=False)[0] == lock
    assert branches.pin(config, plan, tmp_path, update=True)[0][key] == "3" * 40
    # The user commits the file beside the registries.
    shutil.copytree(WORKFLOW.parent / "config", tmp_path / "config")
    (tmp_path / "config/hub.lock.json").write_text(json.dumps(lock))
    config = replace(config, home=tmp_path)
    pinned = Plan()
    load_plugin("papers", "asr_adapters.plan").add_jobs(pinned, config)
    told = [finding for finding in branches.check_branches(pinned, config) if finding.status == "note"]
    assert [finding.subject for finding in told] == ["facebook/wav2vec2-xls-r-300m@main"]
    assert "moved to 3333" in told[0].message and lock[key] in told[0].message


def test_published_adapters_are_merged_or_refused_by_what_they_lack(tmp_path):
    """Low-rank adapters in the form in which LLM2Vec's are published: of the decoder without its output layer."""
    from peft import LoraConfig, get_peft_model
    from reprlab.models.published import _merge_adapter

    numbers = {"vocab_size": 50, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
               "num_attention_heads": 2, "num_key_value_heads": 2}  # fmt: skip
    about = {"architecture": "llama", "config": numbers, "source": "x", "tie_output": False}
    decoder = ModelEntry.model_validate({**about, "origin": {"kind": "scratch"}})
    adapted = get_peft_model(build_from_config(decoder, seed=1).base_model, LoraConfig(r=2, target_modules=["q_proj"]))
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.constant_(weight, 0.1)
    adapted.save_pretrained(tmp_path / "adapter")
    model = build_from_config(decoder, seed=1)
    before = model.model.layers[1].self_attn.q_proj.weight.clone()
    _merge_adapter(model, tmp_path / "adapter", "some/adapter@main", "some/llama")
    merged = adapted.merge_and_unload().layers[1].self_attn.q_proj.weight
    assert torch.allclose(model.model.layers[1].self_attn.q_proj.weight, merged) and not torch.equal(merged, before)
    file = tmp_path / "adapter/adapter_model.safetensors"
    weights = load_file(file)
    save_file({name: one for name, one in weights.items() if "layers.1." not in name}, file)
    with pytest.raises(ReprlabError, match=r"some/adapter@main: lacks .*layers\.1\..*lora_.*not those of some/llama"):
        _merge_adapter(build_from_config(decoder, seed=1), tmp_path / "adapter", "some/adapter@main", "some/llama")
    save_file({name.replace("layers.1.", "layers.7."): one for name, one in weights.items()}, file)
    with pytest.raises(ReprlabError, match=r"adapters for layers that are not there|lacks"):
        _merge_adapter(build_from_config(decoder, seed=1), tmp_path / "adapter", "some/adapter@main", "some/llama")
    further = {
        name.replace("layers.1.", "layers.7."): one.clone() for name, one in weights.items() if "layers.1." in name
    }
    save_file(weights | further, file)
    with pytest.raises(ReprlabError, match=r"adapters for layers that are not there: .*layers\.7\."):
        _merge_adapter(build_from_config(decoder, seed=1), tmp_path / "adapter", "some/adapter@main", "some/llama")
    save_file({name: one * 0 for name, one in weights.items()}, file)
    with pytest.raises(ReprlabError, match="change no layer of some/llama"):
        _merge_adapter(build_from_config(decoder, seed=1), tmp_path / "adapter", "some/adapter@main", "some/llama")
