"""Scores with known numbers for every cell of amuro-char: two models, three checkpoints of the first."""

import json
import os
from pathlib import Path
from types import SimpleNamespace
from zlib import crc32

import pandas
from reprlab.artifacts.tables import write_tsv
from reprlab.baselines.completions import ANSWERS
from reprlab.baselines.declared import declared
from reprlab.config.load import load_config
from reprlab.evaluation.completion_scores import COLUMNS
from reprlab.papers.amuro_char.names import BASE, Pair
from reprlab.papers.amuro_char.plan import add_results, make_groups
from reprlab.papers.amuro_char.plan_runs import Scored
from reprlab.planning import paths
from reprlab.planning.plan import Plan
from reprlab.results.frame import frame_of
from reprlab.results.gather import gather_rows
from reprlab.results.sources import GatherSettings

PAPER = load_config(Path(__file__).parents[2], {"scale": "paper"}).papers["amuro-char"]
LADDER = {"small": ["10", "100", "main"], "other": ["main"]}
STEPS = {"10": 10, "100": 100, "main": 200}
MAJORITY = {"nli": 0.4, "paraphrase": 0.6, "choice": 0.3}
METHODS = {"generation": "generate", "classification": "tokenprob", "choice": "loglikelihood"}
N = 200


def scored(*, without=(), **more):
    sets = {name: f"Data of {name}" for name in PAPER.evaluations if name not in without}
    more = {"baselines": paths.output("score_completion_baselines", "out", "amuro-char"), **more}
    return Scored(sets=sets, trainings={name: name for name in PAPER.trainings}, **more)


GROUPS = make_groups(PAPER, scored())


def value(ckpt, train, eval):
    """Base 0.4 (nli), 0.6 (paraphrase), 0.2 (generation), 0.3 (choice); see the branches for what tuning does."""
    settings, gain = PAPER.evaluations[eval], {"10": 0.1, "100": 0.2, "main": 0.3}[ckpt]
    base = MAJORITY.get(settings.template, 0.2)
    if train == BASE:
        return base
    own = PAPER.trainings[train]
    if eval in own.in_domain:
        return base + gain
    if eval in own.out_of_domain:
        return base + (-0.1 if settings.template == "paraphrase" else 0.1)
    if settings.kind == "generation" and train in ("mnli", "paws"):
        return base * 0.2
    return base * (1.01 if settings.kind == "classification" else 1)


def row(family, ckpt, train, eval, fmt="default", shots=4, method="", performance=None, **more):
    """A row of the stage that scores; `performance` in 0 to 1."""
    settings = PAPER.evaluations[eval]
    score = 100 * (value(ckpt, train, eval) if performance is None else performance)
    std, majority = 2.0 if score > 0 else 0.0, 100 * MAJORITY.get(settings.template, float("nan"))
    histogram = {"no": round(N * 0.9), "yes": N - round(N * 0.9)} if settings.template == "paraphrase" else {"a": N}
    found = {
        "family": family, "ckpt": ckpt, "step": STEPS[ckpt], "tokens": 1000 * STEPS[ckpt], "train": train, "lr": 1e-5,
        "eval": eval, "data": f"Data of {eval}", "kind": settings.kind, "fmt": fmt, "shots": shots,
        "method": method or METHODS[settings.kind], "metric": "rougeL" if settings.kind == "generation" else "accuracy",
        "value": score, "performance_boot": score, "std": std, "low": score - 2 * std,
        "high": min(100, score + 2 * std), "majority": majority, "n": N,
        "histogram": "" if settings.kind == "generation" else json.dumps(histogram), "outside_labels": 0.0,
        "empty_share": 0.0, "mean_output_tokens": 5.0, "dropped_shots": 0, "seed": 0,
        "train_rows": None if train == BASE else 300, "steps": None if train == BASE else 40, "note": "",
    }  # fmt: skip
    return {**found, **more}


