"""The workflow used from another folder: `--directory`, a config there, as a module of another workflow, its report."""

import shutil
import zipfile
from pathlib import Path

import pytest
from reprlab.planning.stages import STAGES

from tests.toy import RECEIPT, SLUG, TABLE, Checkout

# The view of a run is a plugin, which the engine looks for before it reads the Snakefile.
PLUGIN = {"PYTHONPATH": str(Path(__file__).parents[2] / "workflow")}


@pytest.fixture
def elsewhere(toy, tmp_path) -> Checkout:
    """A folder of the user's, and the command line that is given there."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    found = Checkout(folder)
    found.workflow = toy.root / "workflow/Snakefile"
    return found


def test_a_directory_of_ones_own_holds_the_runs(elsewhere, toy):
    arguments = ("--snakefile", str(toy.root / "Snakefile"), "--directory", str(elsewhere.root))
    elsewhere.run(*arguments, "--cores", "1", "--config", "scale=nano", "--", RECEIPT)
    assert (elsewhere.nano / RECEIPT).is_file()
    assert not toy.nano.exists()


def test_everything_is_planned_where_nothing_is_asked_for(toy):
    planned = toy.planned()
    assert planned["write_report"] == 1
    assert planned == toy.planned("all")


def test_a_config_of_ones_own_holds_there(elsewhere, toy):
    shutil.copytree(toy.root / "config", elsewhere.root / "config")
    config = elsewhere.root / "config/config.yaml"
    config.write_text(config.read_text().replace("scale: mini", "scale: nano").replace("run: null", "run: ours"))
    snakefile = str(toy.root / "Snakefile")
    done = elsewhere.run("--snakefile", snakefile, "--directory", ".", "--cores", "1", "--", RECEIPT, **PLUGIN)
    assert "runs/ours/results" in done.stderr
    assert (elsewhere.root / "runs/ours" / RECEIPT).is_file()


def test_another_workflow_uses_this_one_as_a_module(elsewhere):
    (elsewhere.root / "Snakefile").write_text(
        f"""
module reprlab:
    snakefile: "{elsewhere.workflow}"
    config: {{"scale": "nano"}}
use rule * from reprlab
rule ours:
    default_target: True
    input: "runs/nano/{RECEIPT}", "own.txt"
    output: "lines.txt"
    shell: "wc -l {{input}} > {{output}}"
"""
    )
    (elsewhere.root / "own.txt").write_text("a file beside the workflow that uses ours\n")
    elsewhere.run("--cores", "1")
    assert (elsewhere.nano / RECEIPT).is_file() and (elsewhere.root / "lines.txt").is_file()
    again = elsewhere.run("--cores", "1")
    assert "Nothing to be done" in again.stderr


def test_rules_with_a_prefix_run_and_downloads_stay_local(elsewhere):
    (elsewhere.root / "Snakefile").write_text(
        f"""
module reprlab:
    snakefile: "{elsewhere.workflow}"
    config: {{"scale": "nano", "build": ["{SLUG}"]}}
use rule * from reprlab as reprlab_*
print("LOCAL", *sorted(workflow._localrules), "END")
"""
    )
    done = elsewhere.run("--cores", "1", "--", f"runs/nano/{RECEIPT}")
    assert (elsewhere.nano / RECEIPT).is_file()
    assert "warning" not in done.stderr.lower() and "localrules" not in done.stderr
    local = done.stdout.partition("LOCAL ")[2].partition(" END")[0].split()
    assert local == sorted(f"reprlab_{stage.name}" for stage in STAGES.values() if stage.local)


def test_the_engines_report_shows_results_with_captions(finished_copy, tmp_path):
    finished_copy.run("--report", str(tmp_path / "report.zip"), "--config", "scale=nano", "--", TABLE)
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        page = archive.read("report/report.html").decode()
        assert any(name.endswith("/table1.tsv") for name in archive.namelist())
    assert "stands beside its trivial baseline" in page and '"labels": {"result": "table1"}' in page
