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
from reprlab.papers.amuro_char.names import CHECKPOINTS
from reprlab.papers.amuro_char.results import PRINTED
from reprlab.reporting.audit import AuditRow
from reprlab.reporting.published import PublishedTable, read_published
from reprlab.results.comparison import declarations

# Without a counterpart in our results: released values behind Table 6 and section 4.3, known counts, other models.
KNOWN = {
    "table2_models": PublishedTable(("model",), ("size", "tokens")),
    "released_performance": PublishedTable(("family", "train", "eval"), CHECKPOINTS),
    "models": PublishedTable(("model",), ("parameters", "embedding")),
    "checkpoint_list": PublishedTable(("index",), ("step",)),
    "label_counts": PublishedTable(("eval", "label"), ("count",)),
}


def audit(published: list[Path], models: Path) -> list[AuditRow]:
    """All rows by id: 5.* are known answers and derived numbers, 6.* statements in the text, 8.* what the released code
    does that the paper does not say.

    `published` are the printed tables, the released values and the paper's settings; `models` is the registry.

    Raises:
        ReprlabError: a table or the settings are missing or malformed.
    """
    tables = read_published(published, declarations(PRINTED) | KNOWN)
    settings = published_settings(published, "amuro-char")
    rows = [*change_checks(tables, settings), *model_checks(tables, models), *decoder_checks(), *scoring_checks()]
    rows += [*statement_checks(tables, settings), *trap_checks(tables, settings)]
    return sorted(rows, key=lambda row: _order(row.id))


def _order(id: str) -> tuple[int, int, str]:
    major, _, rest = id.partition(".")
    minor = rest.rstrip("abcdefghijklmnopqrstuvwxyz")
    return int(major), int(minor), rest[len(minor) :]
