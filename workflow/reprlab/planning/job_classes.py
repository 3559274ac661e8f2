"""Jobs that differ in numbers alone.

A class is a stage with its settings without numbers and with what made its inputs: the architecture of a model, the
reader and kind of a data set, the class of any other job. Seeds, sizes, learning rates and the names of runs are
numbers, or paths that are told by what made them. Each repository, package and data set that is fetched, and each table
and figure, is a class of its own.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from reprlab.planning import paths
from reprlab.planning.declared import results
from reprlab.planning.plan import Plan
from reprlab.runtime.plan_file import digest_of, parsed, paths_of

Name = tuple[str, str]
"""Stage and key of a job."""

_STAGES = Path(__file__).parents[1] / "stages"
_COMMIT = re.compile(r"\b[0-9a-f]{40,64}\b")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_SHOWN = ("scale",)
"""Settings that are only shown."""
GATHERING = frozenset(stage.name for stage in results.STAGES)
"""Stages of results: each of their jobs is a class of its own, and takes what there is of each condition."""

_MODELS = ("build_model", "extract_tokenizer")
_NAMES = ("repository", "adapter", "archive")
_DATA = ("fetch_archive", "build_examples", "build_documents")


class Classes:
    """The classes of a plan's jobs."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.makers: dict[str, Name] = plan.makers()
        self._own: dict[Name, str] = {}
        self._seen: dict[Name, str] = {}
        self._normal: dict[str, Any] = {}

    @functools.cached_property
    def members(self) -> dict[str, list[Name]]:
        """The jobs of each class, in the order of the plan: the first stands for the others."""
        found: dict[str, list[Name]] = {}
        for stage, jobs in self.plan.jobs.items():
            for key in jobs:
                found.setdefault(self.of((stage, key)), []).append((stage, key))
        return found

    def of(self, name: Name) -> str:
        """The class of a job."""
        if name not in self._own:
            self._own[name] = digest_of(self._identity(name))
        return self._own[name]

    def representative(self, name: Name) -> Name:
        """The job that stands for the class of a job."""
        return self.members[self.of(name)][0]

    def maker_of(self, path: str) -> tuple[Name, str] | None:
        """The job that makes a file or the folder that it lies in, with the rest of the path; None: no job does."""
        place = PurePosixPath(path)
        for folder in (place, *place.parents):
            if maker := self.makers.get(folder.as_posix()):
                return maker, path[len(folder.as_posix()) :]
        return None

    def _identity(self, name: Name) -> Any:
        stage, key = name
        job = self.plan.jobs[stage][key]
        if stage in GATHERING:
            return [stage, key, sorted(job.plugins)]
        # Each data set, and each repository, is met: a number in its name is a part of it.
        origin = parsed(job.settings.get("entry", "")) if stage in _MODELS else {}
        met = [key] if stage in _DATA else [origin["origin"].get(one) for one in _NAMES] if origin else []
        # Wildcards that the function takes are settings; others only name the job.
        taken = {one: value for one, value in paths.wildcard_values(stage, key).items() if one in _parameters(stage)}
        return [
            stage,
            met,
            {one: sorted({self._text(path) for path in paths_of({one: job.inputs[one]})}) for one in job.inputs},
            self._value({one: parsed(value) for one, value in job.settings.items()}),
            self._value({**taken, **job.factors}),
            sorted(job.plugins),
            sorted(job.given),
            sorted(job.files),
        ]

    def _as_producer(self, name: Name) -> Any:
        """What a job that reads its result can tell of it."""
        if name not in self._seen:
            stage, key = name
            settings = {one: parsed(value) for one, value in self.plan.jobs[stage][key].settings.items()}
            entry: Any = settings.get("entry")
            if stage in _MODELS:
                self._seen[name] = digest_of([stage, entry["architecture"], self._value(entry["config"])])
            elif stage in ("build_examples", "build_documents"):
                self._seen[name] = digest_of([stage, entry["reader"], entry.get("kind"), bool(entry.get("labels"))])
            elif stage == "fetch_archive":
                self._seen[name] = stage
            else:
                self._seen[name] = self.of(name)
        return self._seen[name]

    def _value(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            found = {self._text(str(name)): self._value(one) for name, one in value.items() if name not in _SHOWN}
            return {name: found[name] for name in sorted(found)}
        if isinstance(value, list | tuple):
            kept = {digest_of(one): one for one in map(self._value, value)}
            return list(kept.values())
        if isinstance(value, str):
            return self._text(value)
        return 0 if isinstance(value, int | float) and not isinstance(value, bool) else value

    def _text(self, text: str) -> Any:
        if text not in self._normal:
            found = self.maker_of(text) if text.startswith("results/") else None
            if found:
                self._normal[text] = f"{self._as_producer(found[0])}{_without_numbers(found[1])}"
            else:
                self._normal[text] = _without_numbers(text)
        return self._normal[text]


def _without_numbers(text: str) -> str:
    return _NUMBER.sub("#", _COMMIT.sub("#", text))


@functools.cache
def _parameters(stage: str) -> frozenset[str]:
    """The names of a stage's parameters, read without importing it."""
    tree = ast.parse((_STAGES / f"{stage}.py").read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == stage)
    return frozenset(one.arg for one in (*found.args.args, *found.args.kwonlyargs))
