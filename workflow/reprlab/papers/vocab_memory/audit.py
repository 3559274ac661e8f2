"""The audit: every check that needs neither training data nor network; `audit.yaml` says what the paper prints."""

from reprlab.papers.vocab_memory import audit_sizes, audit_tables, audit_training
from reprlab.papers.vocab_memory.comparison import PRINTED
from reprlab.reporting.published import PublishedTable
from reprlab.results.comparison import declarations

# Not printed in the paper: ids of the tokens of Table 1 in GPT-2's own vocabulary file.
TABLES = declarations(PRINTED) | {"gpt2_ids": PublishedTable(("token",), ("id",))}
CHECKS = vars(audit_sizes) | vars(audit_tables) | vars(audit_training)
