"""Records of an audit: each rule of agreement can fail, families get their ids, and mistakes are named in one line."""

import inspect
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from reprlab.plugins import load_plugin
from reprlab.reporting import audit_checks
from reprlab.reporting.audit import found
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import counted, counts_behind, majority, misprint, number, significant
from reprlab.reporting.audit_records import audit_records, read_records
from reprlab.reporting.published import PublishedTable
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).parents[2]
PAPERS = sorted(path.parent.name for path in (ROOT / "resources/published").glob("*/audit.yaml"))
STATEMENTS = {"statements": PublishedTable(("family", "quantity"), ("value",))}


def audited(folder, records, **checks):
    (folder / "audit.yaml").write_text(records)
    (folder / "statements.tsv").write_text("family\tquantity\tvalue\tsource\n\truns\t120\tp. 1\nfs\tloss\t0.50\tp. 2\n")
    files = [folder / "audit.yaml", folder / "statements.tsv"]
    return audit_records(Given(files, folder, STATEMENTS), checks)


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
        ("printed: 'about -5.1', rounding: true, recomputed: '{value:.2f}'", Decimal("-5.15"), "agrees"),
        ("printed: 'about -5.1', rounding: true, recomputed: '{value:.2f}'", Decimal("-5.16"), "differs"),
        ("printed: '{said[fs loss]}', recomputed: '{value:.2f}'", 0.501, "agrees"),
        ("printed: '{said[fs loss]}', recomputed: '{value:.2f}'", 0.506, "differs"),
        ("printed: 'at most {limit}'", found(3, 3 <= 4, limit=4), "agrees"),
        ("printed: 'at most {limit}'", found(5, 5 <= 4, limit=4), "differs"),
        ("printed: '{total} hold'", counted({"a": True, "b": True}), "agrees"),
        ("printed: '{total} hold', recomputed: '{value} hold', note: '{off}'", counted({"a": 1, "b": 0}), "differs"),
        ("printed: '{total} of {total}'", counted([True, True]), "agrees"),
        ("printed: '{total} of {total}'", counted([True, False]), "differs"),
        ("printed: '{total} of {total}'", counted([]), "differs"),
    ],
)
def test_each_rule_can_agree_and_fail(tmp_path, fields, value, verdict):
    (row,) = audited(tmp_path, f"5.10: {{check: it, what: x, {fields}}}", it=lambda given: value)
    assert (row.id, row.verdict) == ("5.10", verdict)


@pytest.mark.parametrize(
    ("value", "printed", "wrong"),
    [
        ("74.5", "74", ""),
        ("73.5", "74", ""),
        ("74.6", "74", "cut, not rounded"),
        ("-5.175", "-5.1", "cut, not rounded"),
        ("-5.175", "-5.2", ""),
        ("1.24", "1.3", "another number"),
    ],
)
def test_a_number_that_was_cut_is_told_from_one_that_was_rounded(tmp_path, value, printed, wrong):
    assert misprint(Decimal(value), printed) == misprint(Fraction(value), f"{printed} %") == wrong
    (row,) = audited(tmp_path, f"5.1: {{check: it, printed: '{printed}', rounding: true, note: x}}",
                     it=lambda given: Decimal(value))  # fmt: skip
    assert (row.verdict, row.note) == (("differs", f"x; {wrong}") if wrong else ("agrees", "x"))


def test_nothing_printed_is_nothing_to_agree_with(tmp_path):
    with pytest.raises(ReprlabError, match=r"nothing is printed that '-1\.5' could agree with"):
        audited(tmp_path, "8.6: {check: it, what: x, printed: ''}", it=lambda given: found(-1.5, True))
    (row,) = audited(
        tmp_path, "8.6: {check: it, what: x, printed: '', missing: it}", it=lambda given: found(-1.5, True)
    )
    assert row.verdict == "not checkable"


def test_texts_are_those_of_the_file_and_of_the_check(tmp_path):
    records = "6.1: {check: it, what: 'mean of {task}', printed: 0.50, recomputed: '{value:.1f} %', note: 'of {n}'}"
    (row,) = audited(tmp_path, records, it=lambda given: found(0.25, task="rte", n=7))
    assert (row.what, row.printed, row.recomputed, row.note) == ("mean of rte", "0.50", "0.2 %", "of 7")


