"""`make rehearse`: each kind of job of scale `paper` once, with small models and the first rows of its data.

    make rehearse PAPER=depth ARGS="--profile profiles/slurm"

Jobs that differ in numbers alone are one class (`reprlab.planning.job_classes`), of which the first runs. Models are
cut in depth and width, trainings to two updates, data to their first rows; architectures, tokenizers, data sets,
readers, methods, prompts and grids are the published ones. The run has the scale `rehearsal` and a folder of its own.

It asks the hub that HF_ENDPOINT names, by default huggingface.co. Where that cannot be reached, a hub on this machine
serves the published layout of every repository (`tests/published_hub`).

Afterwards a table says of each class whether it works: `results/rehearsal/<paper>.tsv` in the folder of the run.

Where there is a GPU, updates of published sizes with drawn weights are timed then: `<paper>_updates.tsv` beside it
(`reprlab.preflight.updates.timing`). `--updates-only` times them and needs no hub.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.runtime.errors import ReprlabError, told_in_one_line
from reprlab.runtime.files import write_text

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.planning.job_classes import Name
    from reprlab.planning.rehearsal import Rehearsal
    from reprlab.planning.run_plan import RunPlan

COLUMNS = ("class", "stage", "job", "jobs", "seconds", "peak_mb", "result")
OK, REFUSED = "ok", "not rehearsed"
_PACKAGES = ("pypi", "npm", "debian")
_SECONDS = 5.0


@dataclass(frozen=True)
class Hub:
    """Where a rehearsal has its models and data from."""

    home: Path | None
    """Folder with a `config/` whose registries fit a hub on this machine; None: those of the checkout hold."""
    environment: Mapping[str, str]
    """Variables by which clients find it."""


def reached() -> bool:
    """Whether the hub that HF_ENDPOINT names answers."""
    import httpx
    from huggingface_hub import constants

    try:
        httpx.head(constants.ENDPOINT, timeout=_SECONDS)
    except httpx.HTTPError:
        return False
    return True


@contextlib.contextmanager
def local_hub(root: Path, home: Path | None = None) -> Iterator[Hub]:
    """The hub on this machine, with registries that fit it.

    Args:
        root: the checkout.
        home: a folder for what it serves and for the run; by default `runs/local_hub` of the checkout.

    Raises:
        ReprlabError: it does not start.
    """
    home = home or root / "runs/local_hub"
    served = _digest_of_what_is_served(root)
    kept = home / "served.txt"
    if home.exists() and (not kept.is_file() or kept.read_text(encoding="utf-8") != served):
        # Caches and results know a file by its commit, and another version of this hub has others at the same.
        shutil.rmtree(home)
    shutil.rmtree(home / "config", ignore_errors=True)
    shutil.copytree(root / "config", home / "config")
    write_text(kept, served)
    command = [sys.executable, "-m", "tests.published_hub", "--folder", str(home / "served"), "--config"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "workflow"), str(root)])}
    server = subprocess.Popen(
        [*command, str(home / "config")], cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        line = server.stdout.readline() if server.stdout else ""
        if not line:
            raise ReprlabError("the hub on this machine does not start; its error is above")
        yield Hub(home, {**json.loads(line), "REPRLAB_CACHE": str(_cache(root, home))})
    finally:
        if server.stdin:
            server.stdin.close()
        server.wait()


def _digest_of_what_is_served(root: Path) -> str:
    own = sorted(path for path in (root / "tests/published_hub").glob("*") if path.is_file())
    cut = root / "workflow/reprlab/models/cut.py"
    files = [*own, cut, root / "config/models.yaml", root / "config/datasets.yaml"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def _cache(root: Path, home: Path) -> Path:
    """A cache of downloads of its own, that begins with the packages of the checkout's."""
    from reprlab.registry.datasets import load_registry
    from reprlab.runtime.folders import download_cache

    known, own = download_cache(root), home / "downloads"
    own.mkdir(parents=True, exist_ok=True)
    for entry in load_registry(home / "config/datasets.yaml").archives.values():
        if all(origin.partition(":")[0] in _PACKAGES for origin in entry.origins):
            for file in entry.files:
                if (known / file.digest).is_dir() and not (own / file.digest).exists():
                    (own / file.digest).symlink_to(known / file.digest)
    return own


