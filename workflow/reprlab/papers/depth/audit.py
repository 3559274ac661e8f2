"""The audit of DEPTH: every check that needs neither training nor network. Runs in seconds."""

from __future__ import annotations

from pathlib import Path

from reprlab.artifacts.tables import read_tsv
from reprlab.papers.depth.audit_definitions import definition_checks
from reprlab.papers.depth.audit_statements import statement_checks
from reprlab.papers.depth.audit_tables import table_checks
from reprlab.papers.depth.comparison import PRINTED
from reprlab.reporting.audit import AuditRow
from reprlab.reporting.published import read_published
from reprlab.results.comparison import declarations
from reprlab.runtime.errors import ReprlabError


def audit(published: list[Path], models: Path) -> list[AuditRow]:
    """All rows, in the order of their ids: 5.* are known answers and derived numbers, 8.* are statements in the text.

    `published` are the printed tables and `label_counts.tsv`; `models` is the registry of models.

    Raises:
        ReprlabError: a table is missing or malformed.
    """
    tables = read_published(published, declarations(PRINTED))
    counts = next((path for path in published if path.stem == "label_counts"), None)
    if counts is None:
        raise ReprlabError("label_counts.tsv: the class counts of DiscoEval were not given; pass it with --published")
    rows = [*table_checks(tables, read_tsv(counts)), *definition_checks(models), *statement_checks(tables)]
    return sorted(rows, key=lambda row: _order(row.id))


def _order(id: str) -> tuple[int, int, str]:
    major, _, rest = id.partition(".")
    minor = rest.rstrip("abcdefghijklmnopqrstuvwxyz")
    return int(major), int(minor), rest[len(minor) :]
