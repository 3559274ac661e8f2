"""Which of our numbers stands beside which printed one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_tsv
from reprlab.papers.amuro_char.names import CLASS_TO_GEN, GEN_TO_CLASS
from reprlab.papers.amuro_char.published import PUBLISHED
from reprlab.reporting.comparison import Counterpart, compare_cells
from reprlab.reporting.published import read_published

if TYPE_CHECKING:
    import pandas

# Tables 3 and 6 and the text of section 4.3 speak of it.
_FAMILY = "olmo1b"
_DIRECTIONS = {"mrc_class_to_gen": CLASS_TO_GEN, "mrc_gen_to_class": GEN_TO_CLASS}
_ACTIVITIES = {"training": "training", "total": None}


def compare(tables: Sequence[Path], published: Sequence[Path], scale: str) -> pandas.DataFrame:
    """Every printed cell once, with ours or the reason why there is none. `tables` are found by their file names."""
    ours = {path.stem: read_tsv(path) for path in tables}
    return compare_cells(read_published(published, PUBLISHED), PUBLISHED, _Matcher(ours, scale))


class _Matcher:
    def __init__(self, ours: dict[str, pandas.DataFrame], scale: str) -> None:
        self.ours, self.scale = ours, scale

    def __call__(self, table: str, row: pandas.Series, column: str) -> Counterpart:
        if table not in self.ours and table not in ("statements", "table4_gpu_hours"):
            return Counterpart("", f"{table} is not made at scale {self.scale}")
        if table == "table3_prediction_method":
            frame = self.of_family(self.ours[table], _FAMILY)
            return self._score(frame[(frame["dataset"] == row["dataset"]) & (frame["model"] == row["model"])], column)
        if table == "table6_perf_diff":
            frame = self.of_family(self.ours[table], _FAMILY)
            return self._difference(frame[frame["ckpt"].astype(str) == row["ckpt"]], row["ckpt"], column)
        if table == "table4_gpu_hours":
            return self._hours(row["activity"], column)
        return self._statement(row)

    def of_family(self, frame: pandas.DataFrame, family: str) -> pandas.DataFrame:
        """Its rows; below paper scale, where one small model stands for OLMo, those of the first model."""
        if self.scale == "paper" or family != _FAMILY or frame.empty:
            return frame[frame["family"] == family]
        return frame[frame["family"] == frame["family"].iloc[0]]

    def _score(self, rows: pandas.DataFrame, column: str) -> Counterpart:
        if rows.empty or math.isnan(rows.iloc[0][column]):
            return Counterpart("", f"not run at scale {self.scale}")
        one = rows.iloc[0]
        known = [self.about(one), f"most frequent class {one['majority']:.3f}"]
        if isinstance(one["learned"], str) and one["learned"] == "not learned":
            known.append("not learned")
        return Counterpart(f"{one[column]:.3f}", "; ".join(known))

    def _difference(self, rows: pandas.DataFrame, ckpt: str, column: str) -> Counterpart:
        if rows.empty:
            return Counterpart("", f"the ladder has no checkpoint {ckpt} at scale {self.scale}")
        one = rows.iloc[0]
        if math.isnan(one[column]):
            return Counterpart("", f"this group was not run on all of its sets at this checkpoint, scale {self.scale}")
        note = one["note"] if isinstance(one["note"], str) else ""
        return Counterpart(f"{one[column]:.3f}", "; ".join(part for part in (self.about(one), note) if part))

    def _hours(self, activity: str, train: str) -> Counterpart:
        if activity not in _ACTIVITIES:
            return Counterpart("", "a job scores all of its sets at once; gpu_hours.tsv has their time together")
        frame = self.ours.get("gpu_hours")
        if frame is None:
            return Counterpart("", f"gpu_hours is not made at scale {self.scale}")
        rows = frame[frame["train"] == train]
        wanted = _ACTIVITIES[activity]
        rows = rows if wanted is None else rows[rows["activity"] == wanted]
        if not rows["measured"].sum():
            return Counterpart("", f"not measured at scale {self.scale}")
        return Counterpart(f"{rows['hours'].sum():.3f}", f"scale {self.scale}; {rows['device'].iloc[0]}")

    def _statement(self, row: pandas.Series) -> Counterpart:
        quantity = row["quantity"]
        if quantity in _DIRECTIONS and "mrc" in self.ours:
            frame = self.of_family(self.ours["mrc"], row["family"])
            frame = frame[(frame["row"] == "summary") & (frame["direction"] == _DIRECTIONS[quantity])]
            rows = frame[frame["ckpt"].astype(str) == "all"]
            if rows.empty or math.isnan(rows.iloc[0]["ratio"]):
                return Counterpart("", f"{row['family']} is not run at scale {self.scale}")
            one = rows.iloc[0]
            note = f"{self.about(one)}; mean of {one['ratios']:.0f} ratios, median {100 * one['median']:.1f}"
            return Counterpart(f"{100 * one['ratio']:.1f}", f"{note}; {one['skipped']:.0f} zero bases skipped")
        if quantity == "gpu_hours_finetuning" and "gpu_hours" in self.ours:
            total = self.ours["gpu_hours"].query("train == 'total'").iloc[0]
            if total["measured"]:
                about = f"scale {self.scale}; {total['device']}; all fine-tuning and scoring"
                return Counterpart(f"{total['hours']:.3f}", about)
        return Counterpart("", "a count, a sum or a reading of a figure: see the audit and the claims")

    def about(self, row: Any) -> str:
        """Scale, model and true name of the data."""
        data = row["data"] if isinstance(row["data"], str) else ""
        return f"scale {self.scale}; {row['family']}" + (f"; data: {data}" if data else "")
