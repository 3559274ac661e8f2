"""The cache: what is read from it is what was put there, wherever it moved and whatever happened to it."""

import logging
import os
import shutil
from pathlib import Path

import pytest
import yaml
from data_fixtures import entry_for, make_tgz
from reprlab.data import cache as module
from reprlab.data.archives import Archive
from reprlab.data.cache import CachedFile
from reprlab.registry.dataset_entries import ArchiveEntry, ArchiveFile
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.fetch_archive import fetch_archive

from tests.workflow.faults.disks import read_only

MEMBERS = {"a.txt": b"first and more\n" * 9, "sub/b.txt": b"second\n", "sub/c.txt": b"third\n"}
PINNED = "0" * 40


class Site:
    """A registry with one archive, its origin, a cache, and a receipt."""

    def __init__(self, folder: Path, entry: ArchiveEntry) -> None:
        self.registry, self.cache, self.receipt = folder / "datasets.yaml", folder / "cache", folder / "receipt.json"
        self.entry = entry
        archive = entry.model_dump(mode="json", exclude_none=True, exclude={"name"})
        self.registry.write_text(yaml.safe_dump({"archives": {entry.name: archive}, "corpora": {}, "tasks": {}}))
        self.fetch()

    def fetch(self) -> None:
        fetch_archive(archive="sample", registry=self.registry, cache=self.cache, receipt=self.receipt)

    def open(self, registry: bool = True) -> Archive:
        return Archive.open(self.cache, self.receipt, self.registry if registry else None)

    @property
    def folder(self) -> Path:
        return self.cache / self.entry.files[0].digest


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, entry_for(make_tgz(tmp_path / "a.tgz", MEMBERS), ["a.txt", "sub/*"]))


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.WARNING, logger="reprlab")
    return lambda: [record.getMessage() for record in caplog.records]


def halve(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def edit(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"s", b"z"))


