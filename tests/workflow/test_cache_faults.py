"""Faults of the cache and of what lies about it, for every paper: its data is the same, or is made again and said so.

`make test-faults` runs it. A paper's data are its corpora and tasks at `nano`, with their archives.
"""

import os
import random
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.checkouts import Checkout, copy_project
from tests.workflow.faults.disks import read_only
from tests.workflow.faults.engine import digests, error_lines
from tests.workflow.faults.sources import use_local_origins
from tests.workflow.faults.targets import PAPERS, data_of

pytestmark = pytest.mark.faults


@dataclass
class Site:
    """A checkout in which the data of one paper was made, with a cache of its own."""

    checkout: Checkout
    cache: Path
    targets: list[str]
    expected: dict[str, str]

    def make(self) -> str:
        """Make the data; what the user sees."""
        command = ("--cores", "2", "--config", "scale=nano", "--", *self.targets)
        done = self.checkout.run(*command, check=False, REPRLAB_CACHE=str(self.cache))
        output = done.stdout + done.stderr
        assert not done.returncode, error_lines(output) or output[-3000:]
        return output

    def forget_data(self) -> None:
        for target in self.targets:
            (self.checkout.nano / target).unlink(missing_ok=True)

    def members(self) -> list[Path]:
        return [path for path in sorted(self.cache.glob("*/members/**/*")) if path.is_file() and path.stat().st_size]

    def downloads(self) -> list[Path]:
        files = (path for path in sorted(self.cache.glob("*/*")) if path.is_file())
        return [path for path in files if path.stat().st_size and path.name != "contents.json"]


@pytest.fixture(scope="module", params=PAPERS)
def site(request, tmp_path_factory) -> Site:
    targets = data_of(request.param)
    assert targets, f"{request.param} plans no data at nano"
    folder = tmp_path_factory.mktemp(request.param)
    site = Site(copy_project(folder / "project", build=request.param), folder / "cache", targets, {})
    shared = Path(site.checkout.environment()["REPRLAB_CACHE"])
    # What the shared cache lacks comes from its origin, once.
    site.cache = shared
    site.make()
    use_local_origins(site.checkout, shared)
    site.cache = folder / "cache"
    shutil.rmtree(site.checkout.nano)
    site.make()
    site.expected.update(digests(site.checkout.nano))
    return site


def halve_members(site: Site, rng: random.Random) -> None:
    for path in site.members():
        os.truncate(path, path.stat().st_size // 2)


def edit_members(site: Site, rng: random.Random) -> None:
    """Another byte at some place, size and time kept."""
    for path in site.members():
        status, content = path.stat(), bytearray(path.read_bytes())
        content[rng.randrange(len(content))] ^= 1
        path.write_bytes(content)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def halve_downloads(site: Site, rng: random.Random) -> None:
    """With the members, which would do without the downloads."""
    for path in site.downloads():
        os.truncate(path, path.stat().st_size // 2)
    for folder in site.cache.glob("*/members"):
        shutil.rmtree(folder)


def delete_receipts(site: Site, rng: random.Random) -> None:
    shutil.rmtree(site.checkout.nano / "results/shared/archives")
    halve_members(site, rng)


def cut_notes(site: Site, rng: random.Random) -> None:
    for path in site.cache.glob("*/contents.json"):
        os.truncate(path, rng.randrange(path.stat().st_size))


def move_cache(site: Site, rng: random.Random) -> None:
    site.cache.rename(site.cache.with_name(f"moved-{rng.randrange(10**6)}"))


def copy_cache(site: Site, rng: random.Random) -> None:
    """As from a backup: other inodes and times."""
    subprocess.run(["cp", "-r", str(site.cache), str(site.cache.with_name("copy"))], check=True)
    shutil.rmtree(site.cache)
    site.cache.with_name("copy").rename(site.cache)


FAULTS: dict[Callable[[Site, random.Random], None], str] = {
    halve_members: r"warning: \S+/members/\S+: it has \d+ bytes instead of \d+; unpacked again",
    edit_members: r"warning: \S+/members/\S+: it has another content than when it was put there; unpacked again",
    halve_downloads: r"it has \d+ bytes instead of \d+; \w+ is fetched again",
    delete_receipts: r"unpacked again",
    cut_notes: "",
    move_cache: r"it is missing; \w+ is fetched again",
    copy_cache: "",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_data_is_the_same_after_a_fault_of_the_cache(site, tally, fault):
    fault(site, random.Random(f"{tally.seed}-{fault.__name__}"))
    site.forget_data()
    tally.tried[f"cache: {fault.__name__}"] += 1
    output = site.make()
    found = digests(site.checkout.nano)
    if found != site.expected:
        tally.lost.append(f"cache: {fault.__name__} in {site.checkout.root}")
    assert found == site.expected
    assert re.search(FAULTS[fault], output), output[-3000:]


def test_a_complete_cache_may_be_read_only(site, tally):
    site.forget_data()
    shutil.rmtree(site.checkout.nano / "results/shared/archives")
    copy_cache(site, random.Random(0))
    tally.tried["cache: read-only"] += 1
    with read_only(site.cache):
        site.make()
    assert digests(site.checkout.nano) == site.expected


def test_files_of_the_checkout_that_are_dated_into_the_future(site, tally):
    """The published tables and the registry: nothing is lost, and nothing is made again."""
    there = time.time() + 3 * 86400
    for path in [*site.checkout.root.glob("resources/published/**/*"), *site.checkout.root.glob("config/**/*")]:
        os.utime(path, (there, there))
    tally.tried["checkout of the future"] += 1
    assert "Nothing to be done" in site.make()
    assert digests(site.checkout.nano) == site.expected
