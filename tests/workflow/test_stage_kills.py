"""Every stage that trains is killed at random moments, for every paper that has it, and ends in the same bytes.

The engine is not there: what a stage leaves is held against the undisturbed stage's, byte for byte, and what stands
under the name of a result right after a kill is whole. Of each stage of a paper so many jobs are killed that every
choice of its settings and inputs at `nano` is made by one, and one with what only `mini` chooses. The first kill of a
job comes right behind a save, so that it goes on from there; REPRLAB_STAGE_KILLS says how many follow at any moment
(docs/reliability.md has the tally of a longer run), REPRLAB_FAULTS_SEED repeats them.
"""

import functools
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from reprlab.runtime.plan_file import PlannedJob, write_plan

from tests.checkouts import copy_project
from tests.workflow.faults.engine import half_written
from tests.workflow.faults.forked import ForkedStage
from tests.workflow.faults.tally import Tally
from tests.workflow.faults.targets import as_at_mini, input_paths, killed_jobs, making, nano_plan, trainings

pytestmark = pytest.mark.faults

TRAININGS = trainings()
KILLS = int(os.environ.get("REPRLAB_STAGE_KILLS", 1))


@functools.cache
def jobs_of(paper: str, stage: str) -> list[PlannedJob]:
    """The jobs to kill; that of `mini`'s choices is before the one of the same name, whose results others may read."""
    found = killed_jobs(nano_plan(paper), stage)
    return [*(job for job in [as_at_mini(paper, found[0])] if job.digest != found[0].digest), *found]


@pytest.fixture(scope="module")
def run_of(tmp_path_factory) -> Callable[[str], Path]:
    """Gives the folder of a run that holds all that the trainings of a paper read, made once."""

    @functools.cache
    def made(paper: str) -> Path:
        plan = nano_plan(paper)
        jobs = [job for one, stage in TRAININGS if one == paper for job in jobs_of(one, stage)]
        targets = {next(iter(making(plan, path).outputs.values())) for job in jobs for path in input_paths(job)}
        checkout = copy_project(tmp_path_factory.mktemp(paper) / "project", build=paper)
        checkout.run("--cores", "1", "--config", "scale=nano", "--", *sorted(targets), timeout=3000)
        return checkout.nano

    return made


def killed(stage: ForkedStage, rng: random.Random, save_every: int) -> bool:
    """Start the stage and kill it at a moment of its duration, or at the next write from then on."""
    child = stage.start(save_every)
    if child.ended(rng.uniform(0, stage.seconds)):
        return False
    if rng.random() < 0.3 and child.ended(60, until=lambda: half_written(stage.run)):
        return False
    child.kill()
    return child.status == -9


def killed_behind_a_save(stage: ForkedStage) -> bool:
    """Start the stage and kill it as soon as a resume point stands."""
    child = stage.start(save_every=1)
    assert not child.ended(600, until=stage.resume_points), f"it never saved, or ended: {stage.said[-1500:]}"
    child.kill()
    return child.status == -9


@pytest.mark.parametrize(("paper", "name"), TRAININGS)
def test_a_stage_that_trains_survives_kills(run_of, paper, name, tally, request):
    run, lost = run_of(paper), []
    for number, job in enumerate(jobs_of(paper, name)):
        path = run / f".snakemake/plans/killed-{name}-{number}.sqlite"
        write_plan(path, [job], {})
        stage = ForkedStage(run, path, job)
        rng = random.Random(f"{tally.seed}-{request.node.name}-{number}")
        for problem in problems_after_kills(stage, rng, tally):
            lost.append(f"kill within {name} ({paper}, {job.key}, {job.digest}): {problem}")
    tally.lost += lost
    assert lost == []


def problems_after_kills(stage: ForkedStage, rng: random.Random, tally: Tally) -> Iterator[str]:
    """What was lost over a kill behind a save, and over further ones at random moments."""
    kind = f"kill within {stage.job.stage}"
    if stage.resumes:
        stage.forget()
        assert killed_behind_a_save(stage), "the kill came too late"
        tally.tried[f"{kind} behind a save"] += 1
        if rng.random() < 0.5:
            stage.forget_outputs()
        yield from filter(None, [stage.half_made(), stage.finishes(save_every=1)])
        assert "resumed at step" in stage.said, f"it did not go on from its save: {stage.said[-1500:]}"
    left = KILLS
    while left > 0:
        stage.forget()
        save_every = rng.choice([1, 1, 2, 500])
        for _ in range(rng.choice([1, 1, 2])):
            if not killed(stage, rng, save_every):
                continue
            left -= 1
            tally.tried[kind] += 1
            if path := stage.half_made():
                yield f"{path} stands half made"
            if rng.random() < 0.5:
                stage.forget_outputs()
        yield from filter(None, [stage.finishes(save_every)])
