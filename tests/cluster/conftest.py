"""One Slurm for all tests of this folder."""

import pytest

from tests.checkouts import checkout, finished, finished_copy
from tests.cluster.one_node_slurm import missing_packages, one_node_slurm

__all__ = ["checkout", "finished", "finished_copy"]


@pytest.fixture(scope="session")
def slurm():
    """A one-node Slurm; skipped only where its packages cannot be had."""
    if reason := missing_packages():
        pytest.skip(f"Debian's Slurm packages cannot be had here: {reason}")
    with one_node_slurm() as running:
        yield running
