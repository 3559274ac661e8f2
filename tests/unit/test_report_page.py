"""The report: well-formed, self-contained, escaped; the graph of stages; time, provenance and figures."""

import base64
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pandas
import pyarrow
import pytest
from reprlab.artifacts.json_files import read_json, write_json
from reprlab.artifacts.tables import read_tsv, write_parquet, write_tsv
from reprlab.reporting.answers import Answer
from reprlab.reporting.audit import AuditRow, rounded, write_audit
from reprlab.reporting.benchmarks import by_stage, of_paper, read_benchmarks
from reprlab.reporting.page.attached import LARGEST, attached
from reprlab.reporting.page.data import data_table
from reprlab.reporting.page.folder import PaperFolder
from reprlab.reporting.page.graph import draw_graph, layers, returning
from reprlab.reporting.page.html import Html, join, tag
from reprlab.reporting.page.html_tables import shown, table
from reprlab.reporting.page.overview import summary_table
from reprlab.reporting.page.report import render
from reprlab.reporting.provenance import public_path, write_provenance
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.write_report import write_report

VOID = {"meta", "img", "br", "hr", "input", "wbr"}
HOSTILE = "<script>alert('x')</script> & \"quotes\""
EDGES = [("a", "b"), ("b", "c"), ("a", "c")]


class Checker(HTMLParser):
    """Every element closed in order; ids, links and sources collected."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.sources, self.images = [], [], [], [], []
        self.names_of_parent, self.wide, self.unnamed, self.levels, self.saved = [], [], [], [], {}

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag == "table":
            self.wide.append(0)
            self.unnamed += [] if "scroll" in self.names_of_parent else [found]
        if tag == "th" and "detail" not in (found.get("class") or ""):
            self.wide[-1] += 1
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        self.names_of_parent = (found.get("class") or "").split()
        if found.get("role") == "region":
            self.unnamed += [] if found.get("aria-label") and found.get("tabindex") == "0" else [found]
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if "href" in found else []
        self.saved |= {found["href"]: found["download"]} if "download" in found else {}
        self.sources += [found["src"]] if "src" in found else []
        self.images += [found.get("alt")] if tag == "img" else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def folder(tmp_path):
    """A paper's results with hostile text in them."""
    results = tmp_path / "results" / "depth"
    results.mkdir(parents=True)
    write_audit(
        results / "audit.tsv", [AuditRow("5.1", HOSTILE, "1", "2", "differs"), AuditRow("5.2", "b", "1", "1", "agrees")]
    )
    claims = {name: ["x"] for name in ("id", "claim", "rule", "statistic", "interval", "unit", "note")}
    claims |= {"estimate": [0.5], "low": [0.1], "high": [0.9], "units": [9], "verdict": ["supported"]}
    write_tsv(results / "claims.tsv", pandas.DataFrame(claims))
    compared = {"table": ["glue", "glue"], "row": ["a", "b"], "column": ["cola"] * 2, "published": [1.5, 2.5]}
    write_tsv(
        results / "comparison.tsv", pandas.DataFrame(compared | {"ours": [None, 2.0], "note": ["not run", "mini"]})
    )
    glue = {"model": ["t5"], "cola": [12.3456], "data_cola": [HOSTILE], "above_trivial_cola": ["not above"]}
    write_tsv(results / "glue.tsv", pandas.DataFrame(glue))
    write_provenance(results / "glue.tsv", stage="tabulate_paper", settings={}, inputs=[results / "audit.tsv"])
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="100pt" height="50pt">'
    svg += "<metadata><dc:description>CoLA: T5 from 1 to 2.</dc:description></metadata></svg>"
    (results / "fig_glue.svg").write_text(svg)
    times = tmp_path / "results" / "benchmarks"
    for stage, job, seconds in (("pretrain_lm", "t5_fs", 60.0), ("tabulate_paper", "depth.glue", 30.0)):
        (times / stage).mkdir(parents=True)
        write_tsv(times / stage / f"{job}.tsv", pandas.DataFrame({"s": [seconds], "h:m:s": ["-"], "max_rss": [100.0]}))
    file = {"file": "a.tgz", "bytes": 34567, "sha256": "12" * 32}
    write_json(tmp_path / "receipt.json", {"archive": HOSTILE, "version": "1.2", "files": [file]})
    files = [{"file": name, "revision": "0" * 40, "received": {"bytes": 4, "sha256": "ab" * 32}} for name in "xy"]
    write_json(tmp_path / "many.json", {"archive": "tasks", "version": "main", "files": files})
    return tmp_path


