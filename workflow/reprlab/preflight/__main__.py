"""Check before a run what would fail in it: `python -m reprlab.preflight --scale paper --paper depth`."""

import argparse
import dataclasses
import json
import sys
from pathlib import Path

from reprlab.config.load import LoadedConfig, load_config
from reprlab.planning.plan import Plan
from reprlab.plugins import load_plugin
from reprlab.preflight.findings import Finding
from reprlab.runtime.errors import ReprlabError, told_in_one_line
from reprlab.runtime.folders import checkout_root, download_cache
from reprlab.runtime.training_memory import TrainingMemory
from reprlab.settings.errors import nearest


def preflight(config: LoadedConfig, papers: list[str], cache: Path, edits: str = "") -> list[Finding]:
    """All findings for some papers at the config's scale. Nothing is downloaded but headers and lists of versions.

    Args:
        edits: what `set` gave the config, of which those are noted that change nothing.

    Raises:
        ReprlabError: there is no such paper, or the config cannot be planned.
    """
    from reprlab.preflight.branches import check_branches
    from reprlab.preflight.edits import check_edits
    from reprlab.preflight.machinery import check_models, check_scorers, check_tools
    from reprlab.preflight.room import check_disk, check_memory
    from reprlab.preflight.sources import check_origins, check_rows, planned_archives

    memory = TrainingMemory(config.runtime.accumulation, config.runtime.activation_checkpointing)
    plan = Plan()
    for paper in (name.replace("_", "-") for name in papers):
        if paper not in config.papers:
            raise ReprlabError(f"{paper}: no such paper{nearest(paper, config.papers)}")
        load_plugin("papers", f"{paper.replace('-', '_')}.plan").add_jobs(plan, config)
    archives = planned_archives(plan, config.datasets)
    origins, missing = check_origins(archives, cache)
    sized = {*missing, *(finding.subject for finding in origins if "in the cache" in finding.message)}
    unknown = [entry.name for entry in archives if entry.name not in sized]
    return [
        *check_edits(config, edits),
        *origins,
        *check_branches(plan, config),
        *check_models(plan),
        *check_rows(plan, config.datasets.archives, cache),
        *check_scorers(plan),
        *check_tools(plan),
        *check_disk(plan, missing, unknown, cache, config.run_folder),
        *check_memory(plan, config.scale, memory),
    ]


def report(findings: list[Finding]) -> str:
    """Problems last, where a reader looks."""
    rows = [finding for status in ("ok", "note", "problem") for finding in findings if finding.status == status]
    lines = [f"{row.status:<8} {row.check:<7} {row.subject}: {row.message}" for row in rows]
    count = sum(finding.status == "problem" for finding in findings)
    ending = f"{count} problem{'s' * (count != 1)}" if count else "no problem"
    return "\n".join([*lines, f"{len(findings)} checks, {ending}"]) + "\n"


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Print all findings; 1 if any is a problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default=None, help="nano, mini, small or paper; the default is that of config.yaml")
    parser.add_argument("--paper", action="append", default=None, help="a paper's name, repeatable; all by default")
    parser.add_argument("--set", default="", help="edits, as for the workflow: section.key=value; …")
    parser.add_argument("--json", action="store_true", help="findings as JSON")
    given = parser.parse_args(arguments)
    overrides = {**({"scale": given.scale} if given.scale else {}), **({"set": given.set} if given.set else {})}
    root = checkout_root()
    config = load_config(root, overrides, targets=given.paper or ())
    findings = preflight(config, given.paper or list(config.needed), download_cache(root), given.set)
    if given.json:
        sys.stdout.write(json.dumps([dataclasses.asdict(finding) for finding in findings], indent=2) + "\n")
    else:
        sys.stdout.write(report(findings))
    return int(any(finding.status == "problem" for finding in findings))


if __name__ == "__main__":
    sys.exit(main())
