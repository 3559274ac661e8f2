"""DEPTH's numbers as functions of the frame: losses over batches, the benchmark tables, Tables 1 and 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reprlab.papers.depth.names import DISCOURSE_COHERENCE, SENTENCE_POSITION
from reprlab.results.frame import Frame, Rows
from reprlab.results.table_forms import Pivot
from reprlab.statistics import Estimate, ratio_over_units

LOSSES = {
    "loss": ("loss_sum", "count"),
    "sentence_loss": ("sentence_loss_sum", "sentence_count"),
    "reconstruction_loss": ("reconstruction_loss_sum", "reconstruction_count"),
}
ACCURACIES = {"sent_accuracy": ("sent_correct", "sent_count"), "eosen_accuracy": ("eosen_correct", "eosen_count")}
RATIOS = LOSSES | ACCURACIES
TIMES = dict.fromkeys(LOSSES, 1) | dict.fromkeys(ACCURACIES, 100)
"""Accuracies count in percent."""
SUMS = [name for pair in RATIOS.values() for name in pair]
ORDERS = {"shuffled": "true", "unshuffled": "false"}
"""Order of the sentences by its value in the frame."""
RUN = ["variant", "model", "init", "seed"]
_KEYS = ["init", "model", "step", "seed", "tuning_seed"]
_DIVERGED_RISE = 0.5
"""Nats by which the last tenth of a run may lie above its lowest tenth before it counts as diverged."""
NAMES = {
    ("fs", "t5"): "T5-FS",
    ("cpt", "t5"): "T5-CPT",
    ("fs", "depth"): "DEPTH-FS",
    ("cpt", "depth"): "DEPTH-CPT",
    ("public", "t5-base"): "T5-Base",
}


def evaluated(frame: Frame, **where: Any) -> Rows:
    """Validation sums: a row for each run, step, order and batch, a column for each sum."""
    rows = frame.select(part="validation", **where)
    wide = rows.pivot_table(index=[*RUN, "step", "shuffled", "batch"], columns="metric", values="value", sort=False)
    return wide.reset_index().reindex(columns=[*RUN, "step", "shuffled", "batch", *SUMS])


def ratio(part: Rows, name: str, level: float) -> Estimate:
    """A loss in nats a label, or an accuracy in percent, over batches; both orders of a batch are added up."""
    sums = part.groupby("batch")[list(RATIOS[name])].sum()
    over, under = (sums[column].to_numpy(dtype=float) for column in RATIOS[name])
    return ratio_over_units(over, under, "batch", level=level).times(TIMES[name])


def mean_sentences(part: Rows) -> float:
    """Mean sentences of a passage: a passage has one EOSEN more than it has SENT. NaN for plain T5."""
    passages = part["eosen_count"].sum() - part["sent_count"].sum()
    return float(part["sent_count"].sum() / passages) if passages > 0 else float("nan")


def mixed_chance_loss(sentences: float) -> float:
    """Mean sentence loss of a model that knows which sentence tokens occur but not their order.

    Half of the batches are shuffled, EOSEN and unshuffled SENT cost nothing. Between whole numbers of sentences the
    value is interpolated.
    """
    import math

    from reprlab.objectives.losses import chance_sentence_loss

    if math.isnan(sentences):
        return sentences
    below = max(1, math.floor(sentences))
    share = sentences - below
    return (1 - share) * chance_sentence_loss(below) + share * chance_sentence_loss(below + 1)


def loss_table(*keys: str) -> Callable[[Frame], Rows]:
    """Validation losses by run and step; `keys` are the first columns.

    `loss`, `sentence_loss` (SENT and EOSEN labels) and `reconstruction_loss` (the others) are means over their own
    labels in nats, over all batches, shuffled and in order in equal numbers, and over those of one order
    (`_shuffled`, `_unshuffled`). Accuracies are in percent. `_low` and `_high` bound intervals over the `n` batches.
    """
    names = [*LOSSES, *(f"{name}_{order}" for name in (*ACCURACIES, *LOSSES) for order in ORDERS)]
    bounds = [f"{name}_{end}" for name in names for end in ("low", "high")]
    about = ["mean_sentences", "chance_sentence_loss", "scale", "seed", "n", "steps", "tokens", "data", "note"]

    def build(frame: Frame) -> Rows:
        rows, seen, lines = evaluated(frame), tokens_seen(frame), []
        for (*run, step), part in rows.groupby([*RUN, "step"], sort=False):
            sentences = mean_sentences(part)
            line = dict(zip(RUN, run, strict=True)) | {"step": step, "steps": step, "tokens": seen(tuple(run), step)}
            line |= {"mean_sentences": sentences, "chance_sentence_loss": mixed_chance_loss(sentences)}
            line |= {"n": part["batch"].nunique(), "data": frame.select()["data"].iloc[0], "scale": frame.scale}
            if line["model"] == "t5":
                line["note"] = "no sentence tokens: the whole loss is reconstruction loss"
            for name in names:
                base, _, order = name.rpartition("_")
                of_order = order in ORDERS
                chosen = part[part["shuffled"] == ORDERS[order]] if of_order else part
                found = ratio(chosen, base if of_order else name, frame.options["confidence"])
                line |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
            lines.append(line)
        table = type(rows)(lines, columns=[*keys, *names, *bounds, *about])
        return table.astype(dict.fromkeys(("step", "seed", "n", "steps", "tokens"), "Int64"))

    return build


def tokens_seen(frame: Frame) -> Callable[[tuple, int], int | None]:
    """Training tokens of a run up to a step; None where nothing was trained here."""
    curves = dict(list(frame.select(part="training", metric="loss").groupby(RUN, sort=False)))

    def seen(run: tuple, step: int) -> int | None:
        if run not in curves:
            return None
        before = curves[run][curves[run]["step"] <= step]
        return int(before["tokens"].iloc[-1]) if len(before) else 0

    return seen


def training_curves(frame: Frame, *keys: str) -> Rows:
    """Training rows [run x step] with `loss` and `stopped` (1 where loss or gradient was no longer finite)."""
    rows = frame.select(part="training")
    stopped = rows.loc[rows["metric"] == "diverged", [*RUN, "step", "value"]].rename(columns={"value": "stopped"})
    losses = rows[rows["metric"] == "loss"].rename(columns={"value": "loss"})
    return losses[[*RUN, *keys, "step", "loss", "tokens", "data"]].merge(stopped, on=[*RUN, "step"], how="left")


def diverged(curve: Rows) -> bool:
    """Whether a curve ends by diverging.

    Its loss or gradient stopped being finite, or its mean loss over the last tenth of its rows lies more than 0.5 nats
    above that of its lowest tenth.
    """
    if curve["loss"].isna().any() or (curve["stopped"] == 1).any():
        return True
    means = curve["loss"].rolling(max(1, len(curve) // 10)).mean().dropna()
    return bool(means.iloc[-1] > means.min() + _DIVERGED_RISE)


def packing_table(frame: Frame) -> Rows:
    """Training loss of T5 by packing and learning rate; `diverged` by the rule above, `n` counts the run's rows."""
    columns = ["packing", "lr", "step", "loss", "diverged", "scale", "seed", "n", "steps", "tokens", "data", "note"]
    curves = training_curves(frame, "packing", "lr")
    parts = [
        curve.assign(
            diverged="yes" if diverged(curve) else "no", n=len(curve), steps=curve["step"].max(), scale=frame.scale
        )
        for _, curve in curves.groupby(RUN, sort=False)
    ]
    if not parts:
        return curves.reindex(columns=columns)
    rows = type(curves)({name: [value for part in parts for value in part[name]] for name in parts[0]})
    over = {1.0: "loss or gradient no longer finite: the run stopped"}
    return rows.assign(note=rows["stopped"].map(over).fillna("")).reindex(columns=columns).convert_dtypes()


