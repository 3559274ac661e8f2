"""Faults about a run of any paper, by its name alone: its smallest training and all that this needs, at `nano`.

`make test-faults` runs it (`-k depth` for one paper). After each fault the same command ends in the same bytes, and
nothing is made again that is right.
"""

import os
import random
import shutil
import subprocess
import time
from dataclasses import dataclass, field

import pytest
from reprlab.config.load import load_config
from reprlab.papers.planning import make_plan
from reprlab.papers.run_plan import RunPlan
from reprlab.runtime.code_digest import module_path
from reprlab.runtime.plan_file import PlannedJob

from tests.checkouts import ROOT, Checkout, copy_project
from tests.workflow.faults.engine import Run, digests, error_lines
from tests.workflow.faults.tally import Tally
from tests.workflow.faults.targets import PAPERS, ancestors, nano_plan, smallest_job, trainings

pytestmark = pytest.mark.faults


@dataclass
class Site:
    """A checkout in which the smallest training of a paper was run."""

    checkout: Checkout
    job: PlannedJob
    needed: list[PlannedJob]
    seconds: float = 0.0
    expected: dict[str, str] = field(default_factory=dict)

    @property
    def command(self) -> tuple[str, ...]:
        return ("--cores", "1", "--config", "scale=nano", "--", *self.job.outputs.values())

    def finish(self) -> str:
        """Give the command; what the engine says."""
        done = self.checkout.run(*self.command, check=False)
        output = done.stdout + done.stderr
        assert not done.returncode, error_lines(output) or output[-3000:]
        assert digests(self.checkout.nano) == self.expected
        return output

    def planned(self, *config: str) -> dict[str, int]:
        """What would run."""
        return self.checkout.planned(*self.job.outputs.values(), config=config)

    def forget(self) -> None:
        """The training is to do."""
        for path in (self.checkout.nano / name for name in self.job.outputs.values()):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


@pytest.fixture(scope="module", params=PAPERS)
def site(request, tmp_path_factory) -> Site:
    plan = nano_plan(request.param)
    jobs = [smallest_job(plan, stage) for paper, stage in trainings() if paper == request.param]
    assert jobs, f"{request.param} trains nothing at nano"
    # The deepest: it stands for the others on its way.
    job = max(jobs, key=lambda one: (len(list(ancestors(plan, one))), one.stage))
    site = Site(copy_project(tmp_path_factory.mktemp(request.param) / "project"), job, list(ancestors(plan, job)))
    site.checkout.run(*site.command)
    site.expected.update(digests(site.checkout.nano))
    site.forget()
    begun = time.monotonic()
    site.finish()
    site.seconds = time.monotonic() - begun
    return site


def attempt(tally: Tally, site: Site, fault: str) -> random.Random:
    """Count the fault, as lost until it is survived."""
    tally.tried[fault] += 1
    return random.Random(f"{tally.seed}-{fault}-{site.job.stage}")


def test_code_that_is_edited_and_undone_during_a_run_reaches_no_result(site, tally, tmp_path):
    """At any moment, also while the run is planned: then it may end in one line, and makes nothing."""
    rng = attempt(tally, site, "code edited and undone")
    site.forget()
    module = rng.choice([name for name in site.job.code if module_path(name)])
    file = site.checkout.root / "workflow" / module_path(module).relative_to(ROOT / "workflow")
    planned = file.read_text(encoding="utf-8")
    run = Run(site.checkout, *site.command, log=tmp_path / "log")
    time.sleep(rng.uniform(0, site.seconds))
    # Whoever imports this fails: a wrong value would be as bad and harder to see.
    file.write_text(planned + f"\nraise RuntimeError({module!r})\n", encoding="utf-8")
    run.wait(600)
    file.write_text(planned, encoding="utf-8")
    made = digests(site.checkout.nano)
    assert {name for name in made if made[name] != site.expected.get(name)} == set()
    site.finish()
    assert site.planned() == {}


def test_without_the_engines_records_nothing_right_is_made_again_and_nothing_else_is_taken(site, tally):
    attempt(tally, site, "engine's records lost")
    shutil.rmtree(site.checkout.nano / ".snakemake")
    assert site.planned() == {}
    # Another seed of what papers share: which jobs that changes is for the plan to say.
    other = RunPlan(make_plan(load_config(site.checkout.root, {"scale": "nano", "seed": 7})), site.checkout.root)
    before = [*site.needed, site.job]
    changed = {job.stage for job in before if other.jobs.get((job.stage, job.key), job).digest != job.digest}
    assert changed <= set(site.planned("seed=7")), "a result of another seed is taken for this one's"
    assert changed


@pytest.mark.parametrize("days", [2, -400])
def test_inputs_and_results_of_another_time(site, tally, days):
    """The checkout's own files and half of the results, dated into the future or into a distant past."""
    rng = attempt(tally, site, "clock")
    there = time.time() + days * 86400
    root = site.checkout.root
    results = [path for path in sorted((site.checkout.nano / "results").rglob("*")) if rng.random() < 0.5]
    for path in [*root.glob("resources/published/**/*"), *root.glob("config/**/*"), *results]:
        os.utime(path, (there, there))
    site.finish()
    assert site.planned() == {}
    site.forget()
    site.finish()


def test_a_copied_folder_is_finished(site, tally, tmp_path):
    """`cp -r` gives every file the date of the copy, in no order; the engine's records are left behind."""
    attempt(tally, site, "copied folder")
    root = tmp_path / "copied"
    subprocess.run(["cp", "-r", str(site.checkout.root), str(root)], check=True)
    shutil.rmtree(root / "runs/nano/.snakemake")
    copy = Checkout(root)
    assert copy.planned(*site.job.outputs.values()) == {}
    assert digests(copy.nano) == site.expected