def rehearse_run(root: Path, paper: str, given: Mapping[str, str], hub: Hub, command: Sequence[str]) -> int:
    """Rehearse a paper, or all; prints the classes and then the table, and returns the exit status.

    Args:
        root: the checkout.
        paper: a slug; empty: all papers.
        given: `set` as the user gives it; empty where it is not given.
        hub: where models and data come from.
        command: options of Snakemake: `--cores`, a profile and the like.
    """
    from reprlab.config.load import load_config
    from reprlab.config.runtime import REHEARSAL
    from reprlab.planning.job_classes import Classes
    from reprlab.planning.paper_plans import make_plan
    from reprlab.planning.rehearsal import rehearse

    # Plans name the addresses that the environment names.
    os.environ.update(hub.environment)
    targets = [paper] if paper else []
    published = Classes(make_plan(load_config(root, {**given, "scale": "paper"}, home=hub.home, targets=targets)))
    counts = {one: len(members) for one, members in published.members.items()}
    settings = {**given, "scale": REHEARSAL}
    config = load_config(root, settings, home=hub.home, targets=targets)
    rehearsal = rehearse(make_plan(config), config)
    _show_classes(rehearsal, counts)
    slugs = [paper] if paper else [*rehearsal.plan.targets, "results/report.html"]
    called = [sys.executable, "-m", "snakemake", "--snakefile", str(root / "Snakefile"), "--keep-going", *command]
    called += ["--directory", str(hub.home)] if hub.home else []
    called += ["--config", *(f"{name}={value}" for name, value in settings.items()), "--", *slugs]
    done = subprocess.run(called, cwd=root, stdin=subprocess.DEVNULL, check=False)
    rows = table_rows(config, rehearsal, counts)
    path = config.run_folder / "results/rehearsal" / f"{paper or 'all'}.tsv"
    _write(path, rows)
    _show(rows, path)
    failed = any(row["result"] != OK and not str(row["result"]).startswith(REFUSED) for row in rows)
    slow = time_updates(root, paper, given, path.parent)
    return 1 if failed else done.returncode or slow


