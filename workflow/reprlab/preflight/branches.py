"""Branches of the hub that a plan takes: what they are pinned at, and `config/hub.lock.json` that pins them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from reprlab.artifacts.json_files import write_json
from reprlab.config.load import LoadedConfig, load_config
from reprlab.hub.commits import LOCK_FILE, ask, commit_of
from reprlab.hub.revisions import is_commit, lock_key
from reprlab.planning.plan import Plan
from reprlab.preflight.findings import Finding
from reprlab.preflight.sources import planned_archives, setting
from reprlab.registry.models import HubOrigin, ModelEntry
from reprlab.runtime.errors import ReprlabError, told_in_one_line
from reprlab.runtime.folders import checkout_root, download_cache

_STAGES = ("build_model", "extract_tokenizer")
Branch = tuple[str, str, str]
"""Kind ("model" or "dataset"), repository and revision."""


def branches(plan: Plan, config: LoadedConfig) -> list[Branch]:
    """The repositories of a plan with their revisions, commits among them."""
    found: set[Branch] = set()
    for job in (job for stage in _STAGES for job in plan.jobs.get(stage, {}).values()):
        origin = ModelEntry.model_validate_json(job.settings["entry"]).origin
        if isinstance(origin, HubOrigin):
            found.add(("model", origin.repository, origin.revision))
            found |= {("model", origin.adapter, origin.adapter_revision)} if origin.adapter else set()
    for job in plan.jobs.get("train_tokenizer", {}).values():
        wanted = setting(job, "settings")
        if wanted["source"] == "model":
            found.add(("model", wanted["model"], wanted["revision"]))
    for file in (file for entry in planned_archives(plan, config.datasets) for file in entry.files):
        repository, at, revision = (file.revision or "").rpartition("@")
        found |= {("dataset", repository, revision)} if at else set()
    return sorted(found)


def check_branches(plan: Plan, config: LoadedConfig) -> Iterator[Finding]:
    """A note for what is not pinned, and for pinned branches that have moved since."""
    planned = branches(plan, config)
    if loose := [f"{repository}@{revision}" for _, repository, revision in planned if not is_commit(revision)]:
        shown = ", ".join(loose[:3]) + (f" and {len(loose) - 3} more" if len(loose) > 3 else "")
        yield Finding("origin", "branches", "note", f"{shown} may move; `make pin` notes their commits")
    taken = {(kind, repository, commit) for kind, repository, commit in planned}
    for key, commit in config.commits.items():
        kind, repository, revision = _branch(key)
        if (kind, repository, commit) not in taken:
            continue
        try:
            now = ask(repository, revision, kind)
        except ReprlabError as error:
            yield Finding(
                "origin", f"{repository}@{revision}", "note", f"pinned at {commit}; whether it moved: {error}"
            )
            continue
        if now != commit:
            message = (
                f"has moved to {now}; the run takes the pinned {commit} (`make pin ARGS=--update` takes the new one)"
            )
            yield Finding("origin", f"{repository}@{revision}", "note", message)


def _branch(key: str) -> Branch:
    kind, _, rest = key.partition("/")
    repository, _, revision = rest.partition("@")
    return kind.removesuffix("s"), repository, revision


def pin(config: LoadedConfig, plan: Plan, cache: Path, *, update: bool) -> tuple[dict[str, str], list[str]]:
    """The lock with all branches of a plan, and a line for each that the hub does not name a commit for.

    Branches that were fetched before are pinned at what was fetched; with `update` all are asked for anew.
    """
    lock, failed = dict(config.commits), []
    wanted = {lock_key(repository, revision, kind): (kind, repository, revision)
              for kind, repository, revision in branches(plan, config) if not is_commit(revision)}  # fmt: skip
    wanted |= {key: _branch(key) for key in lock} if update else {}
    for key, (kind, repository, revision) in sorted(wanted.items()):
        try:
            lock[key] = ask(repository, revision, kind) if update else commit_of(cache, repository, revision, kind)
        except ReprlabError as error:
            failed.append(str(error))
    return lock, failed


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Write the lock file; 1 where a branch could not be pinned."""
    from reprlab.planning.paper_plans import make_plan

    parser = argparse.ArgumentParser(
        prog="make pin", description=f"Write config/{LOCK_FILE}: a commit for each branch."
    )
    parser.add_argument("--scale", default="paper", help="the scale whose models and data are pinned (default: paper)")
    parser.add_argument("--update", action="store_true", help="take the commits that the branches are at now")
    given = parser.parse_args(arguments)
    root = checkout_root()
    config = load_config(root, {"scale": given.scale})
    lock, failed = pin(config, make_plan(config), download_cache(root), update=given.update)
    changed = sum(config.commits.get(key) != commit for key, commit in lock.items())
    if lock:
        write_json(root / "config" / LOCK_FILE, lock)
    sys.stdout.write("".join(f"not pinned: {line}\n" for line in failed))
    sys.stdout.write(f"config/{LOCK_FILE}: {len(lock)} branches, {changed} new or changed, {len(failed)} not pinned\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