def scale_table(frame: Frame) -> Rows:
    """Tokens, steps, batch, parameters and learning rate of each main run (Table 2)."""
    last = training_curves(frame, "batch_size", "params", "lr").groupby(RUN, sort=False).tail(1)
    named = [NAMES.get(pair, "-".join(pair)) for pair in zip(last["init"], last["model"], strict=True)]
    last = last.assign(model=named, steps=last["step"], batch=last["batch_size"], scale=frame.scale)
    last = last.assign(n=last["steps"] * last["batch"], note="n counts training passages, with repetition")
    columns = ["model", "tokens", "steps", "batch", "params", "lr", "scale", "seed", "n", "data", "note"]
    return last.reindex(columns=columns)


def benchmark_table(frame: Frame) -> Rows:
    """One row for each checkpoint and seed, baselines first: the paper's columns, then where each number comes from.

    `n`, `steps` and `tokens` (of fine-tuning) are sums over the filled columns; `data_<column>` of a column without
    any value says why.
    """
    scores = frame.narrowed({"part": "finetuning"})
    table = Pivot(" ".join(_KEYS), "column")(scores)
    names = [str(name) for name in dict.fromkeys(scores.rows["column"]) if name]
    for name in names:
        if table[name].isna().all():
            table[f"data_{name}"] = scores.reason(column=name)
    seen, notes = tokens_seen(frame), _score_notes(scores)
    tokens = [
        seen(("", model, init, seed), step) for init, model, step, seed in table[_KEYS[:4]].itertuples(index=False)
    ]
    table["pretraining_tokens"] = type(table)({"tokens": tokens}, dtype="Int64")["tokens"]
    for place, key in enumerate(table[_KEYS].itertuples(index=False, name=None)):
        table.loc[place, "note"] = "; ".join(part for part in (table.loc[place, "note"], *notes(key)) if part)
    if said := _no_gain(scores, str(frame.rows["scale"].iloc[0])):
        table.loc[0, "note"] = "; ".join(part for part in (said, table.loc[0, "note"]) if part)
    about = ["scale", "seed", "n", "steps", "tokens", "pretraining_tokens", "tuning_seed"]
    first = [*_KEYS[:3], *names, *about]
    return table[[*first, *(name for name in table if name not in first)]]


