"""Invented inputs of DEPTH's results, in the formats of the stages that make them. Numbers mean nothing."""

import json
from pathlib import Path

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
from reprlab.evaluation.prediction_sample import SampledModel, SampleSettings
from reprlab.papers.depth.measures import SUMS
from reprlab.papers.depth.names import DISCOEVAL, SIDE_EXPERIMENTS
from reprlab.papers.depth.results import RESULTS
from reprlab.results.frame import Frame, frame_of
from reprlab.results.gather import gather_rows
from reprlab.results.sources import Missing, Source, rivals

STEPS = (100, 200, 400)
CORPUS = "Invented corpus"
FILLED = ("sp_arxiv", "dc_wiki")


def evaluation(path: Path, model: str, losses: tuple[float, ...] = (5.0, 4.0, 3.0), sentence: float = 0.4) -> Path:
    """A file of evaluate_lm: 8 batches of 4 passages with 5 sentences each."""
    rng = np.random.Generator(np.random.Philox(key=len(path.name)))
    rows = []
    for step, loss in zip(STEPS, losses, strict=True):
        for batch in range(8):
            for shuffled in (False, True) if model == "depth" else (False,):
                level = loss + 0.05 * rng.standard_normal()
                sents, eosens = (20, 24) if model == "depth" else (0, 0)
                part = dict.fromkeys(SUMS, 0.0)
                part["reconstruction_count"], part["reconstruction_loss_sum"] = 100.0, 100 * level
                part["sentence_count"] = float(sents + eosens)
                part["sentence_loss_sum"] = part["sentence_count"] * (2 * sentence * shuffled)
                part["sent_count"], part["eosen_count"] = float(sents), float(eosens)
                part["sent_correct"], part["eosen_correct"] = sents * (0.25 if shuffled else 0.75), float(eosens)
                part["loss_sum"] = part["reconstruction_loss_sum"] + part["sentence_loss_sum"]
                part["count"] = 100.0 + sents + eosens
                about = {"run": "run", "step": step, "shuffled": str(shuffled).lower(), "batch": batch, "tokens": 600}
                rows.append(about | part)
    return _tsv(path, rows)


def training(path: Path, losses: tuple[float, ...] = (6.0, 5.0, 4.0, 3.0), *, stopped: bool = False) -> Path:
    """A file of pretrain_lm."""
    rows = [
        {"step": 100 * (k + 1), "loss": loss, "learning_rate": 1e-3, "gradient_norm": 1.0, "tokens": 1000 * (k + 1),
         "diverged": 0}
        for k, loss in enumerate(losses)
    ]  # fmt: skip
    if stopped:
        rows.append(rows[-1] | {"step": rows[-1]["step"] + 1, "loss": None, "diverged": 1})
    return _tsv(path, rows)


def pretrained(folder: Path, experiment: str, model: str, init: str = "fs", seed: int = 1, **more) -> list[Source]:
    """A run: its training curve and its validation sums. `change` alters the rows of the latter."""
    name = f"{model}-{init}-{seed}-{more.get('variant', '')}"
    about = {"experiment": experiment, "model": model, "init": init, "seed": seed, "packing": "no", "lr": 1e-3}
    about |= {"batch_size": 16, "params": 1000}
    change = more.pop("change", None)
    sums = evaluation(folder / f"{name}.evaluation.tsv", model)
    if change:
        change(frame := pandas.read_csv(sums, sep="\t"))
        frame.assign(shuffled=frame["shuffled"].astype(str).str.lower()).to_csv(sums, sep="\t", index=False)
    keys = {name: name for name in ("step", "shuffled", "batch")}
    return [
        Source(path=training(folder / f"{name}.metrics.tsv"), factors={**about, **more, "part": "training"},
               keys={"step": "step"}, wide=["loss", "diverged"], data=CORPUS),
        Source(path=sums, factors={**about, **more, "part": "validation"}, keys=keys, where={"run": "run"},
               wide=[*SUMS, "tokens"], data=CORPUS),
    ]  # fmt: skip


def finetuned(folder: Path, task: str, model: str, init: str = "fs", *, base: float = 50.0, seed: int = 1):
    """The files of two checkpoints with two learning rates, of which the second is selected: metrics, selection,
    predictions."""
    name = f"{task}-{init}-{model}-{seed}"
    rows, best, predictions = [], {}, []
    for number, step in enumerate(STEPS[:2]):
        checkpoint = f"step-{step:08d}"
        best[checkpoint] = {"learning_rate": 0.001, "value": base + number}
        for rate in (0.0001, 0.001):
            value = base + number + (rate == 0.001)
            rows.append(
                {"name": checkpoint, "learning_rate": rate, "split": "validation", "subset": "", "metric": "accuracy",
                 "value": value, "low": value - 3, "high": value + 3, "n": 40, "steps": 30, "tokens": 900,
                 "outside_labels": 0.25, "eval_mode": "generate", "diverged": 0}
            )  # fmt: skip
            for place in range(40):
                predictions.append(
                    {"name": checkpoint, "learning_rate": rate, "split": "validation", "id": f"x{place}", "subset": "",
                     "label": "a", "prediction": "a" if place % 4 else "ab", "eval_mode": "generate"}
                )  # fmt: skip
    selection = folder / f"{name}.selected.json"
    selection.write_text(json.dumps({"metric": "accuracy", "split": "test", "best": best}))
    answers = folder / f"{name}.predictions.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(predictions), answers)
    return _tsv(folder / f"{name}.tsv", rows), selection, answers


