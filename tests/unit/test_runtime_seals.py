"""What a result was when it was made is in its seal: its content, its job, its inputs, packages and threads."""

import json
import os
import shutil
from pathlib import Path

import pytest
from reprlab.runtime.files import atomic_directory, atomic_file, write_text
from reprlab.runtime.plan_file import PlannedJob
from reprlab.runtime.result_checks import check_results
from reprlab.runtime.seals import Making, read_seal, sealed_results, sign_results, sources, stamp_of
from reprlab.runtime.stale import Results, contents
from reprlab.runtime.versions import versions_of

TABLE = "results/depth/table.tsv"
LADDER = "results/shared/pretrained/toy/ladder"
TRAIN = PlannedJob("pretrain_lm", "toy", outputs={"out": LADDER}, settings={"steps": 1})
TABULATE = PlannedJob("tabulate_paper", "depth/table", inputs={"inputs": [LADDER]}, outputs={"out": TABLE})
SEALS = Path("results/.seals")


def train(weights: str = "weights", job: PlannedJob = TRAIN, **making) -> None:
    sign_results(Making(job.digest, "plan.sqlite", contents(job, Path()), **making))
    with atomic_directory(Path(LADDER)) as folder:
        (folder / "step-1").mkdir()
        (folder / "step-1/weights").write_text(weights)


