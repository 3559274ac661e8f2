"""The audit: every check that needs neither training nor data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from reprlab.papers.event_relations.tables_relations import candidates
from reprlab.reporting.audit import Found, found, rounded
from reprlab.reporting.audit_given import Given
from reprlab.results.words import printed_of

TABLES = printed_of("event-relations").declarations()


def harmonic_means(given: Given) -> Iterator[Found]:
    """5.1: F1 is the harmonic mean of P and R, in every row of every table."""
    for number, (name, printed) in enumerate(printed_of("event-relations").tables.items(), start=1):
        for row in given.tables[name].to_dict("records"):
            for column in (column.removesuffix("_f1") for column in printed.values if column.endswith("_f1")):
                if row[f"{column}_f1"]:
                    p, r = (Decimal(row[f"{column}_{score}"]) for score in "pr")
                    where = " ".join(row[key] for key in printed.keys)
                    texts = {"where": where, "key": where.replace(" + ", "+"), "column": column, "p": p, "r": r}
                    texts |= {"number": number, "data": column.upper(), "printed": row[f"{column}_f1"]}
                    yield found(2 * p * r / (p + r), **texts)


def saved(given: Given, *, events: str) -> Found:
    """5.2: what k partners for each event save of the directed pairs."""
    k, n = int(given.said["k"]), int(given.said.get(events, events))
    pairs, kept = n * (n - 1), candidates(n, k)
    # Of unordered pairs there are half as many, and no more than all of them are kept.
    directed, unordered = (rounded(100 * (1 - Decimal(count) / pairs), 1) for count in (kept, min(2 * kept, pairs)))
    return found(directed, k=k, n=n, kept=kept, pairs=pairs, unordered=unordered)


def _measured(given: Given, measure: str) -> Decimal:
    return Decimal(given.cells["corpus"][measure]["value"])


def below_ceiling(given: Given, *, k: str) -> Found:
    """5.4: a printed recall, and the largest that there can be."""
    ceiling, printed = _measured(given, f"recall_ceiling {k}"), given.cells["table4"][k]["esc_r"]
    return found(ceiling, Decimal(printed) <= ceiling, printed=printed)


def events(given: Given, *, show: str) -> Found:
    """5.10: events of the corpus's documents."""
    documents = _measured(given, "documents")
    value = _measured(given, "events") / documents if show == "mean" else _measured(given, "most_events")
    return found(value, documents=documents)


def chained(given: Given) -> Found:
    """8.11: what gold chains give away."""
    shown = {"total": _measured(given, "chained"), "recall": _measured(given, "recall_by_chain 5"), "k": 5}
    return found(_measured(given, "chained_and_related"), **shown)


def conditions(given: Given) -> Found:
    """8.1: one row under three names."""
    selections = {
        "table1": "retriever == 'random' and classifier == 't5'",
        "table4": "k == 'all'",
        "table5": "retriever == 'random'",
    }
    rows = {
        " ".join(given.tables[name].query(where)[["esc_p", "esc_r", "esc_f1"]].iloc[0])
        for name, where in selections.items()
    }
    return found(len(rows), len(rows) == 3)


def chains_help(given: Given, *, retriever: str, score: str) -> Found:
    """8.4: a score with chains above the one without."""
    rows = given.tables["table5"].query("retriever == @retriever").set_index("chains")[f"esc_{score}"].map(Decimal)
    return found(f"{rows['yes']} against {rows['no']}", rows["yes"] > rows["no"])


def corpora(given: Given, *, table: str) -> str:
    """8.4: the corpora that have numbers."""
    rows = given.tables[table][[*printed_of("event-relations").tables[table].values]]
    return ", ".join(dict.fromkeys(name.partition("_")[0].upper() for name, cells in rows.items() if cells.any()))


def best_method(given: Given, *, column: str, by: str = "") -> Found:
    """8.3: what the text says of Table 2, by the printed F1, or `by` the P and R beside it."""
    table = given.tables["table2"].set_index("method")
    p, r, f1 = (table.loc[table[f"{column}_f1"] != "", f"{column}_{score}"].map(Decimal) for score in ("p", "r", "f1"))
    scores = (2 * p * r / (p + r) if by else f1).astype(float)
    return found(scores.idxmax(), f1=f"{scores.max():.2f}")


def stars(given: Given) -> Iterator[Found]:
    """8.3: the highest value of each column that has a star, and the row it is in."""
    for star in given.tables["stars"].to_dict("records"):
        values = {row: cells[star["column"]] for row, cells in given.cells[star["table"]].items()}
        best = max(filter(values.get, values), key=lambda row: Decimal(values[row]))
        yield found(f"{values[best]}, {best}", starred=values[star["row"]], **star)
