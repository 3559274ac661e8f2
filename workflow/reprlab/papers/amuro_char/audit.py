"""The audit: every check that needs neither training data nor network; `audit.yaml` says what the paper prints."""

from reprlab.config.load import published_settings
from reprlab.papers.amuro_char import audit_changes, audit_models, audit_statements
from reprlab.papers.amuro_char.names import CHECKPOINTS
from reprlab.papers.amuro_char.results import PRINTED
from reprlab.reporting.published import PublishedTable
from reprlab.results.comparison import declarations

# Without a counterpart in our results: released values behind Table 6 and section 4.3, known counts, other models.
KNOWN = {
    "table2_models": PublishedTable(("model",), ("size", "tokens")),
    "released_performance": PublishedTable(("family", "train", "eval"), CHECKPOINTS),
    "models": PublishedTable(("model",), ("parameters", "embedding")),
    "checkpoint_list": PublishedTable(("index",), ("step",)),
    "label_counts": PublishedTable(("eval", "label"), ("count",)),
}
TABLES, SETTINGS = declarations(PRINTED) | KNOWN, published_settings
CHECKS = vars(audit_changes) | vars(audit_models) | vars(audit_statements)