def tabulate(text: str = "a\tb\n1\t2\n", **making) -> None:
    sign_results(Making(TABULATE.digest, "plan.sqlite", contents(TABULATE, Path()), **making))
    write_text(Path(TABLE), text)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run with a folder, and a table that was made from it."""
    monkeypatch.chdir(tmp_path)
    train()
    tabulate()
    yield tmp_path
    sign_results(Making())


def stale(run: Path, *jobs: PlannedJob, thorough: bool = False) -> list[tuple[str, str, str]]:
    results = Results(run, thorough=thorough)
    return [(one.path, one.kind, one.source) for job in jobs or (TRAIN, TABULATE) for one in results.of_job(job)]


def test_what_was_made_holds(run):
    assert stale(run) == [] and stale(run, thorough=True) == []
    assert read_seal(TABLE, run).made.inputs == {LADDER: read_seal(LADDER, run).sha256}
    assert list(map(str, sealed_results(run))) == [TABLE, LADDER]


@pytest.mark.parametrize("path", [TABLE, LADDER])
def test_a_truncated_result_is_stale_and_kept_aside(run, path):
    file = run / path / "step-1/weights" if path == LADDER else run / path
    os.truncate(file, 3)
    assert stale(run)[0] == (path, "edited", "")
    checked = check_results([TRAIN, TABULATE], run)
    assert ("pretrain_lm", "toy") in checked.stale or path == TABLE
    assert not (run / path).exists() and (run / f"{path}.changed-1").exists()
    assert any(f"{path}: changed since" in note and f"{path}.changed-1" in note for note in checked.notes)
    assert read_seal(path, run) is None


def test_an_edited_input_makes_what_was_made_from_it_stale_too(run):
    (run / LADDER / "step-1/weights").write_text("Weights")
    assert stale(run) == [(LADDER, "edited", ""), (TABLE, "other input", LADDER)]


def test_another_model_with_its_own_seal_makes_its_scores_stale(run, tmp_path):
    """Copied from another machine: the same job, other bytes."""
    seal = SEALS / "shared/pretrained/toy/ladder.json"
    here = tmp_path / "here"
    shutil.copytree(run / LADDER, here)
    kept = seal.read_text()
    train("other weights")
    assert read_seal(LADDER, run).made.job == TRAIN.digest
    assert stale(run) == [(TABLE, "other input", LADDER)] == stale(run, thorough=True)
    tabulate()
    assert stale(run) == []
    # And back.
    shutil.rmtree(run / LADDER)
    shutil.copytree(here, run / LADDER)
    seal.write_text(kept)
    assert stale(run) == [(TABLE, "other input", LADDER)]


def test_the_same_bytes_made_again_leave_what_was_made_from_them(run):
    train()
    assert stale(run) == []


def test_what_was_deleted_since_makes_nothing_stale(run):
    shutil.rmtree(run / LADDER)
    assert stale(run) == []
    (run / TABLE).unlink()
    assert stale(run) == []


def test_another_job_is_found_whatever_the_content(run):
    other = PlannedJob("pretrain_lm", "toy", outputs={"out": LADDER}, settings={"steps": 2})
    assert stale(run, other, TABULATE) == [(LADDER, "other job", "")]
    assert check_results([other, TABULATE], run).stale == {("pretrain_lm", "toy"): [LADDER]}
    assert (run / LADDER).exists()


def test_a_result_without_a_seal_was_made_by_nobody_knows_which_job(run):
    (SEALS / "depth/table.tsv.json").unlink()
    assert stale(run) == [(TABLE, "unsealed", "")]


@pytest.mark.parametrize("text", ["{", "[]", '{"stamp": "x"}', '{"sha256": "0", "stamp": "x", "job": "0"}'])
def test_a_damaged_seal_does_not_vouch(run, text):
    (SEALS / "depth/table.tsv.json").write_text(text)
    assert stale(run) == [(TABLE, "unsealed", "")]


def test_an_edit_of_the_same_size_and_date_is_found(run):
    status = (run / TABLE).stat()
    (run / TABLE).write_text("a\tb\n1\t3\n")
    os.utime(run / TABLE, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert stale(run) == [(TABLE, "edited", "")]


def test_damage_that_no_date_tells_is_found_by_reading(run):
    """Of a disk, which changes no date: the stamp is that of the damaged file."""
    (run / TABLE).write_text("a\tb\n1\t3\n")
    place = SEALS / "depth/table.tsv.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "stamp": stamp_of(run / TABLE)}))
    assert stale(run) == []
    assert stale(run, thorough=True) == [(TABLE, "edited", "")]


def test_dates_decide_nothing_and_what_was_read_once_is_not_read_again(run, monkeypatch):
    os.utime(run / TABLE, (4e9, 4e9))
    for file in (run / LADDER).rglob("*"):
        os.utime(file, (1e9, 1e9))
    assert stale(run) == []
    assert (run / TABLE).stat().st_mtime == 4e9, "no date is given back either"
    monkeypatch.setattr("reprlab.runtime.stale.content_digest", lambda path: "read")
    assert stale(run) == []


def test_a_second_edit_does_not_replace_the_first(run):
    for number in (1, 2):
        tabulate()
        (run / TABLE).write_text(f"edit {number}")
        check_results([TABULATE], run)
        assert (run / f"{TABLE}.changed-{number}").read_text() == f"edit {number}"
    assert (run / f"{TABLE}.changed-1").read_text() == "edit 1"


def test_a_dry_run_moves_nothing_and_finds_the_same(run):
    (run / TABLE).write_text("edited")
    dry = check_results([TRAIN, TABULATE], run, dry=True)
    assert (run / TABLE).read_text() == "edited" and "keeps it under another name" in dry.notes[0]
    assert dry.stale == check_results([TRAIN, TABULATE], run).stale == {("tabulate_paper", "depth/table"): [TABLE]}


def test_a_running_engine_is_left_alone(run):
    (run / TABLE).write_text("edited")
    locks = run / ".snakemake/locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").touch()
    assert check_results([TABULATE], run).stale
    assert (run / TABLE).exists()


def test_a_kill_between_two_moves_leaves_no_wrong_seal(run, monkeypatch):
    def killed(_path):
        raise KeyboardInterrupt

    monkeypatch.setattr("reprlab.runtime.files.put_seal", killed)
    with pytest.raises(KeyboardInterrupt):
        write_text(Path(TABLE), "new")
    assert stale(run) == [(TABLE, "unsealed", "")]


def test_an_unfinished_seal_of_a_killed_writer_goes_with_the_next_one(run):
    unfinished = SEALS / "depth/.table.tsv.json.4711.part"
    unfinished.write_text("{")
    tabulate()
    assert not unfinished.exists() and stale(run) == []


def test_a_seal_that_was_replaced_while_its_result_was_read_stays(run, monkeypatch):
    """A dry run reads a copied result while a stage makes it anew."""
    os.utime(run / TABLE, (4e9, 4e9))

    def replaced(path):
        tabulate("new\n")
        return "whatever was read"

    monkeypatch.setattr("reprlab.runtime.stale.content_digest", replaced)
    stale(run)
    monkeypatch.undo()
    monkeypatch.chdir(run)
    assert stale(run) == []


def test_threads_and_versions_are_in_the_seal_and_a_run_says_what_others_made(run):
    installed = versions_of(["torch", "jiwer"])
    train(versions={**installed, "torch": "1.0.0"}, threads=2)
    tabulate(versions=installed, threads=1)
    assert (read_seal(LADDER, run).made.threads, read_seal(TABLE, run).made.threads) == (2, 1)
    checked = check_results([TRAIN, TABULATE], run)
    assert checked.stale == {}
    now = installed["torch"]
    assert checked.notes == [f"1 job with results here ran with torch 1.0.0 (now {now}); they are kept"]
    assert sources([TABLE], run)[LADDER].made.versions["torch"] == "1.0.0"


@pytest.mark.parametrize("path", ["results/work/a", "results/logs/a", "elsewhere/a", "results/shared/.ladder.part/a"])
def test_only_results_are_sealed(run, path):
    with atomic_file(Path(path)) as temporary:
        temporary.write_text("x")
    assert len(list(SEALS.rglob("*.json"))) == 2


def test_paths_outside_the_run_are_not_sealed(run, tmp_path):
    write_text(tmp_path / "results/absolute.txt", "x")
    assert not (SEALS / "absolute.txt.json").exists()
