"""DEPTH's pre-training: T5 and DEPTH, from scratch and continued, and the side experiments."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprlab.papers.depth.names import Ladder
from reprlab.papers.depth.plan_runs import Evaluated, RunPlanner
from reprlab.papers.depth.plan_side_experiments import Variant, add_side_experiments
from reprlab.papers.depth.plan_text import Text, add_text
from reprlab.papers.plan import Plan

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.depth import DepthSettings


@dataclass(frozen=True)
class Pretrained:
    """What later stages need to know of pre-training."""

    text: Text
    ladders: list[Ladder]
    random_models: dict[int, str]
    """Folder of the random initial model by seed."""
    evaluated: dict[str, Evaluated]
    """Validation losses by run."""
    side_experiments: dict[str, list[Variant]]
    """Runs by side experiment; empty lists for those that are switched off."""


def add_pretraining(plan: Plan, config: "LoadedConfig", paper: "DepthSettings") -> Pretrained:
    """Plan text, models, runs and their validation losses."""
    text = add_text(plan, config, paper)
    planner = RunPlanner(plan, config, paper, text)
    for seed in paper.pretraining.seeds:
        planner.add_model(seed)
        for init in ("fs", "cpt"):
            for objective in paper.pretraining.objectives:
                planner.add_main_run(objective, init, seed)
    side_experiments = add_side_experiments(planner)
    planner.add_evaluations()
    planner.add_previews()
    return Pretrained(
        text=text,
        ladders=planner.ladders,
        random_models=planner.models,
        evaluated=planner.evaluated,
        side_experiments=side_experiments,
    )
