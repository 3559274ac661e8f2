"""An audit from its records: `audit.yaml` says what a paper prints, and one function a record recomputes it.

The file is beside the printed tables and maps the id of each check to a `Record`; every scalar in it is text, as it
is printed. Its texts are templates of `str.format` over what the check found, the row's own keys, and `said`, the
values of the paper's `statements` by their keys, `cells`, the rows of its printed tables by theirs, and `settings`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from reprlab.plugins import load_plugin
from reprlab.reporting import audit_checks
from reprlab.reporting.audit import AGREES, DIFFERS, NOT_CHECKABLE, AuditRow, Found
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import equal, misprint, near, number, significant
from reprlab.runtime.errors import ReprlabError, first_line
from reprlab.settings.yaml_text import read_texts

RECORDS = "audit.yaml"


class Record(BaseModel):
    """A statement of the paper, or a known answer, and how both sides are compared.

    A row agrees where both texts are equal (as numbers, if they are numbers), unless the record has a tolerance, a
    number of significant digits ("about"), compares the rounded value, or the check decides. A truth in place of a
    value is shown as the printed text, or as "not so".
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    check: str = ""
    """The function that recomputes it."""
    arguments: dict[str, str] = {}
    """Arguments of the call."""
    what: str = ""
    printed: str = ""
    recomputed: str = ""
    """How the value is shown; the value alone where this is empty."""
    note: str = ""
    missing: str = ""
    """The missing part without which the row cannot be checked; it then needs no check."""
    tolerance: float | None = None
    digits: int | None = None
    rounding: bool = False
    """The printed number is the value, rounded at its decimals; one that was cut differs, and the note says so."""
    id: str = ""
    """Ids of the rows of a family; without it they are lettered from that of the record on."""
    rows: list[dict[str, str]] = []
    """A family: fields of this record that differ from row to row, and further arguments."""


def audit(paper: str, published: list[Path], models: Path, only: str = "") -> list[AuditRow]:
    """The rows of all records of a paper in the order of its `audit.yaml`; `only` takes the record of that id alone.

    The module `audit` of the paper has `TABLES`, how its published tables are keyed; `CHECKS`, the functions by name,
    where they are not its own; and, where they read settings, `SETTINGS`, which gives those of `published`. A module
    with `rows`, a function of what is given, yields its rows itself and needs no records.

    Raises:
        ReprlabError: a table or the records are missing or malformed, or records and checks do not fit together.
    """
    module: Any = load_plugin("papers", f"{paper}.audit")
    settings = module.SETTINGS(published, paper) if hasattr(module, "SETTINGS") else None
    given = Given(published, models, module.TABLES, settings)
    if hasattr(module, "rows"):
        found: list[AuditRow] = list(module.rows(given))
        return [row for row in found if row.id == only] if only else found
    return audit_records(given, getattr(module, "CHECKS", vars(module)), only)


def audit_records(given: Given, checks: Mapping[str, Any], only: str = "") -> list[AuditRow]:
    """The rows of the records, each by the function of its name in `checks` or in `audit_checks`.

    It is called with `given` and the record's arguments, for each row of the record, and gives a value, or `found`. One
    that is a generator is called once and yields the rows in their order.

    Raises:
        ReprlabError: there is no such function, or a text lacks a name, or a family rows.
    """
    path = next((path for path in given.published if path.name == RECORDS), None)
    if path is None:
        raise ReprlabError(f"{RECORDS}: the records of the audit were not given; pass it with --published")
    records, checks = read_records(path), vars(audit_checks) | dict(checks)
    for id, record in records.items():
        if record.check not in checks and (record.check or not record.missing):
            raise ReprlabError(f"{path}: {id}: there is no check '{record.check}'")
    asked = {only: records[only]} if only else records
    return [row for id, record in asked.items() for row in _rows(path, id, record, checks.get(record.check), given)]