def edit_in_the_past(path: Path) -> None:
    """Same size and time: only the inode's own time tells."""
    status = path.stat()
    edit(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("damage", [halve, edit, edit_in_the_past, Path.unlink])
def test_a_damaged_member_is_unpacked_again(site: Site, warnings, damage) -> None:
    damage(site.folder / "members/sub/b.txt")
    assert [path.read_bytes() for path in site.open().members("sub/*")] == [b"second\n", b"third\n"]
    (line,) = warnings()
    assert "members/sub/b.txt: it " in line and line.endswith("; unpacked again")
    assert site.open().member("a.txt").read_bytes() == MEMBERS["a.txt"]
    assert len(warnings()) == 1


def test_members_are_unpacked_again_in_one_pass(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[list[str]] = []
    extract = module.extract

    def counted(archive: Path, patterns: list[str], folder: Path, limit: int):
        passes.append(patterns)
        return extract(archive, patterns, folder, limit)

    monkeypatch.setattr(module, "extract", counted)
    shutil.rmtree(site.folder / "members")
    (site.folder / "contents.json").unlink()
    archive = site.open()
    assert archive.member("a.txt").is_file() and len(archive.members("sub/*")) == 2
    assert passes == [["a.txt", "sub/*"]]


def test_a_name_that_a_pattern_brought_is_there(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "extract", None)
    assert site.open().member("sub/b.txt").read_bytes() == b"second\n"


def test_what_lies_beside_the_members_is_not_read(site: Site) -> None:
    (site.folder / "members/sub/z.txt").write_text("planted")
    assert [path.name for path in site.open().members("sub/*")] == ["b.txt", "c.txt"]


def test_a_file_is_hashed_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    sha256_of = module.sha256_of

    def counted(path: Path) -> str:
        hashed.append(path.name)
        return sha256_of(path)

    monkeypatch.setattr(module, "sha256_of", counted)
    site.open().members("sub/*")
    site.open().file()
    assert hashed == []
    shutil.copytree(site.cache, site.cache.with_name("copy"))
    shutil.rmtree(site.cache)
    site.cache.with_name("copy").rename(site.cache)
    for _ in range(2):
        site.open().members("sub/*")
        site.open().file()
    assert sorted(hashed) == ["a.tgz", "b.txt", "c.txt"]


@pytest.mark.parametrize("loss", ["cache", "download", "half of the download", "notes", "cut notes"])
def test_a_cache_that_was_cleaned_or_damaged_fills_itself(site: Site, warnings, loss: str) -> None:
    match loss:
        case "cache":
            shutil.rmtree(site.cache)
        case "download":
            (site.folder / "a.tgz").unlink()
        case "half of the download":
            halve(site.folder / "a.tgz")
        case "notes":
            (site.folder / "contents.json").unlink()
        case "cut notes":
            halve(site.folder / "contents.json")
    before = site.receipt.read_bytes()
    archive = site.open()
    assert archive.member("a.txt").read_bytes() == MEMBERS["a.txt"]
    assert archive.file().read_bytes() == (site.registry.parent / "a.tgz").read_bytes()
    assert site.receipt.read_bytes() == before
    assert any("is fetched again" in line for line in warnings()) == (loss not in ("notes", "cut notes"))


def test_a_cache_that_cannot_fill_itself_says_why(site: Site) -> None:
    shutil.rmtree(site.cache)
    with pytest.raises(ReprlabError, match=r"a\.tgz: it is missing; delete the receipt of sample"):
        site.open(registry=False).member("a.txt")
    (site.registry.parent / "a.tgz").unlink()
    with pytest.raises(ReprlabError, match=r"it is missing, and fetching it again failed: sample: a\.tgz could"):
        site.open().member("a.txt")


def test_a_complete_cache_may_be_read_only(site: Site) -> None:
    shutil.copytree(site.cache, site.cache.with_name("copy"))
    shutil.rmtree(site.cache)
    site.cache.with_name("copy").rename(site.cache)
    (site.registry.parent / "a.tgz").unlink()
    with read_only(site.cache):
        site.fetch()
        assert [path.read_bytes() for path in site.open().members("sub/*")] == [b"second\n", b"third\n"]
        assert site.open().file().is_file()
        os.truncate(site.receipt, 0)
        site.fetch()
        with pytest.raises(ReprlabError, match=r"cannot be written|Read-only"):
            site.open().members("*.txt")


# Files of which the registry knows no digest


@pytest.fixture
def pinned(tmp_path: Path) -> Site:
    """Plain files of a repository at a commit, one of them named by a list."""
    origin = tmp_path / "origin"
    (origin / "tasks").mkdir(parents=True)
    (origin / "list.txt").write_text("one\n")
    (origin / "tasks/one.json").write_text('{"a": 1}\n' * 100)
    entry = entry_for(origin / "list.txt", [], [f"local:{origin}"], listed="tasks/{}.json")
    files = [ArchiveFile(file="list.txt", revision=PINNED)]
    return Site(tmp_path, entry.model_copy(update={"files": files}))


def test_what_came_first_is_held(pinned: Site) -> None:
    """Cut off in the cache, it is fetched again; cut off at its origin, it is refused."""
    whole = pinned.open().file("tasks/one.json").read_bytes()
    assert '"received"' in pinned.receipt.read_text()
    halve(pinned.open().file("tasks/one.json"))
    assert pinned.open().file("tasks/one.json").read_bytes() == whole
    halve(pinned.registry.parent / "origin/tasks/one.json")
    halve(pinned.open().file("tasks/one.json"))
    with pytest.raises(ReprlabError, match=r"one\.json could not be fetched: .* 450 bytes instead of 900; refused"):
        pinned.open().file("tasks/one.json")


def test_what_came_first_is_held_also_when_the_cache_is_lost(pinned: Site) -> None:
    shutil.rmtree(pinned.cache)
    (pinned.registry.parent / "origin/tasks/one.json").write_text('{"a": 2}\n' * 100)
    with pytest.raises(ReprlabError, match=r"its sha256 is \w+ instead of \w+, also after .* delete .*the receipt"):
        pinned.open().file("tasks/one.json")


def test_a_member_of_a_plain_file_is_the_file(pinned: Site) -> None:
    assert pinned.open().member("list.txt").read_text() == "one\n"
    with pytest.raises(ReprlabError, match=r"list\.txt: is not an archive"):
        pinned.open().member("other.txt")


def test_locks_of_one_process_do_not_wait_for_each_other(site: Site) -> None:
    cached = CachedFile(site.cache, site.entry.files[0])
    with cached.lock(), cached.lock():
        assert not cached.problem()
