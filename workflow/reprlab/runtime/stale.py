"""What of a run is stale: the one answer that the engine, `make explain` and `make verify` give.

A result is stale where it is not what its seal says, where its job is another than the planned one, or where an input
has another content than the one that it was made from. Dates decide nothing.
"""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.given import stamps_of, state_of
from reprlab.runtime.plan_file import PlannedJob
from reprlab.runtime.seals import Seal, content_digest, read_seal, renew_stamp, stamp_of

Kind = Literal["unsealed", "edited", "other job", "other input"]


@dataclass(frozen=True)
class Stale:
    """Why a result is stale. `seal` is its own, where it has one; `source` the input that has another content."""

    path: str
    kind: Kind
    seal: Seal | None = None
    source: str = ""


class Results:
    """The results of a run as they are on disk; each is looked at once."""

    def __init__(self, run_folder: Path, *, thorough: bool = False) -> None:
        """`thorough` reads the content of everything, also where its stamp is still the sealed one."""
        self.folder, self._thorough = run_folder, thorough
        self.seal = functools.cache(functools.partial(read_seal, run_folder=run_folder))
        self.content = functools.cache(self._content)

    def has(self, path: str) -> bool:
        """Whether there is a result."""
        return (self.folder / path).exists()

    def of_job(self, job: PlannedJob) -> Iterator[Stale]:
        """What is stale of the results of a planned job; what was not made yet is not."""
        for path in job.outputs.values():
            if self.has(path):
                yield from self.of_result(path)
                seal = self.seal(path)
                if seal and seal.made.job != job.digest:
                    yield Stale(path, "other job", seal)

    def of_result(self, path: str) -> Iterator[Stale]:
        """Why a result is stale, whatever is planned."""
        seal = self.seal(path)
        if seal is None:
            yield Stale(path, "unsealed")
            return
        if self.content(path) != seal.sha256:
            yield Stale(path, "edited", seal)
        for source, sha256 in seal.made.inputs.items():
            # What was deleted since, or has no seal, says nothing: if it is needed, it is made again anyway.
            if self.has(source) and self.seal(source) and self.content(source) != sha256:
                yield Stale(path, "other input", seal, source)

    def _content(self, path: str) -> str:
        """sha256 of a result as it is."""
        place, seal = self.folder / path, self.seal(path)
        if seal and not self._thorough and seal.stamp == stamp_of(place):
            return seal.sha256
        found = content_digest(place)
        if seal and seal.sha256 == found and seal.stamp != stamp_of(place):
            renew_stamp(Path(path), self.folder, seal)
        return found


def unchanged(job: PlannedJob, run_folder: Path) -> tuple[dict[str, str], Callable[[], None]]:
    """`contents`, and a function that raises where an input is another by then.

    It looks at dates first: a link to a file gives it another, and no other content.
    """
    places = [run_folder / path for path in job.reads]
    users = [run_folder / path for one in job.given.values() for path in one["paths"]]
    before = {path: stamp_of(path) for path in places if path.exists()}
    stamps = stamps_of(users)
    found = contents(job, run_folder)

    def require() -> None:
        for path, stamp in before.items():
            if not path.exists() or stamp_of(path) != stamp:
                sha256 = found[path.relative_to(run_folder).as_posix()]
                if not path.exists() or content_digest(path) != sha256:
                    raise ReprlabError(
                        f"{job.stage} {job.key}: {path} changed while it was read; give the same command again"
                    )
                before[path] = stamp_of(path)
        if stamps_of(users) != stamps:
            require_given(job, run_folder)

    return found, require


def require_given(job: PlannedJob, run_folder: Path) -> None:
    """Refuse files of the user's that are not what they were when the run was planned.

    Raises:
        ReprlabError: one was edited, added or removed.
    """
    for name, one in job.given.items():
        if state_of(run_folder / path for path in one["paths"]) != one["state"]:
            raise ReprlabError(
                f"{job.stage} {job.key}: what {name} names ({one['paths'][0]}) changed since the run was planned; "
                "start the run again"
            )


def contents(job: PlannedJob, run_folder: Path) -> dict[str, str]:
    """sha256 of each input of a job that is there, by its path: most are read off their seals."""
    results = Results(run_folder)
    return {path: results.content(path) for path in job.reads if results.has(path)}
