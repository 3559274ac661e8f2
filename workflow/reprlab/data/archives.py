"""Fetched archives, opened through their receipts."""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.data.cache import CachedFile
from reprlab.data.extraction import Content
from reprlab.data.members import is_container
from reprlab.registry.dataset_entries import ArchiveFile
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import get_logger


@dataclass(frozen=True)
class Archive:
    """A fetched archive. What is read from it is what was fetched: see `data.cache`."""

    name: str
    cache: Path
    files: tuple[ArchiveFile, ...]
    member_limit: int
    held: dict[str, Content] = field(default_factory=dict)
    """What files without a digest in the registry were when they were first fetched."""
    wanted: tuple[str, ...] = ()
    """Members that the registry lists: what is unpacked again is unpacked in one pass over the archive."""
    registry: Path | None = None
    """Data registry, from which a download that is missing or damaged is fetched again."""
    _cached: dict[str, CachedFile] = field(default_factory=dict, compare=False)

    @classmethod
    def open(cls, cache: Path, receipt: Path, registry: Path | None = None) -> "Archive":
        """Open the archive that `receipt` describes in `cache`.

        Raises:
            ReprlabError: the receipt is missing or broken.
        """
        facts = read_json(receipt)
        try:
            received = [dict(file) for file in facts["files"]]
            held = {file["file"]: Content(**file.pop("received")) for file in received if "received" in file}
            files = tuple(ArchiveFile.model_validate(file) for file in received)
            return cls(facts["archive"], cache, files, facts["member_limit"], held, tuple(facts["members"]), registry)
        except (KeyError, TypeError, ValueError):
            raise ReprlabError(f"{receipt}: not a receipt of a download; delete it and run again") from None

    def file(self, name: str | None = None) -> Path:
        """The downloaded file itself: the only one, or the one called `name` in the registry.

        Raises:
            ReprlabError: the archive has no such file, or it is damaged or gone and cannot be fetched again.
        """
        found = [file for file in self.files if name is None or file.file == name]
        if len(found) != 1:
            raise ReprlabError(f"{self.name}: has no file {name!r}; correct the data registry")
        cached = self._in_cache(found[0])
        if problem := cached.problem():
            self._fetch_again(cached.path, problem)
            cached = self._cached[found[0].file] = CachedFile(self.cache, found[0], self.held.get(found[0].file))
            if problem := cached.problem():
                raise ReprlabError(
                    f"{cached.path}: {problem}, also after it was fetched again; the data registry describes another "
                    f"file, or its origin has changed: delete {cached.folder} and the receipt to take that"
                )
        return cached.path

    def place(self, name: str) -> str:
        """Where a file comes from, for messages: repository at its revision, or the archive, and the file."""
        revision = next((file.revision for file in self.files if file.file == name and file.revision), "")
        if "@" in revision:
            return f"{revision}: {name}"
        origins = self._entry(self.registry)["origins"] if revision and self.registry else []
        hub = [one.removeprefix("hub:") for one in origins if one.startswith("hub:")]
        return f"{hub[0] if hub else self.name}: {name}"

    def has_file(self, name: str) -> bool:
        """Whether the registry declares the file `name` for this archive."""
        return any(file.file == name for file in self.files)

    def member(self, name: str) -> Path:
        """The unpacked member `name` (`outer!inner` for an archive in the archive), unpacked now if it was not.

        Raises:
            ReprlabError: there is no such member, or it was refused.
        """
        # A name may come from the data itself (a list of files in the archive).
        if name.startswith("/") or ".." in name.split("/") or "\x00" in name:
            raise ReprlabError(f"{self.name}: {name!r} is not a path inside the archive; its data is wrong")
        if name == self.files[0].file and not is_container(name):
            return self.file(name)  # a plain file is its own and only member
        return self.members(name)[0]

    def members(self, pattern: str) -> list[Path]:
        """The unpacked members that match `pattern` (`*` matches any text), sorted by path."""
        first = self.files[0]
        cached = self._in_cache(first)
        if cached.lacks([pattern]):
            archive = self.file(first.file)
            if not is_container(archive):
                raise ReprlabError(f"{archive}: is not an archive, so it has no member {pattern!r}")
            cached = self._in_cache(first)
            cached.ensure(sorted({pattern, *self.wanted}), self.member_limit)
        return cached.members(pattern)

    def _in_cache(self, file: ArchiveFile) -> CachedFile:
        if file.file not in self._cached:
            self._cached[file.file] = CachedFile(self.cache, file, self.held.get(file.file))
        return self._cached[file.file]

    def _entry(self, registry: Path) -> dict[str, Any]:
        """What the registry says of this archive, with the files that were fetched: those of a list, or a part."""
        import yaml

        try:
            entry = yaml.safe_load(registry.read_text(encoding="utf-8"))["archives"][self.name]
        except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError):
            raise ReprlabError(f"{registry}: cannot be read, or has no archive {self.name}") from None
        files = [file.model_dump(exclude_none=True) for file in self.files]
        return {**{key: value for key, value in entry.items() if key != "listed"}, "files": files}

    def _fetch_again(self, path: Path, problem: str) -> None:
        """Run the stage that fetches, in a process of its own: how a file comes here is not part of what reads it."""
        if self.registry is None:
            raise ReprlabError(f"{path}: {problem}; delete the receipt of {self.name} and run the same command again")
        get_logger().warning("%s: %s; %s is fetched again", path, problem, self.name)
        with tempfile.TemporaryDirectory() as folder:
            registry, receipt = Path(folder) / "datasets.yaml", Path(folder) / "receipt.json"
            write_json(registry, {"archives": {self.name: self._entry(self.registry)}, "corpora": {}, "tasks": {}})
            options = {"archive": self.name, "registry": registry, "cache": self.cache, "receipt": receipt}
            command = [sys.executable, "-m", "reprlab.stages.fetch_archive"]
            command += [part for name, value in options.items() for part in (f"--{name}", str(value))]
            code = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])}
            done = subprocess.run(
                command, env={**os.environ, **code}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                errors="replace", check=False,
            )  # fmt: skip
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1].removeprefix("error: ")
            raise ReprlabError(f"{path}: {problem}, and fetching it again failed: {reason}")
