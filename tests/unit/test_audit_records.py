"""Records of an audit: each rule of agreement can fail, families get their ids, and mistakes are named in one line."""

from decimal import Decimal

import pytest
from reprlab.reporting.audit import found
from reprlab.reporting.audit_kinds import counted, counts_behind, cut, held, majority, number, significant
from reprlab.reporting.audit_records import Given, audit_records
from reprlab.reporting.published import PublishedTable
from reprlab.runtime.errors import ReprlabError

STATEMENTS = {"statements": PublishedTable(("family", "quantity"), ("value",))}


def audited(folder, records, **checks):
    (folder / "audit.yaml").write_text(records)
    (folder / "statements.tsv").write_text("family\tquantity\tvalue\tsource\n\truns\t120\tp. 1\nfs\tloss\t0.50\tp. 2\n")
    files = [folder / "audit.yaml", folder / "statements.tsv"]
    checks = {id.replace("_", "."): check for id, check in checks.items()}
    return audit_records(
        {id.removeprefix("c"): check for id, check in checks.items()}, Given(files, folder, STATEMENTS)
    )


@pytest.mark.parametrize(
    ("fields", "value", "verdict"),
    [
        ("printed: 0.50", Decimal("0.5"), "agrees"),
        ("printed: 0.50", Decimal("0.51"), "differs"),
        ("printed: none", "none", "agrees"),
        ("printed: none", "cola", "differs"),
        ("printed: '', recomputed: '{value}'", 0, "differs"),
        ("printed: 'about {said[runs]} (footnote)', digits: 1", 108, "agrees"),
        ("printed: 'about {said[runs]} (footnote)', digits: 2", 108, "differs"),
        ("printed: '1,200', tolerance: 0.5", 1200.5, "agrees"),
        ("printed: '1,200', tolerance: 0.5", 1200.6, "differs"),
        ("printed: 3, tolerance: 1", float("nan"), "differs"),
        ("printed: '{said[fs loss]}', recomputed: '{value:.2f}'", 0.501, "agrees"),
        ("printed: '{said[fs loss]}', recomputed: '{value:.2f}'", 0.506, "differs"),
        ("printed: 'at most {limit}'", found(3, 3 <= 4, limit=4), "agrees"),
        ("printed: 'at most {limit}'", found(5, 5 <= 4, limit=4), "differs"),
        ("printed: '{total} hold'", held({"a": True, "b": True}), "agrees"),
        ("printed: '{total} hold', recomputed: '{value} hold', note: '{names}'", held({"a": 1, "b": 0}), "differs"),
        ("printed: '{total} of {total}'", counted([True, True]), "agrees"),
        ("printed: '{total} of {total}'", counted([True, False]), "differs"),
        ("printed: '{total} of {total}'", counted([]), "differs"),
    ],
)
def test_each_rule_can_agree_and_fail(tmp_path, fields, value, verdict):
    (row,) = audited(tmp_path, f"5.10: {{what: x, {fields}}}", c5_10=lambda given: value)
    assert (row.id, row.verdict) == ("5.10", verdict)


def test_texts_are_those_of_the_file_and_of_the_check(tmp_path):
    records = "6.1: {what: 'mean of {task}', printed: 0.50, recomputed: '{value:.1f} %', note: 'of {n}'}"
    (row,) = audited(tmp_path, records, c6_1=lambda given: found(0.25, task="rte", n=7))
    assert (row.what, row.printed, row.recomputed, row.note) == ("mean of rte", "0.50", "0.2 %", "of 7")


def test_a_family_is_called_for_each_row_or_yields_its_rows(tmp_path):
    def yielding(given):
        yield from (1, 2)

    records = """
    5.1: {what: 'twice {n}', rows: [{n: 1, printed: 2}, {n: 2, printed: 5, note: cut}]}
    5.1c: {what: next, rows: [{printed: 1}, {printed: 1}]}
    5.2: {what: open, printed: 1}
    5.3: {what: 'named {n}', printed: 2, id: '5.3.{n}', rows: [{n: 1}, {n: 3}]}
    """
    twice = {"c5_1": lambda given, n: 2 * int(n), "c5_3": lambda given, n: 2 * int(n)}
    rows = audited(tmp_path, records, **twice, c5_1c=yielding, c5_2=yielding)
    found = [(row.id, row.verdict) for row in rows]
    assert [id for id, _ in found] == ["5.1a", "5.1b", "5.1c", "5.1d", "5.2a", "5.2b", "5.3.1", "5.3.3"]
    assert [verdict for _, verdict in found] == ["agrees", "differs"] * 4
    assert [row.note for row in rows[:3]] == ["", "cut", ""]


def test_what_cannot_be_checked_needs_no_function_and_may_have_one(tmp_path):
    records = "8.1: {what: x, printed: 1/3, missing: the labels}\n8.2: {what: y, missing: 'all {n}'}"
    rows = audited(tmp_path, records, c8_2=lambda given: found("2 to 3", n=4))
    assert [(row.verdict, row.recomputed, row.note) for row in rows] == [
        ("not checkable", "", "missing: the labels"),
        ("not checkable", "2 to 3", "missing: all 4"),
    ]


def many(given):
    yield from range(27)


@pytest.mark.parametrize(
    ("records", "checks", "message"),
    [
        ("5.1: {what: x}", {}, "the check 5.1 has no function"),
        ("5.1: {what: x, missing: y}", {"c5_2": many}, "the check 5.2 has no record"),
        ("5.1: {what: x, sort: y}", {"c5_1": many}, r"audit\.yaml: 5\.1\.sort"),
        ("5.1: {what: x, digits: two}", {"c5_1": many}, r"5\.1\.digits"),
        ("5.1: {what: '{y}'}", {"c5_1": lambda given: 1}, "5.1: a text cannot be filled in"),
        ("5.1: {what: x, printed: much, tolerance: 1}", {"c5_1": lambda given: 1}, "'much' has no number"),
        ("5.1: {what: x, printed: 1}", {"c5_1": many}, "more rows than letters"),
        ("5.1: {rows: [{what: x}]}", {"c5_1": many}, "5.1 has 1 rows, and its check found 27"),
        ("- 5.1", {}, "one record for each id"),
        ("5.1: {what: x}\n5.1: {what: y}", {}, "line 2: not valid YAML"),
    ],
)
def test_mistakes_are_named(tmp_path, records, checks, message):
    with pytest.raises(ReprlabError, match=message):
        audited(tmp_path, records, **checks)


def test_the_records_are_asked_for(tmp_path):
    with pytest.raises(ReprlabError, match=r"audit\.yaml: the records of the audit were not given"):
        audit_records({}, Given([], tmp_path, {}))


def test_numbers_as_they_are_printed():
    assert [number(text) for text in ("about 1,200 (footnote 8)", "-0.61", "1e-4", 7)] == [
        Decimal(text) for text in ("1200", "-0.61", "0.0001", "7")
    ]
    assert significant(Decimal("108"), 1) == 100 and significant(Decimal("16.65"), 2) == 17
    assert str(cut(Decimal("59.4867"), 2)) == "59.48"
    assert counts_behind(["0.33", "0.35"], 30) == [True, False]
    assert counts_behind(["33.33", "35.00"], 30, whole=100) == [True, False]
    assert majority(["3", "1"]) == Decimal("0.75")