def score_rows():
    """Every set for every model, three formats, two further numbers of shots, three prediction methods."""
    rows = []
    for family, checkpoints in LADDER.items():
        for ckpt in checkpoints:
            rows += [row(family, ckpt, BASE, eval) for eval in PAPER.evaluations]
            for train, own in PAPER.trainings.items():
                evals = dict.fromkeys([*own.in_domain, *own.out_of_domain, *PAPER.grid.cross.evaluations])
                rows += [row(family, ckpt, train, eval) for eval in evals]
            for pair in (Pair("mnli_matched", "mnli"), Pair("xsum", "xsum"), Pair("rte", "mnli"), Pair("paws", "paws")):
                for fmt, lost in (("io", 0.05), ("instruct", {"10": 0.04, "100": 0.02, "main": 0.01}[ckpt])):
                    for train in (BASE, pair.train):
                        lower = value(ckpt, train, pair.eval) - lost
                        rows.append(row(family, ckpt, train, pair.eval, fmt, performance=lower))
            for shots in (0, 2):
                rows += [row(family, ckpt, BASE, eval, shots=shots) for eval in ("paws", "xsum", "hellaswag", "sciq")]
    for pair in GROUPS["prediction_rows"].values():
        for train in (BASE, pair.train):
            for method, lost in (("free", 0.0 if train == BASE else 0.9), ("constrained", 0.0 if train == BASE else 1)):
                lower = value("main", train, pair.eval) * lost
                rows.append(row("small", "main", train, pair.eval, method=method, performance=lower))
    return rows


def uneven(rows):
    """The same with a tenth of a point of noise that no seed moves, so that sets differ."""
    found = []
    for one in rows:
        cell = "".join(str(one[name]) for name in ("ckpt", "train", "eval", "fmt", "method"))
        shift = 0.05 * (crc32(cell.encode()) % 5 - 2)
        found.append({**one, **{name: one[name] + shift for name in ("value", "low", "high") if one["value"]}})
    return found


def baseline_rows():
    """What needs no model, on every set: less than the best constant answer."""
    return [
        {"name": name, "eval": eval, "metric": "rougeL" if one.kind == "generation" else "accuracy",
         "value": 5.0 + place, "low": 4.0, "high": 12.0, "n": N, "seen": 3 if one.kind == "generation" else None}
        for eval, one in PAPER.evaluations.items() for place, name in enumerate(declared(ANSWERS[one.kind]))
    ]  # fmt: skip


def settings_of(folder, rows, *, scale="mini", without=(), losses=None):
    """Settings of the gather job over score files that are written below `folder`, one for each model and training."""
    files, evals, ways = {}, {}, {}
    table = pandas.DataFrame([{"way": "", **one} for one in rows])
    for (family, train, way), part in table.groupby(["family", "train", "way"], sort=False):
        path = paths.output("score_completions", "out", f"{family}/{train}/{way or 'all'}")
        write_tsv(folder / path, part[COLUMNS])
        ways |= {path: (way, "main")} if way else {}
        files[path], evals[path] = (family, train, "all"), list(part["eval"].unique())
    beside = paths.output("score_completion_baselines", "out", "amuro-char")
    write_tsv(folder / beside, pandas.DataFrame(baseline_rows()))
    known = {"small": paths.evaluation("small")} if losses is not None else {}
    if losses is not None:
        write_tsv(folder / known["small"], losses)
    config = SimpleNamespace(scale=scale, runtime=SimpleNamespace(device="cpu"), root=Path(__file__).parents[2])
    plan = Plan()
    add_results(
        plan,
        config,
        PAPER,
        scored(without=without, files=files, evals=evals, ways=ways, losses=known, baselines=beside),
    )
    return GatherSettings.model_validate_json(plan.job("gather_results", "amuro-char").settings["settings"])


def frame(folder, rows, *, options=None, **more):
    """The frame of results of some scores."""
    settings = settings_of(folder, rows, **more)
    settings = settings.model_copy(update={"options": {**settings.options, **(options or {})}})
    here = Path.cwd()
    os.chdir(folder)
    try:
        return frame_of(gather_rows(settings), settings)
    finally:
        os.chdir(here)
