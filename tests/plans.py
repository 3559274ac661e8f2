"""Plans in memory, for tests that ask what an edited setting makes again."""

import functools
from collections import Counter
from dataclasses import replace

from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.reruns import reruns
from reprlab.planning.run_plan import RunPlan

from tests.checkouts import ROOT


@functools.lru_cache(maxsize=4)
def plan_of(slug: str, edits: str = "", scale: str = "nano") -> RunPlan:
    """The plan of one paper alone with `edits`, as `--config set=` takes them."""
    config = load_config(ROOT, {"scale": scale, "build": [slug], **({"set": edits} if edits else {})})
    return RunPlan(make_plan(replace(config, papers={slug: config.papers[slug]})), ROOT)


def rerun_jobs(slug: str, before: str, edit: str, *targets: str) -> list[tuple[str, str]]:
    """Stage and key of the jobs that run for `targets` (all of the paper where none is given) after one more edit."""
    joined = "; ".join(filter(None, [before, edit]))
    return reruns(plan_of(slug, before), plan_of(slug, joined), targets or [slug])


def rerun_counts(slug: str, before: str, edit: str, *targets: str) -> dict[str, int]:
    """Stages that run after an edit, with the number of their jobs."""
    return dict(Counter(stage for stage, _ in rerun_jobs(slug, before, edit, *targets)))
