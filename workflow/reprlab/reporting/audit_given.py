"""The input of the checks of a paper's audit."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from reprlab.reporting.published import PublishedTable, read_published
from reprlab.runtime.errors import ReprlabError


class Given:
    """Input of a paper's checks: its printed tables, the registry of models, its published settings."""

    def __init__(
        self, published: list[Path], models: Path, declared: Mapping[str, PublishedTable], settings: Any = None
    ) -> None:
        self.published, self.models, self.settings = published, models, settings
        self.take(dict(read_published(published, declared)), declared)

    def take(self, tables: dict[str, Any], declared: Mapping[str, PublishedTable]) -> None:
        """Let these be the printed tables."""
        self.tables, self.declared = tables, declared
        self.cells = {name: _by_keys(tables[name], table.keys) for name, table in declared.items()}
        """The rows of each table by the values of their keys, for what is printed elsewhere again."""
        self.said: dict[str, str] = {name: row["value"] for name, row in self.cells.get("statements", {}).items()}

    @cached_property
    def registry(self) -> Any:
        """The entries of the registry of models by name."""
        from reprlab.registry.models import load_models

        return load_models(self.models)

    def entry(self, name: str) -> Any:
        """A model of the registry; `ReprlabError` where it has none of this name."""
        if name not in self.registry:
            raise ReprlabError(f"{self.models}: lacks the model {name}, whose parameters the audit counts; restore it")
        return self.registry[name]


def _by_keys(table: Any, keys: tuple[str, ...]) -> dict[str, dict[str, str]]:
    rows = table.to_dict("records")
    return {" ".join(row[key] for key in keys if row[key]): row for row in rows}
