"""The audit of DEPTH: every check that needs neither training nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from reprlab.papers.depth import audit_masks as masks
from reprlab.papers.depth import audit_objective as objective
from reprlab.papers.depth import audit_statements as statements
from reprlab.papers.depth import audit_tables as tables
from reprlab.papers.depth.comparison import PRINTED
from reprlab.papers.depth.names import DISCOEVAL, DISCOURSE_COHERENCE, GLUE
from reprlab.reporting.audit import AuditRow
from reprlab.reporting.audit_records import Checks, Given, audit_records
from reprlab.reporting.published import PublishedTable
from reprlab.results.comparison import declarations

# Not printed in the paper: the class counts of DiscoEval.
KNOWN = {"label_counts": PublishedTable(("task", "label"), ("count",))}
CHECKS: Checks = {
    "5.1": tables.table1_means,
    "5.2": tables.tokens_per_example,
    "5.2k": tables.token_ratio,
    "5.2o": tables.example_ratio,
    "5.3": objective.parameters,
    "5.3e": objective.padded_rows,
    "5.3f": objective.millions,
    "5.4": objective.masker,
    "5.5": objective.round_trip,
    "5.6": objective.worked_example,
    "5.7": masks.properties,
    "5.8a": objective.loss_identity,
    "5.8b": objective.shuffling,
    "5.9": objective.chance_loss,
    "5.9d": objective.chance_accuracy,
    "5.9e": objective.chance_sentence_loss_between,
    "5.10": objective.learning_rate,
    "5.11a": tables.runs,
    "5.11b": tables.benchmarks,
    "5.12": tables.constant_predictor,
    "8.1": partial(statements.behind, table="ni", init="fs", columns=("rougeL",)),
    "8.2": partial(statements.behind, table="glue", init="fs", columns=GLUE),
    "8.3": partial(statements.behind, table="discoeval", init="fs", columns=DISCOURSE_COHERENCE),
    "8.4": partial(statements.behind, table="discoeval", init="cpt", columns=DISCOEVAL, of_all=0),
    "8.5": partial(statements.behind, table="glue", init="cpt", columns=GLUE, at="128000"),
    "8.6": partial(statements.behind, table="ni", init="cpt", columns=("rougeL",), of_all=1),
    "8.7": statements.quoted_rows,
    "8.8": statements.reasonable_mistakes,
    "8.9": statements.different_rows,
    "8.10": statements.row_sums,
    "8.11": partial(statements.thirtieths, table="error_types_sp", kinds=statements.KINDS),
    "8.12": partial(statements.thirtieths, table="error_types_dc", kinds=("correct", "poorly_formatted", "reasonable")),
    "8.13": statements.poorly_formatted,
    "8.14": statements.correct_outputs,
    "8.15": statements.padded_evaluation,
}


def audit(published: list[Path], models: Path) -> list[AuditRow]:
    """All rows: 5.* are known answers and derived numbers, 8.* are statements in the text.

    Raises:
        ReprlabError: a table or the records are missing or malformed.
    """
    return audit_records(CHECKS, Given(published, models, declarations(PRINTED) | KNOWN))
