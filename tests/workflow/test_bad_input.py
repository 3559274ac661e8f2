"""Bad input and bad places: one clear line on the terminal, an exit status, nothing lost or half written.

On the toy paper; what a reader, a setting or a disk says is tested without an engine in the unit tests.
"""

import contextlib
import json
import os
import re
import shutil
from itertools import pairwise
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
import yaml

from tests.checkouts import ROOT, Checkout, copy_project
from tests.nano import KEYS, SECRET, holders_of_the_secret
from tests.toy import ARCHIVE, EXAMPLES, RECEIPT, TABLE
from tests.workflow.faults.disks import read_only, small_disk
from tests.workflow.faults.engine import digests, error_lines, failing_stage, half_written

NANO = ("--cores", "1", "--config", "scale=nano", "--")


def refused(checkout: Checkout, *arguments: str, naming: str, **variables: str) -> str:
    """Run a command that must fail with one line of ours that matches `naming`; returns that line."""
    before = digests(checkout.nano)
    done = checkout.run(*arguments, check=False, timeout=300, **variables)
    output = done.stdout + done.stderr
    assert done.returncode != 0
    lines = list(dict.fromkeys(error_lines(output)))
    assert len(lines) == 1, output
    assert re.search(naming, lines[0]), lines[0]
    assert "Traceback (most recent call last)" not in output
    assert half_written(checkout.nano) == []
    after = digests(checkout.nano)
    assert {name for name, digest in before.items() if after.get(name) != digest} == set(), "something was lost"
    assert str(ROOT) not in lines[0]
    return lines[0]


def archive_file(cache: Path, checkout: Checkout) -> Path:
    registry = yaml.safe_load((checkout.root / "config/datasets.yaml").read_text(encoding="utf-8"))
    file = registry["archives"][ARCHIVE]["files"][0]
    return cache / file["sha256"] / Path(file["file"]).name


def edit_registry(checkout: Checkout, change) -> None:
    path = checkout.root / "config/datasets.yaml"
    registry = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(registry)
    path.write_text(yaml.safe_dump(registry), encoding="utf-8")


@pytest.fixture
def cache(tmp_path, finished) -> Path:
    """A cache of its own with one archive in it."""
    shared = Path(finished.environment()["REPRLAB_CACHE"])
    source = archive_file(shared, finished)
    shutil.copytree(source.parent, tmp_path / "cache" / source.parent.name)
    shutil.rmtree(tmp_path / "cache" / source.parent.name / "members", ignore_errors=True)
    return tmp_path / "cache"


# Downloads


# What goes before a release only: the same promise once more, of which a unit test has the other half.
def _release(*values: str) -> list:
    return [pytest.param(value, marks=pytest.mark.release) for value in values]


@pytest.mark.parametrize("damage", ["truncated", *_release("corrupted")])
def test_a_damaged_archive_is_refused_and_named(toy, cache, damage):
    """With no origin to fetch it from again (that it is fetched again where one is left: test_data_archives.py)."""
    path = archive_file(cache, toy)
    content = path.read_bytes()
    path.write_bytes(content[:-1000] if damage == "truncated" else content[:500] + b"x" * 20 + content[520:])
    edit_registry(toy, lambda registry: registry["archives"][ARCHIVE].update(origins=["local:/nowhere"]))
    line = refused(toy, *NANO, RECEIPT, naming=rf"{ARCHIVE}: {re.escape(path.name)} could not be fetched",
                   REPRLAB_CACHE=str(cache))  # fmt: skip
    assert "/nowhere" in line
    assert not (toy.nano / RECEIPT).exists()


