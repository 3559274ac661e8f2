"""The plan of a run as a file: SQLite, read-only, named by its content.

It is written when a run starts. Its commands, the jobs of a cluster and a person with a pasted command read their job
from it: no setting travels on a command line, where Linux takes 131,072 bytes.
"""

import functools
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from reprlab.runtime.errors import ReprlabError

FOLDER = Path(".snakemake/plans")
_PARTS = ("inputs", "outputs", "settings", "factors", "files", "given", "neutral", "code", "upstream")


class Code(dict[str, str]):
    """Modules that a stage runs, with the digests of their syntax trees: the same object for all of its jobs."""

    distributions: Sequence[str] = ()
    """The installed distributions that they import."""

    @functools.cached_property
    def digest(self) -> str:
        """Sixteen hex digits."""
        return digest_of(self)


def paths_of(inputs: Mapping[str, Any]) -> list[str]:
    """The paths of inputs, which are one or a list by name."""
    values = [value if isinstance(value, list) else [value] for value in inputs.values()]
    return [path for paths in values for path in paths if path]


@dataclass(frozen=True)
class PlannedJob:
    """One job as the plan has it. `code` maps the modules that it runs to the digests of their syntax trees."""

    stage: str
    key: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    factors: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    """Files and folders of the user's by the setting that names them: `paths`, and `state`, what they hold."""
    neutral: Mapping[str, Any] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
    upstream: str = ""
    """A digest of the digests of the jobs that make its inputs: an edit reaches all that is made from what it changes,
    also where that was deleted since."""

    @property
    def reads(self) -> list[str]:
        """The paths of its inputs."""
        return paths_of(self.inputs)

    @property
    def distributions(self) -> list[str]:
        """The installed distributions whose versions may decide its results."""
        return list(self.code.distributions) if isinstance(self.code, Code) else []

    @property
    def states(self) -> dict[str, str]:
        """What the files and folders of the user's hold."""
        return {name: one["state"] for name, one in self.given.items()}

    @functools.cached_property
    def code_digest(self) -> str:
        """Sixteen hex digits for the code."""
        return self.code.digest if isinstance(self.code, Code) else digest_of(self.code)

    @functools.cached_property
    def digest(self) -> str:
        """Sixteen hex digits for all that can change the result, and with `upstream` its inputs."""
        own: list[Any] = [self.stage, self.inputs, self.settings, self.factors, self.files, self.code_digest]
        if self.given:
            own.append(self.states)
        return digest_of([*own, self.upstream])


def plan_name(jobs: Iterable[PlannedJob], targets: Mapping[str, list[str]]) -> str:
    """The name of a plan's file: a digest of what it holds."""
    held = sorted([job.stage, job.key, job.digest, digest_of([job.neutral, job.distributions])] for job in jobs)
    return f"{digest_of([held, targets])}.sqlite"


def write_plan(path: Path, jobs: Iterable[PlannedJob], targets: Mapping[str, list[str]]) -> None:
    """Write a plan, unless it is there already.

    Raises:
        ReprlabError: the disk is full, or the folder cannot be written.
    """
    if path.is_file():
        return
    try:
        _write(path, jobs, targets)
    except (OSError, sqlite3.Error) as error:
        # SQLite says of a full disk what it is, and no number.
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ReprlabError(f"{path}: the plan cannot be written ({why}); free space there or run elsewhere") from None


def _write(path: Path, jobs: Iterable[PlannedJob], targets: Mapping[str, list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    temporary.unlink(missing_ok=True)
    try:
        base = sqlite3.connect(temporary)
        try:
            with base:
                base.execute("PRAGMA synchronous = FULL")
                base.execute("CREATE TABLE codes (digest TEXT PRIMARY KEY, code TEXT) WITHOUT ROWID")
                base.execute(
                    "CREATE TABLE jobs (stage TEXT, key TEXT, job TEXT, PRIMARY KEY (stage, key)) WITHOUT ROWID"
                )
                base.execute("CREATE TABLE targets (paper TEXT PRIMARY KEY, paths TEXT) WITHOUT ROWID")
                for job in jobs:
                    code = _text({"modules": job.code, "distributions": job.distributions})
                    base.execute("INSERT OR IGNORE INTO codes VALUES (?, ?)", (job.code_digest, code))
                    parts = {part: getattr(job, part) for part in _PARTS}
                    record = _text({**parts, "code": job.code_digest})
                    base.execute("INSERT INTO jobs VALUES (?, ?, ?)", (job.stage, job.key, record))
                base.executemany("INSERT INTO targets VALUES (?, ?)", [(p, _text(t)) for p, t in targets.items()])
        finally:
            base.close()
        temporary.chmod(0o444)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


class PlanFile:
    """A written plan, with the questions that rules ask of a plan."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.targets: dict[str, list[str]] = {
            paper: json.loads(found) for paper, found in self._rows("SELECT paper, paths FROM targets")
        }

    def job(self, stage: str, key: str) -> PlannedJob:
        """One job.

        Raises:
            ReprlabError: the plan has no such job, or the file is not there or no plan.
        """
        rows = self._rows("SELECT job FROM jobs WHERE stage = ? AND key = ?", stage, key)
        for (record,) in rows:
            parts = json.loads(record)
            ((text,),) = self._rows("SELECT code FROM codes WHERE digest = ?", parts["code"])
            held = json.loads(text)
            code = Code(held["modules"])
            code.distributions = held["distributions"]
            return PlannedJob(stage, key, **{**parts, "code": code})
        raise ReprlabError(f"{self.path}: the plan has no job '{key}' of {stage}")

    def keys(self, stage: str) -> list[str]:
        """The keys of a stage's jobs."""
        return [key for (key,) in self._rows("SELECT key FROM jobs WHERE stage = ? ORDER BY key", stage)]

    def _rows(self, question: str, *values: str) -> Iterator[tuple[Any, ...]]:
        if not self.path.is_file():
            raise ReprlabError(f"{self.path}: no such plan; a run writes it when it starts")
        try:
            base = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
            try:
                yield from base.execute(question, values).fetchall()
            finally:
                base.close()
        except sqlite3.DatabaseError as error:
            raise ReprlabError(f"{self.path}: not a plan ({error}); delete it and start the run again") from None


def as_json(job: PlannedJob) -> str:
    """A job as a person reads it: settings as JSON values, and the digests that results carry."""
    shown = asdict(job)
    for part in ("settings", "neutral"):
        shown[part] = {name: parsed(value) for name, value in shown[part].items()}
    shown["code"] = job.code_digest
    return json.dumps({**shown, "digest": job.digest}, indent=2, ensure_ascii=False)


def parsed(value: Any) -> Any:
    """A setting as a JSON value: settings that are groups are held as text."""
    if isinstance(value, str) and value[:1] == "{":
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def digest_of(value: Any) -> str:
    """Sixteen hex digits for a JSON value."""
    return hashlib.sha256(_text(value).encode()).hexdigest()[:16]
