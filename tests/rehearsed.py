"""Planned jobs run one after the other in this process, where a start of its own costs more than most of them.

    python -m tests.rehearsed --home FOLDER --out FILE --paper depth    # the rehearsal of a paper
    python -m tests.rehearsed --home FOLDER --out FILE --first          # a job of each stage and architecture

FOLDER is the home of a hub on this machine (`reprlab.preflight.rehearse.local_hub`), by whose variables it is found.
FILE gets a line of JSON for each job: what became of it.
"""

import argparse
import contextlib
import functools
import importlib
import json
import shutil
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from reprlab.config.load import load_config
from reprlab.planning.job_classes import GATHERING
from reprlab.planning.run_plan import RunPlan, plan_run
from reprlab.runtime import planned
from reprlab.runtime.plan_file import PlannedJob, parsed

NEUTRAL = {"device": "cpu", "save_every": 500, "inference_batch": 16}
Name = tuple[str, str]


@dataclass(frozen=True)
class Outcome:
    """A job and what became of it: empty where it is done."""

    stage: str
    key: str
    error: str
    trace: str = ""
    seconds: float = 0.0


def run_jobs(
    plan: RunPlan, wanted: Iterable[Name], folder: Path, checkout: Path, told: Callable[[Outcome], None] | None = None
) -> list[Outcome]:
    """Run jobs with all that they need below `folder`, with the registries of `checkout`; what is there already stays.

    A job whose inputs failed is not started. What became of a job is `told` at once.
    """
    outcomes: dict[Name, Outcome] = {}

    def run(name: Name) -> Outcome:
        if name in outcomes:
            return outcomes[name]
        job = plan.jobs[name]
        makers = [plan.makers[path] for path in job.reads if path in plan.makers]
        lacking = next((maker for maker in makers if run(maker).error), None)
        begun = time.monotonic()
        error, trace = (f"needs {' '.join(lacking)}", "") if lacking else _done(job, folder)
        outcomes[name] = Outcome(*name, error, trace, round(time.monotonic() - begun, 2))
        if told:
            told(outcomes[name])
        return outcomes[name]

    own, planned._root = planned._root, lambda: checkout
    try:
        for name in wanted:
            run(name)
    finally:
        planned._root = own
    return list(outcomes.values())


def _done(job: PlannedJob, folder: Path) -> tuple[str, str]:
    outputs = [folder / path for path in job.outputs.values()]
    if all(path.exists() for path in outputs):
        return "", ""
    function = getattr(importlib.import_module(f"reprlab.stages.{job.stage}"), job.stage)
    for path in outputs:
        path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(folder):
        try:
            function(**planned.arguments_of(function, job, NEUTRAL))
        except Exception as error:
            # As the engine does: what is not whole is not taken for a result.
            for path in outputs:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            return f"{type(error).__name__}: {error}", traceback.format_exc()
    return "", ""


def first_jobs(plan: RunPlan, most: int) -> list[Name]:
    """Of each stage and of each model's architecture a job, chosen so that few others are needed for them.

    Stages for which more than `most` further jobs would run are left out, and so are those that gather results.
    """

    @functools.cache
    def behind(name: Name) -> frozenset[Name]:
        makers = {plan.makers[path] for path in plan.jobs[name].reads if path in plan.makers}
        return frozenset({name}).union(*map(behind, makers))

    def met(name: Name) -> str:
        job = plan.jobs[name]
        return (
            f"{job.stage} {parsed(job.settings['entry'])['architecture']}" if job.stage == "build_model" else job.stage
        )

    candidates = {name: frozenset(map(met, behind(name))) for name in plan.jobs if name[0] not in GATHERING}
    chosen: list[Name] = []
    runs: frozenset[Name] = frozenset()
    seen: frozenset[str] = frozenset()
    while candidates := {name: stages for name, stages in candidates.items() if stages - seen}:
        price = {name: len(behind(name) - runs) / len(stages - seen) for name, stages in candidates.items()}
        best = min(candidates, key=lambda name: (price[name], name))
        if price[best] > most:
            break
        chosen.append(best)
        runs, seen = runs | behind(best), seen | candidates[best]
    return chosen


def main() -> None:
    """Run and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--paper", default="")
    parser.add_argument("--first", action="store_true")
    given = parser.parse_args()
    # Fifty rows have labels that come once, and images of no width.
    warnings.simplefilter("ignore")
    from tests.checkouts import ROOT

    targets = [given.paper] if given.paper else []
    config = load_config(ROOT, {"scale": "rehearsal"}, home=given.home, targets=targets)
    plan = plan_run(config)
    plan.write(config.run_folder)
    checkout = given.home / "checkout"
    if not checkout.exists():
        # Registries of the hub, and all else of the checkout.
        checkout.mkdir()
        (checkout / "config").symlink_to(given.home / "config")
        (checkout / "resources").symlink_to(ROOT / "resources")
    wanted = first_jobs(plan, most=10) if given.first else list(plan.jobs)
    with given.out.open("w", encoding="utf-8") as out:
        run_jobs(
            plan, wanted, config.run_folder, checkout, lambda one: print(json.dumps(asdict(one)), file=out, flush=True)
        )


if __name__ == "__main__":
    main()
