"""The audit: every check that needs neither training data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from reprlab.papers.vocab_memory import audit_sizes as sizes
from reprlab.papers.vocab_memory import audit_tables as tables
from reprlab.papers.vocab_memory import audit_training as training
from reprlab.papers.vocab_memory.audit_artifacts import folders
from reprlab.papers.vocab_memory.comparison import PRINTED
from reprlab.papers.vocab_memory.names import GLUE
from reprlab.reporting.audit import AuditRow
from reprlab.reporting.audit_records import Checks, Given, audit_records
from reprlab.reporting.published import PublishedTable
from reprlab.results.comparison import declarations

# Not printed in the paper: ids of the tokens of Table 1 in GPT-2's own vocabulary file.
KNOWN = {"gpt2_ids": PublishedTable(("token",), ("id",))}
CHECKS: Checks = {
    "5.1": sizes.table5,
    "5.1j": sizes.table6,
    "5.1n": sizes.third_label,
    "5.2": sizes.shares,
    "5.3": tables.distilled_pairs,
    "5.4a": sizes.savings,
    "5.4b": tables.small_and_base,
    "5.4c": tables.table3_means,
    "5.5a": tables.table2_means,
    "5.5b": tables.table10_means,
    "5.6": tables.implied,
    "5.7a": tables.below_half,
    "5.8a": tables.totals,
    "5.8b": tables.running_times,
    "5.8c": partial(tables.quick, column="pema_s", below="0.5"),
    "5.8d": partial(tables.quick, column="percent", below="1"),
    "5.9": training.equivalence,
    "5.10": training.forward,
    "5.11": training.known_answer,
    "5.11e": folders,
    "5.12": training.limits,
    "5.13": tables.ids,
    "6.1": partial(tables.quoted, table="table2_reduction"),
    "6.6": tables.largest_data_set,
    "6.7": lambda given: tables.numbers(given, "table2_reduction").loc["embedding", "BERT"][[*GLUE]].idxmin(),
    "6.8": partial(tables.quoted, table="table3_deberta_sizes"),
    "6.10": tables.changed_scores,
}


def audit(published: list[Path], models: Path) -> list[AuditRow]:
    """All rows: 5.* are known answers and derived numbers, 6.* statements in the text.

    Raises:
        ReprlabError: a table or the records are missing or malformed.
    """
    return audit_records(CHECKS, Given(published, models, declarations(PRINTED) | KNOWN))
