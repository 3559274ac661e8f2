"""Why jobs would run: `python -m reprlab.preflight.explain results/depth/glue.tsv --set …`.

Each result names in its seal the job that made it and the plan which that was a part of. The plan of now is held
against it: which settings changed, from what to what, and which modules of the code.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.reruns import running
from reprlab.planning.run_plan import RunPlan
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.folders import checkout_root
from reprlab.runtime.plan_file import FOLDER, PlanFile, PlannedJob, parsed
from reprlab.runtime.seals import signature_of

_LONGEST = 60
_SHOWN = 8


def explain(plan: RunPlan, run_folder: Path, targets: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """Keys of the jobs that would run, by stage and reason, in the order in which they would run."""
    found: dict[str, dict[str, list[str]]] = {}
    for job, why in running(plan, targets, lambda job: list(_reasons(job, run_folder))):
        found.setdefault(job.stage, {}).setdefault("; ".join(why), []).append(job.key)
    return found


def _reasons(job: PlannedJob, run_folder: Path) -> Iterator[str]:
    missing = [path for path in job.outputs.values() if not (run_folder / path).exists()]
    if missing:
        yield "not made yet"
        return
    signature = signature_of(Path(next(iter(job.outputs.values()))), run_folder)
    if signature is not None and signature.job == job.digest:
        return
    try:
        before = PlanFile(run_folder / FOLDER / signature.plan).job(job.stage, job.key) if signature else None
    except ReprlabError:
        before = None
    if before is None:
        yield "made by a job of a plan that is not kept"
        return
    yield from _differences(before, job)


def _differences(before: PlannedJob, after: PlannedJob) -> Iterator[str]:
    for part in ("settings", "factors", "files", "inputs"):
        old, new = (dict(leaves(getattr(one, part))) for one in (before, after))
        for name in sorted({*old, *new}):
            if old.get(name) != new.get(name):
                yield f"{name}: {_text(old, name)} -> {_text(new, name)}"
    edited = sorted(
        module.removeprefix("reprlab.")
        for module in {*before.code, *after.code}
        if before.code.get(module) != after.code.get(module)
    )
    if edited:
        more = f" and {len(edited) - _SHOWN} more" if len(edited) > _SHOWN else ""
        yield f"code of {', '.join(edited[:_SHOWN])}{more}"


def leaves(values: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The dotted names of all values that are no groups, with the values."""
    for key, value in values.items():
        inner, path = parsed(value), f"{name}.{key}" if name else str(key)
        if isinstance(inner, Mapping) and inner:
            yield from leaves(inner, path)
        else:
            yield path, inner


def _text(values: Mapping[str, Any], name: str) -> str:
    text = json.dumps(values[name], ensure_ascii=False) if name in values else "nothing"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def report(found: Mapping[str, Mapping[str, list[str]]]) -> str:
    """A line for each stage and reason, and their jobs."""
    if not found:
        return "Nothing to be done: every result is of these settings and this code.\n"
    lines, count = [], 0
    for stage, reasons in found.items():
        for why, keys in reasons.items():
            count += len(keys)
            more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
            lines += [f"{stage} ({len(keys)}): {why}", f"    {', '.join(keys[:_SHOWN])}{more}"]
    return "\n".join([*lines, f"{count} job{'s' * (count != 1)} would run"]) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Print why jobs would run; 1 where the settings or the targets are wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=["all"], help="result files, papers, or all")
    parser.add_argument("--scale", help="nano, mini, small or paper")
    parser.add_argument("--set", help="edits of settings")
    options = parser.parse_args(arguments)
    try:
        root = checkout_root()
        given = {name: value for name in ("scale", "set") if (value := getattr(options, name))}
        config = load_config(root, given)
        plan = RunPlan(make_plan(config), root)
        sys.stdout.write(report(explain(plan, config.run_folder, options.targets)))
    except ReprlabError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
