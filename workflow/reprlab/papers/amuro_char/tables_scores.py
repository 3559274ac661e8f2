"""Tables of scores as they were measured: all of them, by prediction method, by format, of un-tuned models."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_tsv
from reprlab.evaluation.bootstrap import learned
from reprlab.papers.amuro_char.aggregate import unique
from reprlab.papers.amuro_char.layouts import AggregateLayout, PerfLayout
from reprlab.papers.amuro_char.names import (
    BASE,
    PREDICTION_METHODS,
    PREDICTION_ROWS,
    SCORE_COLUMNS,
    SIDE_METHODS,
    checkpoint_order,
)
from reprlab.papers.amuro_char.tables_common import (
    about_rows,
    joined,
    last_checkpoint,
    read_perf,
    whole_numbers,
)
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas

_CELL = ["family", "ckpt", "train", "eval", "fmt", "shots", "method"]
_OWN = ["top_label", "top_share", "baseline", "baseline_value", "learned", "scale"]
PERF_COLUMNS = ["model_id", *SCORE_COLUMNS[:-1], *_OWN, "note"]
# From this share of equal predictions on, a score is that of a constant predictor.
_CONSTANT = 0.99
_PLACE = {name: place for place, name in enumerate(PREDICTION_ROWS)}


def perf_table(layout: PerfLayout, scores: list[Path]) -> pandas.DataFrame:
    """All scores in long form: `PERF_COLUMNS`.

    `performance`, `majority`, `baseline_value` and all shares are in 0 to 1. `baseline` names what a fine-tuned row
    must beat: the most frequent class, or, where texts are generated, the same checkpoint before fine-tuning.

    Raises:
        ReprlabError: a file has other columns, or a score stands in two files.
    """
    import pandas

    frame = pandas.concat([_read_scores(path) for path in scores], ignore_index=True)
    frame = unique(frame, _CELL)
    order = {place: _order(row, layout) for place, row in frame.iterrows()}
    frame = frame.loc[sorted(order, key=lambda place: order[place])]
    tops = [_top(value) for value in frame["histogram"]]
    frame["top_label"], frame["top_share"] = [label for label, _ in tops], [share for _, share in tops]
    untuned = frame[frame["train"] == BASE].set_index([name for name in _CELL if name != "train"])["performance"]
    judged = [_judged(row, untuned) for _, row in frame.iterrows()]
    for place, name in enumerate(("baseline", "baseline_value", "learned")):
        frame[name] = [one[place] for one in judged]
    frame["model_id"] = frame["family"] + "_" + frame["ckpt"] + "_" + frame["train"]
    frame["note"] = [_note(row) for _, row in frame.iterrows()]
    whole = ("step", "shots", "dropped_shots", "seed", "train_rows", "train_steps")
    return whole_numbers(frame.assign(scale=layout.scale)[PERF_COLUMNS], *whole).reset_index(drop=True)


def _read_scores(path: Path) -> pandas.DataFrame:
    frame = read_tsv(path)
    if list(frame.columns) != list(SCORE_COLUMNS):
        different = sorted(set(SCORE_COLUMNS) ^ set(frame.columns)) or ["their order"]
        raise ReprlabError(f"{path}: columns are not those of scores ({different[0]}); delete it and run again")
    frame = frame.assign(ckpt=frame["ckpt"].astype(str), note=frame["note"].astype(object).fillna(""))
    outside = frame[(frame["performance"] < 0) | (frame["performance"] > 1)]
    if len(outside):
        raise ReprlabError(f"{path}: performance {outside['performance'].iloc[0]:g} is not in 0 to 1; delete it")
    return frame


def _order(row: pandas.Series, layout: PerfLayout) -> tuple[Any, ...]:
    def place(names: list[str], name: str) -> tuple[int, str]:
        return (names.index(name) if name in names else len(names)), name

    checkpoint = checkpoint_order(row["ckpt"])
    return (
        place(layout.families, row["family"]),
        checkpoint,
        row["train"] != BASE,
        row["train"],
        place(layout.evals, row["eval"]),
        row["fmt"],
        row["shots"],
        row["method"],
    )


def _top(histogram: Any) -> tuple[str, float]:
    if not isinstance(histogram, str) or not histogram:
        return "", math.nan
    counts = json.loads(histogram)
    total = sum(counts.values())
    if not total:
        return "", math.nan
    label = max(counts, key=lambda name: counts[name])
    return label, counts[label] / total


def _judged(row: pandas.Series, untuned: pandas.Series) -> tuple[str, float, str]:
    if not math.isnan(row["majority"]):
        name, value = "majority", float(row["majority"])
    else:
        key = tuple(row[name] for name in _CELL if name != "train")
        name, value = "not fine-tuned", float(untuned.get(key, math.nan))
    if row["train"] == BASE:
        return ("majority", value, "") if name == "majority" else ("", math.nan, "")
    return ("", math.nan, "") if math.isnan(value) else (name, value, learned(float(row["low"]), value))


def _note(row: pandas.Series) -> str:
    parts = [str(row["note"])]
    if row["top_share"] >= _CONSTANT and row["kind"] != "generation":
        parts.append(f"constant predictor: {row['top_share']:.1%} of the predictions are '{row['top_label']}'")
    if row["outside_labels"] > 0:
        parts.append(f"{row['outside_labels']:.1%} of the predictions are no label")
    if row["empty_share"] > 0:
        parts.append(f"{row['empty_share']:.1%} of the outputs are empty")
    return joined(parts)


def prediction_table(layout: AggregateLayout) -> pandas.DataFrame:
    """Table 3: three ways to read a label off the final checkpoint, fine-tuned and not, beside the majority class."""
    import pandas

    perf = read_perf(layout.perf)
    perf = perf[(perf["fmt"] == layout.fmt) & (perf["shots"] == layout.shots) & perf["method"].isin(PREDICTION_METHODS)]
    rows = []
    for family in dict.fromkeys(perf.loc[perf["method"].isin(SIDE_METHODS), "family"]):
        found = perf[perf["family"] == family]
        found = found[found["ckpt"] == last_checkpoint(found[found["method"].isin(SIDE_METHODS)])]
        for dataset, pair in sorted(layout.groups.prediction_rows.items(), key=lambda one: _PLACE.get(one[0], 99)):
            for model, train in (("Fine-tuned", pair.train), ("BASE", BASE)):
                cells = found[(found["eval"] == pair.eval) & (found["train"] == train)]
                rows.append({"family": family, "dataset": dataset, "model": model, **_by_method(cells, layout.scale)})
    columns = ["family", "ckpt", "dataset", "model", *PREDICTION_METHODS, "majority", "learned"]
    columns += [f"{end}_{method}" for method in PREDICTION_METHODS for end in ("low", "high")]
    columns += ["scale", "seed", "n", "steps", "tokens", "data", "note"]
    return whole_numbers(pandas.DataFrame(rows).reindex(columns=columns))


def _by_method(cells: pandas.DataFrame, scale: str) -> dict[str, Any]:
    if cells.empty:
        return {"scale": scale, "note": f"not run at scale {scale}"}
    row = about_rows(cells.drop_duplicates("eval"), scale)
    by_method = cells.set_index("method")
    for method in by_method.index:
        row |= {
            method: by_method.loc[method, "performance"],
            f"low_{method}": by_method.loc[method, "low"],
            f"high_{method}": by_method.loc[method, "high"],
        }
    first = by_method.loc["tokenprob"] if "tokenprob" in by_method.index else by_method.iloc[0]
    return row | {
        "ckpt": first["ckpt"],
        "majority": first["majority"],
        "learned": first["learned"],
        "note": joined(_notes_of_methods({str(method): str(note) for method, note in by_method["note"].items()})),
    }


def _notes_of_methods(notes: dict[str, str]) -> list[str]:
    """What the notes of all methods say, once, then what each says besides."""
    parts = {method: note.split("; ") if note else [] for method, note in notes.items()}
    common = [part for part in next(iter(parts.values()), []) if all(part in own for own in parts.values())]
    own = [f"{method}: {part}" for method, found in parts.items() for part in found if part not in common]
    return [*common, *own]
