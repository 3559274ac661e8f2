"""The audit: every check that needs neither training data nor network; `audit.yaml` says what the paper prints."""

from reprlab.config.load import published_settings
from reprlab.papers.amuro_char import audit_changes, audit_models, audit_statements
from reprlab.results.words import printed_of

TABLES, SETTINGS = printed_of("amuro-char").declarations(), published_settings
CHECKS = vars(audit_changes) | vars(audit_models) | vars(audit_statements)
