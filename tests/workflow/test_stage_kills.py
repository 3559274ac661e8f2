"""Every stage that trains is killed at random moments, for every paper that has it, and ends in the same bytes.

The engine is not there: what a stage leaves is held against the undisturbed stage's, byte for byte, and what stands
under the name of a result right after a kill is whole. `make test-faults` does a few; REPRLAB_STAGE_KILLS says how many
in all (docs/reliability.md has the tally of a longer run), REPRLAB_FAULTS_SEED repeats them.
"""

import functools
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checkouts import copy_project
from tests.workflow.faults.engine import half_written
from tests.workflow.faults.forked import ForkedStage
from tests.workflow.faults.targets import input_paths, making, nano_plan, smallest_job, trainings

pytestmark = pytest.mark.faults

TRAININGS = trainings()
KILLS = int(os.environ.get("REPRLAB_STAGE_KILLS", 2 * len(TRAININGS)))


@pytest.fixture(scope="module")
def run_of(tmp_path_factory) -> Callable[[str], Path]:
    """Gives the folder of a run that holds all that the trainings of a paper read, made once."""

    @functools.cache
    def made(paper: str) -> Path:
        plan = nano_plan(paper)
        jobs = [smallest_job(plan, stage) for one, stage in TRAININGS if one == paper]
        targets = {next(iter(making(plan, path).outputs.values())) for job in jobs for path in input_paths(job)}
        checkout = copy_project(tmp_path_factory.mktemp(paper) / "project")
        checkout.run("--cores", "1", "--config", "scale=nano", "--", *sorted(targets), timeout=1500)
        plan.write(checkout.nano)
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


@pytest.mark.parametrize(("paper", "name"), TRAININGS)
def test_a_stage_that_trains_survives_kills(run_of, paper, name, tally, request):
    plan, run = nano_plan(paper), run_of(paper)
    stage = ForkedStage(run, run / plan.path, smallest_job(plan, name))
    kind, tried, lost = f"kill within {name}", 0, []
    rng = random.Random(f"{tally.seed}-{request.node.name}")
    share = -(-KILLS // len(TRAININGS))
    while tried < share:
        stage.forget()
        save_every, problems = rng.choice([1, 1, 2, 500]), []
        for _ in range(rng.choice([1, 1, 2])):
            if not killed(stage, rng, save_every):
                continue
            tried += 1
            tally.tried[kind] += 1
            if path := stage.half_made():
                problems.append(f"{path} stands half made")
            if rng.random() < 0.5:
                stage.forget_outputs()
        problems += [problem for problem in [stage.finishes(save_every)] if problem]
        lost += [f"{kind} ({request.node.name}): {problem}" for problem in problems[:1]]
    tally.lost += lost
    assert lost == []
