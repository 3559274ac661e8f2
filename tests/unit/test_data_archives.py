"""Archives: hostile, broken and honest ones; the cache, its locks and its origins."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from data_fixtures import entry_for, link, make_deb, make_tgz, make_zip, opened
from reprlab.data import cache as data_cache
from reprlab.data import extraction, origins
from reprlab.data.archives import Archive
from reprlab.data.cache import git_blob_of
from reprlab.data.downloads import obtain, write_receipt
from reprlab.data.extraction import extract
from reprlab.data.origins import github, pypi
from reprlab.data.origins.client import require
from reprlab.data.origins.errors import OriginError
from reprlab.registry.dataset_entries import ArchiveFile
from reprlab.runtime.errors import ReprlabError

LIMIT = 1000
MAKERS = {
    "zip": (make_zip, "a.zip"),
    "wheel": (make_zip, "a.whl"),
    "npm": (make_tgz, "a.tgz"),
    "deb": (make_deb, "a.deb"),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_only_wanted_members_are_written(tmp_path: Path, kind: str) -> None:
    make, name = MAKERS[kind]
    archive = make(tmp_path / name, {"top/a.txt": b"A", "top/sub/b.txt": b"B", "top/c.bin": b"C"})
    extract(archive, ["top/*.txt"], tmp_path / "out", LIMIT)
    written = {
        path.relative_to(tmp_path / "out").as_posix(): path.read_bytes() for path in (tmp_path / "out").rglob("*.*")
    }
    assert written == {"top/a.txt": b"A", "top/sub/b.txt": b"B"}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("name", ["../evil.txt", "/evil.txt", "a/../../evil.txt"])
def test_a_path_out_of_the_folder_is_refused(tmp_path: Path, kind: str, name: str) -> None:
    make, file = MAKERS[kind]
    archive = make(tmp_path / file, {name: b"x", "good.txt": b"y"})
    with pytest.raises(ReprlabError, match="outside its folder"):
        extract(archive, ["*.txt"], tmp_path / "out", LIMIT)
    assert not (tmp_path / "evil.txt").exists()
    assert not Path("/evil.txt").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    archive = make_tgz(tmp_path / "a.tgz", {"x.txt": link("x.txt", kind)})
    with pytest.raises(ReprlabError, match=r"is a (link|device), not a file"):
        extract(archive, ["x.txt"], tmp_path / "out", LIMIT)
    assert not (tmp_path / "out" / "x.txt").exists()


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    import zipfile

    info = zipfile.ZipInfo("x.txt")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(ReprlabError, match="is a link"):
        extract(tmp_path / "a.zip", ["x.txt"], tmp_path / "out", LIMIT)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_huge_member_is_refused(tmp_path: Path, kind: str) -> None:
    make, name = MAKERS[kind]
    archive = make(tmp_path / name, {"big.txt": b"0" * (LIMIT + 1)})
    with pytest.raises(ReprlabError, match="limit of 1000"):
        extract(archive, ["big.txt"], tmp_path / "out", LIMIT)
    assert not (tmp_path / "out" / "big.txt").exists()


def test_a_member_larger_than_it_says_is_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"big.txt": b"0" * 5000})
    content = bytearray(archive.read_bytes())
    place = content.rindex(b"PK\x01\x02")
    content[place + 24 : place + 28] = (10).to_bytes(4, "little")
    archive.write_bytes(content)
    with pytest.raises(ReprlabError):
        extract(archive, ["big.txt"], tmp_path / "out", LIMIT)
    assert not (tmp_path / "out" / "big.txt").exists()


@pytest.mark.parametrize("kind", MAKERS)
def test_a_truncated_archive_is_one_line(tmp_path: Path, kind: str) -> None:
    make, name = MAKERS[kind]
    archive = make(tmp_path / name, {"a.txt": bytes(range(256)) * 3})
    archive.write_bytes(archive.read_bytes()[:-120])
    with pytest.raises(ReprlabError) as caught:
        extract(archive, ["a.txt"], tmp_path / "out", LIMIT)
    assert str(archive) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.deb"])
def test_rubbish_is_not_an_archive(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"this is not an archive of any kind" * 10)
    with pytest.raises(ReprlabError, match=r"broken archive|not a Debian package"):
        extract(tmp_path / name, ["a.txt"], tmp_path / "out", LIMIT)


def test_a_missing_member_is_named(tmp_path: Path) -> None:
    archive = make_tgz(tmp_path / "a.tgz", {"a.txt": b"A"})
    with pytest.raises(ReprlabError, match=r"'b\.txt' \(1 of 2 wanted"):
        extract(archive, ["a.txt", "b.txt"], tmp_path / "out", LIMIT)


def test_a_deb_in_zstd_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ReprlabError, match="dpkg-deb"):
        extract(make_deb(tmp_path / "a.deb", {}, "data.tar.zst"), ["a"], tmp_path / "out", LIMIT)


def test_a_tar_in_a_tar(tmp_path: Path) -> None:
    inner = make_tgz(tmp_path / "inner.tar.gz", {"in/x.txt": b"X"}).read_bytes()
    archive = make_tgz(tmp_path / "outer.tar.gz", {"data/inner.tar.gz": inner})
    member = opened(archive, tmp_path / "cache").member("data/inner.tar.gz!in/x.txt")
    assert member.read_bytes() == b"X"


@pytest.mark.parametrize("kind", MAKERS)
def test_members_that_are_large_together_are_refused(tmp_path: Path, kind: str) -> None:
    make, name = MAKERS[kind]
    archive = make(tmp_path / name, {f"{number}.txt": b"0" * (LIMIT - 1) for number in range(9)})
    with pytest.raises(ReprlabError, match="unpack to more than 8 times the limit of 1000"):
        extract(archive, ["*.txt"], tmp_path / "out", LIMIT)


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "_MOST_MEMBERS", 3)
    archive = make_tgz(tmp_path / "a.tgz", {f"{number}.txt": b"" for number in range(4)})
    with pytest.raises(ReprlabError, match="more than 3 members match"):
        extract(archive, ["*.txt"], tmp_path / "out", LIMIT)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("pattern", ["a/b.txt", "a/*"])
def test_of_members_with_the_same_path_the_first_counts(tmp_path: Path, kind: str, pattern: str) -> None:
    make, name = MAKERS[kind]
    members = [("a/b.txt", b"first"), ("./a//b.txt", b"other spelling"), ("a/b.txt", b"last"), ("a/c.txt", b"c")]
    written = extract(make(tmp_path / name, members), [pattern], tmp_path / "out", LIMIT)
    assert (tmp_path / "out/a/b.txt").read_bytes() == b"first"
    assert written["a/b.txt"].bytes == 5


def test_a_compression_that_python_lacks_is_named(tmp_path: Path) -> None:
    """Deflate64, which other programs write for large files; a member that nobody wants may have it."""
    archive = make_zip(tmp_path / "a.zip", {"big.txt": b"x", "small.txt": b"y"})
    content = bytearray(archive.read_bytes())
    local, central = content.index(b"PK\x03\x04"), content.index(b"PK\x01\x02")
    content[local + 8 : local + 10] = content[central + 10 : central + 12] = (9).to_bytes(2, "little")
    archive.write_bytes(content)
    assert set(extract(archive, ["small.txt"], tmp_path / "out", LIMIT)) == {"small.txt"}
    with pytest.raises(ReprlabError, match=r"a\.zip: cannot be unpacked .*big\.txt. is compressed by deflate64"):
        extract(archive, ["big.txt"], tmp_path / "out", LIMIT)


def test_fetch_verifies_and_unpacks(tmp_path: Path) -> None:
    archive = make_tgz(tmp_path / "a.tgz", {"a.txt": b"A", "b.txt": b"B"})
    entry = entry_for(archive, ["a.txt"])
    cache = tmp_path / "cache"
    cached = obtain(entry, entry.files[0], cache)
    cached.ensure(entry.members, entry.member_limit)
    path = cached.path
    assert path == cache / entry.files[0].digest / "a.tgz"
    assert (path.parent / "members" / "a.txt").read_bytes() == b"A"
    assert not (path.parent / "members" / "b.txt").exists()
    write_receipt(entry, [cached], tmp_path / "receipt.json")
    assert Archive.open(cache, tmp_path / "receipt.json").member("b.txt").read_bytes() == b"B"


def test_a_wrong_sha256_is_refused_and_deleted_and_the_next_origin_tried(tmp_path: Path) -> None:
    archive = make_tgz(tmp_path / "a.tgz", {"a.txt": b"A"})
    other = tmp_path / "other"
    other.mkdir()
    changed = bytearray(archive.read_bytes())
    changed[-1] ^= 1
    (other / "a.tgz").write_bytes(changed)
    cache = tmp_path / "cache"
    bad = entry_for(archive, [], [f"local:{other}"])
    with pytest.raises(ReprlabError, match=r"sha256 is .* refused and deleted"):
        obtain(bad, bad.files[0], cache)
    assert not list(cache.rglob("*.tgz"))
    good = entry_for(archive, [], [f"local:{other}", f"local:{archive}"])
    assert obtain(good, good.files[0], cache).path.read_bytes() == archive.read_bytes()


def test_a_damaged_file_in_the_cache_is_fetched_again(tmp_path: Path) -> None:
    archive = make_tgz(tmp_path / "a.tgz", {"a.txt": b"A"})
    entry = entry_for(archive, [])
    path = obtain(entry, entry.files[0], tmp_path / "cache").path
    path.write_bytes(b"truncated")
    assert obtain(entry, entry.files[0], tmp_path / "cache").path.read_bytes() == archive.read_bytes()


def test_all_origins_and_reasons_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = make_tgz(tmp_path / "a.tgz", {"a.txt": b"A"})
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(github, "ADDRESS", "https://127.0.0.1:9/{owner}{name}{commit}{path}")
    entry = entry_for(
        archive, [], ["npm:sample@1.0.0", "debian:sample=1.0", f"local:{tmp_path}/none", f"github:o/n@{'0' * 40}"]
    )
    with pytest.raises(ReprlabError) as caught:
        obtain(entry, entry.files[0], tmp_path / "cache")
    message = str(caught.value)
    assert "the client npm is not on this machine" in message
    assert "the client apt-get is not on this machine" in message
    assert "No such file" in message and "not reachable" in message and "\n" not in message


def test_a_missing_client_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(OriginError, match="apt-get"):
        require("apt-get")


@pytest.mark.parametrize("origin", ["pypi:--index-url=x", "npm:a b@1", "debian:x", "github:o/n@main", "hub:nothing"])
def test_a_specification_is_checked_before_a_client_is_started(tmp_path: Path, origin: str) -> None:
    archive = make_tgz(tmp_path / "a.tgz", {})
    with pytest.raises(OriginError, match="is not"):
        origins.fetch(origin, entry_for(archive, []).files[0], tmp_path)


def test_the_mirror_is_looked_in_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = make_tgz(tmp_path / "a.tgz", {"a.txt": b"A"})
    copy = tmp_path / "mirror" / "github" / "o" / "n" / "a.tgz"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(archive.read_bytes())
    monkeypatch.setenv("REPRLAB_MIRROR", str(tmp_path / "mirror"))
    entry = entry_for(archive, [], [f"github:o/n@{'0' * 40}"])
    assert obtain(entry, entry.files[0], tmp_path / "cache").path.exists()


def test_a_deleted_download_names_file_and_remedy(tmp_path: Path) -> None:
    archive = opened(make_tgz(tmp_path / "a.tgz", {"a.txt": b"A"}), tmp_path / "cache")
    archive.file().unlink()
    with pytest.raises(ReprlabError, match=r"a\.tgz: it is missing; delete the receipt of sample"):
        archive.member("a.txt")


def test_git_digest_is_git_s(tmp_path: Path) -> None:
    # `printf 'hello\n' | git hash-object --stdin`
    (tmp_path / "x").write_bytes(b"hello\n")
    assert git_blob_of(tmp_path / "x") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_two_processes_fetch_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = make_tgz(tmp_path / "a.tgz", {"a.txt": b"A"})
    entry = entry_for(archive, ["a.txt"])
    script = f"""
