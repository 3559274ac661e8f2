"""Why jobs would run: `python -m reprlab.preflight.explain results/depth/glue.tsv --set …`.

What is stale is what the engine finds stale (`runtime.stale`). Each result names in its seal the job that made it and
the plan that this was a part of; the plan of now is held against it: which settings changed, from what to what, and
which modules of the code.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.reruns import READS_NEW, running
from reprlab.planning.run_plan import RunPlan
from reprlab.runtime.errors import ReprlabError, told_in_one_line
from reprlab.runtime.folders import checkout_root
from reprlab.runtime.plan_file import FOLDER, PlanFile, PlannedJob, parsed
from reprlab.runtime.seals import Seal
from reprlab.runtime.stale import Results

_LONGEST = 60
_SHOWN = 8


def explain(plan: RunPlan, run_folder: Path, targets: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """Keys of the jobs that would run, by stage and reason, in the order in which they would run."""
    results = Results(run_folder)
    found: dict[str, dict[str, list[str]]] = {}
    for job, why in running(plan, targets, lambda job: list(_reasons(job, results)), results.has):
        found.setdefault(job.stage, {}).setdefault("; ".join(why), []).append(job.key)
    return found


def _reasons(job: PlannedJob, results: Results) -> Iterator[str]:
    found = list(results.of_job(job))
    yield from dict.fromkeys(_SAID[one.kind].format(**vars(one)) for one in found if one.kind != "other job")
    others = [one.seal for one in found if one.kind == "other job" and one.seal]
    if others:
        yield from _of_another_job(job, others[0], results.folder)


_SAID = {
    "unsealed": "nothing says which job made it",
    "edited": "{path} is not what its stage wrote: edited or cut off",
    "other input": "made from another {source} than the one that is there",
}


def _of_another_job(job: PlannedJob, seal: Seal, run_folder: Path) -> Iterator[str]:
    try:
        before = PlanFile(run_folder / FOLDER / seal.made.plan).job(job.stage, job.key)
    except ReprlabError:
        yield "made by a job of a plan that is not kept"
        return
    yield from list(_differences(before, job)) or [READS_NEW]


def _differences(before: PlannedJob, after: PlannedJob) -> Iterator[str]:
    for part in ("settings", "factors", "files", "states", "inputs"):
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
    """The dotted names of all values that are not groups, with the values."""
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


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Print why jobs would run; 1 where the settings or the targets are wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=["all"], help="result files, papers, or all")
    parser.add_argument("--scale", help="nano, mini, small or paper")
    parser.add_argument("--set", help="edits of settings")
    options = parser.parse_args(arguments)
    root = checkout_root()
    given = {name: value for name in ("scale", "set") if (value := getattr(options, name))}
    config = load_config(root, given, targets=options.targets)
    plan = RunPlan(make_plan(config), root, config.config_root, config.run_folder)
    sys.stdout.write(report(explain(plan, config.run_folder, options.targets)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