@pytest.mark.parametrize("damage", ["corrupted", *_release("truncated")])
def test_a_damaged_archive_with_an_origin_costs_nothing(toy, cache, damage, tmp_path):
    path = archive_file(cache, toy)
    content = path.read_bytes()
    (tmp_path / path.name).write_bytes(content)
    path.write_bytes(content[:-1000] if damage == "truncated" else content[:500] + b"x" * 20 + content[520:])
    origins = [f"local:{tmp_path / path.name}"]
    edit_registry(toy, lambda registry: registry["archives"][ARCHIVE].update(origins=origins))
    done = toy.run(*NANO, RECEIPT, REPRLAB_CACHE=str(cache))
    assert "deleted and fetched again" in done.stdout + done.stderr
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "origin",
    [
        "pypi:no-such-package==1.0",
        *_release("github:no-such-owner/nothing@" + "0" * 40, "npm:@no-such-owner/nothing@1.0.0"),
    ],
)
def test_an_origin_that_cannot_be_reached_is_named(toy, tmp_path, origin):
    edit_registry(toy, lambda registry: registry["archives"][ARCHIVE].update(origins=[origin]))
    # Nothing listens on the discard port, so no network is asked.
    nowhere = "http://127.0.0.1:9"
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY", "PIP_INDEX_URL", "PIP_PROXY"), nowhere)
    pip = {"PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull, "PIP_EXTRA_INDEX_URL": ""}
    npm = {"npm_config_registry": nowhere, "npm_config_fetch_retries": "0"}
    variables = {**proxies, **pip, **npm, "no_proxy": "", "NO_PROXY": "", "REPRLAB_CACHE": str(tmp_path / "cache")}
    naming = f"{ARCHIVE}: .* could not be fetched: {re.escape(origin)}: "
    line = refused(toy, *NANO, RECEIPT, naming=naming, **variables)
    assert len(line) < 1000


# Settings and targets


@pytest.mark.parametrize(
    ("config", "naming"),
    [
        (("scale=nano", "sead=1"), r"sead = 1 \(command line\): unknown key; did you mean 'seed'\?"),
        (("scale=nano", "set=papers.toy-paper.dataset=[vader]"), r"dataset = .*did you mean 'datasets'\?"),
        (("scale=nano", "run=$(touch x)"), r"run = .*touch x"),
        (("scale=nano", "set=papers.toy-paper.datasets=[a|touch x]"), r"datasets\.0 = .*touch x"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_settings_is_refused_before_anything_runs(toy, config, naming):
    refused(toy, "--cores", "1", "--config", *config, "--", RECEIPT, naming=naming)
    assert not (toy.root / "runs").exists()
    assert not (toy.root / "results").exists()
    assert list(toy.root.rglob("x")) == []


@pytest.mark.parametrize("way", ["--configfile", "--config"])
def test_a_file_of_settings_that_stands_for_gigabytes_is_refused(toy, tmp_path, way):
    """Nine lists of nine, each of those before: 9**8 values. The engine's own reader follows no alias of a list."""
    mine = tmp_path / "mine.yaml"
    lines = [f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in pairwise("abcdefgh")]
    mine.write_text("\n".join(["a: &a [x]", *lines]), encoding="utf-8")
    given = str(mine) if way == "--configfile" else f"settings={mine}"
    refused(toy, "--cores", "1", way, given, "--", RECEIPT, naming=r"mine\.yaml, line 1: YAML aliases are not")


def test_a_mapping_of_settings_that_contains_itself_is_refused(toy, tmp_path):
    """By the workflow; of a `--configfile` the engine makes a traceback of its own before it reads the workflow."""
    mine = tmp_path / "mine.yaml"
    mine.write_text("a: &a {b: *a}\n", encoding="utf-8")
    target = ("--", RECEIPT)
    refused(toy, "--cores", "1", "--config", f"settings={mine}", *target, naming=r"mine\.yaml, line 1: YAML aliases")
    assert toy.run("--cores", "1", "--configfile", str(mine), *target, check=False).returncode != 0
    assert not (toy.root / "runs").exists()
    assert not (toy.root / "results").exists()


def test_a_table_that_is_not_planned_names_those_that_are(toy):
    line = refused(toy, *NANO, "results/toy-paper/tabel1.tsv", naming=r"results/toy-paper/tabel1\.tsv")
    assert f"did you mean '{TABLE}'?" in line


def test_a_target_that_no_rule_makes_is_named(toy):
    done = toy.run(*NANO, "results/nothing.xyz", check=False)
    assert done.returncode != 0
    assert "error: results/nothing.xyz: no such target" in done.stderr
    assert "Traceback" not in done.stderr


# Disks


@pytest.mark.parametrize("place", ["results", *_release(".")])
def test_a_read_only_folder_is_named(finished_copy, place):
    (finished_copy.nano / EXAMPLES).unlink()
    with read_only(finished_copy.nano / place):
        naming = r"runs/nano/results: cannot be written \(Read-only file system\)"
        refused(finished_copy, *NANO, EXAMPLES, naming=naming)
    finished_copy.run(*NANO, EXAMPLES)


def test_a_full_disk_is_named_and_the_same_command_goes_on(finished_copy, finished):
    """The disk has room for the engine's own notes, not for the examples."""
    run, target = finished_copy.nano, EXAMPLES
    size = (run / target).stat().st_size
    (run / target).unlink()
    used = sum(path.stat().st_blocks * 512 for path in run.rglob("*")) / 2**20
    with small_disk(run, used + 1.0):
        filler = run / "filler"
        handle = os.open(filler, os.O_WRONLY | os.O_CREAT)
        with contextlib.suppress(OSError):
            while True:
                os.write(handle, bytes(4096))
        os.close(handle)
        # Half of what the output needs, so that it is not the first byte that fails.
        with filler.open("r+b") as handle:
            handle.truncate(filler.stat().st_size - max(size // 2, 8192) - 65536)
        done = finished_copy.run(*NANO, target, check=False, timeout=300)
        filler.unlink()
    output = done.stdout + done.stderr
    assert done.returncode != 0
    assert any(
        "the disk is full; free some space and run the same command again" in line for line in error_lines(output)
    )
    assert "Traceback" not in output
    assert half_written(run) == []
    finished_copy.run(*NANO, target)
    assert digests(run, target) == digests(finished.nano, target)


# Content


def local_corpus(checkout: Checkout, content: bytes, folder: Path) -> None:
    """A corpus `mine` with one document a line, out of a file of the user's."""
    import hashlib

    path = folder / "mine.txt"
    path.write_bytes(content)
    file = {"file": path.name, "sha256": hashlib.sha256(content).hexdigest(), "bytes": max(len(content), 1)}
    archive = {
        "version": "1", "origins": [f"local:{path}"], "files": [file], "licence": "mine", "homepage": "none",
        "purpose": "test",
    }  # fmt: skip
    corpus = {
        "title": "Mine", "revision": "1", "reader": "text_lines", "archives": ["mine"], "licence": "mine",
        "options": {"members": ["mine.txt"]}, "homepage": "none", "purpose": "test",
    }  # fmt: skip

    def add(registry):
        registry["archives"]["mine"] = archive
        registry["corpora"]["mine"] = corpus

    edit_registry(checkout, add)


CORPUS = ("--cores", "1", "--config", "scale=nano", "set=papers.depth.data.corpus=mine", "--")
DOCUMENTS = "results/shared/corpora/mine/documents.parquet"


def test_a_text_that_cannot_be_used_is_named(checkout, tmp_path):
    local_corpus(checkout, b"A line.\nAnother \xff\xfe line.\n", tmp_path)
    naming = r"mine\.txt: byte 16 is not utf-8"
    refused(checkout, *CORPUS, DOCUMENTS, naming=naming, REPRLAB_CACHE=str(tmp_path / "cache"))
    assert not (checkout.nano / DOCUMENTS).exists()


def test_a_checkout_that_python_cannot_import_from_is_refused(tmp_path):
    """PYTHONPATH cannot hold a colon: the jobs would run the code of an installed copy."""
    refused(
        copy_project(tmp_path / "lab:2"), "--dry-run", *NANO, RECEIPT, naming=r"lab:2: Python cannot import .* move"
    )


def test_documents_with_no_sentence_are_named(finished_copy):
    path = finished_copy.nano / "empty.parquet"
    columns = {name: pyarrow.array([""], pyarrow.string()) for name in ("id", "text", "source")}
    pyarrow.parquet.write_table(pyarrow.table({**columns, "split": ["train"]}), path)
    settings = json.dumps({"splitter": "punkt_trained", "passages": "window", "passage_words": 40})
    line = failing_stage(finished_copy, "segment_documents", "--documents", "empty.parquet", "--settings", settings,
                 "--out", "sentences.parquet")  # fmt: skip
    assert "check the corpus and its train split" in line
    assert not (finished_copy.nano / "sentences.parquet").exists()


@pytest.mark.parametrize("damage", ["truncated", "edited", *_release("empty", "text")])
def test_a_damaged_table_is_named(finished_copy, damage):
    """By the stage that reads it; the engine would not let it come to that (test_faults)."""
    path = finished_copy.nano / EXAMPLES
    content = path.read_bytes()
    if damage == "edited":
        table = pyarrow.parquet.read_table(path)
        pyarrow.parquet.write_table(table.drop_columns(["label"]), path)
    else:
        path.write_bytes({"truncated": content[: len(content) // 2], "empty": b"", "text": b"a,b\n"}[damage])
    settings = {
        "baselines": ["majority"], "eval_limit": 4, "metrics": ["accuracy"], "resamples": 10, "seed": 0,
        "splits": ["validation"], "train_limit": 8,
    }  # fmt: skip
    options = ("--examples", EXAMPLES, "--settings", json.dumps(settings), "--out", "baselines.tsv")
    line = failing_stage(finished_copy, "evaluate_baselines", *options)
    assert EXAMPLES in line
    assert "again" in line
    assert not (finished_copy.nano / "baselines.tsv").exists()


# Secrets


def test_a_key_in_the_environment_is_written_nowhere_by_what_fails(toy):
    """Whose traceback goes to the log, with debug logs on the terminal."""
    edit_registry(toy, lambda registry: registry["archives"][ARCHIVE].update(origins=["local:/nowhere"]))
    config = ("--config", "scale=nano", "set=runtime.log_level=debug", "--")
    variables = {**KEYS, "REPRLAB_CACHE": str(toy.root / "cache")}
    failed = toy.run("--cores", "1", *config, RECEIPT, check=False, **variables)
    assert failed.returncode != 0 and SECRET not in failed.stdout + failed.stderr
    assert holders_of_the_secret(toy.root) == []