def time_updates(root: Path, paper: str, given: Mapping[str, str], folder: Path) -> int:
    """Time updates of published sizes where a GPU is; prints their table, or one line that says why there is none.

    Args:
        folder: where the table is written.

    Returns:
        1 if what is known to be dear costs too much.
    """
    import torch

    if not torch.cuda.is_available():
        sys.stdout.write("no GPU here: updates of published sizes are not timed\n")
        return 0
    from reprlab.config.load import load_config
    from reprlab.preflight.updates.measuring import Sizes
    from reprlab.preflight.updates.timing import PAPERS, timed_rows, too_costly

    papers = [one for one in PAPERS if paper in ("", one)]
    if not papers:
        sys.stdout.write(f"no update of {paper} is timed; those of {', '.join(PAPERS)} are\n")
        return 0
    # Of real sizes, also where the hub on this machine has cut models.
    config = load_config(root, {**given, "scale": "paper"}, targets=papers)
    rows, rate = timed_rows(config, papers, Sizes())
    sys.stdout.write(f"{torch.cuda.get_device_name()}: {rate / 1e12:.0f} TFLOP/s in bfloat16 products\n")
    path = folder / f"{paper or 'all'}_updates.tsv"
    _write(path, [{name: "" if value is None else value for name, value in row.items()} for row in rows])
    _print([{name: _shown(value) for name, value in row.items()} for row in rows])
    sys.stdout.write(f"{len(rows)} updates: {path}\n")
    if problem := too_costly(rows):
        sys.stderr.write(f"error: {problem}\n")
    return int(bool(problem))


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table_rows(config: LoadedConfig, rehearsal: Rehearsal, counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """A row for each class: the job that stands for it, for how many, what it took, and `ok` or why not.

    Args:
        counts: the number of jobs of each class in the published plan.
    """
    from reprlab.planning.run_plan import RunPlan

    plan = RunPlan(rehearsal.plan, config.root, config.config_root, config.run_folder)
    judge = _Judge(plan, config.run_folder)
    rows = []
    for digest, members in rehearsal.classes.members.items():
        stage, key = name = members[0]
        row = {"class": digest, "stage": stage, "job": key, "jobs": counts.get(digest, len(members))}
        if name in rehearsal.refused:
            row |= {"seconds": "", "peak_mb": "", "result": f"{REFUSED}: {rehearsal.refused[name]}"}
        else:
            row |= {**judge.taken(name), "result": judge.said(name)}
        rows.append(row)
    return rows


class _Judge:
    """What became of the jobs of a run."""

    def __init__(self, plan: RunPlan, folder: Path) -> None:
        from reprlab.runtime.stale import Results

        self.plan, self.folder, self.results = plan, folder, Results(folder)
        self._known: dict[Name, bool] = {}

    def made(self, name: Name) -> bool:
        """Whether the results of a job are there, as this plan makes them."""
        if name not in self._known:
            job = self.plan.jobs[name]
            there = all(map(self.results.has, job.outputs.values()))
            self._known[name] = there and not any(self.results.of_job(job))
        return self._known[name]

    def said(self, name: Name) -> str:
        """`ok`, the last line of the log of a job that failed, or the job that it waits for."""
        from reprlab.planning import paths

        if self.made(name):
            return OK
        lacking = next((maker for maker in self._makers(name) if not self.made(maker)), None)
        if lacking is not None:
            # As far up as there is one: that is where something is to be mended.
            while further := next((maker for maker in self._makers(lacking) if not self.made(maker)), None):
                lacking = further
            return f"needs {' '.join(lacking)}, which failed"
        log = self.folder / paths.log(*name)
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
        if lines and lines[-1].startswith("error: "):
            return lines[-1].removeprefix("error: ")
        return f"failed without a word; look into {paths.log(*name)}" if lines else "was not started"

    def taken(self, name: Name) -> dict[str, Any]:
        """Seconds and peak memory in MB; empty where they are not known."""
        from reprlab.planning import paths
        from reprlab.runtime.log import used

        peak, _ = used(self.folder / paths.log(*name))
        try:
            with (self.folder / paths.benchmark(*name)).open(encoding="utf-8", newline="") as handle:
                rows = list(csv.DictReader(handle, delimiter="\t"))
        except OSError:
            rows = []
        seconds = f"{sum(float(row['s']) for row in rows):.1f}" if rows else ""
        return {"seconds": seconds, "peak_mb": "" if math.isnan(peak) else f"{peak:.0f}"}

    def _makers(self, name: Name) -> list[Name]:
        return [self.plan.makers[path] for path in self.plan.jobs[name].reads if path in self.plan.makers]


def _show_classes(rehearsal: Rehearsal, counts: Mapping[str, int]) -> None:
    members = rehearsal.classes.members
    jobs = sum(map(len, rehearsal.plan.jobs.values()))
    sys.stdout.write(
        f"{sum(counts.values())} jobs of scale paper are {len(members)} classes; {jobs} jobs run, "
        f"{len(rehearsal.refused)} classes are not rehearsed\n"
    )
    for digest, (name, *_) in members.items():
        why = f"  ({REFUSED}: {rehearsal.refused[name]})" if name in rehearsal.refused else ""
        sys.stdout.write(f"{counts.get(digest, 0):6} {' '.join(name)}{why}\n")
    sys.stdout.flush()


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    from reprlab.artifacts.tsv import write_rows

    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(path, [dict(row) for row in rows])


def _show(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    _print([{name: str(row[name]) for name in COLUMNS[1:]} for row in rows])
    found = Counter(_kind(str(row["result"])) for row in rows)
    sys.stdout.write(f"{', '.join(f'{count} {kind}' for kind, count in found.items())}: {path}\n")


def _print(rows: Sequence[Mapping[str, str]]) -> None:
    """A table in columns, the widest of 60 characters."""
    shown = list(rows[0])
    table = [dict(zip(shown, shown, strict=True)), *rows]
    widths = {name: min(60, max(len(row[name]) for row in table)) for name in shown}
    for row in table:
        sys.stdout.write("  ".join(row[name].ljust(widths[name]) for name in shown).rstrip() + "\n")


def _kind(result: str) -> str:
    if result == OK or result.startswith(REFUSED):
        return result.partition(":")[0]
    return "wait for one that failed" if result.startswith("needs ") else "failed"


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Rehearse; returns the exit status."""
    from reprlab.config.papers import SLUGS
    from reprlab.runtime.folders import checkout_root
    from reprlab.settings.errors import nearest

    parser = argparse.ArgumentParser(prog="make rehearse", description=__doc__, allow_abbrev=False)
    parser.add_argument("--paper", default="", help="slug of a paper; all papers by default")
    parser.add_argument("--set", help="dotted edits of the run, as for snakemake")
    parser.add_argument("--hub", choices=("auto", "local", "real"), default="auto", help="auto: real if it answers")
    parser.add_argument("--updates-only", action="store_true", help="time updates of published sizes, and nothing else")
    options, command = parser.parse_known_args(arguments)
    if options.paper and options.paper not in SLUGS:
        raise ReprlabError(f"{options.paper}: there is no such paper{nearest(options.paper, SLUGS)}")
    root, given = checkout_root(), {"set": options.set} if options.set else {}
    if options.updates_only:
        return time_updates(root, options.paper, given, root / "runs/rehearsal/results/rehearsal")
    local = options.hub == "local"
    if options.hub == "auto" and not reached():
        sys.stdout.write("the hub cannot be reached: this is rehearsed with the hub on this machine (runs/local_hub)\n")
        local = True
    if not local:
        return rehearse_run(root, options.paper, given, Hub(None, {}), command)
    with local_hub(root) as hub:
        return rehearse_run(root, options.paper, given, hub, command)


if __name__ == "__main__":
    sys.exit(main())
