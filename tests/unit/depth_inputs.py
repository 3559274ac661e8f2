"""Invented inputs of DEPTH's tables, in the formats of the stages that make them. Numbers mean nothing."""

import json
from pathlib import Path

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
from reprlab.papers.depth.layouts import ClaimsLayout, ErrorSampleLayout, MeansLayout, SampledRun
from reprlab.reporting.layouts import (
    BenchmarkLayout,
    Checkpoint,
    Column,
    FinetunedRun,
    LossLayout,
    PretrainedRun,
    Statistics,
)

STEPS = (100, 200, 400)
STATISTICS = Statistics(resamples=200)
CORPUS = "Invented corpus"
PARTS = [
    "loss_sum", "count", "sentence_loss_sum", "sentence_count", "reconstruction_loss_sum", "reconstruction_count",
    "sent_correct", "sent_count", "eosen_correct", "eosen_count", "correct", "total",
]  # fmt: skip


def evaluation(path: Path, model: str, losses: tuple[float, ...] = (5.0, 4.0, 3.0), sentence: float = 0.4) -> Path:
    """A file of evaluate_lm: 8 batches of 4 passages with 5 sentences each."""
    rng = np.random.Generator(np.random.Philox(key=len(path.name)))
    rows = []
    for step, loss in zip(STEPS, losses, strict=True):
        for batch in range(8):
            for shuffled in (False, True) if model == "depth" else (False,):
                level = loss + 0.05 * rng.standard_normal()
                sents, eosens = (20, 24) if model == "depth" else (0, 0)
                part = dict.fromkeys(PARTS, 0.0)
                part["reconstruction_count"], part["reconstruction_loss_sum"] = 100.0, 100 * level
                part["sentence_count"] = float(sents + eosens)
                part["sentence_loss_sum"] = part["sentence_count"] * (2 * sentence * shuffled)
                part["sent_count"], part["eosen_count"] = float(sents), float(eosens)
                part["sent_correct"], part["eosen_correct"] = sents * (0.25 if shuffled else 0.75), float(eosens)
                part["loss_sum"] = part["reconstruction_loss_sum"] + part["sentence_loss_sum"]
                part["count"] = part["total"] = 100.0 + sents + eosens
                rows.append({"step": step, "shuffled": str(shuffled).lower(), "batch": batch, "tokens": 600, **part})
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


def pretrained(folder: Path, model: str, init: str = "fs", seed: int = 1, **changes) -> PretrainedRun:
    """A run with both files."""
    name = f"{model}-{init}-{seed}-{changes.get('variant', '')}"
    known = {"evaluation": evaluation(folder / f"{name}.evaluation.tsv", model)}
    known["metrics"] = training(folder / f"{name}.metrics.tsv")
    known |= {"parameters": 1000, "batch_size": 16, "learning_rate": 1e-3}
    return PretrainedRun(model=model, init=init, seed=seed, **(known | changes))


def finetuned(
    folder: Path, task: str, model: str, init: str = "fs", *, base: float = 50.0, seed: int = 1
) -> FinetunedRun:
    """Two checkpoints, two learning rates; the second rate is selected."""
    name = f"{task}-{init}-{model}-{seed}"
    rows, best, predictions = [], {}, []
    for number, step in enumerate(STEPS[:2]):
        checkpoint = f"step-{step:08d}"
        best[checkpoint] = {"learning_rate": 0.001, "value": base + number}
        for rate in (0.0001, 0.001):
            value = base + number + (rate == 0.001)
            for subset in ("", "matched", "mismatched") if task == "mnli" else ("",):
                rows.append(
                    {"name": checkpoint, "learning_rate": rate, "split": "validation", "subset": subset,
                     "metric": "accuracy", "value": value, "low": value - 3, "high": value + 3, "n": 40, "steps": 30,
                     "tokens": 900, "outside_labels": 0.25, "eval_mode": "generate", "diverged": 0}
                )  # fmt: skip
            for place in range(40):
                predictions.append(
                    {"name": checkpoint, "learning_rate": rate, "split": "validation", "id": f"x{place}", "subset": "",
                     "label": "a", "prediction": "a" if place % 4 else "ab", "eval_mode": "generate"}
                )  # fmt: skip
    selection = folder / f"{name}.selected.json"
    selection.write_text(json.dumps({"metric": "accuracy", "split": "validation", "best": best}))
    answers = folder / f"{name}.predictions.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(predictions), answers)
    return FinetunedRun(
        init=init, model=model, seed=seed, task=task, metrics=[_tsv(folder / f"{name}.tsv", rows)],
        checkpoints=[Checkpoint(name=f"step-{step:08d}", step=step) for step in STEPS[:2]],
        predictions=[answers], selection=selection, pretraining=training(folder / f"{name}.pretraining.tsv"),
    )  # fmt: skip


