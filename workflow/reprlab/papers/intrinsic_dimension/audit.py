"""The audit: every check that needs neither weights nor network; `audit.yaml` says what the paper prints."""

from reprlab.config.load import published_settings
from reprlab.papers.intrinsic_dimension import audit_known, audit_tables
from reprlab.papers.intrinsic_dimension.results import PRINTED
from reprlab.reporting.published import PublishedTable
from reprlab.results.comparison import declarations

# Not printed: known answers and the label counts of the released data.
KNOWN = {
    "label_counts": PublishedTable(("dataset", "split", "label"), ("count",)),
    "models": PublishedTable(("model",), ("layers", "width", "adapter_parameters", "parameters")),
}
TABLES, SETTINGS = declarations(PRINTED) | KNOWN, published_settings
CHECKS = vars(audit_tables) | vars(audit_known)
