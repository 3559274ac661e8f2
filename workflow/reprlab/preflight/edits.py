"""Edits that change no job: settings that nothing reads at this scale, with what they are read beside."""

import functools
from collections.abc import Iterator

from reprlab.config.conditions import condition
from reprlab.config.load import LoadedConfig, load_config
from reprlab.config.papers import PAPERS
from reprlab.planning.plan import Plan
from reprlab.plugins import load_plugin
from reprlab.preflight.findings import Finding
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.overrides import split_edits


def check_edits(config: LoadedConfig, edits: str) -> Iterator[Finding]:
    """A note for each edit of a paper's setting without which the plan of its paper is the same.

    Args:
        config: with all of the edits.
        edits: as given under `set`.
    """
    given = [edit.strip() for edit in split_edits(edits)]
    planned = functools.cache(functools.partial(_jobs, config))
    for number, edit in enumerate(given):
        name = edit.partition("=")[0].strip()
        keys = tuple(name.split("."))
        if len(keys) < 3 or keys[0] != "papers" or keys[1] not in PAPERS:
            continue
        others = "; ".join(given[:number] + given[number + 1 :])
        try:
            without = load_config(config.root, {"scale": config.scale, "set": others})
            same = _jobs(without, keys[1]) == planned(keys[1])
        except ReprlabError:
            continue  # the others need it
        if same:
            yield Finding("setting", name, "note", _message(config, keys))


def _jobs(config: LoadedConfig, slug: str) -> str:
    plan = Plan()
    load_plugin("papers", f"{slug.replace('-', '_')}.plan").add_jobs(plan, config)
    return repr(plan.jobs)


def _message(config: LoadedConfig, keys: tuple[str, ...]) -> str:
    message = f"the edit changes no job at scale {config.scale}"
    beside = condition(PAPERS[keys[1]], keys[2:])
    named = "; ".join(f"papers.{keys[1]}.{edit}" for edit in beside)
    return f"{message}; at scale paper it is read beside {named}" if named else message
