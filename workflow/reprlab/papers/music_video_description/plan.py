"""Plan of music-video-description: descriptions by each combination of inputs, their neighbours, and the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprlab.papers.music_video_description.plan_descriptions import SLUG, Descriptions
from reprlab.papers.music_video_description.plan_neighbours import neighbour_sources
from reprlab.papers.music_video_description.results import RESULTS
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.plan import Plan
from reprlab.planning.result_jobs import add_results

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig


def add_jobs(plan: Plan, config: LoadedConfig) -> None:
    """Plan all of the paper at the config's scale."""
    made = Descriptions(plan, config, config.papers[SLUG])
    entries = [*made.heard_in(), *made.cost(), *made.table1(), *neighbour_sources(made)]
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale)
    made.show()
    add_cost(plan, config, SLUG)
