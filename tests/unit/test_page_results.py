"""Tables of pages: written from result files, the same each time, refused in one line where results are missing."""

import argparse
import re
from pathlib import Path

import pandas
import pytest
from reprlab.artifacts.tables import write_tsv
from reprlab.config.papers import PAPERS
from reprlab.config.runtime import SCALES
from reprlab.runs.page_results import END, main, parse, renew
from reprlab.runtime.errors import ReprlabError

from benchmarks.record import write_record

ROOT = Path(__file__).resolve().parents[2]
PAGE = """# A paper

Before.

<!-- results
scale: mini
table: toy/scores.tsv
rows: {task: sst2, k: [3, 5]}
columns: {model: model, k: k, f1: micro F1, learned: learned}
claims: toy/claims.tsv
-->
former text
<!-- end of results -->

<!-- results
scale: small
table: toy/absent.tsv
columns: {model: model}
-->
of another scale
<!-- end of results -->

After.
"""


@pytest.fixture
def results(tmp_path):
    frame = pandas.DataFrame(
        [
            ("a|<b>", "sst2", 5.0, 81.04, 78.0, 84.06, "learned"),
            ("b", "sst2", 3.0, 50.0, None, None, None),
            ("c", "sst2", None, 1.0, 0.0, 2.0, "learned"),
            ("d", "mnli", 5.0, 1.0, 0.0, 2.0, "learned"),
        ],
        columns=["model", "task", "k", "f1", "low_f1", "high_f1", "learned"],
    )
    write_tsv(tmp_path / "toy" / "scores.tsv", frame)
    claims = {"id": ["T1", "T2", "T3"], "verdict": ["supported", "inconclusive", "supported"]}
    write_tsv(tmp_path / "toy" / "claims.tsv", pandas.DataFrame(claims))
    return tmp_path


def test_the_table_holds_the_rows_and_columns_that_the_page_declares(results):
    text, tables = renew(Path("page.md"), PAGE, results, "mini")
    assert tables == [
        "| model | k | micro F1 | learned |\n"
        "| --- | --- | --- | --- |\n"
        "| a\\|&lt;b&gt; | 5 | 81.0 (78.0 to 84.1) | learned |\n"
        "| b | 3 | 50.0 |  |\n"
        "\n"
        "From `results/toy/scores.tsv` of a run at `mini`.\n"
        "Claims supported: T1, T3; inconclusive: T2.\n"
    ]
    assert "former text" not in text
    assert "of another scale" in text
    assert text.startswith("# A paper\n\nBefore.\n\n<!-- results\n")
    assert text.endswith("After.\n")


def test_rows_can_be_those_of_any_of_several_selections(results):
    page = PAGE.replace("k: [3, 5]}", "k: [3, 5, ~]}\nany: [{model: b}, {k: ~}]")
    _, (table,) = renew(Path("page.md"), page, results, "mini")
    assert [line.split(" | ")[0] for line in table.splitlines()[2:4]] == ["| b", "| c"]


def test_what_is_written_is_the_same_each_time(results):
    once, _ = renew(Path("page.md"), PAGE, results, "mini")
    assert renew(Path("page.md"), once, results, "mini")[0] == once


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (PAGE.replace("toy/scores", "toy/lost"), "lost.tsv: no such file; make results/toy/lost.tsv of this run first"),
        (PAGE.replace("toy/claims", "toy/lost"), "lost.tsv: no such file; make results/toy/lost.tsv of this run first"),
        (PAGE.replace("f1: micro", "f2: micro"), "scores.tsv has no column 'f2'; did you mean 'f1'?"),
        (PAGE.replace("task: sst2", "task: cola"), "toy/scores.tsv has no row that `rows` or `any` asks for"),
        (PAGE.replace("rows:", "row:"), "row: unknown key"),
        (PAGE.replace("scale: mini", "scale: paper"), "declares no table of mini"),
        ("no block", "declares no table of mini"),
    ],
)
def test_what_cannot_be_written_is_one_line_that_names_it(results, page, message):
    with pytest.raises(ReprlabError) as caught:
        renew(Path("page.md"), page, results, "mini")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_page_is_left_as_it_is_where_results_are_missing(results, capsys):
    page = results / "page.md"
    page.write_text(PAGE.replace("toy/scores", "toy/lost"))
    assert main(["--page", str(page), "--run", str(results), "--write"]) == 1
    assert page.read_text() == PAGE.replace("toy/scores", "toy/lost")
    assert capsys.readouterr().err.count("\n") == 1


def test_the_command_writes_the_page(results, capsys):
    page = results / "page.md"
    page.write_text(PAGE)
    (results / "results").mkdir()
    (results / "toy").rename(results / "results" / "toy")
    assert main(["--page", str(page), "--run", str(results)]) == 0
    assert page.read_text() == PAGE
    assert "81.0 (78.0 to 84.1)" in capsys.readouterr().out
    assert main(["--page", str(page), "--run", str(results), "--write"]) == 0
    assert "81.0 (78.0 to 84.1)" in page.read_text()


@pytest.mark.parametrize("page", [*(f"docs/papers/{slug}.md" for slug in PAPERS), "README.md"])
def test_each_page_declares_its_table(page):
    """The declarations can be read, and name files that the paper makes."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"^<!-- results\n(.*?)\n-->\n", text, flags=re.S | re.M)
    assert len(found) == text.count(f"\n{END}\n") >= 1
    for spec in found:
        block = parse(spec, page)
        assert block.scale in SCALES
        assert block.table.split("/")[0] in PAPERS


def test_a_table_of_a_benchmark_names_its_script_the_machine_and_how_busy_it_was(results):
    write_record("benchmarks/toy.py", argparse.Namespace(out=results / "toy" / "scores.tsv", repeats=3))
    _, (table,) = renew(Path("page.md"), PAGE, results, "mini")
    assert re.search(r"Written by `benchmarks/toy\.py`, on .+ at a load of \d+\.\d on \d+ processors\.", table)