@pytest.fixture
def page(folder):
    write_report(
        papers=[folder / "results" / "depth"],
        scale="mini",
        out=folder / "report.html",
        summary=folder / "summary.tsv",
        edges=EDGES,
        benchmarks=folder / "results" / "benchmarks",
        receipts=[folder / "receipt.json", folder / "many.json"],
        licences=[(HOSTILE, "CC0"), ("tasks", "Apache-2.0")],
        changes=[("depth", "loss.sentence_weight", "null", "7.5")],
        command="make report SCALE=mini",
        needed=[
            ("depth", f) for f in ("tabulate_paper/depth.glue.tsv", "pretrain_lm/t5_fs.tsv", "pretrain_lm/absent.tsv")
        ],
    )
    return (folder / "report.html").read_text(encoding="utf-8")


def checked(page):
    checker = Checker()
    checker.feed(page)
    return checker


def test_the_page_is_well_formed_and_links_lead_somewhere(folder, page):
    checker = checked(page)
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    inside = {link for link in checker.links if link.startswith("#")}
    outside = {link for link in checker.links if link.startswith("https://")}
    assert {link.removeprefix("#") for link in inside} <= set(checker.ids)
    assert outside == {"https://arxiv.org/abs/2405.07788"}
    saved = {name: link for link, name in checker.saved.items()}
    assert set(checker.links) - inside - outside == set(saved.values())
    assert {"glue.tsv", "audit.tsv", "claims.tsv", "comparison.tsv", "glue.provenance.json", "summary.tsv"} <= set(
        saved
    )
    assert all(link.startswith("data:") for link in saved.values())
    assert base64.b64decode(saved["glue.tsv"].partition(",")[2]) == (folder / "results/depth/glue.tsv").read_bytes()


def test_a_file_too_large_for_the_page_is_named_and_not_linked(folder, tmp_path):
    large = tmp_path / "large.tsv"
    large.write_text("x\n" * LARGEST)
    assert "href" not in attached(large, tmp_path) and "large.tsv" in attached(large, tmp_path)
    assert attached(tmp_path / "none.tsv", tmp_path) == ""


def nano(folder, tables):
    about = SimpleNamespace(TITLE="T", AUTHORS="A", QUESTION="Q?", TABLES=tables, FIGURES={})
    papers = [PaperFolder(folder / "results" / "depth", about)]
    jobs = read_benchmarks(folder / "results" / "benchmarks")
    return render(papers, jobs, data_table([], {}), [], summary_table(papers, jobs, "nano", []), folder / "report.html")


def test_at_nano_one_line_says_that_nothing_was_tested(folder):
    page = nano(folder, {"glue": "GLUE"})
    assert page.count("Nothing was tested") == 1
    said = page[page.index("<main") : page.index("</main>")]
    for word in ("not above the trivial", "supported", 'class="mark'):
        assert word not in said
    assert "differs" in said  # the audit is about the paper, and holds at every scale


def test_the_page_loads_nothing(page):
    checker = checked(page)
    assert checker.sources and all(source.startswith("data:") for source in checker.sources)
    assert not re.search(r"@import|url\(|<link|<iframe|fetch\(|XMLHttpRequest|WebSocket|import\(|http://", page)