import sys, time
from pathlib import Path
from reprlab.registry.dataset_entries import ArchiveEntry
from reprlab.registry.dataset_entries import ArchiveFile
from reprlab.data import downloads, origins
entry = ArchiveEntry.model_validate_json({entry.model_dump_json()!r})
inner = origins.fetch
def slow(*a):
    print("fetched", flush=True); time.sleep(0.5); return inner(*a)
origins.fetch = slow
cached = downloads.obtain(entry, entry.files[0], Path({str(tmp_path / "cache")!r}))
cached.ensure(entry.members, 100)
"""
    running = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert "".join(outputs).count("fetched") == 1


def test_unpack_is_repeated_only_for_new_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = make_tgz(tmp_path / "a.tgz", {"a.txt": b"A", "b.txt": b"B"})
    calls: list[list[str]] = []
    monkeypatch.setattr(
        data_cache, "extract", lambda a, members, f, n: calls.append(members) or extract(a, members, f, n)
    )
    for members in (["a.txt"], ["a.txt"], ["a.txt", "b.txt"]):
        entry = entry_for(archive, members)
        obtain(entry, entry.files[0], tmp_path / "cache").ensure(entry.members, LIMIT)
    assert calls == [["a.txt"], ["b.txt"]]


def test_pip_is_asked_for_the_pinned_file_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def record(command: list[str], folder: Path, environment: dict[str, str]) -> None:
        requirements = Path(command[command.index("--requirement") + 1]).read_text()
        commands.append([*command, requirements, environment.get("PYTHONPATH", "")])
        (folder / requirements.split("==")[0]).touch()

    monkeypatch.setattr(pypi, "run_client", record)
    monkeypatch.setattr(pypi.importlib.metadata, "version", lambda name: "26.1.2")
    monkeypatch.setattr(pypi, "downloaded", lambda folder, name: folder / name)
    wheel = ArchiveFile(file="x-1.0-cp311-cp311-a_1.b_2.whl", sha256="a" * 64, bytes=1)
    pypi.fetch("x==1.0", wheel, tmp_path)
    assert len(commands) == 1
    assert commands[0][-2:] == [f"x==1.0 --hash=sha256:{'a' * 64}\n", ""]
    assert {"--no-deps", "--require-hashes", "--only-binary=:all:"} <= set(commands[0])
    text = " ".join(commands[0])
    assert "--python-version 3.11 --platform a_1 --platform b_2" in text and "--abi cp311" in text
    pypi.fetch("x==1.0", ArchiveFile(file="x-1.0.tar.gz", sha256="a" * 64, bytes=1), tmp_path)
    # An sdist is asked for with the older pip, which is itself pinned.
    assert len(commands) == 3
    assert commands[1][-2].startswith("pip==25.3 --hash=sha256:")
    assert commands[2][-1].endswith("pip-25.3-py3-none-any.whl") and "--no-binary=:all:" in commands[2]
