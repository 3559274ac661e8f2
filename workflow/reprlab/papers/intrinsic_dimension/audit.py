"""The audit of the paper on intrinsic dimension: checks without weights and without network. Runs in seconds."""

from __future__ import annotations

from pathlib import Path

from reprlab.papers.intrinsic_dimension.audit_estimators import estimator_checks
from reprlab.papers.intrinsic_dimension.audit_models import invariant_checks, parameter_checks
from reprlab.papers.intrinsic_dimension.audit_tables import statement_checks, table_checks
from reprlab.papers.intrinsic_dimension.results import PRINTED
from reprlab.reporting.audit import AuditRow
from reprlab.reporting.published import PublishedTable, read_published
from reprlab.results.comparison import declarations

# Not printed: known answers and the label counts of the released data.
KNOWN = {
    "label_counts": PublishedTable(("dataset", "split", "label"), ("count",)),
    "models": PublishedTable(("model",), ("layers", "width", "adapter_parameters", "parameters")),
}


def audit(published: list[Path], models: Path) -> list[AuditRow]:
    """All rows, in the order of their ids: 5.1 to 5.12 are known answers and counts, 8.* are statements in the text.

    Raises:
        ReprlabError: a table is missing or malformed.
    """
    tables = read_published(published, {**declarations(PRINTED), **KNOWN})
    return [
        *estimator_checks(),
        *parameter_checks(tables["models"], models),
        *table_checks(tables),
        *invariant_checks(),
        *statement_checks(tables),
    ]