def test_no_table_is_wider_than_the_page(folder, page):
    wide = {name: [1.5, 2.5] for name in ("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "seed")}
    assert max(checked(page).wide) <= 10
    columns = checked(table(pandas.DataFrame(wide | {"note": ["x", "y"]}), "t", "t")).wide
    assert columns == [10]
    assert "minmax(0, 1fr)" in page and 'name="viewport" content="width=device-width' in page


def test_every_claim_can_be_linked_to_and_is_in_the_overview(page):
    checker = checked(page)
    assert "depth-claim-x" in checker.ids
    overview = page[page.index('id="table-overview"') : page.index("</table>", page.index('id="table-overview"'))]
    assert 'href="#depth-claim-x"' in overview


def test_the_overview_answers_the_question_that_the_run_could_judge(folder):
    def overview(*answers):
        about = SimpleNamespace(TITLE="T", AUTHORS="A", QUESTION="Q?", TABLES={}, FIGURES={}, ANSWERS=answers)
        jobs = read_benchmarks(folder / "results" / "benchmarks")
        papers = [PaperFolder(folder / "results" / "depth", about)]
        summary = summary_table(papers, jobs, "mini", [])
        page = render(papers, jobs, data_table([], {}), [], summary, folder / "report.html")
        return page[page.index('id="table-overview"') :].partition("</table>")[0]

    absent, found = Answer("First?", "absent", "yes", "no"), Answer("Is it so?", "x", "yes, <so>", "no, not so")
    assert "Is it so? <b>Yes, &lt;so&gt;. </b>" in overview(absent, found)
    assert "Not answered at this scale." in overview(absent)


def test_headings_and_regions_can_be_walked(page):
    checker = checked(page)
    assert checker.levels[0] == 1 and checker.levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(checker.levels))
    assert checker.unnamed == []


def test_ours_stands_beside_the_printed_number_with_the_difference(page):
    both = page[page.index('id="depth-table-glue-both"') :]
    row = both[: both.index("</table>")]
    cells = re.findall(r'<td[^>]*data-label="(ours|published|difference)"[^>]*>([^<]*)<', row)
    assert cells == [("ours", "2"), ("published", "2.5"), ("difference", "-0.5")]


def test_what_is_the_same_in_all_rows_stands_above_them():
    html = table(pandas.DataFrame({"scale": ["mini"] * 2, "x": [1, 2], "n": [3, 3]}), "t", "t")
    assert "In all rows: scale mini; n 3." in html and ">scale<" not in html


def test_intervals_and_verdicts_stand_with_their_value():
    rows = {"cola": [12.5, 3.0], "low_cola": [10.0, 2.0], "high_cola": [15.0, 4.0]}
    rows |= {"above_trivial_cola": ["above", "above with 1 of 3 seeds"], "data_cola": ["Agreement", "Agreement"]}
    html = table(pandas.DataFrame(rows), "t", "t")
    assert html.count("<th") == 2 and "<small>[10, 15]</small>" in html  # one is the head of the table
    assert "above with 1 of 3 seeds" in html and "Data: cola: Agreement." in html


def test_the_head_says_what_made_the_results(page):
    facts = page[page.index("<dl") : page.index("</dl>")]
    for name in ("Results of", "Scale", "Machine", "Versions"):
        assert f"<dt>{name}</dt>" in facts
    assert "make report" in facts and "mini: for a laptop" in facts


def test_settings_that_are_not_as_published_stand_on_the_page(folder, page):
    assert re.search(r"loss\.sentence_weight</td>.*?>null</td>.*?>7\.5</td>", page)
    assert "settings.yaml" not in checked(page).saved.values()  # in the page where the run's folder has it
    (folder / "settings.yaml").write_text("scale: mini\n")
    jobs = read_benchmarks(folder)
    again = render([], jobs, data_table([], {}), [], summary_table([], jobs, "mini", []), folder / "report.html")
    assert "settings.yaml" in checked(again).saved.values()


def test_an_alternative_text_tells_what_is_seen(page):
    alternative = next(text for text in checked(page).images if "T5 from 1 to 2" in text)
    assert alternative.startswith("GLUE by pre-training step")


def test_the_meaning_of_each_sign_stands_once(page):
    for word in ("inconclusive", "differs", "not above the untrained"):
        assert len(re.findall(rf"{word}</span> [a-z]", page)) == 1


def test_the_data_stand_once_above_a_table_with_the_columns_that_they_fill():
    rows = {"cola": [1.0], "sst2": [2.0], "qqp": [3.0]}
    rows |= {"data_cola": ["Agreement"], "data_sst2": ["Reviews"], "data_qqp": ["Agreement"]}
    html = table(pandas.DataFrame(rows), "t", "t")
    assert html.count("Agreement") == html.count("Reviews") == 1
    assert html.startswith('<p class="same">Data: cola, qqp: Agreement; sst2: Reviews.</p>')


def test_text_is_escaped(page):
    assert page.count("<script>") == 1
    assert "&lt;script&gt;alert" in page


def test_pictures_and_tables_can_be_read_aloud(page):
    checker = Checker()
    checker.feed(page)
    assert all(checker.images)
    assert len(checker.wide) == page.count("<caption>")
    assert 'lang="en"' in page and "viewport" in page


def test_the_page_is_the_same_each_time(folder, page):
    first = (folder / "report.html").read_bytes()
    write_report(
        papers=[folder / "results" / "depth"],
        scale="mini",
        out=folder / "again.html",
        summary=folder / "summary.tsv",
        edges=EDGES,
        benchmarks=folder / "results" / "benchmarks",
        receipts=[folder / "receipt.json", folder / "many.json"],
        licences=[(HOSTILE, "CC0"), ("tasks", "Apache-2.0")],
        changes=[("depth", "loss.sentence_weight", "null", "7.5")],
        command="make report SCALE=mini",
        needed=[
            ("depth", f) for f in ("tabulate_paper/depth.glue.tsv", "pretrain_lm/t5_fs.tsv", "pretrain_lm/absent.tsv")
        ],
    )
    assert (folder / "again.html").read_bytes() == first


def test_the_data_has_its_files_digests_and_licences(page):
    section = page[page.index('id="data"') :]
    assert all(word in section for word in ("a.tgz", "34", "12" * 32, "CC0", "2 files", "Apache-2.0"))


def test_summary_counts_verdicts_and_minutes(folder, page):
    rows = read_tsv(folder / "summary.tsv").set_index("paper")
    depth = rows.loc["depth"]
    assert (depth["audit_agrees"], depth["audit_differs"], depth["claims_supported"], depth["tables"]) == (1, 1, 1, 1)
    assert (depth["minutes"], depth["minutes_own"]) == (1.5, 0.5)
    assert rows.loc["shared stages", "minutes_own"] == 1.0


def test_what_is_above_is_counted_once_where_there_is_a_frame_of_results(folder, page):
    row = read_tsv(folder / "summary.tsv").set_index("paper").loc["depth"]
    assert row[["above_trivial", "not_above_trivial"]].tolist() == [0, 1]
    flags = ["above", "above with 1 of 3 seeds", "not above", "", None]
    write_parquet(
        folder / "results" / "depth" / "results.parquet",
        pyarrow.table({"above_trivial": flags, "above_untrained": ["above", *[None] * 4]}),
    )
    about = SimpleNamespace(TITLE="T", TABLES={"glue": "GLUE"}, FIGURES={})
    assert PaperFolder(folder / "results" / "depth", about).standing() == {
        "above the trivial": 2,
        "not above the trivial": 1,
        "above the untrained": 1,
        "not above the untrained": 0,
    }


def test_a_paper_adds_only_its_own_section(folder):
    about = SimpleNamespace(TITLE="Another", AUTHORS="A", QUESTION="Q?", TABLES={}, FIGURES={})
    (folder / "results" / "another").mkdir()
    papers = [PaperFolder(folder / "results" / "another", about)]
    jobs = read_benchmarks(folder / "results" / "benchmarks")
    summary = summary_table(papers, jobs, "nano", [])
    html = render(papers, jobs, data_table([], {}), [], summary, folder / "report.html")
    assert 'id="another"' in html and 'id="depth"' not in html
    assert summary["paper"].tolist() == ["another", "shared stages"]


def test_benchmarks_by_stage_and_paper(folder):
    jobs = read_benchmarks(folder / "results" / "benchmarks")
    assert by_stage(jobs)["stage"].tolist() == ["pretrain_lm", "tabulate_paper"]
    assert of_paper(jobs, "depth")["job"].tolist() == ["depth.glue"]
    assert read_benchmarks(folder / "nowhere").empty


def test_layers_put_each_stage_below_what_feeds_it():
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("late", "c")]
    assert layers(edges) == [["a"], ["b", "late"], ["c"]]


