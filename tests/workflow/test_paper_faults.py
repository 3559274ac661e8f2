"""Faults about a run of any paper, by its name alone: its smallest training and all that this needs, at `nano`.

`make test-faults` runs it (`-k depth` for one paper). After each fault the same command ends in the same bytes, and
nothing is made again that is right.
"""

import os
import shutil
import subprocess
import time
from dataclasses import dataclass, field

import pytest
from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.run_plan import RunPlan
from reprlab.runtime.code_digest import module_path
from reprlab.runtime.plan_file import PlannedJob
from reprlab.runtime.seals import read_seal

from tests.checkouts import ROOT, Checkout, copy_project
from tests.workflow.faults.engine import Run, digests, error_lines
from tests.workflow.faults.targets import PAPERS, ancestors, deepest_training, nano_plan, other_trainings

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
    job = deepest_training(request.param)
    checkout = copy_project(tmp_path_factory.mktemp(request.param) / "project", build=request.param)
    site = Site(checkout, job, list(ancestors(plan, job)))
    site.checkout.run(*site.command)
    seals = {path: read_seal(path, checkout.nano) for path in job.outputs.values()}
    assert {seal and seal.made.job for seal in seals.values()} == {job.digest}, "not the training that was planned"
    site.expected.update(digests(site.checkout.nano))
    site.forget()
    begun = time.monotonic()
    site.finish()
    site.seconds = time.monotonic() - begun
    return site


def test_code_that_is_edited_and_undone_during_a_run_reaches_no_result(site, tally, tmp_path):
    """At any moment, also while the run is planned: then it may end in one line, and makes nothing."""
    with tally.trial("code edited and undone", site.job.stage) as rng:
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


def test_without_the_engines_records_nothing_right_is_made_again_and_nothing_else_is_taken(site, tally, request):
    paper = request.node.callspec.params["site"]
    with tally.trial("engine's records lost", paper):
        shutil.rmtree(site.checkout.nano / ".snakemake")
        assert site.planned() == {}
        edit = other_trainings(paper)
        other = RunPlan(make_plan(load_config(site.checkout.root, {"scale": "nano", "set": edit})), site.checkout.root)
        changed = {job.stage for job in [*site.needed, site.job] if other.job(job.stage, job.key).digest != job.digest}
        assert site.job.stage in changed
        assert changed <= set(site.planned(f"set={edit}")), "a result of other settings is taken for one of these"


@pytest.mark.parametrize("days", [2, -400])
def test_inputs_and_results_of_another_time(site, tally, days):
    """The checkout's own files and half of the results, dated into the future or into a distant past."""
    with tally.trial("clock", f"{site.job.stage} {days}") as rng:
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
    with tally.trial("copied folder", site.job.stage):
        root = tmp_path / "copied"
        subprocess.run(["cp", "-r", str(site.checkout.root), str(root)], check=True)
        shutil.rmtree(root / "runs/nano/.snakemake")
        copy = Checkout(root)
        assert copy.planned(*site.job.outputs.values()) == {}
        assert digests(copy.nano) == site.expected
