"""The plan of a rehearsal: of each class of jobs one, with what it needs, and data cut to their first rows.

A job that runs gets its own inputs as the published plan has them. Where it reads more files of one kind than a few,
those of jobs that do not run are those of the jobs that stand for them. Tables have no rows of what does not run, and
say so. Nothing that costs money or that a user must bring is done or asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reprlab.planning.job_classes import GATHERING, Classes, Name
from reprlab.planning.plan import Job, Plan, as_option
from reprlab.planning.stages import STAGES
from reprlab.registry.dataset_entries import Limits
from reprlab.results.sources import NOT_REHEARSED
from reprlab.runtime.plan_file import parsed, paths_of

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig

ROWS = 50
"""Examples, or documents, that are kept of each split."""
_FEW = 3
"""Inputs of one name that a job gets as its own plan has them."""
_HERE = ("localhost", "127.0.0.1", "::1")
# Their rows belong to each other: queries to passages, mentions to documents.
_WHOLE = ("ranking", "passages", "coreference", "roles", "events", "speech")


@dataclass(frozen=True)
class Rehearsal:
    """A plan of one job for each class, and what is not rehearsed."""

    plan: Plan
    classes: Classes
    """Of the plan that it was made from."""
    refused: Mapping[Name, str]
    """Why a job that stands for its class does not run."""


def rehearse(plan: Plan, config: LoadedConfig) -> Rehearsal:
    """Cut a plan to one job for each class."""
    return _Cut(plan, config).made()


class _Cut:
    def __init__(self, plan: Plan, config: LoadedConfig) -> None:
        self.plan, self.config, self.classes = plan, config, Classes(plan)
        self.stand_for = {members[0] for members in self.classes.members.values()}
        self._refused: dict[Name, str] = {}

    def made(self) -> Rehearsal:
        waiting = [name for name in self.stand_for if not self.refused(name) and name[0] not in GATHERING]
        kept: dict[Name, Job] = {}
        while waiting:
            name = waiting.pop()
            if name not in kept:
                kept[name] = self._fed(self._job(name))
                found = (self.classes.maker_of(path) for path in paths_of(kept[name].inputs))
                waiting += [maker[0] for maker in found if maker]
        gathering = {name for name in self.stand_for if name[0] in GATHERING and not self.refused(name)}
        there = kept.keys() | gathering
        kept |= {name: self._gathered(name, there) for name in gathering}
        cut = Plan()
        for stage, jobs in self.plan.jobs.items():
            own = {key: self._first_rows(stage, kept[stage, key]) for key in jobs if (stage, key) in kept}
            if own:
                cut.jobs[stage] = own
        behind = {slug: self._behind(targets) for slug, targets in self.plan.targets.items()}
        for name in kept:
            # What no table needs, such as an export, goes with the paper that made what it reads.
            owners = [slug for slug, names in behind.items() if name in names]
            owners = owners or [slug for slug, names in behind.items() if names & set(self._reads(name))][:1]
            for slug in owners or list(behind)[:1]:
                cut.targets.setdefault(slug, []).extend(cut.outputs(*name).values())
        refused = {name: why for name in self.stand_for if (why := self.refused(name))}
        return Rehearsal(cut, self.classes, refused)

    def _job(self, name: Name) -> Job:
        return self.plan.jobs[name[0]][name[1]]

    def refused(self, name: Name) -> str:
        """Why a job is not rehearsed, or a job that it needs; empty where it is."""
        if name not in self._refused:
            why = self._own_reason(name)
            if not why and name[0] not in GATHERING:
                makers = (self.classes.maker_of(path) for path in paths_of(self._job(name).inputs))
                why = next((self._needs(maker[0]) for maker in makers if maker and self.refused(maker[0])), "")
            self._refused[name] = why
        return self._refused[name]

    def _needs(self, name: Name) -> str:
        why = self.refused(name)
        return why if why.startswith("needs ") else f"needs {' '.join(name)}, not rehearsed: {why}"

    def _own_reason(self, name: Name) -> str:
        stage, key = name
        job = self._job(name)
        if stage == "fetch_archive":
            entry = self.config.datasets.archives[key]
            places = [origin.removeprefix("local:") for origin in entry.origins if origin.startswith("local:")]
            if len(places) == len(entry.origins) and not any(Path(one).expanduser().exists() for one in places):
                return f"{entry.licence}: {places[0]} is not here; bring it"
        for setting, given in job.given.items():
            # Others are variables of the environment, which name models that a stage fetches by itself.
            if "." in setting and not any((self.config.run_folder / one).exists() for one in given):
                return f"{setting}: {given[0]} is not here; bring or install it"
        if STAGES[stage].asks:
            settings = parsed(job.settings["settings"])
            place = urlsplit(str(settings["chat"]["base_url"])).hostname
            if settings.get("backend", "chat") == "chat" and place not in _HERE:
                return f"paid endpoint {place}; name one of this machine with OPENAI_BASE_URL"
        return ""

    def _fed(self, job: Job) -> Job:
        """The job with the files of jobs that run in the place of those of many that do not."""
        others = self._others(job)

        def moved(value: Any) -> Any:
            return _each(value, lambda path: self._moved(path, others))

        settings = self._settings(job, lambda value: moved(_thinned(value, lambda path: moved(path) != path)))
        # Lists that settings are parallel to stay as long as they are.
        once = settings == dict(job.settings)
        inputs = {}
        for name, value in job.inputs.items():
            inputs[name] = moved(value)
            if once and isinstance(value, list) and inputs[name] != value:
                inputs[name] = list(dict.fromkeys(inputs[name]))
        return replace(job, inputs=inputs, settings=settings)

    def _others(self, job: Job) -> dict[Name, Name]:
        """Of the jobs that make more of a job's inputs than a few, those that stand for them."""
        found: dict[Name, Name] = {}
        for value in job.inputs.values():
            if isinstance(value, list) and len(value) > _FEW:
                makers = (self.classes.maker_of(path) for path in value)
                found |= {one[0]: self.classes.representative(one[0]) for one in makers if one}
        return {own: other for own, other in found.items() if own != other}

    def _moved(self, path: str, others: Mapping[Name, Name]) -> str:
        found = self.classes.maker_of(path) if path.startswith("results/") else None
        if not found or found[0] not in others:
            return path
        own = self.plan.outputs(*found[0])
        output = next(output for output, one in own.items() if path == f"{one}{found[1]}")
        return f"{self.plan.outputs(*others[found[0]])[output]}{found[1]}"

    def _gathered(self, name: Name, there: Iterable[Name]) -> Job:
        """The job without what does not run."""
        job, kept = self._job(name), set(there)

        def runs(path: str) -> bool:
            found = self.classes.maker_of(path) if path.startswith("results/") else None
            return found is None or found[0] in kept

        inputs = {
            one: [path for path in value if runs(path)] if isinstance(value, list) else value
            for one, value in job.inputs.items()
        }

        def partial(path: str) -> bool:
            found = self.classes.maker_of(path) if path.startswith("results/") else None
            return found is not None and self._is_partial(found[0])

        return replace(job, inputs=inputs, settings=self._settings(job, lambda value: _without(value, runs, partial)))

    @functools.cache  # noqa: B019 - lives as long as the cut
    def _is_partial(self, name: Name) -> bool:
        """Whether a result lacks what jobs that do not run would have given to it."""
        return bool(self._others(self._job(name))) or any(self._is_partial(one) for one in self._reads(name))

    @staticmethod
    def _settings(job: Job, change: Any) -> dict[str, Any]:
        found = {}
        for name, value in job.settings.items():
            new = change(given := parsed(value))
            # A group that would go as a whole stays: the stage says what it lacks.
            found[name] = value if new is _GONE or new == given else as_option(new)
        return found

    @staticmethod
    def _first_rows(stage: str, job: Job) -> Job:
        if stage == "build_documents":
            return replace(job, settings={**job.settings, "limit": ROWS})
        if stage == "build_examples" and parsed(job.settings["entry"])["kind"] not in _WHOLE:
            limits = Limits(train=ROWS, validation=ROWS, test=ROWS)
            return replace(job, settings={**job.settings, "limits": as_option(limits)})
        return job

    @functools.cache  # noqa: B019 - lives as long as the cut
    def _reads(self, name: Name) -> tuple[Name, ...]:
        found = (self.classes.maker_of(path) for path in paths_of(self._job(name).inputs))
        return tuple(dict.fromkeys(one[0] for one in found if one))

    def _behind(self, targets: Iterable[str]) -> set[Name]:
        found: set[Name] = set()
        waiting = [one[0] for path in targets if (one := self.classes.maker_of(path))]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self._reads(name)
        return found


