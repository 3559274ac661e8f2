"""Atomic output: whole or not at all."""

import errno
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reprlab.artifacts.json_files import read_json, write_json
from reprlab.artifacts.tables import read_parquet, read_tsv, write_parquet
from reprlab.registry.models import load_models
from reprlab.representations.files import read_layer
from reprlab.runtime import files
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_directory, atomic_file, write_text
from reprlab.settings.yaml_text import read_texts, read_with_anchors
from reprlab.text.parquet_batches import read_batches


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path):
    target = tmp_path / "a.txt"
    write_text(target, "old")
    with pytest.raises(ValueError), atomic_file(target) as temporary:
        temporary.write_text("half")
        raise ValueError
    assert target.read_text() == "old"
    assert leftovers(tmp_path) == ["a.txt"]


def test_the_file_appears_only_at_the_end(tmp_path):
    target = tmp_path / "deep" / "a.txt"
    with atomic_file(target) as temporary:
        temporary.write_text("new")
        assert not target.exists()
        assert temporary.parent == target.parent
    assert target.read_text() == "new"


@pytest.mark.parametrize("name", ["a.txt", "model", "a[1].tsv"])
def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path, name):
    source = (
        "import os, signal, sys; from pathlib import Path; from reprlab.runtime import files\n"
        f"write = files.atomic_file if {'.' in name} else files.atomic_directory\n"
        f"with write(Path({str(tmp_path / name)!r})) as temporary: os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", source], env=environment, check=False)
    (left,) = leftovers(tmp_path)
    assert ".part" in left
    (tmp_path / f".{name}.backup").write_text("another's")
    with atomic_file(tmp_path / name) if "." in name else atomic_directory(tmp_path / name):
        pass
    assert leftovers(tmp_path) == sorted([name, f".{name}.backup"])


def test_a_directory_is_replaced_whole(tmp_path):
    target = tmp_path / "model"
    for content in ("one", "two"):
        with atomic_directory(target) as temporary:
            (temporary / content).write_text(content)
    assert leftovers(target) == ["two"]
    assert leftovers(tmp_path) == ["model"]


def test_a_failed_directory_leaves_the_old_one(tmp_path):
    target = tmp_path / "model"
    with atomic_directory(target) as temporary:
        (temporary / "one").write_text("one")
    with pytest.raises(RuntimeError), atomic_directory(target) as temporary:
        (temporary / "two").write_text("two")
        raise RuntimeError
    assert leftovers(target) == ["one"]
    assert leftovers(tmp_path) == ["model"]


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "disk is full"), (errno.EROFS, "cannot be written"), (errno.EACCES, "cannot be written")],
)
def test_system_errors_become_one_line_with_the_path(tmp_path, number, words):
    target = tmp_path / "a.txt"
    with pytest.raises(ReprlabError) as raised, atomic_file(target):
        raise OSError(number, os.strerror(number))
    message = str(raised.value)
    assert words in message and str(target) in message and "\n" not in message
    assert leftovers(tmp_path) == []


def test_permissions_follow_the_umask(tmp_path):
    mask = os.umask(0o027)
    try:
        write_text(tmp_path / "a", "x")
    finally:
        os.umask(mask)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_equal_values_are_equal_bytes(tmp_path):
    write_json(tmp_path / "a", {"b": 1, "a": 0.1})
    write_json(tmp_path / "b", {"a": 0.1, "b": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe"])
def test_unreadable_json_names_the_file(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(ReprlabError, match="not valid JSON"):
        read_json(path)


def test_truncated_parquet_names_the_file(tmp_path):
    path = tmp_path / "a.parquet"
    write_parquet(path, pa.table({"x": list(range(1000))}))
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(ReprlabError, match="not readable as Parquet"):
        read_parquet(path)
    with pytest.raises(ReprlabError, match="no such file"):
        read_parquet(tmp_path / "none.parquet")


@pytest.mark.parametrize(
    "short", [pa.ArrowMemoryError("malloc of size 64 failed"), OSError(errno.ENOMEM, "Cannot allocate memory")]
)
def test_a_whole_file_is_not_called_damaged_where_memory_is_short(tmp_path, monkeypatch, short):
    path = tmp_path / "a.parquet"
    write_parquet(path, pa.table({"x": [1]}))

    def fails(*_, **__):
        raise short

    monkeypatch.setattr("pyarrow.parquet.read_table", fails)
    with pytest.raises(MemoryError):
        read_parquet(path)
    monkeypatch.setattr("numpy.load", fails)
    with pytest.raises(MemoryError):
        read_layer(path)


def test_too_many_open_files_are_none_of_the_file(tmp_path, monkeypatch):
    def fails(*_, **__):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("pyarrow.parquet.read_table", fails)
    with pytest.raises(OSError, match="Too many open files"):
        read_parquet(tmp_path / "a.parquet")


@pytest.mark.parametrize("depth", [21, 300, 3_000])
def test_a_registry_that_is_nested_deeply_is_one_line(tmp_path, depth):
    path = tmp_path / "models.yaml"
    path.write_text("a: " + "[" * depth + "]" * depth)
    for read in (load_models, read_texts, read_with_anchors):
        with pytest.raises(ReprlabError, match="nested too deeply"):
            read(path)


def test_names_and_statistics_that_are_no_text_are_named(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"zzzz": ["qqqq"] * 3}), path, store_schema=False, use_dictionary=False)
    written = path.read_bytes()
    path.write_bytes(written.replace(b"zzzz", b"\x80zzz"))
    with pytest.raises(ReprlabError, match="not readable as Parquet"):
        read_parquet(path)
    with pytest.raises(ReprlabError, match="not readable as Parquet"):
        list(read_batches(path, ["zzzz"], 2))


def test_missing_and_empty_tables_are_reported(tmp_path):
    with pytest.raises(ReprlabError, match="no such file"):
        read_tsv(tmp_path / "none.tsv")
    (tmp_path / "empty.tsv").write_text("")
    with pytest.raises(ReprlabError, match="not a readable TSV"):
        read_tsv(tmp_path / "empty.tsv")


def test_replacing_a_directory_flushes_it_first(tmp_path, monkeypatch):
    order = []
    monkeypatch.setattr(files, "_sync_tree", lambda folder: order.append("sync"))
    real = os.replace
    monkeypatch.setattr(files.os, "replace", lambda a, b: (order.append("rename"), real(a, b)))
    with atomic_directory(tmp_path / "model") as temporary:
        (temporary / "x").write_text("x")
    assert order == ["sync", "rename"]


def test_a_folder_whose_removal_is_killed_is_gone_from_its_name(tmp_path, monkeypatch):
    def killed(path, **_):
        (path / "work/ladder").unlink()
        raise KeyboardInterrupt

    work = tmp_path / "work"
    work.mkdir()
    for name in ("ladder", "resume"):
        (work / name).touch()
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(files.shutil, "rmtree", killed)
        files.remove_directory(work)
    assert not work.exists()
    work.mkdir()
    files.remove_directory(work)
    files.remove_directory(work)
    assert list(tmp_path.iterdir()) == []
