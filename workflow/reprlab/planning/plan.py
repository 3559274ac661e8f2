"""The plan: which files each stage makes, from which files and with which settings.

A paper's `plan.py` turns its resolved settings into jobs; the rules look their inputs up here by wildcard. So the graph
is known from config alone, papers share a job by giving it the same name, and two papers that give one name different
settings are refused before anything runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from reprlab.planning import paths
from reprlab.runtime.errors import ReprlabError


@dataclass(frozen=True)
class Job:
    """One call of a stage's function. Names are those of its parameters."""

    inputs: Mapping[str, str | list[str]] = field(default_factory=dict)
    """Files and folders that other jobs make. Under `after` stand those that are reached by other names: the folder of
    which a checkpoint is a part, a path within the settings."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """Everything else that can change the result."""

    plugins: tuple[str, ...] = ()
    """Modules that the stage loads by name."""

    factors: Mapping[str, Any] = field(default_factory=dict)
    """What tells the job from others and is not passed to the function."""

    files: Mapping[str, str | list[str]] = field(default_factory=dict)
    """Files of the checkout, relative to its root: known by their content, whatever their dates; `after` as above."""

    neutral: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that cannot change a result: words that are shown, origins of a file whose digest is known."""

    def __post_init__(self) -> None:
        for part in ("settings", "neutral"):
            object.__setattr__(self, part, {name: as_option(value) for name, value in getattr(self, part).items()})


class Plan:
    """Jobs by stage and key; the key is the stage's wildcards joined with `/`."""

    def __init__(self) -> None:
        self.jobs: dict[str, dict[str, Job]] = {}
        self.targets: dict[str, list[str]] = {}

    def add(self, stage: str, key: str, job: Job) -> dict[str, str]:
        """Add a job; returns its outputs by name.

        Raises:
            ReprlabError: the same name already stands for other inputs or settings.
        """
        known = self.jobs.setdefault(stage, {}).setdefault(key, job)
        if known is not job and known != job:
            different = sorted(
                name
                for part in ("inputs", "settings", "factors", "files", "neutral")
                for name in {*getattr(known, part), *getattr(job, part)}
                if getattr(known, part).get(name) != getattr(job, part).get(name)
            )
            raise ReprlabError(
                f"{stage} {key}: two papers give it different {', '.join(different)}; rename one of them"
            )
        return paths.outputs(stage, key)

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
