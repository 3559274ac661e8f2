"""Rules of the suite itself."""

from types import SimpleNamespace

from tests.allowed_skips import ALLOWED
from tests.conftest import unexplained


def test_a_skip_without_an_allowed_reason_is_found():
    good = SimpleNamespace(nodeid="a", longrepr=("f.py", 1, f"Skipped: {ALLOWED[0]}: apt-get failed"))
    bad = SimpleNamespace(nodeid="b", longrepr=("f.py", 1, "Skipped: no time"))
    assert unexplained([good, bad]) == ["b: Skipped: no time"]
    assert unexplained([good]) == []
