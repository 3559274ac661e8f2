"""The rehearsal of scale `paper` on the hub of this machine, in one process: every class of jobs works."""

import csv
import json
import os
import subprocess
import sys

import pytest
from reprlab.config.papers import SLUGS
from reprlab.preflight.rehearse import local_hub

from tests.checkouts import ROOT


@pytest.fixture(scope="module")
def rehearse(tmp_path_factory):
    """Runs `tests.rehearsed` with the hub; what became of each job, and the folder of the run."""
    # All papers have one folder, as for the user, who makes what they share once.
    with local_hub(ROOT, tmp_path_factory.mktemp("rehearsal")) as hub:

        def run(*asked: str):
            out = hub.home / "outcomes.jsonl"
            code = [sys.executable, "-m", "tests.rehearsed", "--home", str(hub.home), "--out", str(out), *asked]
            # The clients read where the hub is when they are imported.
            environment = {
                **os.environ,
                **hub.environment,
                "PYTHONPATH": os.pathsep.join([f"{ROOT}/workflow", str(ROOT)]),
            }
            done = subprocess.run(code, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr[-3000:]
            return [json.loads(line) for line in out.read_text().splitlines()], hub.home / "runs/rehearsal/results"

        yield run


def failed(outcomes) -> list[str]:
    return [f"{one['stage']} {one['key']}: {one['error']}\n{one['trace']}" for one in outcomes if one["error"]]


def test_a_job_of_each_stage_and_architecture_works(rehearse) -> None:
    """With all that they read. Some stages read nearly everything of a paper; they are run before a release."""
    outcomes, _ = rehearse("--first")
    assert not (found := failed(outcomes)), "\n".join(found)
    assert len({one["stage"] for one in outcomes}) > 60


@pytest.mark.release
@pytest.mark.parametrize("slug", SLUGS)
def test_every_class_of_a_paper_works(rehearse, slug: str) -> None:
    outcomes, results = rehearse("--paper", slug)
    assert outcomes and not (found := failed(outcomes)), "\n".join(found)
    scales = set()
    # Costs are those of the published scale.
    for path in {*(results / slug).glob("*.tsv")} - {results / slug / "cost.tsv"}:
        with path.open(encoding="utf-8", newline="") as handle:
            scales |= {row["scale"] for row in csv.DictReader(handle, delimiter="\t") if "scale" in row}
    assert scales == {"rehearsal"}