def baselines(path: Path, majority: float = 48.0, tfidf: float = 60.0) -> Path:
    """A file of evaluate_baselines."""
    return _tsv(
        path,
        [
            {"name": name, "learning_rate": 0.0, "split": "validation", "subset": "", "metric": "accuracy",
             "value": value, "low": value - 2, "high": value + 2, "n": 40, "steps": 0, "tokens": 0,
             "outside_labels": 0.0, "eval_mode": "baseline", "diverged": 0}
            for name, value in (("majority", majority), ("tfidf", tfidf))
        ],
    )  # fmt: skip


def discoeval_layout(folder: Path) -> BenchmarkLayout:
    """Two columns with data, three without."""
    columns = [
        Column(name=name, task=name, data=f"stand-in for {name}", metric="accuracy", eval_mode="generate",
               baselines=baselines(folder / f"{name}.baselines.tsv"))
        for name in ("sp_arxiv", "dc_wiki")
    ]  # fmt: skip
    empty = [Column(name=name, reason="no data at scale mini") for name in ("sp_wiki", "sp_rocstory", "dc_chat")]
    ordered = sorted([*columns, *empty], key=lambda c: ("sp_arxiv sp_wiki sp_rocstory dc_chat dc_wiki").index(c.name))
    runs = [
        finetuned(folder, task, model, init, base=base)
        for task in ("sp_arxiv", "dc_wiki")
        for init in ("fs", "cpt")
        for model, base in (("t5", 49.0), ("depth", 55.0))
    ]
    return BenchmarkLayout(scale="mini", columns=ordered, runs=runs)


def loss_layout(folder: Path, **changes) -> LossLayout:
    """T5 and DEPTH from scratch."""
    runs = [pretrained(folder, "t5"), pretrained(folder, "depth")]
    return LossLayout(**({"scale": "mini", "data": CORPUS, "runs": runs, "statistics": STATISTICS} | changes))


def error_layout(folder: Path) -> ErrorSampleLayout:
    """One task, two models."""
    examples = folder / "examples.parquet"
    rows = [{"id": f"x{k}", "split": "validation", "sentences": ["One.", "Two."], "label": "a"} for k in range(40)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), examples)
    runs = [
        SampledRun(run=finetuned(folder, "sp_arxiv", model), examples=examples, labels=["a", "b"], data="stand-in")
        for model in ("t5", "depth")
    ]
    return ErrorSampleLayout(scale="mini", runs=runs)


def claims_layout(folder: Path, scale: str = "mini") -> ClaimsLayout:
    """All runs that the claims look at."""
    from reprlab.artifacts.tables import write_tsv
    from reprlab.papers.depth.tables import build_table

    layout = discoeval_layout(folder)
    cells = folder / "discoeval_cells.tsv"
    write_tsv(cells, build_table("discoeval_cells", layout.model_dump_json(), inputs_of(layout)))
    both = {init: [pretrained(folder, model, init) for model in ("t5", "depth")] for init in ("fs", "cpt")}
    weights = [pretrained(folder, "depth", variant=name) for name in ("baseline", "1x", "5x")]
    packing = [
        pretrained(folder, "t5", variant=f"{flag}{rate}", packing=flag, learning_rate=rate)
        for flag in (True, False)
        for rate in (1e-2, 1e-4)
    ]
    return ClaimsLayout(
        scale=scale,
        **both,
        sentence_weight=weights,
        packing_lr=packing,
        cells={"discoeval": cells},
        statistics=STATISTICS,
    )


def means_layout(path: Path) -> MeansLayout:
    """Table 1 from a finished discoeval.tsv."""
    return MeansLayout(scale="mini", discoeval=path)


def inputs_of(layout) -> list[Path]:
    """The paths of a layout, as its rule declares them."""
    from reprlab.reporting.layouts import paths_of

    return list(paths_of(layout))


def _tsv(path: Path, rows: list[dict]) -> Path:
    pandas.DataFrame(rows).to_csv(path, sep="\t", index=False)
    return path
