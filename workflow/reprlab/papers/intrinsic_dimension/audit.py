"""The audit: every check that needs neither weights nor network; `audit.yaml` says what the paper prints."""

from reprlab.config.load import published_settings
from reprlab.papers.intrinsic_dimension import audit_tables
from reprlab.results.words import printed_of

TABLES, SETTINGS = printed_of("intrinsic-dimension").declarations(), published_settings
CHECKS = vars(audit_tables)
