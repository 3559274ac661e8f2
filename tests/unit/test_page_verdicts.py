"""The table of verdicts on a page: every claim, whatever the verdict, from the files of runs."""

from pathlib import Path

import pandas
import pytest
from reprlab.artifacts.tables import write_tsv
from reprlab.config.papers import SLUGS
from reprlab.reporting.answers import Answer, asked_here
from reprlab.reporting.claims import VERDICTS
from reprlab.results.claims import Claim
from reprlab.results.records import PaperResults, records_of
from reprlab.results.twins import Twin
from reprlab.runs import power
from reprlab.runs.page_verdicts import (
    _BLOCK,
    BEGIN,
    COLUMNS,
    END,
    NOT_RUN,
    SCALES,
    answered,
    answers_of,
    decided,
    page_rows,
    read_block,
    readme,
    renew,
)
from reprlab.runtime.errors import ReprlabError
from reprlab.statistics import ABOVE_ZERO

ROOT = Path(__file__).parents[2]
ANSWERS = (Answer("Is A so?", "A", "yes, A", "no, not A"), Answer("Is B so?", "B", "yes, B", "no, not B"))
PAGE = f"# A paper\n\n{BEGIN}\n{END}\n\nAfter.\n"


def records(ids="AB"):
    claims = [Claim(id, f"claim {id} | (Table 1)", "points", ABOVE_ZERO, lambda frame: "") for id in ids]
    return PaperResults({}, {}, [], claims, twins=[Twin(tuple(ids), why_not="a count")])


def written(folder, scale, verdicts, **more):
    rows = [
        {"id": id, "estimate": estimate, "low": low, "high": high, "verdict": verdict, "depends_on": "the start"}
        for id, (estimate, low, high, verdict) in verdicts.items()
    ]
    path = folder / scale / "claims.tsv"
    write_tsv(path, pandas.DataFrame(rows).assign(**more))
    return path


A, B = (1.234567, 0.5, 2.0, "supported"), (-4.0, -5.0, -3.0, "not supported")


def test_every_claim_has_a_row_whatever_its_verdict(tmp_path):
    mini = written(tmp_path, "mini", {"A": A, "B": B}, power=[0.75, None])
    text, table = renew(Path("page.md"), PAGE, records(), ANSWERS, {"mini": mini})
    assert table.splitlines()[:2] == [
        "- **Is A so?** `mini`: *yes, A*, 1.23 (0.5 to 2); `small`: not run (A). "
        "Four of five runs as that at `mini` would support 0.75.",
        "- **Is B so?** `mini`: *no, not B*, -4 (-5 to -3); `small`: not run (B).",
    ]
    assert table.splitlines()[5:7] == [
        "| A | claim A \\| (Table 1) | 1.23 (0.5 to 2): supported | not run | 0.75 | supported | none: a count "
        "| the start |",
        "| B | claim B \\| (Table 1) | -4 (-5 to -3): not supported | not run |  | not supported | none: a count "
        "| the start |",
    ]
    assert text.startswith("# A paper\n") and text.endswith(f"{END}\n\nAfter.\n")
    # The same run gives the same page; a run of another scale fills its column and leaves the other one.
    assert renew(Path("page.md"), text, records(), ANSWERS, {"mini": mini})[0] == text
    small = written(tmp_path, "small", {"A": (0.1, None, None, "inconclusive"), "B": B})
    found = read_block(_BLOCK.search(renew(Path("page.md"), text, records(), ANSWERS, {"small": small})[0])["body"])
    assert found["A"]["mini"] == "1.23 (0.5 to 2): supported" and found["A"]["small"] == "0.1: inconclusive"
    assert found["A"]["verdict"] == "mini: supported; small: inconclusive" and found["B"]["verdict"] == "not supported"


def test_what_a_number_depends_on_stays_while_the_number_does(tmp_path):
    text = renew(Path("page.md"), PAGE, records(), ANSWERS, {"mini": written(tmp_path, "mini", {"A": A, "B": B})})[0]
    again = written(tmp_path, "again", {"A": A, "B": (-4.5, -5.0, -3.0, "not supported")}, depends_on="")
    rows = page_rows(renew(Path("page.md"), text, records(), ANSWERS, {"mini": again})[0])
    assert rows["A"]["depends on"] == "the start" and rows["B"]["depends on"] == ""


def test_numbered_claims_have_rows(tmp_path):
    mini = written(tmp_path, "mini", {"1": A, "2": B})
    answers = (Answer("Is it so?", "1", "yes, it is", "no, it is not"),)
    rows = page_rows(renew(Path("page.md"), PAGE, records("12"), answers, {"mini": mini})[0])
    assert rows["2"]["mini"].startswith("-4")


def test_what_is_missing_is_said_in_one_line(tmp_path):
    with pytest.raises(ReprlabError, match="has no place for verdicts"):
        renew(Path("page.md"), "# A paper\n", records(), ANSWERS, {})
    with pytest.raises(ReprlabError, match="has no row of claim B; make it again"):
        renew(Path("page.md"), PAGE, records(), ANSWERS, {"mini": written(tmp_path, "mini", {"A": A})})


