"""Which of our numbers stands beside which printed one of DEPTH.

A row is matched by initialisation, model and step. Where the steps differ, as at every scale but the paper's own, only
the last checkpoint has a counterpart, the last one of ours, and the note says so; an early checkpoint of a short run
has seen another share of its training and stands for none of the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.artifacts.tables import read_tsv
from reprlab.papers.depth.published import PUBLISHED
from reprlab.reporting.comparison import Counterpart, compare_cells
from reprlab.reporting.published import read_published

if TYPE_CHECKING:
    import pandas

_LAST_STEP = {"fs": 1_000_000, "cpt": 256_000}
_BY_HAND = "annotated by hand in the paper; error_sample.tsv holds our predictions for annotation"
_DERIVED = "follows from the paper's other numbers: see the audit"
_NOT_OURS = "not a model of this workflow"


def compare(tables: Sequence[Path], published: Sequence[Path], scale: str) -> pandas.DataFrame:
    """The comparison of DEPTH. `tables` are our finished tables, found by their file names; any may be absent."""
    ours = {path.stem: read_tsv(path) for path in tables}
    return compare_cells(read_published(published, PUBLISHED), PUBLISHED, _Matcher(ours, scale))


class _Matcher:
    def __init__(self, ours: dict[str, pandas.DataFrame], scale: str) -> None:
        self.ours, self.scale = ours, scale

    def __call__(self, table: str, row: pandas.Series, column: str) -> Counterpart:
        if table.startswith("error_types"):
            return Counterpart("", _BY_HAND)
        if table == "statements":
            return self._statement(row)
        if table not in self.ours:
            return Counterpart("", f"{table} is not made at scale {self.scale}")
        if table in ("table1", "table2_scale"):
            return self._by_model(table, row, column)
        return self._by_checkpoint(table, row, column)

    def _by_model(self, table: str, row: pandas.Series, column: str) -> Counterpart:
        frame = self.ours[table]
        rows = frame[frame["model"] == row["model"]]
        if rows.empty:
            reason = _NOT_OURS if "-FS" not in row["model"] and "-CPT" not in row["model"] else "not trained"
            return Counterpart("", f"{reason} at scale {self.scale}" if reason == "not trained" else reason)
        steps = sorted({int(step) for step in rows["step" if "step" in rows else "steps"].dropna()})
        about = f"step {steps[-1]}, where the paper has {_paper_step(row['model'])}" if steps else ""
        return self._mean(rows, column, about)

    def _by_checkpoint(self, table: str, row: pandas.Series, column: str) -> Counterpart:
        init, model, step = row["init"], row["model"], int(row["step"])
        if row["split"] == "test":
            return Counterpart("", "quoted by the paper; the labels of the test split are not public")
        frame = self.ours[table]
        rows = frame[(frame["init"] == init) & (frame["model"] == model)]
        if rows.empty:
            return Counterpart("", f"{init} {model} is not run at scale {self.scale}")
        if init == "public":
            return self._mean(rows, column, "released weights")
        exact = rows[rows["step"] == step]
        if len(exact):
            return self._mean(exact, column, f"step {step}")
        if step != _LAST_STEP[init]:
            return Counterpart("", f"step {_short(step)} is not trained at scale {self.scale}")
        last = int(rows["step"].max())
        return self._mean(
            rows[rows["step"] == last], column, f"last checkpoint: step {last} here, {_short(step)} there"
        )

    def _mean(self, rows: pandas.DataFrame, column: str, about: str) -> Counterpart:
        values = rows[column].dropna() if column in rows else rows.iloc[:0, 0]
        if values.empty:
            reason = _reason(rows, column) or f"no data at scale {self.scale}"
            return Counterpart("", reason)
        seeds = f"mean of {len(values)} seeds" if len(values) > 1 else "one seed"
        data = rows[f"data_{column}"] if f"data_{column}" in rows else rows.get("data")
        source = "" if data is None or data.dropna().empty else f"data: {data.dropna().iloc[0]}"
        note = "; ".join(part for part in (f"scale {self.scale}", about, seeds, source) if part)
        return Counterpart(_printed(column, float(values.mean())), note)

    def _statement(self, row: pandas.Series) -> Counterpart:
        quantity, init, model = row["quantity"], row["init"], row["model"]
        if model == "nanot5" or (model == "t5-base" and quantity == "training_loss"):
            return Counterpart("", _NOT_OURS)
        if quantity == "training_loss":
            return Counterpart("", "training losses lie beside each run in its metrics; no table shows them")
        if quantity.startswith("sent_accuracy_gain"):
            return self._gain()
        wanted = {"validation_loss": "loss", "sentence_loss_min": "sentence_loss", "sentence_loss_max": "sentence_loss"}
        column = wanted.get(quantity, "sent_accuracy_shuffled" if quantity.startswith("sent_accuracy") else "")
        if not column:
            return Counterpart("", _DERIVED)
        rows = self._last_losses(init, model)
        if rows is None:
            return Counterpart("", f"the losses of {init} {model} are not given at scale {self.scale}")
        if column == "sent_accuracy_shuffled":
            rows = rows.assign(sent_accuracy_shuffled=100 * rows[column])
        return self._mean(rows, column, f"validation, last checkpoint: step {int(rows['step'].iloc[0])}")

    def _gain(self) -> Counterpart:
        both = [self._last_losses(init, "depth") for init in ("fs", "cpt")]
        if any(rows is None for rows in both):
            return Counterpart("", f"needs loss_fs and loss_cpt, which are not both given at scale {self.scale}")
        fs, cpt = (float(rows["sent_accuracy_shuffled"].mean()) for rows in both if rows is not None)
        return Counterpart(f"{100 * (cpt - fs):.2f}", f"scale {self.scale}; shuffled batches, last checkpoints")

    def _last_losses(self, init: str, model: str) -> pandas.DataFrame | None:
        frame = self.ours.get(f"loss_{init}")
        if frame is None:
            return None
        rows = frame[frame["model"] == model]
        return None if rows.empty else rows[rows["step"] == rows["step"].max()]


def _reason(rows: pandas.DataFrame, column: str) -> str:
    """What the note of our row says about an empty column."""
    for note in rows["note"].dropna():
        for part in str(note).split("; "):
            if part.startswith(f"{column}: "):
                return part.removeprefix(f"{column}: ")
    return ""


def _printed(column: str, value: float) -> str:
    if column in ("tokens", "steps", "batch", "params"):
        return str(round(value))
    return f"{value:g}" if column == "lr" else f"{value:.2f}"


def _paper_step(model: str) -> str:
    return _short(_LAST_STEP["cpt" if model.endswith("-CPT") else "fs"])


def _short(step: int) -> str:
    return "1M" if step == 1_000_000 else f"{step // 1000}k"
