"""What the engine runs, what `make explain` says of it, and what `make verify` finds is one answer."""

import os
import re
import subprocess
import sys

import pytest

from tests.toy import BASELINES, TABLE

SCORES = BASELINES[0]
FEWER = "set=papers.toy-paper.evaluation_examples=40"


def explained(checkout, *edits: str) -> dict[str, int]:
    """Jobs by stage that `make explain` names for the table."""
    chosen = [word for edit in edits for word in ("--set", edit.removeprefix("set="))]
    command = [sys.executable, "-m", "reprlab.preflight.explain", TABLE, "--scale", "nano", *chosen]
    environment = checkout.environment() | {"PYTHONPATH": str(checkout.root / "workflow")}
    done = subprocess.run(command, cwd=checkout.root, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, int] = {}
    for stage, count in re.findall(r"^(\w+) \((\d+)\): ", done.stdout, flags=re.M):
        found[stage] = found.get(stage, 0) + int(count)
    return found


def test_a_result_edited_by_hand_is_made_again_and_said_before(finished_copy):
    file = finished_copy.nano / SCORES
    original = file.read_bytes()
    assert explained(finished_copy) == {}
    file.write_text(file.read_text() + "mine\n")
    both = {"evaluate_baselines": 1, "tabulate_paper": 1}
    assert explained(finished_copy) == finished_copy.planned(TABLE) == both
    done = finished_copy.run("--cores", "2", "--config", "scale=nano", "--", TABLE)
    assert f"kept as {SCORES}.changed-1" in done.stdout + done.stderr
    assert file.read_bytes() == original
    assert explained(finished_copy) == finished_copy.planned(TABLE) == {}


def test_what_is_missing_is_made_only_where_it_is_needed(finished_copy):
    (finished_copy.nano / SCORES).unlink()
    assert explained(finished_copy) == finished_copy.planned(TABLE) == {}
    (finished_copy.nano / TABLE).unlink()
    assert explained(finished_copy) == finished_copy.planned(TABLE) == {"evaluate_baselines": 1, "tabulate_paper": 1}


def test_an_edit_reaches_a_table_through_what_was_deleted(finished_copy):
    for path in finished_copy.nano.glob("results/shared/tasks/*/baselines.tsv"):
        path.unlink()
    found = explained(finished_copy, FEWER)
    assert found == finished_copy.planned(TABLE, config=(FEWER,))
    assert found["evaluate_baselines"] == 2 and found["tabulate_paper"] == 1


@pytest.mark.parametrize("date", [3e9, pytest.param(1e9, marks=pytest.mark.release)])
def test_dates_decide_nothing(finished_copy, date):
    """Inputs of another year, and a result that is made from them now."""
    for path in finished_copy.nano.glob("results/shared/**/*"):
        os.utime(path, (date, date))
    assert explained(finished_copy) == finished_copy.planned(TABLE) == {}
    (finished_copy.nano / TABLE).unlink()
    finished_copy.run("--cores", "1", "--config", "scale=nano", "--", TABLE)
    assert finished_copy.planned(TABLE) == {}


def test_touch_says_that_nothing_was_run_and_keeps_what_the_seals_know(finished_copy):
    """Case: `--touch` with another setting, and the way back."""
    done = finished_copy.run("--touch", "--cores", "2", "--config", "scale=nano", FEWER, "--", TABLE)
    said = done.stdout + done.stderr
    assert "--touch: nothing was run" in said and "3 jobs" in said and "jobs done" not in said
    assert finished_copy.planned(TABLE, config=(FEWER,))["evaluate_baselines"] == 2
    assert finished_copy.planned(TABLE) == {}


@pytest.mark.parametrize("preloaded", ["[]", "[nano]"])
def test_nothing_in_the_folder_of_a_run_is_imported_in_place_of_a_package(finished_copy, preloaded):
    for name in ("reprlab", "pandas", "torch", "json"):
        (finished_copy.nano / f"{name}.py").write_text(f"raise SystemExit('{name} of the run folder')\n")
    (finished_copy.nano / TABLE).unlink()
    finished_copy.run("--cores", "1", "--config", "scale=nano", f"set=runtime.preloaded={preloaded}", "--", TABLE)
    assert (finished_copy.nano / TABLE).is_file()
