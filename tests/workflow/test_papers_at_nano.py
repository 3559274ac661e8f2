"""Every paper at `nano`: its part of the shared run, and the engine's answer to an edit beside that of two plans."""

import functools
import re
import shutil
import subprocess

import pytest
from reprlab.config.load import leaves, load_config
from reprlab.planning.reruns import needed_jobs
from reprlab.runtime.errors import ReprlabError

from tests.checkouts import ROOT, Checkout
from tests.nano import MADE, SECRET, all_edits, holders_of_the_secret, part_of
from tests.plans import plan_of, rerun_jobs
from tests.workflow.faults.engine import failing_stage

pytestmark = pytest.mark.reads(*MADE)
# What a dry run prints of a job's command.
JOB = re.compile(r"reprlab\.stages\.(\w+) --plan \S+ --job (\S+)")


def engine_plans(made, *edits: str) -> set[tuple[str, str]]:
    """Stage and key of the jobs of a dry run for the targets of every paper."""
    given = "; ".join([all_edits(), *edits])
    targets = [target for slug in MADE for target in part_of(slug).targets]
    done = made.run("--dry-run", "--printshellcmds", "--cores", "2", "--config", "scale=nano", f"set={given}", "--",
                    *targets)  # fmt: skip
    return set(JOB.findall(done.stdout + done.stderr))


@functools.cache
def edit_of(slug: str) -> str:
    """The first number of the paper, halved, on which several stages of its part depend and others do not."""
    part = part_of(slug)
    known = {value for edit in part.edits.split("; ") for value in [edit.partition("=")[0]]}
    whole = {job.stage for job in needed_jobs(plan_of(slug, part.edits), part.targets)}
    for path, value in leaves(load_config(ROOT, {"scale": "nano"}).papers[slug].model_dump(mode="json")):
        name = ".".join(("papers", slug, *path))
        if not isinstance(value, float) or not value or name in known:
            continue
        try:
            stages = {stage for stage, _ in rerun_jobs(slug, part.edits, f"{name}={value / 2}", *part.targets)}
        except ReprlabError:
            continue
        if 3 <= len(stages) < len(whole):
            return f"{name}={value / 2}"
    raise AssertionError(f"{slug}: no number on which some stages depend")


def test_what_was_made_is_not_made_again(made):
    assert engine_plans(made) == set()


def test_the_engine_and_two_plans_agree_on_what_an_edit_reruns(made):
    """One edit of each paper, all in one dry run; what an edit reruns alone is tested with each paper."""
    expected = {
        job for slug in MADE for job in rerun_jobs(slug, part_of(slug).edits, edit_of(slug), *part_of(slug).targets)
    }
    assert engine_plans(made, *map(edit_of, MADE)) == expected


@pytest.mark.parametrize("slug", MADE)
def test_a_paper_is_made_from_nothing_but_downloads(made, slug):
    """Its targets are there, and tables have rows."""
    for target in part_of(slug).targets:
        path = made.nano / target
        assert path.exists()
        if path.suffix == ".tsv":
            assert len(path.read_text(encoding="utf-8").splitlines()) > 1


def test_a_missing_model_folder_is_named(made, tmp_path):
    """All that the job reads lies there but the checkpoints; links, so that the shared run stays whole."""
    checkout, plan = Checkout(tmp_path), plan_of("depth")
    subprocess.run(["cp", "-as", str(made.nano / "results/shared"), str(tmp_path)], check=True)
    checkout.nano.joinpath("results").mkdir(parents=True)
    (tmp_path / "shared").rename(checkout.nano / "results/shared")
    plan.write(checkout.nano)
    job = next(plan.job("evaluate_lm", key) for key in plan.keys("evaluate_lm") if "t5_fs" in key)
    shutil.rmtree(checkout.nano / job.inputs["after"][0])
    line = failing_stage(checkout, "evaluate_lm", "--plan", str(plan.path), "--job", job.key, "--into", "elsewhere",
                 source=ROOT)  # fmt: skip
    assert job.inputs["after"][0] in line
    assert not list((checkout.nano / "elsewhere").rglob("*.tsv"))


def test_a_key_in_the_environment_is_written_nowhere(made):
    """By no stage of any paper: the shared run has a key in each variable that a client reads."""
    assert holders_of_the_secret(made.root) == []
    assert SECRET not in made.root.with_name("nano.output").read_text(encoding="utf-8")
