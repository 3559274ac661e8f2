"""Tables of scores as they were measured: all of them, by prediction method, along pre-training. In percent."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from reprlab.papers.amuro_char.aggregate import KEYS, unique
from reprlab.papers.amuro_char.names import (
    BASE,
    MAIN_METHODS,
    PREDICTION_METHODS,
    PREDICTION_ROWS,
    checkpoint_order,
    last_checkpoint,
)
from reprlab.results.frame import Choice, Frame, Option, Rows

SCORES = ("accuracy", "rougeL")
# The scores that all aggregates take: one format, one number of shots, the main method of each kind.
HEADLINE: dict[str, Choice] = {
    "metric": SCORES,
    "fmt": "default",
    "shots": Option("shots"),
    "method": MAIN_METHODS,
    "way": "",
}
ABOUT = ("scale", "seed", "n", "steps", "tokens", "data", "note")
_CELL = ["family", "ckpt", "train", "eval", "fmt", "shots", "method"]
_PERF = [
    "model_id", "family", "ckpt", "step", "tokens", "train", "lr", "eval", "data", "kind", "fmt", "shots", "method",
    "metric", "performance", "performance_boot", "std", "low", "high", "majority", "n", "seen", "histogram",
    "outside_labels", "empty_share", "mean_output_tokens", "dropped_shots", "seed", "train_rows", "train_steps",
    "top_label", "top_share", "baseline", "baseline_value", "margin", "above_trivial", "scale", "note",
]  # fmt: skip
_CURVE = [
    "place", "model", "series", "family", "ckpt", "step", "train", "eval", "kind", "fmt", "shots", "metric",
    "performance", "low", "high", "majority", "above_trivial", "scale", "seed", "n", "steps", "tokens", "data", "note",
]  # fmt: skip
# From this share of equal predictions on, a score is that of a constant predictor.
_CONSTANT = 99


def scores(frame: Frame) -> Rows:
    """Scores by model, checkpoint and training set, with the most frequent prediction and notes on odd ones.

    Raises:
        ReprlabError: two scores of one cell.
    """
    rows = unique(frame.select(metric=SCORES), _CELL).rename(columns={"value": "performance"})
    families = list(dict.fromkeys(rows["family"]))
    order = [
        (families.index(family), *checkpoint_order(ckpt), train != BASE)
        for family, ckpt, train in zip(rows["family"], rows["ckpt"], rows["train"], strict=True)
    ]
    rows = rows.iloc[sorted(range(len(rows)), key=lambda place: order[place])]
    tops = [_top(histogram) for histogram in rows["histogram"]]
    rows = rows.assign(top_label=[label for label, _ in tops], top_share=[share for _, share in tops])
    return rows.assign(note=[_note(row) for row in rows.to_dict("records")])


def _top(histogram: str) -> tuple[str, float]:
    """The most frequent prediction with its share (percent)."""
    counts = json.loads(histogram or "{}")
    label = max(counts, key=lambda name: counts[name], default="")
    return label, 100 * counts[label] / sum(counts.values()) if any(counts.values()) else math.nan


def _note(row: dict[Any, Any]) -> str:
    parts = [row["note"]]
    if row["top_share"] >= _CONSTANT:
        parts.append(f"constant predictor: {row['top_share']:.1f}% of the predictions are '{row['top_label']}'")
    if row["outside_labels"] > 0:
        parts.append(f"{row['outside_labels']:.1f}% of the predictions are not labels")
    if row["empty_share"] > 0:
        parts.append(f"{row['empty_share']:.1f}% of the outputs are empty")
    return joined(parts)


def joined(parts: Iterable[Any]) -> str:
    """The different parts in their order, with semicolons."""
    return "; ".join(dict.fromkeys(str(part) for part in parts if part))


def about_rows(rows: Rows, scale: str, note: str = "") -> dict[str, Any]:
    """Where a number comes from that was made from some scores.

    `n` counts scored examples over all of them, each score once; `steps` are those of fine-tuning and `tokens` those of
    pre-training, both the largest.
    """
    rows = rows.drop_duplicates(KEYS)
    most = {name: int(rows[name].max()) if rows[name].notna().any() else None for name in ("steps", "tokens")}
    n = int(rows["n"].sum()) if len(rows) else None
    seeds = joined(map(str, rows["seed"].dropna()))
    return {"scale": scale, "seed": seeds, "n": n, **most, "data": joined(rows["data"]), "note": note}


def table_of(rows: Any, columns: Iterable[str], frame: Frame, *counts: str) -> Rows:
    """A table of these columns; counts are whole numbers that may be missing."""
    table = type(frame.rows)(rows).reindex(columns=list(columns)).reset_index(drop=True)
    return table.astype(dict.fromkeys((name for name in (*counts, "n", "steps", "tokens") if name in table), "Int64"))


def perf_table(frame: Frame) -> Rows:
    """Every score in long form.

    `baseline` is the hardest that a fine-tuned row must beat: what needs no model, or, where texts are generated, the
    same checkpoint before fine-tuning.
    """
    rows = scores(frame)
    named = rows["family"] + "_" + rows["ckpt"] + "_" + rows["train"]
    return table_of(
        rows.assign(model_id=named).rename(columns={"steps": "train_steps"}), _PERF, frame, "train_steps", "seen"
    )


def prediction_table(frame: Frame) -> Rows:
    """Table 3: three ways to read a label off the final checkpoint, fine-tuned and not, beside the majority class."""
    rows, lines = scores(frame), []
    listed = sorted(frame.options["groups"]["prediction_rows"].items(), key=lambda one: _place(one[0]))
    for family, found in rows.groupby("family", sort=False):
        sided = found[~found["method"].isin(MAIN_METHODS)]
        found = found[found["ckpt"] == last_checkpoint(sided["ckpt"])]
        for dataset, (eval, train) in listed if len(sided) else []:
            for model, name in (("Fine-tuned", train), ("BASE", BASE)):
                cells = found[(found["eval"] == eval) & (found["train"] == name)]
                line = {"family": family, "dataset": dataset, "model": model}
                lines.append({**line, **_by_method(cells.set_index("method"), frame.scale)})
    columns = ["family", "ckpt", "dataset", "model", *PREDICTION_METHODS, "majority", "above_trivial"]
    columns += [f"{end}_{method}" for method in PREDICTION_METHODS for end in ("low", "high")]
    return table_of(lines, [*columns, *ABOUT], frame)


def _place(dataset: str) -> int:
    return list(PREDICTION_ROWS).index(dataset) if dataset in PREDICTION_ROWS else len(PREDICTION_ROWS)


def _by_method(cells: Rows, scale: str) -> dict[str, Any]:
    if cells.empty:
        return {"scale": scale, "note": f"not run at scale {scale}"}
    first = cells.loc["tokenprob"] if "tokenprob" in cells.index else cells.iloc[0]
    # What the notes of all methods say, once, then what each says besides.
    parts = {method: note.split("; ") if note else [] for method, note in cells["note"].items()}
    common = [part for part in next(iter(parts.values())) if all(part in own for own in parts.values())]
    own = [f"{method}: {part}" for method, found in parts.items() for part in found if part not in common]
    row = about_rows(cells.iloc[:1], scale, joined([*common, *own]))
    row |= {name: first[name] for name in ("ckpt", "majority", "above_trivial")}
    for method, cell in cells.iterrows():
        row |= {method: cell["performance"], f"low_{method}": cell["low"], f"high_{method}": cell["high"]}
    return row


def format_table(frame: Frame) -> Rows:
    """Figures 2, 3 and 14: every format on the sets of each training task, fine-tuned for it and not."""
    rows, groups = scores(frame), frame.options["groups"]
    several = rows.groupby("eval")["fmt"].nunique()
    shown = rows[rows["eval"].isin(several[several > 1].index)]
    known = [*groups["in_domain"], *(pair for pairs in groups["out_of_domain"].values() for pair in pairs)]
    curves = _curves(shown[in_pairs(shown, known) | (shown["train"] == BASE)], rows)
    return curves.assign(series=curves["fmt"] + ", " + curves["model"])


def fewshot_table(frame: Frame) -> Rows:
    """Figure 6: models before fine-tuning, with every number of demonstrations that was run.

    `group` and the number are the panel; `headline` marks the number that all other tables take.
    """
    groups, usual = frame.options["groups"], frame.options["shots"]
    named = dict.fromkeys(groups["improving"], "improving") | dict.fromkeys(groups["flat"], "flat")
    rows = scores(frame)
    curves = _curves(rows[rows["eval"].isin(named)], rows)
    curves.insert(0, "group", curves["eval"].map(named))
    curves.insert(1, "headline", curves["shots"] == usual)
    curves.insert(2, "panel", curves["group"] + ", " + curves["shots"].astype(str) + " shots")
    return curves.sort_values(["headline", "shots", "group"], ascending=[False, True, False], kind="stable")


def curves_table(frame: Frame) -> Rows:
    """Figures 7 and 9 to 13: for each `figure` and pair, the fine-tuned model, and in rows of its own the un-tuned one.

    `pair` is the training set of the panel, in the un-tuned rows too.
    """
    rows, groups = scores(frame), frame.options["groups"]
    figures = {
        "fig7": groups["examples"],
        "fig9": groups["instruction"],
        "fig10": groups["in_domain"],
        "fig11": [pair for pairs in groups["out_of_domain"].values() for pair in pairs],
        "fig12": groups["cross_from_class"],
        "fig13": groups["cross_from_generation"],
    }
    parts = [
        _curves(rows[(rows["eval"] == eval) & rows["train"].isin([BASE, train])], rows).assign(
            figure=figure, pair=train
        )
        for figure, pairs in figures.items()
        for eval, train in pairs
        if ((rows["eval"] == eval) & (rows["train"] == train)).any()
    ]
    columns = ["figure", "pair", *_CURVE]
    if not parts:
        return type(rows)(columns=columns)
    import pandas

    table = pandas.concat(parts, ignore_index=True)[columns]
    return table.assign(panel=table["eval"] + " after " + table["pair"])


def _curves(rows: Rows, every: Rows) -> Rows:
    """Rows of curves among all scores, fine-tuned before un-tuned; `series` names models other than the first.

    `place` puts checkpoints side by side: they are not uniform in steps, and `main` is 20 steps behind its neighbour.
    """
    places = {name: place for place, name in enumerate(sorted(set(every["ckpt"]), key=checkpoint_order))}
    first = next(iter(every["family"]), "")
    model = rows["train"].map(lambda name: "before fine-tuning" if name == BASE else "fine-tuned")
    series = [
        name if family == first else f"{name}, {family}" for name, family in zip(model, rows["family"], strict=True)
    ]
    table = rows.assign(place=rows["ckpt"].map(places), model=model, series=series)[_CURVE]
    return table.sort_values("model", ascending=False, kind="stable").reset_index(drop=True)


def in_pairs(rows: Rows, pairs: Iterable[Iterable[str]]) -> Rows:
    """Which scores are of a pair."""
    known = {tuple(pair) for pair in pairs}
    return rows[["eval", "train"]].apply(tuple, axis=1).isin(known) if len(rows) else rows["eval"] == ""
