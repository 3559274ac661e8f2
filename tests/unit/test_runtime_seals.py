"""What a power cut or a person changed is found before the engine takes it for finished."""

import json
import os
from pathlib import Path

import pytest
from reprlab.runtime.files import atomic_directory, atomic_file, write_text
from reprlab.runtime.seals import changed_results, set_changed_aside

TABLE = Path("results/depth/table.tsv")
LADDER = Path("results/shared/pretrained/toy/ladder")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run with one table and one folder."""
    monkeypatch.chdir(tmp_path)
    write_text(TABLE, "a\tb\n1\t2\n")
    with atomic_directory(LADDER) as folder:
        (folder / "step-1").mkdir()
        (folder / "step-1/weights").write_text("weights")
    return tmp_path


def test_what_was_made_holds(run):
    assert list(changed_results(run)) == []
    assert list(changed_results(run, thorough=True)) == []
    # The engine leaves a file of its own in folders.
    (LADDER / ".snakemake_timestamp").touch()
    assert list(changed_results(run)) == []


@pytest.mark.parametrize("path", [TABLE, LADDER])
def test_a_truncated_result_is_kept_aside(run, path):
    file = path / "step-1/weights" if path.is_dir() else path
    os.truncate(file, 3)
    assert list(changed_results(run)) == [path]
    (changed,) = set_changed_aside(run)
    assert changed.aside == path.with_name(path.name + ".changed-1")
    assert changed.aside.exists()
    assert not path.exists()
    assert str(path) in str(changed)
    assert set_changed_aside(run) == []


def test_an_unfinished_seal_of_a_killed_writer_goes_with_the_next_one(run):
    unfinished = run / "results/.seals/depth/.table.tsv.json.4711.part"
    unfinished.write_text("{")
    write_text(TABLE, "a\n")
    assert not unfinished.exists()
    assert list(changed_results(run)) == []


def test_a_second_edit_does_not_replace_the_first(run):
    for number in (1, 2):
        write_text(TABLE, "a\n")
        TABLE.write_text(f"edit {number}")
        (changed,) = set_changed_aside(run)
        assert changed.aside.read_text() == f"edit {number}"
    assert (TABLE.parent / "table.tsv.changed-1").read_text() == "edit 1"


def test_an_edit_of_the_same_size_and_time_needs_the_thorough_check(run):
    status = TABLE.stat()
    TABLE.write_text("a\tb\n1\t3\n")
    os.utime(TABLE, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert list(changed_results(run)) == []
    assert list(changed_results(run, thorough=True)) == [TABLE]


def test_another_time_alone_is_no_change(run):
    os.utime(TABLE, (4e9, 4e9))
    assert list(changed_results(run)) == []


def test_a_dry_run_touches_nothing(run):
    TABLE.write_text("edited")
    (found,) = set_changed_aside(run, dry=True)
    assert found.aside is None
    assert TABLE.read_text() == "edited"


def test_a_running_engine_is_left_alone(run):
    TABLE.write_text("edited")
    locks = run / ".snakemake/locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").touch()
    assert set_changed_aside(run) == []
    assert TABLE.exists()


def test_a_kill_between_two_moves_leaves_no_wrong_seal(run, monkeypatch):
    def killed(_path):
        raise KeyboardInterrupt

    monkeypatch.setattr("reprlab.runtime.files.put_seal", killed)
    with pytest.raises(KeyboardInterrupt):
        write_text(TABLE, "new")
    # The engine knows that this job did not end; the file is not reported as edited besides.
    assert list(changed_results(run)) == []


def test_a_damaged_seal_does_not_vouch(run):
    (seal,) = (run / "results/.seals/depth").glob("*.json")
    seal.write_text(json.dumps({"stamp": "x"}))
    assert list(changed_results(run)) == [TABLE]


def test_a_deleted_result_is_no_change(run):
    TABLE.unlink()
    assert list(changed_results(run)) == []


@pytest.mark.parametrize("path", ["results/work/a", "results/logs/a", "elsewhere/a", "results/shared/.ladder.part/a"])
def test_only_results_are_sealed(run, path):
    with atomic_file(Path(path)) as temporary:
        temporary.write_text("x")
    assert len(list((run / "results/.seals").rglob("*.json"))) == 2


def test_paths_outside_the_run_are_not_sealed(run, tmp_path):
    write_text(tmp_path / "results/absolute.txt", "x")
    assert not (run / "results/.seals/absolute.txt.json").exists()
