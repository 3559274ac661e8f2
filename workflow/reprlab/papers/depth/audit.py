"""The audit of DEPTH: every check that needs neither training nor network; `audit.yaml` says what the paper prints."""

from reprlab.papers.depth import audit_masks, audit_objective, audit_tables
from reprlab.papers.depth.comparison import PRINTED
from reprlab.reporting.published import PublishedTable
from reprlab.results.comparison import declarations

# Not printed in the paper: the class counts of DiscoEval.
TABLES = declarations(PRINTED) | {"label_counts": PublishedTable(("task", "label"), ("count",))}
CHECKS = vars(audit_tables) | vars(audit_objective) | vars(audit_masks)
