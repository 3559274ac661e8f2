"""The plan of all papers that the config knows."""

from typing import TYPE_CHECKING

from reprlab.papers.plan import Plan
from reprlab.plugins import load_plugin

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig


def make_plan(config: "LoadedConfig") -> Plan:
    """Jobs of every paper, shared ones once.

    Raises:
        ReprlabError: two papers give one name different settings, or a setting names what is not there.
    """
    plan = Plan()
    for slug in config.papers:
        load_plugin("papers", f"{slug.replace('-', '_')}.plan").add_jobs(plan, config)
    return plan
