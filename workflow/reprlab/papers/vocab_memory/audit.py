"""The audit: every check that needs neither training data nor network; `audit.yaml` says what the paper prints."""

from reprlab.papers.vocab_memory import audit_sizes, audit_tables
from reprlab.results.words import printed_of

TABLES = printed_of("vocab-memory").declarations()
CHECKS = vars(audit_sizes) | vars(audit_tables)
