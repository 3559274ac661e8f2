"""Whether a verdict turns when a decision of ours is another: `results/<slug>/sensitivity.tsv`.

    make results/asr-adapters/sensitivity.tsv SCALE=mini

Each variation of the paper's list (`sensitivity` in `config/papers/<slug>.yaml`) is a run of its own below `runs/`,
named `<run>.<slug>.<variation>`. It takes what it shares with the run from there, makes only what its claims
are judged on, and judges them. Afterwards the claims of the run say what they depend on.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.runtime.errors import ReprlabError, told_in_one_line

if TYPE_CHECKING:
    import pandas

    from reprlab.config.load import LoadedConfig
    from reprlab.config.variations import Variation
    from reprlab.planning.run_plan import RunPlan
    from reprlab.results.claims import Claim
    from reprlab.results.frame import Frame
    from reprlab.results.records import PaperResults
    from reprlab.results.sources import GatherSettings

_JUDGED = ("estimate", "low", "high", "verdict", "note")


def vary(root: Path, slug: str, given: Mapping[str, str], cores: int) -> Path:
    """Make the claims of a run, each of its variations, and the table; returns the table's path.

    Args:
        root: the checkout.
        slug: the paper.
        given: `scale`, `run` and `set` as the user gives them; absent where they are not given.
        cores: for each run.

    Raises:
        ReprlabError: a variation is wrong, or a run fails.
    """
    from reprlab.config.load import load_config
    from reprlab.config.variations import edits_of
    from reprlab.planning.run_plan import plan_run
    from reprlab.results.records import records_of

    target = f"results/{slug}/claims.tsv"
    base, records = load_config(root, given, targets=[target]), records_of(slug.replace("-", "_"))
    variations = base.variations(slug)
    if not variations:
        raise ReprlabError(f"config/papers/{slug}.yaml: lists no variation under `sensitivity`; add one")
    for one in variations:
        for id in one.claims:
            records.claim(id)
    # All are planned before the first runs.
    changed = {
        one.name: {**given, "set": "; ".join([*filter(None, [given.get("set")]), *edits_of(one, base, slug)])}
        | {"run": f"{base.run}.{slug}.{one.name}"}
        for one in variations
    }
    configs = {name: load_config(root, settings, targets=[target]) for name, settings in changed.items()}
    plan = plan_run(base)
    _run(root, given, [target], cores)
    rows = []
    for one in variations:
        config = configs[one.name]
        gathering, wanted = needed_files(config, slug, [records.claim(id) for id in one.claims])
        reused = reuse(base.run_folder, plan, config.run_folder, plan_run(config), wanted)
        sys.stderr.write(f"{slug}: {one.name}: {len(reused)} results are those of the run\n")
        _run(root, changed[one.name], wanted, cores)
        rows += judged(one, records, gathering, config.run_folder)
    path = write_sensitivity(base.run_folder, slug, rows)
    _run(root, given, [target], cores)
    return path


def needed_files(config: LoadedConfig, slug: str, claims: Sequence[Claim]) -> tuple[GatherSettings, list[str]]:
    """What some claims of a planned paper are judged on: the entries that may have such rows, and their files."""
    from reprlab.planning.paper_plans import make_plan
    from reprlab.results.sources import GatherSettings

    given = make_plan(config).jobs["gather_results"][slug].settings["settings"]
    settings = GatherSettings.model_validate(json.loads(given) if isinstance(given, str) else given)
    kept = [id(entry) for claim in claims for where in claim.selections() for entry in _entries(settings, where)]
    known = set(kept)
    settings = settings.model_copy(update={"entries": [one for one in settings.entries if id(one) in known]})
    return settings, sorted({path.as_posix() for path in (*settings.paths(), *settings.items())})


def _entries(settings: GatherSettings, where: Mapping[str, Any]) -> Sequence[Any]:
    from reprlab.results.frame import Edge, Option

    chosen: dict[str, list[Any]] = {}
    for name, wanted in where.items():
        several = wanted if isinstance(wanted, tuple) else (wanted,)
        # The ends of a number are known when all its rows are.
        if not any(isinstance(one, Edge) for one in several):
            chosen[name] = [settings.options[one.name] if isinstance(one, Option) else one for one in several]
    return settings.narrowed(chosen).entries


def reuse(folder: Path, plan: RunPlan, other: Path, planned: RunPlan, wanted: Sequence[str]) -> list[str]:
    """Copy into the run `other` the results of `folder` that `wanted` needs there and that both plans make alike.

    A result is copied with its seal, and only where the other run lacks it and a target or another job reads it.
    """
    from reprlab.planning.reruns import needed_jobs
    from reprlab.runtime.seals import copy_seal

    jobs = list(needed_jobs(planned, wanted))

    def alike(job: Any) -> bool:
        known = plan.jobs.get((job.stage, job.key))
        made = known is not None and known.digest == job.digest
        return made and all((folder / path).exists() for path in job.outputs.values())

    shared = {path for job in jobs if alike(job) for path in job.outputs.values()}
    read = {path for job in jobs if not alike(job) for path in job.reads} | set(wanted)
    # A job's results belong together.
    makers = {planned.makers[path] for path in read & shared}
    copied = []
    for path in sorted(path for maker in makers for path in planned.jobs[maker].outputs.values()):
        if not (other / path).exists():
            (other / path).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (folder / path).is_dir() else shutil.copy2
            copy(folder / path, other / path)
            copy_seal(Path(path), folder, other)
            copied.append(path)
    return copied


def judged(
    variation: Variation, records: PaperResults, settings: GatherSettings, run_folder: Path
) -> list[dict[str, Any]]:
    """A row for each claim of a variation, judged on the files of its run."""
    from reprlab.results.frame import frame_of
    from reprlab.results.gather import gather_rows

    with contextlib.chdir(run_folder):
        frame: Frame = frame_of(gather_rows(settings), settings)
        rows = [records.claim(id).row(frame, records.unjudged) for id in variation.claims]
    settled = "; ".join([*(f"{name} x {factor:g}" for name, factor in variation.times.items()), *_set(variation)])
    about = {"variation": variation.name, "settings": settled, "reason": variation.reason, "words": variation.words}
    return [{"id": row["id"], **about, **{name: row.get(name) for name in _JUDGED}} for row in rows]


def _set(variation: Variation) -> list[str]:
    return [f"{name} = {'null' if value is None else value}" for name, value in variation.set.items()]


def write_sensitivity(run_folder: Path, slug: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Put each estimate beside that of the run, say whether the verdict turns, and write the table.

    Columns: id, variation, settings, reason, words, estimate_here, verdict_here (those of the run), estimate, low,
    high, verdict, turns (yes or no; empty where one of the two judges nothing), note.
    """
    import pandas

    from reprlab.artifacts.tables import read_tsv
    from reprlab.reporting.provenance import write_provenance
    from reprlab.results.digits import write_table
    from reprlab.results.sensitivity import COLUMNS, turned

    with contextlib.chdir(run_folder):
        claims, out = Path(f"results/{slug}/claims.tsv"), Path(f"results/{slug}/sensitivity.tsv")
        here = read_tsv(claims).set_index("id")
        table: pandas.DataFrame = pandas.DataFrame(list(rows))
        beside = here.loc[table["id"], ["estimate", "verdict"]].to_numpy()
        table = table.assign(estimate_here=beside[:, 0], verdict_here=beside[:, 1])
        pairs = zip(table["verdict_here"], table["verdict"], strict=True)
        table = table.assign(turns=[turned(one, other) for one, other in pairs])
        write_table(out, table[list(COLUMNS)])
        about = {"paper": slug, "variations": sorted(set(table["variation"]))}
        write_provenance(out, stage="sensitivity", settings=about, inputs=[claims])
    return run_folder / out


