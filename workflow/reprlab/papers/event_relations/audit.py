"""The audit: every check of the paper's arithmetic that needs neither training nor data nor network."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from string import ascii_lowercase

import numpy as np

from reprlab.config.models import load_models
from reprlab.evaluation.relation_scores import all_pair_scores, confusion, related_scores
from reprlab.models.counting import parameter_count
from reprlab.models.span_pairs import pair_head
from reprlab.papers.event_relations.results import PRINTED
from reprlab.papers.event_relations.tables import candidates
from reprlab.reporting.audit import AuditRow, check, judge, not_checkable, rounded
from reprlab.reporting.published import PublishedTable, read_published
from reprlab.results.comparison import declarations
from reprlab.results.frame import Rows
from reprlab.retrieval.search import kept_pairs, rank_partners

_CORPUS = "needs the corpus, which no audit reads; asserted in tests/unit/test_events_readers.py where it is at hand"
_SIZES = {"roberta_large": 355_359_744, "t5_large": 737_668_096, "all_mpnet_base_v2": 109_486_464}
_TOLERANCE = Decimal("0.05")


def audit(published: list[Path], models: Path) -> list[AuditRow]:
    """All rows; the ids are the numbers of the specification's checks, in its order.

    Raises:
        ReprlabError: a table is missing or malformed.
    """
    tables = read_published(
        published, {**declarations(PRINTED), "statements": PublishedTable(("quantity",), ("value",))}
    )
    stated = {row["quantity"]: int(row["value"]) for row in tables["statements"].to_dict("records")}
    rows = [*_harmonic_means(tables), *_pruning(stated), *_corpus(), *_retrieval(), *_scores(), *_sizes(models)]
    return [*rows, *_identities(tables)]


def _harmonic_means(tables: dict[str, Rows]) -> Iterator[AuditRow]:
    """5.1: F1 is the harmonic mean of P and R, in every row of every table."""
    for number, (name, printed) in enumerate(PRINTED.items(), start=1):
        for row in tables[name].to_dict("records"):
            for column in (column for column in printed.values if column.endswith("_f1") and row[column]):
                precision, recall = (Decimal(row[column.replace("f1", score)]) for score in ("p", "r"))
                f1 = 2 * precision * recall / (precision + recall)
                about = " ".join(row[key] for key in printed.keys)
                yield judge(
                    f"5.1.{number}.{about.replace(' + ', '+')}.{column[:-3]}",
                    f"Table {number}, {about}, {column[:-3].upper()}: F1 = 2PR / (P + R)",
                    row[column],
                    rounded(f1, 2),
                    abs(f1 - Decimal(row[column])) < _TOLERANCE,
                    f"P {precision}, R {recall}; tolerance {_TOLERANCE}",
                )


def _pruning(stated: dict[str, int]) -> Iterator[AuditRow]:
    """5.2: what k partners for each event save of the directed pairs."""
    k, letters = stated["k"], iter(ascii_lowercase)
    for events, printed in (
        (stated["mean_events"], "approximately 70"),
        (stated["max_events"], "approximately 70"),
        (6, ""),
        (5, ""),
    ):
        pairs, kept = events * (events - 1), candidates(events, k)
        saved = rounded(100 * (1 - Decimal(kept) / pairs), 1)
        agrees = not printed or round(saved / 10) * 10 == stated["saved_percent"]
        note = (
            f"{kept} of {pairs} directed pairs; of unordered ones {rounded(100 * (1 - Decimal(2 * kept) / pairs), 1)} %"
        )
        yield judge(
            f"5.2{next(letters)}", f"Figure 3: saved with k = {k} at n = {events} (%)", printed, saved, agrees, note
        )


def _corpus() -> Iterator[AuditRow]:
    yield not_checkable("5.3", "Directed candidates of the whole corpus with k = 3, 5, 7, 10", "", _CORPUS)
    yield not_checkable(
        "5.4", "Ceiling of recall with k = 3, 5, 7, 10, against Table 4's recall", "67.2 to 93.2", _CORPUS
    )
    yield not_checkable(
        "5.10", "Documents, topics, events and relations of the Event StoryLine Corpus", "18 and 51", _CORPUS
    )


def _retrieval() -> Iterator[AuditRow]:
    """5.5 to 5.7: identities of exact retrieval, on vectors drawn once."""
    ranked, scores = rank_partners(np.random.default_rng(0).normal(size=(18, 8)))
    yield check(
        "5.5", "k = n - 1 keeps every pair (n = 18)", 18 * 17, int(kept_pairs(ranked, 17).sum()), "known answer"
    )
    nothing = rank_partners(np.zeros((6, 3)))[0][:, :2].tolist()
    lowest = [[m for m in range(6) if m != n][:2] for n in range(6)]
    yield check("5.6", "Equal scores are ranked by place (n = 6, k = 2)", lowest, nothing, "known answer")
    yield judge("5.7a", "s(h, t) = s(t, h)", "equal", "equal", bool((scores == scores.T).all()), "known answer")
    yield check(
        "5.7b",
        "A document of one event has no candidate",
        0,
        int(rank_partners(np.ones((1, 3)))[0].size),
        "known answer",
    )


def _scores() -> Iterator[AuditRow]:
    """5.8: known answers of the scorer."""
    gold = np.array([0] * 90 + [1] * 6 + [2] * 4)
    nothing = related_scores(confusion(gold, gold * 0, 3))
    yield check(
        "5.8a",
        "No relation for any pair: P, R, F1 over the relations",
        "0 0 0",
        _in_words(nothing.values()),
        "known answer",
    )
    accuracy = all_pair_scores(confusion(gold, gold * 0, 3))["accuracy"]
    yield check("5.8b", "The same: accuracy is 1 - density (%)", "90", _in_words([accuracy]), "known answer")
    swapped = gold.copy()
    swapped[-1] = 1
    found = related_scores(confusion(gold, swapped, 3))
    yield check(
        "5.8c",
        "One label of ten swapped: P = R = 1 - 1/10 (%)",
        "90 90",
        _in_words([found["precision"], found["recall"]]),
        "known answer",
    )


def _sizes(models: Path) -> Iterator[AuditRow]:
    """5.9: parameters, counted without weights."""
    import torch

    registry = load_models(models)
    for letter, (name, known) in zip(ascii_lowercase, _SIZES.items(), strict=False):
        yield check(
            f"5.9{letter}", f"Parameters of {name}", known, parameter_count(registry[name]), "published checkpoint"
        )
    with torch.device("meta"):
        head = sum(parameter.numel() for parameter in pair_head(1024, 3, 0.1).parameters())
    yield check(
        "5.9d", "Parameters of the head over pairs, d = 1024, C = 3", 2_101_251, head, "our reading of feed-forward"
    )


def _identities(tables: dict[str, Rows]) -> Iterator[AuditRow]:
    """8.1 and 8.3: one row under three names, and what the text says of Table 2."""
    esc = ["esc_p", "esc_r", "esc_f1"]
    rows = [
        tables["table1"].query("retriever == 'random' and classifier == 't5'"),
        tables["table4"].query("k == 'all'"),
        tables["table5"].query("retriever == 'random'"),
    ]
    found = {" ".join(row[esc].iloc[0]) for row in rows}
    note = "random training negatives, no retriever and a random retriever are three conditions with one row of numbers"
    yield judge(
        "8.1",
        "Random + T5 (Table 1), #EVENT (Table 4) and Random (Table 5) differ",
        "three rows",
        f"{len(found)} row",
        len(found) == 3,
        note,
    )
    second = tables["table2"].set_index("method")
    for letter, column in zip(ascii_lowercase, ("esc_f1", "red_f1", "maven_f1"), strict=False):
        scores = {method: Decimal(value) for method, value in second[column].items() if value}
        best = max(scores, key=scores.__getitem__)
        yield check(
            f"8.3{letter}", f"The best method of Table 2, {column[:-3].upper()} (section 4.2)", "S-BERT + T5", best
        )


def _in_words(values: object) -> str:
    return " ".join(f"{float(value):g}" for value in values)  # type: ignore[attr-defined]