def test_the_graph_is_xml_with_a_box_for_each_stage():
    root = ElementTree.fromstring(draw_graph([("a", "b"), ("b", "c"), ("a", "c")]))
    assert len(root.findall("g")) == 3
    assert len(root.findall("path")) == 3


def test_a_stage_that_feeds_itself_by_another_is_drawn_without_the_way_back():
    # reverse-probing: heads on each layer choose the layer that further heads read.
    edges = [("states", "probe"), ("probe", "choose"), ("choose", "probe"), ("probe", "table"), ("probe", "probe")]
    assert returning(edges) == [("choose", "probe"), ("probe", "probe")]
    root = ElementTree.fromstring(draw_graph(edges))
    assert len(root.findall("g")) == 4 and len(root.findall("path")) == 3
    assert "choose feeds probe" in root.findtext("desc")


def test_a_circle_that_nothing_feeds_is_drawn():
    assert len(ElementTree.fromstring(draw_graph([("a", "b"), ("b", "a")])).findall("path")) == 1


def test_provenance_has_digests_and_no_paths_of_the_machine(folder):
    record = read_json(folder / "results" / "depth" / "glue.provenance.json")
    assert record["inputs"][0]["path"] == "audit.tsv"
    assert len(record["inputs"][0]["sha256"]) == 64
    assert record["versions"]["python"].startswith("3.")
    text = json.dumps(record)
    assert str(folder) not in text and str(Path.home()) not in text
    assert public_path(Path("results/depth/x.tsv")) == "results/depth/x.tsv"


def test_html_escapes_all_but_html():
    assert tag("p", "<&", Html("<b>x</b>"), title='"') == '<p title="&quot;">&lt;&amp;<b>x</b></p>'
    assert join(["a", None, ["b"]]) == "ab"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (float("nan"), ""), (3.0, "3"), (12.3456, "12.35"), (0.123456, "0.1235"), ("x", "x")],
)
def test_shown(value, text):
    assert shown(value) == text


@pytest.mark.parametrize(("value", "places", "text"), [(63.305, 2, "63.31"), (82.485, 2, "82.49"), (0.5, 0, "1")])
def test_halves_are_rounded_up(value, places, text):
    assert str(rounded(value, places)) == text


def test_an_audit_needs_distinct_ids_and_known_verdicts(tmp_path):
    row = AuditRow("1", "a", "1", "1", "agrees")
    with pytest.raises(ReprlabError, match="two rows"):
        write_audit(tmp_path / "audit.tsv", [row, row])
    with pytest.raises(ReprlabError, match="fine"):
        AuditRow("1", "a", "1", "1", "fine")
