"""A stage called by its plan: `python -m reprlab.stages.<name> --plan FILE --job KEY`, from the folder of the run."""

import argparse
import hashlib
import inspect
import json
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.folders import download_cache
from reprlab.runtime.plan_file import PlanFile, PlannedJob, as_json, parsed
from reprlab.runtime.stale import require_given

# What a command says behind its job: none of it changes a result.
_NEUTRAL = {"device": str, "save_every": int, "inference_batch": int}
FROZEN = "frozen.json"
"""Marks the frozen copy of a checkout, which a run makes of the code that it planned."""


def parse_arguments(stage: str, arguments: list[str]) -> argparse.Namespace:
    """The options of a planned call."""
    parser = argparse.ArgumentParser(prog=f"python -m reprlab.stages.{stage}", allow_abbrev=False)
    parser.add_argument("--plan", type=Path, required=True, help="the plan of the run")
    parser.add_argument("--job", default="", help="the job's key")
    parser.add_argument("--show", action="store_true", help="print the job and end")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="another setting, with --into")
    parser.add_argument("--into", type=Path, help="a folder for the results of this call, instead of the run's")
    parser.add_argument("--threads", type=int, default=1, help="threads for torch and BLAS")
    parser.add_argument("--log", type=Path, help="the log (default: that of the run)")
    parser.add_argument("--log-level", default="info", help="debug, info, warning or error")
    parser.add_argument("--accumulation", type=int, default=1, help="parts of a training batch, to save memory")
    parser.add_argument("--activation-checkpointing", type=int, default=0, help="1: blocks are computed again")
    for name, kind in _NEUTRAL.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind)
    return parser.parse_args(arguments)


def show(stage: str, options: argparse.Namespace) -> str:
    """The job as JSON, with what --set changes."""
    return as_json(_edited(PlanFile(options.plan).job(stage, options.job), options))


def planned_call(function: Callable[..., None], options: argparse.Namespace) -> tuple[dict[str, Any], PlannedJob, Path]:
    """The arguments of the stage's function, the job, and the log.

    Raises:
        ReprlabError: no such job, a setting that the stage does not take, or code that was edited since the plan.
    """
    stage = function.__name__
    job = PlanFile(options.plan).job(stage, options.job)
    _require_planned_code(job)
    require_given(job, Path())
    job = _edited(job, options)
    log = options.log or _below(options.into, f"results/logs/{stage}/{job.key.replace('/', '.')}.log")
    neutral = {name: options.__dict__[name] for name in _NEUTRAL if options.__dict__[name] is not None}
    return arguments_of(function, job, neutral, options.into), job, log


def arguments_of(
    function: Callable[..., None], job: PlannedJob, neutral: Mapping[str, Any], into: Path | None = None
) -> dict[str, Any]:
    """The arguments of the stage's function for a job, by name and of the types that it declares.

    Raises:
        ReprlabError: one is missing, or not of its type.
    """
    known = {
        **neutral,
        "cache": str(download_cache(_root())),
        "registry": str(_root() / "config/datasets.yaml"),
        "benchmarks": "results/benchmarks",
        "work": str(_below(into, f"results/work/{job.stage}/{job.key}")),
        "fingerprint": job.code_digest,
        **job.factors,
        **{name: _files(value) for name, value in job.files.items()},
        **job.neutral,
        **job.inputs,
        **{name: str(_below(into, path)) for name, path in job.outputs.items()},
        **job.settings,
    }
    return _typed(function, known, job)


def _typed(function: Callable[..., None], known: Mapping[str, Any], job: PlannedJob) -> dict[str, Any]:
    from pydantic import BaseModel, TypeAdapter, ValidationError

    hints, arguments = typing.get_type_hints(function), {}
    for name, parameter in inspect.signature(function).parameters.items():
        value = known.get(name)
        if name not in known or (value in ("", []) and parameter.default is not parameter.empty):
            if parameter.default is parameter.empty:
                raise ReprlabError(f"{job.stage} {job.key}: the plan says nothing about {name}, which the stage needs")
            continue
        hint = hints[name]
        # A group of settings may be optional.
        kinds = [one for one in (hint, *typing.get_args(hint)) if inspect.isclass(one)]
        grouped = any(issubclass(one, BaseModel) for one in kinds)
        adapter = TypeAdapter(hint)
        try:
            arguments[name] = adapter.validate_json(str(value)) if grouped else adapter.validate_python(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join((name, *(str(part) for part in first["loc"])))
            raise ReprlabError(f"{job.stage} {job.key}: {where}: {first['msg']} (got {first.get('input')!r})") from None
    return arguments


def _require_planned_code(job: PlannedJob) -> None:
    from reprlab.runtime.code_digest import edited_modules

    if (_root() / FROZEN).is_file():
        return  # the copy that was made of the planned code, read-only
    if edited := edited_modules(job.code):
        names = ", ".join(edited[:3]) + (f" and {len(edited) - 3} more" if len(edited) > 3 else "")
        raise ReprlabError(f"{job.stage} {job.key}: {names} changed since the run was planned; start the run again")
    known = [pair for value in job.files.values() for pair in _digests(value)]
    for name, digest in known:
        path = _root() / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest()[:16] != digest:
            raise ReprlabError(f"{job.stage} {job.key}: {name} changed since the run was planned; start the run again")


def _edited(job: PlannedJob, options: argparse.Namespace) -> PlannedJob:
    from dataclasses import replace

    if not options.set:
        return job
    if options.into is None:
        raise ReprlabError("--set: a result of other settings needs a folder of its own; give it with --into")
    settings = {name: parsed(value) for name, value in job.settings.items()}
    for edit in options.set:
        name, equals, text = edit.partition("=")
        *path, last = name.split(".")
        place = settings
        for part in path:
            place = place.get(part) if isinstance(place, dict) else None  # type: ignore[assignment]
        if not equals or not isinstance(place, dict) or last not in place:
            known = ", ".join(sorted(place if isinstance(place, dict) else settings))
            raise ReprlabError(f"--set {edit}: the job has no such setting; here it has {known}")
        try:
            place[last] = json.loads(text)
        except ValueError:
            place[last] = text
    packed = {name: json.dumps(value) if isinstance(value, dict) else value for name, value in settings.items()}
    return replace(job, settings=packed)


def _digests(value: Mapping[str, str] | str) -> list[tuple[str, str]]:
    """Names and digests of files of the checkout, as the plan has them."""
    if isinstance(value, str):
        name, _, digest = value.rpartition(" ")
        return [(name, digest)]
    return list(value.items())


def _files(value: Mapping[str, str] | str) -> list[str] | str:
    if isinstance(value, str):
        return str(_root() / value.rpartition(" ")[0])
    return [str(_root() / name) for name in value]


def _root() -> Path:
    """The checkout, or the frozen copy of it, whose code this process runs."""
    return Path(__file__).resolve().parents[3]


def _below(folder: Path | None, path: str) -> Path:
    return folder / path if folder else Path(path)
