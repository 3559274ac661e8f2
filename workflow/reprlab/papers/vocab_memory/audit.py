"""The audit: every check that needs neither training data nor network. Runs in seconds."""

from __future__ import annotations

from pathlib import Path

from reprlab.papers.vocab_memory.audit_artifacts import artifact_check
from reprlab.papers.vocab_memory.audit_sizes import size_checks
from reprlab.papers.vocab_memory.audit_tables import table_checks
from reprlab.papers.vocab_memory.audit_training import training_checks
from reprlab.papers.vocab_memory.comparison import PRINTED
from reprlab.reporting.audit import AuditRow
from reprlab.reporting.published import PublishedTable, read_published
from reprlab.results.comparison import declarations

# Not printed in the paper: ids of the tokens of Table 1 in GPT-2's own vocabulary file.
KNOWN = {"gpt2_ids": PublishedTable(("token",), ("id",))}


def audit(published: list[Path], models: Path) -> list[AuditRow]:
    """All rows by id: 5.* are known answers and derived numbers, 6.* statements in the text.

    `published` are the printed tables and `gpt2_ids.tsv`; `models` is the registry of models.

    Raises:
        ReprlabError: a table is missing or malformed.
    """
    tables = read_published(published, declarations(PRINTED) | KNOWN)
    rows = [*size_checks(tables, models), *table_checks(tables), *training_checks(), *artifact_check()]
    return sorted(rows, key=lambda row: _order(row.id))


def _order(id: str) -> tuple[int, int, str]:
    major, _, rest = id.partition(".")
    minor = rest.rstrip("abcdefghijklmnopqrstuvwxyz")
    return int(major), int(minor), rest[len(minor) :]