def read_records(path: Path) -> dict[str, Record]:
    """The records of an audit by id.

    Raises:
        ReprlabError: the file is not YAML, or a record has an unknown key or a value of another type.
    """
    records, texts = {}, read_texts(path)
    if not isinstance(texts, dict):
        raise ReprlabError(f"{path}: must hold one record for each id; restore the file from the repository")
    for id, values in texts.items():
        try:
            records[id] = Record.model_validate(values)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(str(part) for part in (id, *problem["loc"]))
            raise ReprlabError(f"{path}: {where}: {problem['msg']}") from None
    return records


def _rows(path: Path, id: str, record: Record, check: Callable[..., Any] | None, given: Given) -> Iterator[AuditRow]:
    members = [_member(record, row) for row in record.rows]
    if check is None:
        results: list[Any] = [None] * max(1, len(members))
    elif inspect.isgeneratorfunction(check):
        results = list(check(given, **record.arguments))
        members = members or [(record, {})] * len(results)
    else:
        results = [check(given, **record.arguments, **own) for _, own in members or [(record, {})]]
    lone = not members and len(results) == 1
    members = members or [(record, {})]
    if len(members) != len(results):
        raise ReprlabError(f"{path}: {id} has {len(members)} rows, and its check found {len(results)}")
    for place, ((one, own), result) in enumerate(zip(members, results, strict=True)):
        try:
            yield _row(id if lone or one.id else _letter(id, place), one, own, result, given)
        except (KeyError, ValueError, IndexError) as error:
            raise ReprlabError(f"{path}: {id}: a text cannot be filled in ({first_line(error)})") from None


def _member(record: Record, row: Mapping[str, str]) -> tuple[Record, dict[str, str]]:
    fields = {name: value for name, value in row.items() if name in Record.model_fields}
    own = {name: value for name, value in row.items() if name not in fields}
    return Record.model_validate({**record.model_dump(), "rows": [], **fields}), own


def _letter(id: str, place: int) -> str:
    """The id of a family's row: `5.2` counts from `5.2a`, and `5.2f` from itself."""
    stem = id.rstrip(ascii_lowercase)
    place += ascii_lowercase.index(id[-1]) if stem != id else 0
    if place >= len(ascii_lowercase):
        raise ReprlabError(f"audit {id}: more rows than letters; give the record an `id` for its rows")
    return stem + ascii_lowercase[place]


def _row(id: str, record: Record, own: Mapping[str, str], result: Any, given: Given) -> AuditRow:
    if not isinstance(result, Found):
        result = Found(result, result if isinstance(result, bool) else None)
    names = {"said": given.said, "cells": given.cells, "settings": given.settings, **record.arguments, **own}
    names |= {**result.names, "value": result.value}
    names |= {"digits": record.digits, "tolerance": f"{record.tolerance or 0:g}"}
    what, printed, note = (text.format_map(names) for text in (record.what, record.printed, record.note))
    id = record.id.format_map(names) or id
    shown = record.recomputed.format_map(names) if record.recomputed else _shown(result.value, printed)
    if record.missing:
        return AuditRow(id, what, printed, shown, NOT_CHECKABLE, f"missing: {record.missing.format_map(names)}")
    agrees = result.agrees
    if agrees is None and record.tolerance is not None:
        agrees = near(number(printed), number(result.value), record.tolerance)
    elif agrees is None and record.digits is not None:
        agrees = len({significant(number(side), record.digits) for side in (result.value, printed)}) == 1
    elif agrees is None and record.rounding:
        wrong = misprint(result.value, printed)  # type: ignore[arg-type]
        agrees, note = not wrong, "; ".join(filter(None, (note, wrong)))
    elif agrees is None:
        agrees = equal(printed, shown)
    if agrees and not printed.strip():
        raise ReprlabError(f"audit {id}: nothing is printed that {shown!r} could agree with; say what is `missing`")
    return AuditRow(id, what, printed, shown, AGREES if agrees else DIFFERS, note)


def _shown(value: object, printed: str) -> str:
    if isinstance(value, bool):
        return printed if value else "not so"
    return "" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)