def test_a_family_is_called_for_each_row_or_yields_its_rows(tmp_path):
    def yielding(given):
        yield from (1, 2)

    records = """
    5.1:
      {check: twice, what: '{n}', arguments: {times: 2}, rows: [{n: 1, printed: 2}, {n: 2, printed: 5, note: cut}]}
    5.1c: {check: yielding, what: next, rows: [{printed: 1}, {printed: 1}]}
    5.2: {check: yielding, what: open, printed: 1}
    5.3: {check: twice, what: 'named {n}', arguments: {times: 2}, printed: 2, id: '5.3.{n}', rows: [{n: 1}, {n: 3}]}
    """
    rows = audited(tmp_path, records, twice=lambda given, times, n: int(times) * int(n), yielding=yielding)
    found = [(row.id, row.verdict) for row in rows]
    assert [id for id, _ in found] == ["5.1a", "5.1b", "5.1c", "5.1d", "5.2a", "5.2b", "5.3.1", "5.3.3"]
    assert [verdict for _, verdict in found] == ["agrees", "differs"] * 4
    assert [row.note for row in rows[:3]] == ["", "cut", ""]


def test_what_cannot_be_checked_needs_no_check_and_may_have_one(tmp_path):
    records = "8.1: {what: x, printed: 1/3, missing: the labels}\n8.2: {check: it, what: y, missing: 'all {n}'}"
    rows = audited(tmp_path, records, it=lambda given: found("2 to 3", n=4))
    assert [(row.verdict, row.recomputed, row.note) for row in rows] == [
        ("not checkable", "", "missing: the labels"),
        ("not checkable", "2 to 3", "missing: all 4"),
    ]


def many(given):
    yield from range(27)


@pytest.mark.parametrize(
    ("records", "checks", "message"),
    [
        ("5.1: {what: x}", {}, "5.1: there is no check ''"),
        ("5.1: {check: other, what: x}", {}, "5.1: there is no check 'other'"),
        ("5.1: {check: other, missing: x}", {}, "5.1: there is no check 'other'"),
        ("5.1: {what: x, sort: y}", {}, r"audit\.yaml: 5\.1\.sort"),
        ("5.1: {what: x, digits: two}", {}, r"5\.1\.digits"),
        ("5.1: {check: it, what: '{y}'}", {"it": lambda given: 1}, "5.1: a text cannot be filled in"),
        ("5.1: {check: it, printed: much, tolerance: 1}", {"it": lambda given: 1}, "'much' has no number"),
        ("5.1: {check: it, printed: 1}", {"it": many}, "more rows than letters"),
        ("5.1: {check: it, rows: [{what: x}]}", {"it": many}, "5.1 has 1 rows, and its check found 27"),
        ("- 5.1", {}, "one record for each id"),
        ("5.1: {what: x}\n5.1: {what: y}", {}, "line 2: not valid YAML"),
    ],
)
def test_mistakes_are_named(tmp_path, records, checks, message):
    with pytest.raises(ReprlabError, match=message):
        audited(tmp_path, records, **checks)


def test_the_records_are_asked_for(tmp_path):
    with pytest.raises(ReprlabError, match=r"audit\.yaml: the records of the audit were not given"):
        audit_records(Given([], tmp_path, {}), {})


def test_numbers_as_they_are_printed():
    assert [number(text) for text in ("about 1,200 (footnote 8)", "-0.61", "1e-4", 7)] == [
        Decimal(text) for text in ("1200", "-0.61", "0.0001", "7")
    ]
    assert significant(Decimal("108"), 1) == 100 and significant(Decimal("16.65"), 2) == 17
    assert counts_behind(["0.33", "0.35"], 30) == [True, False]
    assert counts_behind(["33.33", "35.00"], 30, whole=100) == [True, False]
    assert majority(["3", "1"]) == Decimal("0.75")


@pytest.mark.parametrize("slug", PAPERS)
def test_every_check_of_a_paper_is_that_of_a_record(slug):
    """A function that takes what is given and is named by no record would be a check that never runs."""
    module = load_plugin("papers", f"{slug}.audit")
    found = vars(module).get("CHECKS", vars(module))
    checks = {name: check for name, check in found.items() if inspect.isfunction(check) and not name.startswith("_")}
    own = {
        name
        for name, check in checks.items()
        if check.__module__.startswith("reprlab.papers.") and [*inspect.signature(check).parameters][:1] == ["given"]
    }
    named = {record.check for record in read_records(ROOT / "resources/published" / slug / "audit.yaml").values()}
    assert own == named - {"", *vars(audit_checks)}


def test_checks_that_any_paper_may_name(tmp_path):
    records = """
    6.1: {check: stated, arguments: {quantity: runs}, printed: 120}
    6.2: {check: stated, arguments: {quantity: runs}, printed: "{cells[statements][fs loss][value]}"}
    6.3: {check: cell, arguments: {table: statements, row: fs loss, column: source}, printed: p. 2}
    6.4: {check: cell, arguments: {table: statements, row: fs loss, column: value}, printed: 0.51}
    """
    assert [row.verdict for row in audited(tmp_path, records)] == ["agrees", "differs"] * 2
