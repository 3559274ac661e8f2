"""The audit of the paper on intrinsic dimension: checks without weights and without network. Runs in seconds."""

from __future__ import annotations

from pathlib import Path

from reprlab.config.load import published_settings
from reprlab.papers.intrinsic_dimension import audit_estimators as estimators
from reprlab.papers.intrinsic_dimension import audit_models, audit_tables
from reprlab.papers.intrinsic_dimension.results import PRINTED
from reprlab.reporting.audit import AuditRow, lettered
from reprlab.reporting.published import PublishedTable, read_published
from reprlab.results.comparison import declarations

# Not printed: known answers and the label counts of the released data.
KNOWN = {
    "label_counts": PublishedTable(("dataset", "split", "label"), ("count",)),
    "models": PublishedTable(("model",), ("layers", "width", "adapter_parameters", "parameters")),
}


def audit(published: list[Path], models: Path) -> list[AuditRow]:
    """All rows: 4.* counts, 5.1 to 5.12 known answers and counts, 8.* statements in the text.

    Raises:
        ReprlabError: a table is missing or malformed.
    """
    tables = read_published(published, {**declarations(PRINTED), **KNOWN})
    settings = published_settings(published, "intrinsic-dimension")
    checks = {
        "4.1": audit_tables.points_of_figure(tables, settings),
        "5.1": estimators.exact_ratios(),
        "5.2": estimators.exact_distances(),
        "5.3": estimators.uniform_clouds(),
        "5.4": estimators.scales(),
        "5.5": estimators.number_of_points(),
        "5.6": estimators.duplicates(),
        "5.7": estimators.constant_curve(),
        "5.8": audit_models.parameter_checks(tables["models"], models, settings),
        "5.9": audit_tables.steps(tables, settings),
        "5.10": audit_tables.means_and_majorities(tables),
        "5.11": audit_models.state_checks(),
        "5.12": audit_models.layer_checks(),
    }
    numbered = [row for number, rows in checks.items() for row in lettered(number, rows)]
    return [*numbered, *audit_tables.statements(tables, settings)]