def problems(text: str, paper: PaperResults) -> list[str]:
    """What is wrong with the table of a page: claims left out, words that are none, a verdict that no run says."""
    rows = read_block(_BLOCK.search(text)["body"])
    found = [] if list(rows) == [claim.id for claim in paper.claims] else ["claims left out"]
    twins = {id: twin.words for twin in paper.twins for id in twin.claims}
    for claim in paper.claims:
        row = rows.get(claim.id, dict.fromkeys(COLUMNS, NOT_RUN))
        said = {scale: row[scale].rpartition(": ")[2] for scale in SCALES if row[scale] != NOT_RUN}
        found += [f"{claim.id}: no verdict" for one in said.values() if one not in VERDICTS]
        same = row["verdict"] in said.values() if len(set(said.values())) == 1 else len(said) != 1
        found += [] if same and row["twin"] in (twins.get(claim.id), NOT_RUN) else [f"{claim.id}: edited"]
    return found


@pytest.mark.parametrize("slug", SLUGS)
def test_no_page_leaves_a_claim_out_and_answers_follow_its_table(slug):
    text = (ROOT / f"docs/papers/{slug}.md").read_text(encoding="utf-8")
    paper, answers = records_of(slug.replace("-", "_")), answers_of(slug)
    assert answers and {one.claim for one in answers} <= {claim.id for claim in paper.claims}
    assert all(len(words.split()) <= 6 for one in answers for words in (one.yes, one.no))
    if BEGIN in text:
        assert problems(text, paper) == []
        assert answered(answers, page_rows(text)) in text
    front = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme(front, {slug: decided(answers, page_rows(text))}) == front


def test_the_first_question_that_a_run_decides_is_answered(tmp_path):
    mini = written(tmp_path, "mini", {"A": (0.1, -1.0, 1.2, "inconclusive"), "B": B})
    text, _ = renew(Path("page.md"), PAGE, records(), ANSWERS, {"mini": mini})
    assert decided(ANSWERS, page_rows(text)) == "Is B so? **No, not B** (`mini`)"
    assert decided(ANSWERS[:1], page_rows(text)) == "not decided" and decided(ANSWERS, {}) != "not decided"
    row = "| [`a`](docs/papers/a.md) | Title | ✓ | old |\n"
    assert readme(row, {"a": "new | words"}) == row.replace("old", "new \\| words")
    assert asked_here(ANSWERS, {"A": "not testable at this scale", "B": "inconclusive"}) is ANSWERS[1]
    assert asked_here(ANSWERS, {}) is None


def test_a_page_that_filters_or_edits_is_found(tmp_path):
    text, _ = renew(Path("page.md"), PAGE, records(), ANSWERS, {"mini": written(tmp_path, "mini", {"A": A, "B": B})})
    assert problems(text, records()) == []
    refuted = next(line for line in text.splitlines() if line.startswith("| B"))
    assert "claims left out" in problems(text.replace(f"{refuted}\n", ""), records())
    assert problems(text.replace("| not supported |", "| supported |"), records()) == ["B: edited"]
    assert problems(text.replace("2): supported", "2): shown"), records())[0] == "A: no verdict"


def test_a_planned_run_is_told_what_its_units_decide(tmp_path):
    about = {"units": [4, 0], "unit": ["data set", ""], "interval": ["t over 4 units (data set), 95%", "none"]}
    claims = written(tmp_path, "mini", {"A": (1.0, -2.0, 4.0, "inconclusive"), "B": (1.0, None, None, "x")}, **about)
    heads, row = power.table(claims, [4, 16])
    assert heads == ["claim", "estimate", "units", "unit", "power", "4 units", "16 units"]
    # The reach of 3 is 3.18 standard errors; four units support 4.26 of them, sixteen 3.02 of their halves.
    assert row == ["A", "1", "4", "data set", "4", "4", "1.4"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--paper", "deth"], "did you mean 'depth'"), (["--paper", "depth", "--units", "1"], "give 2 or more")],
)
def test_what_no_run_can_have_is_refused(arguments, said, capsys):
    assert power.main(arguments) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("slug", SLUGS)
def test_without_a_run_a_page_keeps_its_numbers_and_what_they_are_of_and_has_each_claim(slug):
    page = ROOT / f"docs/papers/{slug}.md"
    text = page.read_text(encoding="utf-8")
    if not page_rows(text):
        assert slug == "intrinsic-dimension", "the others have a table of verdicts"
        return
    records, answers = records_of(slug.replace("-", "_")), answers_of(slug)
    assert renew(page, text, records, answers, {})[0] == text, f"python -m reprlab.runs.page_verdicts --paper {slug}"
    last = records.claims[-1].id
    shorter = "\n".join(line for line in text.split("\n") if not line.startswith(f"| {last} |"))
    row = page_rows(renew(page, shorter, records, answers, {})[0])[last]
    assert (row["mini"], row["verdict"]) == (NOT_RUN, NOT_RUN)
