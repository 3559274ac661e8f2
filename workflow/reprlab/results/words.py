"""A paper's words beside its printed tables in `resources/published/<slug>`, as the records of its results take them.

`results.yaml` says what factors and metrics mean and what tables and figures show; `printed.yaml` how the printed
tables are keyed, and what the paper calls things.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from reprlab.reporting.published import PublishedTable
from reprlab.results.comparison import Find, Printed
from reprlab.results.frame import Choice, Frame, Rows
from reprlab.results.records import Figure, PaperResults, Table
from reprlab.results.schema import Factor, Metric
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.yaml_text import read_with_anchors

_FOLDER = Path(__file__).resolve().parents[3] / "resources/published"
LABELS = "labels.yaml"
METRICS = "metrics.yaml"
_SHARED, _SHARED_METRICS = _FOLDER / LABELS, _FOLDER / METRICS
_STRICT = ConfigDict(extra="forbid", frozen=True)


class Words(BaseModel):
    """Words of `results/<slug>`."""

    model_config = _STRICT

    factors: dict[str, Factor]
    metrics: dict[str, dict[str, Any]]
    """What each means; of those that several papers have, all else is in metrics.yaml."""
    tables: dict[str, str]
    """Captions."""
    figures: dict[str, str]
    """Captions."""
    labels: dict[str, str] = {}
    """People's words for names of the workflow, in figures."""


class Keyed(BaseModel):
    """A printed table: the columns that name a row, those that hold values, in the paper's order."""

    model_config = _STRICT

    keys: tuple[str, ...]
    values: tuple[str, ...]
    ours: str = ""
    """Why nothing of ours is beside it; empty: a record says what does."""


class Print(BaseModel):
    """The printed tables, in the paper's order."""

    model_config = _STRICT

    tables: dict[str, Keyed] = {}
    known: dict[str, Keyed] = {}
    """Tables that the audit alone reads."""
    names: dict[str, dict[str, str]] = {}
    """The paper's names by ours, for each kind of thing."""

    def declarations(self) -> dict[str, PublishedTable]:
        """How all tables are keyed, for the audit."""
        return {name: PublishedTable(one.keys, one.values) for name, one in {**self.tables, **self.known}.items()}


Read = TypeVar("Read", bound=BaseModel)


def _read(slug: str, name: str, model: type[Read]) -> Read:
    path = _FOLDER / slug / name
    try:
        return model.model_validate(read_with_anchors(path))
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise ReprlabError(f"{path}: {where}: {problem['msg']}; restore the file from the repository") from None


@functools.cache
def printed_of(slug: str) -> Print:
    """The printed tables of a paper.

    Raises:
        ReprlabError: printed.yaml cannot be read.
    """
    return _read(slug, "printed.yaml", Print)


@functools.cache
def _shared() -> dict[str, str]:
    """Words for names that several papers have."""
    return TypeAdapter(dict[str, str]).validate_python(read_with_anchors(_SHARED))


@functools.cache
def shared_metrics() -> dict[str, dict[str, Any]]:
    """Unit, direction and range of the metrics that several papers have, by name."""
    found = TypeAdapter(dict[str, dict[str, Any]]).validate_python(read_with_anchors(_SHARED_METRICS))
    for name, fields in found.items():
        _metric(name, {"about": name, **fields}, METRICS)
    return found


def metrics_of(slug: str) -> dict[str, Metric]:
    """The metrics of a paper by name.

    Raises:
        ReprlabError: results.yaml cannot be read, or declares again what metrics.yaml does.
    """
    found, shared = {}, shared_metrics()
    for name, fields in _read(slug, "results.yaml", Words).metrics.items():
        if name in shared and (twice := sorted(set(fields) & set(shared[name]))):
            raise ReprlabError(
                f"{_FOLDER / slug / 'results.yaml'}: metrics.{name}.{twice[0]} is in {METRICS}; remove it here"
            )
        found[name] = _metric(name, {**shared.get(name, {}), **fields}, f"{slug}/results.yaml")
    return found


def _metric(name: str, fields: Mapping[str, Any], where: str) -> Metric:
    try:
        return Metric.model_validate(fields)
    except ValidationError as error:
        problem = error.errors()[0]
        at = ".".join(map(str, (name, *problem["loc"])))
        raise ReprlabError(
            f"{_FOLDER / where}: metrics.{at}: {problem['msg']}; declare it as metrics.yaml does"
        ) from None


def results_of(
    slug: str,
    *,
    tables: Mapping[str, tuple[Callable[[Frame], Rows], Mapping[str, Choice]]],
    figures: Mapping[str, tuple[Any, ...]],
    ours: Mapping[str, Find],
    labels: Mapping[str, str] | None = None,
    **more: Any,
) -> PaperResults:
    """The records of a paper with its words.

    Args:
        slug: the paper.
        tables: what makes each table, and from which selection.
        figures: the table of each figure, what draws it, and the claim that is its title, where one is.
        ours: what is beside the cells of each printed table.
        labels: names that the paper's code knows as well, beside those of its words.
        more: further fields of `PaperResults`.

    Raises:
        ReprlabError: a file cannot be read, or records and words do not fit together.
    """
    words, printed = _read(slug, "results.yaml", Words), printed_of(slug).tables
    reasons = {name: one.ours for name, one in printed.items() if one.ours}
    if twice := sorted(set(reasons) & set(ours)):
        both = f"has a record in results.py, and the words '{reasons[twice[0]]}' in printed.yaml; remove one"
        raise ReprlabError(f"{slug}: {twice[0]} {both}")
    beside: dict[str, Find | str] = {**reasons, **ours}
    fitting: tuple[tuple[str, Mapping[str, Any], Mapping[str, Any]], ...] = (
        ("results.yaml: tables", words.tables, tables),
        ("results.yaml: figures", words.figures, figures),
        ("printed.yaml: tables", printed, beside),
    )
    for where, said, recorded in fitting:
        if alone := sorted(set(said) ^ set(recorded)):
            lacks = "no record in results.py" if alone[0] in said else "no words"
            raise ReprlabError(f"{_FOLDER / slug / where}: {alone[0]} has {lacks}; add it, or remove the other")
    return PaperResults(
        factors=words.factors,
        metrics=metrics_of(slug),
        tables=[Table(name, words.tables[name], *made) for name, made in tables.items()],
        figures=[Figure(name, words.figures[name], *drawn) for name, drawn in figures.items()],
        labels={**_shared(), **words.labels, **(labels or {})},
        printed={name: Printed(one.keys, one.values, beside[name]) for name, one in printed.items()},
        **more,
    )