def _run(root: Path, given: Mapping[str, str], targets: Sequence[str], cores: int) -> None:
    settings = [f"{name}={value}" for name, value in given.items()]
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores)]
    command += [*(["--config", *settings] if settings else []), "--", *targets]
    done = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        said = f"the run {given['run']}" if "run" in given else "the run"
        raise ReprlabError(f"{said} failed with status {done.returncode}; its error is above, and the same command goes on")


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Make the table of one paper; returns the exit status."""
    from reprlab.config.papers import SLUGS
    from reprlab.runtime.folders import checkout_root
    from reprlab.settings.errors import nearest

    parser = argparse.ArgumentParser(prog="make results/<paper>/sensitivity.tsv", description=__doc__)
    parser.add_argument("paper", help="slug of the paper")
    parser.add_argument("--scale", help="scale of the run")
    parser.add_argument("--run", help="name of the run, if it is not that of the scale")
    parser.add_argument("--set", help="dotted edits of the run, as for snakemake")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    if options.paper not in SLUGS:
        raise ReprlabError(f"{options.paper}: there is no such paper{nearest(options.paper, SLUGS)}")
    given = {name: value for name in ("scale", "run", "set") if (value := getattr(options, name))}
    path = vary(checkout_root(), options.paper, given, options.cores)
    sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
