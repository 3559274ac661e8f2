"""Rules of the suite itself."""

import csv
from types import SimpleNamespace

import pytest
from reprlab.config.load import load_config
from reprlab.planning.run_plan import plan_run

from tests.allowed_skips import ALLOWED
from tests.checkouts import ROOT
from tests.conftest import unexplained
from tests.workflow.faults import tally
from tests.workflow.faults.targets import (
    PAPERS,
    choices,
    data_of,
    deepest_training,
    killed_jobs,
    nano_plan,
    other_trainings,
    trained_at,
    trainings,
)


def test_a_skip_without_an_allowed_reason_is_found():
    good = SimpleNamespace(nodeid="a", longrepr=("f.py", 1, f"Skipped: {ALLOWED[0]}: apt-get failed"))
    bad = SimpleNamespace(nodeid="b", longrepr=("f.py", 1, "Skipped: no time"))
    assert unexplained([good, bad]) == ["b: Skipped: no time"]
    assert unexplained([good]) == []


def test_what_faults_ran_is_a_row_for_each_file_and_paper(tmp_path):
    made = tally.Tally(7)
    with made.test("tests/a.py::test_x[amuro-char-train]") as one:
        one.tried["kill"] += 3
        one.lost.append("x")
    with pytest.raises(ValueError, match="y"), made.test("tests/a.py::test_x[depth]"), made.trial("clock", "here"):
        raise ValueError("y")
    outcomes = [
        ("tests/a.py::test_x[amuro-char-train]", "passed", 30.0),
        ("tests/a.py::test_x[amuro-char-train]", "failed", 30.4),
        ("tests/a.py::test_x[depth]", "failed", 1.0),
        ("tests/a.py::test_y[depth]", "passed", 1.0),
    ]
    tally.add_record(tmp_path / "rows.tsv", made, outcomes, ["amuro-char", "depth"])
    with (tmp_path / "rows.tsv").open() as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    counts = [[row[name] for name in ("paper", "cases", "failed", "tried", "lost", "seconds")] for row in rows]
    assert counts == [["amuro-char", "1", "1", "3", "1", "60"], ["depth", "2", "1", "1", "1", "2"]]
    assert tally.table(rows).splitlines()[-1] == "| all | | | 3 | 2 | 4 | 2 | 1 |"
    page = f"before\n{tally.BEGIN}old\n{tally.END}after\n"
    written = tally.written(page, rows)
    assert written == tally.written(written, rows) == f"before\n{tally.BEGIN}{tally.table(rows)}{tally.END}after\n"


def test_the_tally_of_the_page_is_what_was_recorded():
    with tally.RECORD.open(encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    page = tally.PAGE.read_text(encoding="utf-8")
    assert tally.BEGIN in page and page == tally.written(page, rows)


@pytest.mark.parametrize("paper", PAPERS)
def test_what_faults_are_tried_on_is_planned_where_they_are_tried(paper):
    """A checkout of a fault test builds its paper alone: what it shall start is among its jobs, the same to a byte."""
    here = plan_run(load_config(ROOT, {"scale": "nano", "build": [paper]})).jobs
    stages = [stage for one, stage in trainings() if one == paper]
    assert stages and data_of(paper)
    for stage in stages:
        for job in killed_jobs(nano_plan(paper), stage):
            assert here[job.stage, job.key].digest == job.digest


def test_every_training_of_every_paper_is_killed_in_every_way_that_it_trains():
    assert {paper for paper, _ in trainings()} == set(PAPERS) and len(PAPERS) == 14
    # Of another paper these two are killed: event-relations trains a T5 at mini alone.
    assert set(trained_at("mini")) - set(trained_at("nano")) == {
        ("event-relations", "pretrain_lm"),
        ("event-relations", "train_tokenizer"),
    }
    for paper, stage in trainings():
        plan = nano_plan(paper)
        made = set().union(*(choices(job) for job in killed_jobs(plan, stage)))
        assert made == set().union(*(choices(job) for job in plan.jobs.values() if job.stage == stage))
    (autoencoder, *_) = killed_jobs(nano_plan("universal-features"), "train_autoencoder")
    assert ("settings.shape.encoder_start", '"atoms"') in choices(autoencoder)


@pytest.mark.parametrize("paper", PAPERS)
def test_other_settings_of_a_fault_test_are_another_training(paper):
    job = deepest_training(paper)
    edited = load_config(ROOT, {"scale": "nano", "build": [paper], "set": other_trainings(paper)})
    assert plan_run(edited).jobs[job.stage, job.key].digest != job.digest
