"""Checkouts to run the workflow in, for the tests of this folder."""

import pytest

from tests.checkouts import blank, checkout
from tests.toy import finished, finished_copy, toy, written_toy
from tests.workflow.faults.tally import TALLY, Tally, fault_seed

__all__ = ["blank", "checkout", "finished", "finished_copy", "toy", "written_toy"]


@pytest.fixture(scope="session")
def tally(request) -> Tally:
    """What all fault tests of this session try and lose."""
    return request.config.stash.setdefault(TALLY, Tally(fault_seed()))


def pytest_terminal_summary(terminalreporter, config):
    """What `make test-faults` tried; no fixture can print it, for its output is captured."""
    if TALLY in config.stash:
        tally = config.stash[TALLY]
        terminalreporter.write_line(str(tally))
        for line in tally.lost:
            terminalreporter.write_line(f"lost: {line}", red=True)
