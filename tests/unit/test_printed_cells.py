"""Printed cells: each is planned at `paper`, or its reason names what stands in the way."""

from dataclasses import replace
from pathlib import Path

import pytest
from reprlab.config.load import load_config
from reprlab.preflight.printed_cells import COLUMNS, Count, counts, kind_of, main
from reprlab.results.comparison import Match
from reprlab.results.frame import LAST
from reprlab.results.promised import promised
from reprlab.results.records import PaperResults, Table
from reprlab.results.schema import Factor, Metric
from reprlab.results.sources import Missing, Source
from reprlab.results.table_forms import Pivot

ROOT = Path(__file__).parents[2]
PAPERS = sorted(load_config(ROOT).papers)


def test_there_are_fourteen_papers():
    assert len(PAPERS) == 14


@pytest.mark.parametrize("paper", PAPERS)
def test_every_printed_cell_is_planned_or_says_what_stands_in_the_way(paper):
    for one in counts(ROOT, paper):
        unexplained = {reason: cells for reason, cells in one.reasons.items() if kind_of(reason) == "open"}
        assert not unexplained, f"{paper} {one.table}: no job makes them, and the reason names nothing"
        assert one.printed == one.planned + sum(one.by_kind.values()), f"{paper} {one.table}"


def test_reasons_are_told_by_what_they_name():
    said = {
        "RED is licensed (LDC2016T23)": "licence",
        "NA (internal data of the authors)": "missing",
        "quoted by the paper from others": "quoted",
        "annotated by hand in the paper": "by hand",
        "follows from Table 1: see the audit": "audit",
        "not run at scale paper": "open",
        "": "open",
    }
    assert {reason: kind_of(reason) for reason in said} == said
    count = Count("a", "b", 6, 1, {"not run": 2, "quoted from x": 3})
    assert (count.by_kind["open"], count.by_kind["quoted"]) == (2, 3)


def test_a_cell_left_open_ends_in_an_error(capsys, monkeypatch):
    left = [Count("depth", "table1", 3, 1, {"not run": 2})]
    monkeypatch.setattr("reprlab.preflight.printed_cells.counts", lambda *_: left)
    assert main(["depth", "--reasons"]) == 1
    first, row, reason = capsys.readouterr().out.splitlines()
    assert first.split("\t") == list(COLUMNS) and row.split("\t")[:4] == ["depth", "table1", "3", "1"]
    assert reason == "\t2\topen: not run"


FACTORS = {"model": Factor(about="model"), "size": Factor(about="size", kind="whole")}
METRICS = {name: Metric(about=name, unit="percent", better="higher") for name in ("f1", "recall")}
RECORDS = PaperResults(
    FACTORS, METRICS, [Table("one", "One.", Pivot("model size", "metric", about="scale n"), {"split": "test"})]
)


def beside(entries, jobs, asked=None, **row):
    own = promised(RECORDS, RECORDS.settings("paper", entries, {}), jobs, asked or {})
    match = Match("one", {"model": "model", "size": "size"}, places=1)
    return match(own, {"model": "a", "size": "1", **row}, "f1")


def test_a_value_is_promised_by_a_source_and_what_its_job_is_given():
    source = Source(path=Path("x.tsv"), factors={"model": "a"}, keys={"size": "size"})
    assert beside([source], {"x.tsv": {"sizes": [1, 2], "metrics": ["f1"]}}).ours
    # The job is given other sizes, or does not score it.
    assert not beside([source], {"x.tsv": {"sizes": [2, 3]}}).ours
    assert not beside([source], {"x.tsv": {"sizes": [1], "metrics": ["recall"]}}).ours
    # A number of a plural is a count.
    assert not beside([source], {"x.tsv": {"sizes": 1}}).ours
    assert beside([source], {"x.tsv": {"cells": [{"size": 1, "name": "b"}]}}).ours
    # Nothing says it: what the printed rows ask for.
    assert beside([source], {}, {"size": [1.0]}).ours


def test_the_largest_of_a_column_is_one_of_those_that_are_asked_for():
    """Of a job that says nothing of the sizes, in a table of the largest one."""
    last = Table("one", "One.", Pivot("model size", "metric", about="scale n"), {"split": "test", "size": LAST})
    records = replace(RECORDS, tables=[last])
    source = Source(path=Path("x.tsv"), factors={"model": "a"}, keys={"size": "size"})
    own = promised(records, records.settings("paper", [source], {}), {}, {"size": [1, 3, 2]})
    match = Match("one", {"model": "model", "size": "size"}, places=1)
    assert [bool(match(own, {"model": "a", "size": str(size)}, "f1").ours) for size in (1, 2, 3)] == [
        False,
        False,
        True,
    ]


def test_a_selection_that_no_source_has_is_not_promised():
    source = Source(path=Path("x.tsv"), factors={"model": "a", "size": 1}, where={"split": "validation"})
    assert beside([source], {}).note == "not run at scale paper"
    missing = Missing(factors={"model": "b"}, reason="b is licensed")
    assert beside([source, missing], {}, model="b").note == "b is licensed"


def test_a_paper_that_does_not_exist_is_one_line(capsys):
    assert main(["nope"]) == 1
    assert capsys.readouterr().err.startswith("error: nope: there is no such paper; known: ")