def _no_gain(scores: Frame, scale: str) -> str:
    """Where no pre-trained row is above the untrained model: that it is so, and at which scale it would differ."""
    flags = scores.select()["above_untrained"]
    flags = flags[flags.notna() & (flags != "")]
    if flags.empty or not (flags == "not above").all():
        return ""
    longer = "" if scale == "paper" else "; the paper reports a gain at the length of scale paper"
    return f"pre-training of this length gains nothing: no cell is above the untrained model, fine-tuned alike{longer}"


def _score_notes(scores: Frame) -> Callable[[tuple], list[str]]:
    """The note on the scores of a row: answers that are not labels or occur in training, what `above_trivial` is
    against."""
    rows = scores.select()
    rows = rows[rows["above_trivial"] != ""]
    found = dict(list(rows.groupby(_KEYS, sort=False, dropna=False)))

    def notes(key: tuple) -> list[str]:
        if key not in found:
            return []
        part = found[key]
        outside = part[part["outside_labels"] > 0]
        said = [
            f"{column}: {share:.0%} of the predictions are not labels"
            for column, share in zip(outside["column"], outside["outside_labels"], strict=True)
        ]
        tried = {column: scores.options["tried"].get(column, 1) for column in part["column"]}
        answered = part[part["seen"].notna()]
        said += [
            f"{column}: {seen:.0f} of {n:.0f} right answers occur in training"
            for column, seen, n in zip(answered["column"], answered["seen"], answered["n"], strict=True)
        ]
        said += [f"{column}: learning rate the best of {k} on these rows" for column, k in tried.items() if k > 1]
        return [*said, f"trivial: {' or '.join(sorted(set(part['baseline'])))}"]

    return notes


_FLAGS = [f"above_{kind}_{column}" for column in ("sp", "dc") for kind in ("trivial", "untrained")]


def means_table(frame: Frame) -> Rows:
    """Table 1: mean of the SP and of the DC tasks at the last checkpoint of each model and seed, baselines first.

    A mean covers the tasks that have data; `note` names the others. It is above a baseline where every task is.
    """
    table = benchmark_table(frame)
    columns = ["model", "sp", "dc", "scale", "seed", "n", "step", "steps", "tokens", "data_sp", "data_dc"]
    whole = ["seed", "n", "step", "steps", "tokens"]
    lines = []
    for (init, model, *_), rows in table.groupby(["init", "model", "seed", "tuning_seed"], sort=False, dropna=False):
        last = rows.iloc[int(rows["step"].fillna(0).to_numpy().argmax())]
        lines.append({**{name: last[name] for name in ("scale", *whole)}, "model": NAMES.get((init, model), model)})
        lines[-1] |= _means(last)
    return type(table)(lines, columns=[*columns, *_FLAGS, "note"]).astype(dict.fromkeys(whole, "Int64"))


def _means(row: Rows) -> dict[str, object]:
    found: dict[str, object] = {}
    notes = []
    for column, tasks in (("sp", SENTENCE_POSITION), ("dc", DISCOURSE_COHERENCE)):
        filled = [task for task in tasks if row.get(task) == row.get(task) and task in row]
        if filled:
            found[column] = sum(row[task] for task in filled) / len(filled)
        found[f"data_{column}"] = "; ".join(dict.fromkeys(row[f"data_{task}"] for task in filled))
        for kind in ("above_trivial", "above_untrained"):
            if verdicts := {row[f"{kind}_{task}"] for task in filled} - {""}:
                found[f"{kind}_{column}"] = "above" if verdicts == {"above"} else "not above"
        if lacking := [task for task in tasks if task not in filled]:
            notes.append(f"{column}: without {', '.join(lacking)} (no data or not run)")
    return found | {"note": "; ".join(notes)}