def scores(folder: Path, task: str, model: str, init: str, trivial: Path, **more) -> list[Source]:
    """The scores of both checkpoints on a task of DiscoEval."""
    metrics, selection, _ = finetuned(folder, task, model, init, **more)
    about = {"experiment": "discoeval", "part": "finetuning", "column": task, "init": init, "model": model}
    about |= {"seed": more.get("seed", 1), "tuning_seed": 1}
    where = {"metric": "accuracy", "split": "validation", "subset": "", "eval_mode": "generate"}
    return [
        Source(path=metrics, factors={**about, "step": step}, where={**where, "name": f"step-{step:08d}"},
               keys={"lr": "learning_rate", "outside_labels": "outside_labels"}, data=f"stand-in for {task}",
               selection=selection, **rivals("class", trivial))
        for step in STEPS[:2]
    ]  # fmt: skip


def baselines(path: Path, majority: float = 48.0, tfidf: float = 47.5) -> Path:
    """A file of evaluate_baselines."""
    return _tsv(
        path,
        [
            {"name": name, "learning_rate": 0.0, "split": "validation", "subset": "", "metric": "accuracy",
             "value": value, "low": value - 2, "high": value + 2, "n": 40, "steps": 0, "tokens": 0,
             "outside_labels": 0.0, "eval_mode": "baseline", "diverged": 0}
            for name, value in (("majority", majority), ("tfidf", tfidf), ("char_tfidf", majority - 1))
        ],
    )  # fmt: skip


def discoeval(folder: Path, seeds: tuple[int, ...] = (1,)) -> list[Source | Missing]:
    """Two columns with data, three without; further seeds of DEPTH are one point better each."""
    about = {"experiment": "discoeval", "part": "finetuning"}
    trivial = {task: baselines(folder / f"{task}.baselines.tsv") for task in FILLED}
    found: list[Source | Missing] = []
    for column in DISCOEVAL:
        if column not in FILLED:
            found.append(Missing(factors={**about, "column": column}, reason="no data at scale mini"))
            continue
        for name in ("majority", "tfidf"):
            own = {**about, "column": column, "init": "baseline", "model": name}
            about_file = {"where": {"name": name}, "data": f"stand-in for {column}", "unjudged": "a baseline"}
            found.append(Source(path=trivial[column], factors=own, **about_file))
    for task in FILLED:
        for init in ("fs", "cpt"):
            for model, base in (("t5", 49.0), ("depth", 55.0)):
                for place, seed in enumerate(seeds):
                    better = base + place * (model == "depth")
                    found += scores(folder, task, model, init, trivial[task], base=better, seed=seed)
    return found


def everything(folder: Path, *, seeds: tuple[int, ...] = (1,), **more) -> list[Source | Missing]:
    """All that claims and tables look at, but for two ablations that are switched off."""
    found = discoeval(folder, seeds)
    for init in ("fs", "cpt"):
        for model in ("t5", "depth"):
            for seed in seeds:
                found += pretrained(folder, "main", model, init, seed, **more)
    for name in ("baseline", "1x", "5x"):
        found += pretrained(folder, "sentence_weight", "depth", variant=name)
    for packing in ("yes", "no"):
        for rate in (1e-2, 1e-4):
            found += pretrained(folder, "packing_lr", "t5", variant=f"{packing}{rate}", packing=packing, lr=rate)
    off = [Missing(factors={"experiment": name}, reason="switched off") for name in SIDE_EXPERIMENTS[2:]]
    return [*found, *off]


def frame(entries: list[Source | Missing], scale: str = "mini", **options) -> Frame:
    """The frame of some sources, checked as the planner does."""
    RESULTS.check("depth", entries)
    settings = RESULTS.settings(scale, entries, {"confidence": 0.95, "tried": {"sp_arxiv": 2}} | options)
    return frame_of(gather_rows(settings), settings)


def sample(folder: Path) -> SampleSettings:
    """One task, two models."""
    examples = folder / "examples.parquet"
    rows = [{"id": f"x{k}", "split": "validation", "sentences": ["One.", "Two."], "label": "a"} for k in range(40)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), examples)
    models = []
    for model in ("t5", "depth"):
        metrics, selection, predictions = finetuned(folder, "sp_arxiv", model)
        about = {"task": "sp_arxiv", "init": "fs", "model": model, "step": 200, "seed": 1, "data_task": "stand-in"}
        models.append(
            SampledModel(about=about, name="step-00000200", metrics=metrics, predictions=[predictions],
                         selection=selection, examples=examples, labels=["a", "b"])
        )  # fmt: skip
    return SampleSettings(scale="mini", models=models)


def _tsv(path: Path, rows: list[dict]) -> Path:
    pandas.DataFrame(rows).to_csv(path, sep="\t", index=False)
    return path
