"""The audit: every check that needs neither training data nor network. Runs in seconds."""

from __future__ import annotations

from pathlib import Path

from reprlab.config.load import published_settings
from reprlab.papers.amuro_char.audit_changes import change_checks
from reprlab.papers.amuro_char.audit_decoders import decoder_checks
from reprlab.papers.amuro_char.audit_models import model_checks
from reprlab.papers.amuro_char.audit_scoring import scoring_checks
from reprlab.papers.amuro_char.audit_statements import statement_checks
from reprlab.papers.amuro_char.audit_traps import trap_checks
from reprlab.papers.amuro_char.published import KNOWN, PUBLISHED
from reprlab.reporting.audit import AuditRow
from reprlab.reporting.published import read_published


def audit(published: list[Path], models: Path) -> list[AuditRow]:
    """All rows by id: 5.* are known answers and derived numbers, 6.* statements in the text, 8.* what the released code
    does that the paper does not say.

    `published` are the printed tables, the released values and the paper's settings; `models` is the registry.

    Raises:
        ReprlabError: a table or the settings are missing or malformed.
    """
    tables = read_published(published, PUBLISHED | KNOWN)
    settings = published_settings(published, "amuro-char")
    rows = [*change_checks(tables), *model_checks(tables, models), *decoder_checks(), *scoring_checks()]
    rows += [*statement_checks(tables, settings), *trap_checks(tables, settings)]
    return sorted(rows, key=lambda row: _order(row.id))


def _order(id: str) -> tuple[int, int, str]:
    major, _, rest = id.partition(".")
    minor = rest.rstrip("abcdefghijklmnopqrstuvwxyz")
    return int(major), int(minor), rest[len(minor) :]
