"""The results of one paper as they lie in its folder, and what the paper says about itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.json_files import read_json
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.reporting.page.verdicts import KINDS, STANDING
from reprlab.reporting.provenance import provenance_path

if TYPE_CHECKING:
    import pandas

REPORTS = ("comparison", "audit", "claims")


class PaperFolder:
    """`results/<slug>`. Every table is read once."""

    def __init__(self, folder: Path, about: Any) -> None:
        self.folder, self.slug, self.about = folder, folder.name, about
        self.tables: Mapping[str, str] = about.TABLES
        self.figures: Mapping[str, str] = about.FIGURES
        self._frames: dict[str, pandas.DataFrame | None] = {}

    def path(self, name: str, ending: str = "tsv") -> Path:
        """Where a result lies, made or not."""
        return self.folder / f"{name}.{ending}"

    def read(self, name: str) -> pandas.DataFrame | None:
        """A table, or None where it was not made."""
        if name not in self._frames:
            self._frames[name] = read_tsv(self.path(name)) if self.path(name).exists() else None
        return self._frames[name]

    def counts(self, name: str) -> dict[str, int]:
        """Number of rows by verdict in `audit` or `claims`."""
        frame = self.read(name)
        return {} if frame is None else {str(key): int(n) for key, n in frame["verdict"].value_counts().items()}

    def standing(self) -> dict[str, int]:
        """Trained scores by whether they are above each kind of baseline: each once in the frame of results, where the
        paper has one, else as often as tables show it."""
        frame = self.path("results", "parquet")
        found: Counter[str] = Counter()
        for kind in KINDS:
            column = f"above_{kind}"
            if frame.exists():
                flags = [str(one) for one in read_parquet(frame, [column])[column].to_pylist() if one]
            else:
                flags = [value for one in map(self.read, self.done()) for value in _flags(one, column)]
            # With some seeds is above, here.
            found.update(f"{'not ' * one.startswith('not')}above the {kind}" for one in flags)
        return {name: found[name] for name in STANDING}

    def done(self) -> list[str]:
        """The tables that were made."""
        return [name for name in self.tables if self.path(name).exists()]

    def records(self) -> dict[str, Mapping[str, Any]]:
        """The provenance of each result, by its name."""
        paths = {name: provenance_path(self.path(name)) for name in (*self.done(), *REPORTS)}
        return {name: read_json(path) for name, path in paths.items() if path.exists()}


def _flags(frame: pandas.DataFrame | None, kind: str) -> list[str]:
    """The flags of one kind in a table, in all columns that have them."""
    columns = [] if frame is None else [name for name in frame if kind in str(name)]
    return [str(value) for column in columns for value in frame[column].dropna()]  # type: ignore[index]
