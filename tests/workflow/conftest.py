"""Checkouts to run the workflow in, for the tests of this folder."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from reprlab.config.papers import SLUGS

from tests.checkouts import blank, checkout
from tests.toy import finished, finished_copy, toy, written_toy
from tests.workflow.faults.tally import RECORD_VARIABLE, TALLY, Tally, add_record, fault_seed

FAULTS = pytest.StashKey[set[str]]()

__all__ = ["blank", "checkout", "finished", "finished_copy", "toy", "written_toy"]


@pytest.fixture
def tally(request) -> Iterator[Tally]:
    """What all fault tests of this session try and lose."""
    stash = request.config.stash
    if TALLY not in stash:
        stash[TALLY] = Tally(fault_seed())
    with stash[TALLY].test(request.node.nodeid) as tally:
        yield tally


def pytest_collection_modifyitems(config, items):
    config.stash[FAULTS] = {item.nodeid for item in items if item.get_closest_marker("faults")}


def pytest_terminal_summary(terminalreporter, config):
    """What `make test-faults` tried; no fixture can print it, for its output is captured."""
    if TALLY in config.stash:
        tally = config.stash[TALLY]
        terminalreporter.write_line(str(tally))
        for line in tally.lost:
            terminalreporter.write_line(f"lost: {line}", red=True)
        if path := os.environ.get(RECORD_VARIABLE):
            stats = terminalreporter.stats
            reports = [one for name in ("passed", "failed", "error", "") for one in stats.get(name, [])]
            names = config.stash[FAULTS]
            outcomes = [(one.nodeid, one.outcome, one.duration) for one in reports if one.nodeid in names]
            add_record(Path(path), tally, outcomes, SLUGS)