def _each(value: Any, change: Any) -> Any:
    """A value with each of its texts changed."""
    if isinstance(value, Mapping):
        return {change(name) if isinstance(name, str) else name: _each(one, change) for name, one in value.items()}
    if isinstance(value, list):
        return [_each(one, change) for one in value]
    return change(value) if isinstance(value, str) else value


def _thinned(value: Any, moves: Callable[[str], bool]) -> Any:
    """A value without the groups of its lists that name a file of a job for which another stands: what a group names
    belongs together. One group of each list stays."""
    if isinstance(value, Mapping):
        return {name: _thinned(one, moves) for name, one in value.items()}
    if isinstance(value, list):
        items = [_thinned(one, moves) for one in value]
        return [one for one in items if not _names(one, moves)] or items[:1]
    return value


def _names(value: Any, moves: Callable[[str], bool]) -> bool:
    """Whether a group names such a file outside its lists."""
    return isinstance(value, Mapping) and any(
        moves(one) if isinstance(one, str) else _names(one, moves) for one in value.values()
    )


_GONE = object()


def _without(value: Any, runs: Callable[[str], bool], partial: Callable[[str], bool]) -> Any:
    """A value without what names a file of a job that does not run: items of lists go, and so do sources of cells,
    which become missing. Sources whose files are not whole are marked."""
    if isinstance(value, Mapping):
        found = {}
        for name, one in value.items():
            if name == "entries" and isinstance(one, list):
                found[name] = [_entry(entry, runs, partial) for entry in one]
            elif (kept := _without(one, runs, partial)) is _GONE:
                return _GONE
            else:
                found[name] = kept
        return found
    if isinstance(value, list):
        items = [one for one in (_without(one, runs, partial) for one in value) if one is not _GONE]
        return _GONE if value and not items else items
    return _GONE if isinstance(value, str) and not runs(value) else value


def _entry(entry: Mapping[str, Any], runs: Callable[[str], bool], partial: Callable[[str], bool]) -> Mapping[str, Any]:
    # A source that lacks one of the answers it is judged against is not judged by the others.
    if not _every(entry, runs):
        return {"factors": entry.get("factors", {}), "reason": NOT_REHEARSED}
    return entry if _every(entry, lambda path: not partial(path)) else {**entry, "partial": True}


def _every(value: Any, holds: Callable[[str], bool]) -> bool:
    """Whether it holds for each text of a value."""
    if isinstance(value, Mapping):
        return all(_every(one, holds) for one in value.values())
    if isinstance(value, list):
        return all(_every(one, holds) for one in value)
    return not isinstance(value, str) or holds(value)
