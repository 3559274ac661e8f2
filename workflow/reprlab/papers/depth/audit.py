"""The audit of DEPTH: every check that needs neither training nor network; `audit.yaml` says what the paper prints."""

from reprlab.papers.depth import audit_tables
from reprlab.results.words import printed_of

TABLES = printed_of("depth").declarations()
CHECKS = vars(audit_tables)
