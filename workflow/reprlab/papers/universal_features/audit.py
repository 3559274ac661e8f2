"""The audit: what needs neither training nor data nor network, by the numbers of section 5 of the specification."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from reprlab.reporting.audit import AGREES, DIFFERS, AuditRow, rounded
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import equal
from reprlab.results.words import printed_of

TABLES = printed_of("universal-features").declarations()


def rows(given: Given) -> Iterator[AuditRow]:
    """All rows of the audit."""
    for id, what, printed, recomputed, note in (*_sizes(given), *_published(given)):
        same = equal(str(printed), str(recomputed))
        yield AuditRow(id, what, str(printed), str(recomputed), AGREES if same else DIFFERS, note)


def _sizes(given: Given) -> Iterator[tuple[str, str, object, object, str]]:
    """5.1: parameters on the meta device, as the card prints them."""
    from reprlab.models.counting import parameter_count

    total = parameter_count(given.entry("mistral_1l_tiny"))
    shown = f"{rounded(Decimal(total) / 10**6, 1)}M"
    yield "5.1a", "Parameters of the language model, on the card", given.said["parameters"], shown, ""
    megabytes = rounded(Decimal(2 * total) / 10**6, 1)
    yield "5.1b", "Size of the merged model in float16, MB", given.said["merged_megabytes"], megabytes, ""


def _published(given: Given) -> Iterator[tuple[str, str, object, object, str]]:
    """5.11, 5.12: the released sweep, and the rows of the data sets."""
    sweep = [{name: Decimal(row[name]) for name in row if name != "source"} for row in given.cells["sweep"].values()]
    ahead = [row["lua_accuracy"] > row["stories_accuracy"] for row in sweep]
    crossing = f"{sweep[ahead.index(True) - 1]['t']} and {sweep[ahead.index(True)]['t']}"
    note = f"the curves cross between t = {crossing}; 0.58 of the merge is 0.42 on this axis, and not where they do"
    for letter, column, rising in (("a", "lua_accuracy", True), ("b", "stories_accuracy", False)):
        values = [row[column] for row in sweep]
        ordered = values == sorted(values, reverse=not rising)
        word = "rises" if rising else "falls"
        what = f"Along the released sweep {column.replace('_', ' ')}"
        yield f"5.11{letter}", what, word, word if ordered else "does not", note
    card = given.cells["cards"]["lua"]["accuracy"]
    yield "5.11c", "Accuracy on Lua at its end is that of the card of Lua", card, sweep[-1]["lua_accuracy"], ""
    stories = given.cells["cards"]["stories"]["accuracy"]
    note = "another checkpoint, or other text: the sweep begins 2 points lower"
    yield (
        "8.1",
        "Accuracy on stories at t = 0.01 against the card of stories",
        stories,
        sweep[0]["stories_accuracy"],
        note,
    )
    base = Decimal(given.said["base_rows"]) / 10**6
    lua, more = Decimal(given.said["lua_rows"]) / 1000, Decimal(given.said["stories_rows"])
    for letter, name, total, note in (
        ("a", "lua_mixture", base + lua, ""),
        ("b", "stories_mixture", base + more, ""),
        ("c", "three_way_mixture", base + lua + more, "as many as the Lua mixture: stories are very probably missing"),
    ):  # fmt: skip
        what = f"Rows of the {name.replace('_', ' ')}, millions"
        yield f"5.12{letter}", what, given.said[name], rounded(total, 1), note
