"""Sizes of registry models in one table, counted once for all tables that need them."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from reprlab.artifacts.tables import read_tsv
from reprlab.models.counting import ClassifierSizes
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError

# The same number under the names that the architectures give it.
_LAYERS = ("num_hidden_layers", "n_layers", "n_layer", "num_layers")
_WIDTHS = ("hidden_size", "d_model", "dim", "n_embd")
_HEADS = ("num_attention_heads", "n_heads", "n_head", "num_heads")


class SizedModels(BaseModel):
    """The models to count, by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    entries: dict[str, ModelEntry]
    """Registry entries; their origins are not looked at."""
    labels: int = 2
    """Outputs of the classification head."""


def layers_of(entry: ModelEntry) -> int:
    """Number of hidden layers."""
    return _number(entry, _LAYERS)


def width_of(entry: ModelEntry) -> int:
    """Numbers in a hidden state."""
    return _number(entry, _WIDTHS)


def heads_of(entry: ModelEntry) -> int:
    """Number of attention heads."""
    return _number(entry, _HEADS)


def read_sizes(path: Path) -> dict[str, ClassifierSizes]:
    """The table of `count_parameters` by model.

    Raises:
        ReprlabError: the file is missing or no such table.
    """
    frame = read_tsv(path)
    if not {"name", "vocabulary", "width", "total"} <= set(frame.columns):
        raise ReprlabError(f"{path}: not a table of model sizes; delete it and run again")
    return {
        str(row["name"]): ClassifierSizes(int(row["vocabulary"]), int(row["width"]), int(row["total"]))
        for _, row in frame.iterrows()
    }


def _number(entry: ModelEntry, names: tuple[str, ...]) -> int:
    found = [entry.config[name] for name in names if name in entry.config]
    if not found:
        raise ReprlabError(f"models.yaml: {entry.source}: has none of {', '.join(names)}")
    return int(found[0])
