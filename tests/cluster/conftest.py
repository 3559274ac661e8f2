"""One Slurm for all tests of this folder."""

import pytest

from tests.checkouts import Checkout, blank, checkout, made_once, private_copy
from tests.cluster.one_node_slurm import missing_packages, one_node_slurm

__all__ = ["blank", "checkout"]

# One table with all that leads to it, and the baselines of an array of jobs: a job takes ten seconds on a cluster.
TABLE = "results/depth/ni.tsv"
BASELINES = [
    f"results/shared/tasks/{task}/baselines.tsv"
    for task in ("bigbench_instructions", "movie_snippets", "subject_verb_agreement", "vitaminc")
]


@pytest.fixture(scope="session")
def slurm():
    """A one-node Slurm; skipped only where its packages cannot be had."""
    if reason := missing_packages():
        pytest.skip(f"Debian's Slurm packages cannot be had here: {reason}")
    with one_node_slurm() as running:
        yield running


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Checkout:
    """A copy in which both were made at `nano` without a cluster. Never edit it: use `finished_copy`."""
    return made_once(tmp_path_factory, "finished", TABLE, *BASELINES)


@pytest.fixture
def finished_copy(finished, tmp_path) -> Checkout:
    """A private copy of `finished`."""
    return private_copy(finished, tmp_path / "project")
