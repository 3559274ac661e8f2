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
    made = {
        (one.name, before): _Run(base, given, slug, one, before)
        for one in variations
        for before in (True, False)
        if one.cut or not before
    }
    plan = plan_run(base)
    _run(root, given, [target], cores)
    rows = []
    for one in variations:
        after = made[one.name, False].judged(plan, records, cores)
        cut = made[one.name, True].judged(plan, records, cores) if one.cut else {}
        rows += [_row(one, id, cut.get(id), after[id]) for id in one.claims]
    path = write_sensitivity(base.run_folder, slug, rows)
    _run(root, given, [target], cores)
    return path


class _Run:
    """The run of a variation, or of what it cuts alone."""

    def __init__(
        self, base: LoadedConfig, given: Mapping[str, str], slug: str, variation: Variation, before: bool
    ) -> None:
        from reprlab.config.load import load_config
        from reprlab.config.variations import edits_of

        edits = edits_of(variation, base.plain(slug), slug, before=before)
        name = f"{base.run}.{slug}.{variation.name}" + (".before" if before else "")
        self.given = {**given, "set": "; ".join([*filter(None, [given.get("set")]), *edits]), "run": name}
        self.config = load_config(base.root, self.given, targets=[f"results/{slug}/claims.tsv"])
        self.slug, self.ids, self.base = slug, variation.claims, base

    def judged(self, plan: RunPlan, records: PaperResults, cores: int) -> dict[str, dict[str, Any]]:
        """The row of each claim of the variation, by its id."""
        from reprlab.planning.run_plan import plan_run
        from reprlab.results.frame import frame_of
        from reprlab.results.gather import gather_rows

        claims, folder = [records.claim(id) for id in self.ids], self.config.run_folder
        settings, wanted = needed_files(self.config, self.slug, claims)
        reused = reuse(self.base.run_folder, plan, folder, plan_run(self.config), wanted)
        sys.stderr.write(f"{self.given['run']}: {len(reused)} results are those of the run\n")
        _run(self.base.root, self.given, wanted, cores)
        with contextlib.chdir(folder):
            frame: Frame = frame_of(gather_rows(settings), settings)
            return {claim.id: claim.row(frame, records.unjudged) for claim in claims}


def _row(variation: Variation, id: str, cut: Mapping[str, Any] | None, after: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the table; what the run itself says stands where nothing is cut."""
    changes = [
        *(f"{name} x {factor:g}" for name, factor in variation.times.items()),
        *(f"{name} = {'null' if value is None else value}" for name, value in variation.set.items()),
    ]
    about = {"id": id, "variation": variation.name, "settings": "; ".join(changes), "reason": variation.reason}
    before = {f"{name}_before": cut.get(name) for name in ("estimate", "verdict")} if cut else {}
    return {**about, "words": variation.words, **before, **{name: after.get(name) for name in _JUDGED}}


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


def write_sensitivity(run_folder: Path, slug: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Put each estimate beside that of the run, say whether the verdict turns, and write the table.

    Columns: id, variation, settings, reason, estimate_run and verdict_run (of the run), estimate_before and
    verdict_before (the same without what the variation cuts), estimate, low, high, verdict, turns (yes or no; empty
    where one of the two judges nothing), words, note.
    """
    import pandas

    from reprlab.artifacts.tables import read_tsv
    from reprlab.reporting.provenance import write_provenance
    from reprlab.results.digits import write_table
    from reprlab.results.sensitivity import COLUMNS, turned

    with contextlib.chdir(run_folder):
        claims, out = Path(f"results/{slug}/claims.tsv"), Path(f"results/{slug}/sensitivity.tsv")
        own = read_tsv(claims).set_index("id")
        lines = []
        for row in rows:
            run = own.loc[row["id"]]
            line = {"estimate_before": run["estimate"], "verdict_before": run["verdict"], **row}
            line |= {"estimate_run": run["estimate"], "verdict_run": run["verdict"]}
            lines.append(line | {"turns": turned(line["verdict_before"], line["verdict"])})
        write_table(out, pandas.DataFrame(lines, columns=list(COLUMNS)))
        about = {"paper": slug, "variations": list(dict.fromkeys(row["variation"] for row in rows))}
        write_provenance(out, stage="sensitivity", settings=about, inputs=[claims])
    return run_folder / out


def _run(root: Path, given: Mapping[str, str], targets: Sequence[str], cores: int) -> None:
    settings = [f"{name}={value}" for name, value in given.items()]
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores)]
    command += [*(["--config", *settings] if settings else []), "--", *targets]
    done = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        said = f"the run {given['run']}" if "run" in given else "the run"
        raise ReprlabError(
            f"{said} failed with status {done.returncode}; its error is above, and the same command goes on"
        )


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
