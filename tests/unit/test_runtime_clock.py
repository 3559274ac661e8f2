"""Results that a clock, set back since, dated into the future."""

import os
import time
from pathlib import Path

import pytest
from reprlab.runtime.clock import date_back_results
from reprlab.runtime.files import write_text
from reprlab.runtime.seals import changed_results

NAMES = ("first", "second", "third", "past")
DAY = 86400


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Three results of the next days, the third with the date of the second, and one of yesterday."""
    monkeypatch.chdir(tmp_path)
    now = time.time()
    for name, days in zip(NAMES, (1, 2, 2, -1), strict=True):
        write_text(Path(f"results/shared/{name}"), name)
        os.utime(f"results/shared/{name}", (now + days * DAY,) * 2)
    return tmp_path


def dates(run):
    return [(run / "results/shared" / name).stat().st_mtime_ns for name in NAMES]


def test_results_of_the_future_get_the_date_of_now_in_their_order(run):
    before = dates(run)
    (warning,) = date_back_results(run)
    assert f"{run / 'results'}: 3 files" in warning
    first, second, third, past = dates(run)
    assert first < second == third <= time.time_ns()
    assert first > time.time_ns() - 60 * 10**9
    assert past == before[3]
    assert date_back_results(run) == []
    assert list(changed_results(run)) == [], "their content is what it was"


def test_a_folder_and_the_mark_that_the_engine_leaves_in_it(run):
    mark = run / "results/shared/ladder/.snakemake_timestamp"
    mark.parent.mkdir()
    mark.touch()
    for path in (mark, mark.parent):
        os.utime(path, (time.time() + DAY,) * 2)
    assert ": 5 files or folders" in date_back_results(run)[0]
    assert max(mark.stat().st_mtime, mark.parent.stat().st_mtime) <= time.time()


def test_a_dry_run_changes_nothing(run):
    before = dates(run)
    assert ": 3 files" in date_back_results(run, dry=True)[0]
    assert dates(run) == before


def test_a_result_of_somebody_else_is_named(run, monkeypatch):
    def refuse(path, **keywords):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "utime", refuse)
    (warning,) = date_back_results(run)
    assert f"{run / 'results/shared/first'} cannot be dated back (Operation not permitted)" in warning


def test_another_engine_at_work_is_left_alone(run):
    locks = run / ".snakemake/locks"
    locks.mkdir(parents=True)
    (locks / "0.input.lock").touch()
    assert date_back_results(run) == []


def test_a_run_without_results(tmp_path):
    assert date_back_results(tmp_path) == []
