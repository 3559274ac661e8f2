"""A result says which job made it: it survives without the engine's records, and is never taken for another's."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.run_plan import RunPlan

from tests.checkouts import ROOT, Checkout
from tests.toy import BASELINES, TABLE, TASKS
from tests.workflow.faults.engine import Run, digests

CODE = "workflow/reprlab/baselines/examples.py"


def test_without_the_engines_records_nothing_is_made_again_where_nothing_changed(finished_copy):
    shutil.rmtree(finished_copy.nano / ".snakemake")
    assert finished_copy.planned("all") == {}


def test_without_the_engines_records_another_setting_still_scores_again(finished_copy):
    shutil.rmtree(finished_copy.nano / ".snakemake")
    planned = finished_copy.planned("all", config=("set=papers.toy-paper.evaluation_examples=40",))
    assert planned["evaluate_baselines"] == 2 and planned["tabulate_paper"] == 1 and "build_examples" not in planned


def test_a_result_without_a_seal_was_made_by_nobody_knows_which_job(finished_copy):
    (seal,) = (finished_copy.nano / "results/.seals").glob(f"shared/tasks/{TASKS[0]}/baselines.tsv.json")
    seal.unlink()
    assert finished_copy.planned(TABLE)["evaluate_baselines"] == 1


def test_a_copied_folder_is_finished(finished, tmp_path):
    """`cp -r` gives every file the date of the copy, in no order."""
    root = tmp_path / "copied"
    subprocess.run(["cp", "-r", str(finished.root), str(root)], check=True)
    shutil.rmtree(root / "runs/nano/.snakemake")
    done = Checkout(root).run("--cores", "1", "--config", "scale=nano", "--", "all")
    assert "Nothing to be done" in done.stdout + done.stderr


def test_code_edited_and_undone_during_a_run_reaches_no_result(finished, finished_copy, tmp_path):
    """The second scoring starts while the code is another; what it makes is what the planned code makes."""
    logs = [finished_copy.nano / f"results/logs/evaluate_baselines/{task}.log" for task in TASKS]
    for path in [*logs, *(finished_copy.nano / name for name in BASELINES)]:
        path.unlink()
    run = Run(finished_copy, "--cores", "1", "--config", "scale=nano", "--", *BASELINES, log=tmp_path / "log")
    assert run.wait_until(lambda: any(path.exists() for path in logs)), run.output
    file = finished_copy.root / CODE
    planned = file.read_text()
    # Whoever imports this fails: a wrong value would be as bad and harder to see.
    file.write_text(f"raise RuntimeError({CODE!r})\n")
    assert run.wait(300) == 0, run.output
    file.write_text(planned)
    expected, found = digests(finished.nano), digests(finished_copy.nano)
    assert set(BASELINES) <= set(found)
    assert {name for name in found if found[name] != expected.get(name)} == set()
    assert finished_copy.planned(*BASELINES) == {}


def test_the_largest_job_of_a_large_plan_starts_by_a_short_command(tmp_path):
    """Ten seeds at paper scale: settings longer than the 131,072 bytes that Linux takes for an argument."""
    seeds = f"papers.depth.pretraining.seeds={list(range(10))}"
    config = load_config(ROOT, {"scale": "paper", "set": seeds, "build": ["depth"]})
    plan = RunPlan(make_plan(replace(config, papers={"depth": config.papers["depth"]})), ROOT)
    plan.write(tmp_path)
    largest = max(plan.jobs.values(), key=lambda job: len(repr((job.inputs, job.settings))))
    assert len(repr(largest.settings)) > 131_072
    arguments = ["-m", f"reprlab.stages.{largest.stage}", "--plan", str(plan.path), "--job", largest.key, "--show"]
    assert len(" ".join(arguments)) < 300
    shown = subprocess.run(
        [sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "workflow")},
    )  # fmt: skip
    assert json.loads(shown.stdout)["digest"] == largest.digest
