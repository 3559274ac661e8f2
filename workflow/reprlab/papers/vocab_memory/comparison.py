"""Which of our numbers stands beside which printed one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.artifacts.tables import read_tsv
from reprlab.papers.vocab_memory.published import PUBLISHED
from reprlab.reporting.comparison import Counterpart, compare_cells
from reprlab.reporting.published import read_published

if TYPE_CHECKING:
    import pandas

_MILLIONS = ("embedding", "total")
# Half of the last printed place: a union whose reduction is nearer is printed so.
_HALF = 0.05


def compare(tables: Sequence[Path], published: Sequence[Path], scale: str) -> pandas.DataFrame:
    """Every printed cell once, with ours or the reason why there is none."""
    ours = {path.stem: read_tsv(path) for path in tables}
    return compare_cells(read_published(published, PUBLISHED), PUBLISHED, _Matcher(ours, scale))


class _Matcher:
    def __init__(self, ours: dict[str, pandas.DataFrame], scale: str) -> None:
        self.ours, self.scale = ours, scale

    def __call__(self, table: str, row: pandas.Series, column: str) -> Counterpart:
        if table == "statements":
            return Counterpart("", "follows from the paper's tables: see the audit")
        if table == "table7_splits":
            return Counterpart("", "sizes of the published data; the audit checks their sums")
        if table not in self.ours:
            return Counterpart("", f"{table} is not made at scale {self.scale}")
        frame = self.ours[table]
        if table == "table1_unseen_tokens":
            return self._token(frame, row)
        if table in ("table5_models", "table6_deberta"):
            return self._size(frame, row, column)
        if table == "table9_runtime":
            rows = frame[frame["task"] == row["task"]]
            about = f"{rows['model'].iloc[0]}, {rows['steps'].iloc[0]} steps" if len(rows) else ""
            return self._value(rows, column, places=1, about=about)
        if table == "table10_glue":
            rows = frame[(frame["model"] == row["model"]) & (frame["pema"] == row["pema"])]
            return self._value(rows, column, places=1)
        return self._reduction(frame, row, column)

    def _reduction(self, frame: pandas.DataFrame, row: pandas.Series, column: str) -> Counterpart:
        unions = frame[frame["model"] == row["model"]]
        if "kind" in row:
            unions = unions[unions["kind"] == row["kind"]]
        rows = unions[unions["compared"] == "yes"]
        about = [f"splits {name}" for name in rows["splits"]]
        if f"used_{column}" in unions:
            about.append(self._counts(unions.dropna(subset=[column]), column, float(row[column])))
        return self._value(rows, column, places=1, about="; ".join(about))

    def _counts(self, unions: pandas.DataFrame, column: str, printed: float) -> str:
        """Different tokens of each union; with the paper's own data, whether it is printed so."""
        said = []
        for _, union in unions.iterrows():
            fits = abs(float(union[column]) - printed) <= _HALF + 1e-9
            verdict = "" if self.scale != "paper" else " (as printed)" if fits else " (not as printed)"
            said.append(f"{union['splits']} {int(union[f'used_{column}']):,}{verdict}")
        return f"used tokens: {', '.join(said)}"

    def _size(self, frame: pandas.DataFrame, row: pandas.Series, column: str) -> Counterpart:
        rows = frame[frame["model"] == row["model"]]
        if rows.empty:
            return Counterpart("", f"not listed at scale {self.scale}; the audit counts it")
        value = float(rows.iloc[0][column])
        if column in _MILLIONS:
            return Counterpart(f"{value / 1e6:.1f}", "counted from the configuration")
        return Counterpart(f"{value:.1f}" if column == "share" else f"{value:.0f}", "counted from the configuration")

    def _token(self, frame: pandas.DataFrame, row: pandas.Series) -> Counterpart:
        found = frame[frame["token"] == row["token"]]
        if found.empty:
            return Counterpart("", f"not among the tokens of {self.ours_corpus(frame)}; the audit looks at the ids")
        return Counterpart(f"{int(found.iloc[0]['id'])}", f"scale {self.scale}; data: {found.iloc[0]['data']}")

    def ours_corpus(self, frame: pandas.DataFrame) -> str:
        """The corpora that were searched for unseen tokens."""
        known = frame["data"].dropna() if "data" in frame else frame.iloc[:0, 0]
        return ", ".join(sorted(set(known))) or "our table, which has no corpus at this scale"

    def _value(self, rows: pandas.DataFrame, column: str, *, places: int, about: str = "") -> Counterpart:
        if rows.empty:
            return Counterpart("", f"not run at scale {self.scale}")
        values = rows[column].dropna() if column in rows else rows.iloc[:0, 0]
        if values.empty:
            return Counterpart("", f"no data at scale {self.scale}")
        first = rows.loc[values.index[0]]
        data = first.get(f"data_{column}", first.get("data", ""))
        known = [f"scale {self.scale}", about, f"data: {data}" if isinstance(data, str) and data else ""]
        model = first.get("tokenizer", "")
        known.append(f"tokenizer of {model}" if isinstance(model, str) and model else "")
        return Counterpart(f"{float(values.iloc[0]):.{places}f}", "; ".join(part for part in known if part))
