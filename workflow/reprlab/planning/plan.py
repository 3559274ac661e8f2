"""The plan: which files each stage makes, from which files and with which settings.

A paper's `plan.py` turns its resolved settings into jobs; the rules look their inputs up here by wildcard. So the graph
is known from config alone, papers share a job by giving it the same name, and two papers that give one name different
settings are refused before anything runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from reprlab.planning import paths
from reprlab.runtime.errors import ReprlabError


@dataclass(frozen=True)
class Job:
    """One call of a stage's function. Names are those of its parameters."""

    inputs: Mapping[str, str | list[str]] = field(default_factory=dict)
    """Files and folders that other jobs make. `after` holds those that are reached by other names: the folder of
    which a checkpoint is a part, a path within the settings."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """Everything else that can change the result."""

    plugins: tuple[str, ...] = ()
    """Modules that the stage loads by name."""

    factors: Mapping[str, Any] = field(default_factory=dict)
    """What tells the job from others and is not passed to the function."""

    files: Mapping[str, str | list[str]] = field(default_factory=dict)
    """Files of the checkout, relative to its root: known by their content, whatever their dates; `after` as above."""

    given: Mapping[str, list[str]] = field(default_factory=dict)
    """Files and folders of the user's that a setting or the environment names, by its name: known by what they hold.
    A relative path is one below the folder of the run, in which jobs work."""

    neutral: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that cannot change a result: words that are shown, origins of a file whose digest is known."""

    def rendered(self) -> Job:
        """The job with settings as texts and plain values, as plans are written and compared."""
        settings, neutral = (
            {name: as_option(value) for name, value in part.items()} for part in (self.settings, self.neutral)
        )
        return replace(self, settings=settings, neutral=neutral)


class Plan:
    """Jobs by stage and key; the key is the stage's wildcards joined with `/`."""

    def __init__(self) -> None:
        self.jobs: dict[str, dict[str, Job]] = {}
        """Rendered."""
        self._given: dict[tuple[str, str], Job] = {}
        self._outputs: dict[tuple[str, str], dict[str, str]] = {}
        self._known: dict[Any, Any] = {}
        self.targets: dict[str, list[str]] = {}

    def add(self, stage: str, key: str, job: Job) -> dict[str, str]:
        """Add a job; returns its outputs by name.

        Raises:
            ReprlabError: the same name already stands for other inputs or settings.
        """
        given = self._given.setdefault((stage, key), job)
        if given is job:
            self.jobs.setdefault(stage, {})[key] = job.rendered()
        # Papers ask for what they share again and again; most of it is equal before it is rendered.
        elif given != job:
            self._require_same(stage, key, job.rendered())
        return self.outputs(stage, key)

    def outputs(self, stage: str, key: str) -> dict[str, str]:
        """All outputs of a job by name."""
        found = self._outputs.get((stage, key))
        if found is None:
            found = self._outputs[stage, key] = paths.outputs(stage, key)
        return found

    def makers(self) -> dict[str, tuple[str, str]]:
        """Stage and key of the job that makes each file or folder."""
        return {
            path: (stage, key)
            for stage, jobs in self.jobs.items()
            for key in jobs
            for path in self.outputs(stage, key).values()
        }

    def once(self, asked: tuple[Any, ...], add: Callable[[], str]) -> str:
        """What `add` returned when it was first asked for this: papers ask for the same data set hundreds of times."""
        found = self._known.get(asked)
        if found is None:
            found = self._known[asked] = add()
        return str(found)

    def _require_same(self, stage: str, key: str, job: Job) -> None:
        known = self.jobs[stage][key]
        if known != job:
            different = sorted(
                name
                for part in ("inputs", "settings", "factors", "files", "given", "neutral")
                for name in {*getattr(known, part), *getattr(job, part)}
                if getattr(known, part).get(name) != getattr(job, part).get(name)
            )
            raise ReprlabError(
                f"{stage} {key}: two papers give it different {', '.join(different)}; rename one of them"
            )

    def job(self, stage: str, key: str) -> Job:
        """The job that makes `key`.

        Raises:
            ReprlabError: the config plans no such output.
        """
        try:
            return self.jobs[stage][key]
        except KeyError:
            known = ", ".join(sorted(self.jobs.get(stage, {}))) or "nothing"
            raise ReprlabError(f"{stage}: the config plans no '{key}'; it plans {known}") from None

    def add_targets(self, paper: str, paths: Iterable[str]) -> None:
        """Add result files of a paper."""
        targets = self.targets.setdefault(paper, [])
        targets.extend(path for path in paths if path not in targets)


def as_option(value: Any) -> Any:
    """The text of a setting: JSON for models and mappings, plain for the rest."""
    if isinstance(value, BaseModel):
        return json.dumps(value.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)
    if isinstance(value, Mapping):
        return json.dumps(value, sort_keys=True, ensure_ascii=False, default=_jsonable)
    return value


def _jsonable(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no JSON form")
