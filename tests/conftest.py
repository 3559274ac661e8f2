"""For every test: skips must have an allowed reason, and the run ends with the counts of passed, skipped and slow."""

import gc
import logging
import signal

import pytest
from hypothesis import settings
from reprlab.runtime.log import get_logger

from tests.allowed_skips import ALLOWED
from tests.nano import _nano_in_background, made, uses_nano

__all__ = ["_nano_in_background", "made"]

# A busy machine is not a defect of what is tested.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

_KEY = pytest.StashKey[dict[str, int]]()


def pytest_configure(config):
    # A shell starts what it puts in the background deaf to SIGINT, and programs inherit that, every engine here too.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[_KEY] = {"slow": 0, "faults": 0, "cluster": 0, "release": 0}


def pytest_collection_modifyitems(items):
    """Files that take long first, so that no worker is left alone with one at the end; last what waits for `nano`."""
    waiting = {item.path for item in items if uses_nano(item)}
    items.sort(key=lambda item: (item.path in waiting, "workflow" not in item.path.parts))


def pytest_collection_finish():
    # Thousands of tests and what they import stay to the end: a quarter of the time of a plan went into looking for
    # garbage among them.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.fixture
def fresh(tmp_path):
    """A new folder at each call."""
    made = []

    def folder():
        made.append(tmp_path / str(len(made)))
        made[-1].mkdir()
        return made[-1]

    return folder


@pytest.fixture
def one_thread():
    """PyTorch on one thread: numbers are then those of the order of sums, bit by bit."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def pytest_deselected(items):
    for item in items:
        counts = item.config.stash[_KEY]
        for marker in counts:
            counts[marker] += item.get_closest_marker(marker) is not None


def _reason(report) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)


def unexplained(reports) -> list[str]:
    """Skips whose reason is not in the list, each with its test."""
    return [
        f"{report.nodeid}: {_reason(report)}"
        for report in reports
        if not any(reason in _reason(report) for reason in ALLOWED)
    ]


def _give_back(logger: logging.Logger) -> None:
    logger.setLevel(logging.NOTSET)
    logger.propagate = True
    logger.handlers.clear()


@pytest.fixture(autouse=True)
def log_of_nobody():
    """A stage that ran in this process took the log over; a test that reads it must not find it so."""
    _give_back(get_logger())
    yield
    _give_back(get_logger())


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    # Every worker of xdist collects, and leaves out, the same tests.
    counts = node.config.stash[_KEY]
    for marker, count in getattr(node, "workeroutput", {}).get("left_out", {}).items():
        counts[marker] = max(counts[marker], count)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash[_KEY])
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and exitstatus == 0 and unexplained(reporter.stats.get("skipped", [])):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    stats = terminalreporter.stats
    for line in unexplained(stats.get("skipped", [])):
        terminalreporter.write_line(f"skipped without an allowed reason (tests/allowed_skips.py): {line}", red=True)
    left = ", ".join(f"{count} {marker} left out" for marker, count in config.stash[_KEY].items())
    passed, skipped = len(stats.get("passed", [])), len(stats.get("skipped", []))
    terminalreporter.write_line(f"counts: {passed} passed, {skipped} skipped; {left}")
