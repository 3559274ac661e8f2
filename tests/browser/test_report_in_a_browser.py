"""The report where it lives, in Chromium: scripts, keys, colours, narrow windows, paper, and how soon it opens."""

import re
import time
from contextlib import contextmanager
from pathlib import Path

import pandas
import pytest
from reprlab.artifacts.tables import write_tsv
from reprlab.plugins import load_plugin
from reprlab.stages.write_report import write_report

from tests.debian import install
from tests.nano import MADE

pytestmark = pytest.mark.reads(*MADE)
NARROW, WIDE = {"width": 390, "height": 844}, {"width": 1440, "height": 900}


@pytest.fixture(scope="module")
def chromium():
    """A browser that looks nothing up; skipped only where Debian's Chromium cannot be had."""
    if reason := install(["chromium"], ["chromium"]):
        pytest.skip(f"Debian's Chromium cannot be had here: {reason}")
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(made, tmp_path_factory) -> Path:
    """The report of what the shared run made of all papers."""
    return written(tmp_path_factory.mktemp("report"), [made.root / "results" / slug for slug in MADE], made.root)


def written(folder: Path, papers: list[Path], root: Path) -> Path:
    out = folder / "report.html"
    times = root / "results/benchmarks"
    write_report(papers=papers, scale="nano", out=out, summary=folder / "summary.tsv", benchmarks=times)
    return out


@contextmanager
def opened(browser, page_file, at="", **options):
    """The page in a window of its own, and what its console complained of."""
    context = browser.new_context(viewport=options.pop("viewport", WIDE), **options)
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    page.goto(f"{page_file.as_uri()}{at}")
    yield page
    context.close()
    assert complaints == []


def open_all(page):
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def searchable(page):
    """The first table that has a search box: the box, and the table behind it."""
    open_all(page)
    box = page.locator("input[type=search]").first
    return box, box.locator("xpath=ancestor::div[contains(@class, 'tools')]/following-sibling::*[1]//table").first


def column_of(table, place):
    return table.locator(f"tbody tr:not([hidden]) td:nth-child({place}), tbody tr:not([hidden]) th:nth-child({place})")


def sort_and_search(page):
    box, table = searchable(page)
    whole = table.locator("tbody tr").count()
    head = table.locator("thead button.sort").first
    head.click()
    up = column_of(table, 1).all_text_contents()
    head.click()
    assert table.locator("th[aria-sort=descending]").count() == 1
    down = column_of(table, 1).all_text_contents()
    assert sorted(up) == sorted(down) and (up != down or len(set(up)) == 1)
    word = re.findall(r"\w+", up[0])[0]
    box.fill(word)
    left = table.locator("tbody tr:not([hidden])")
    assert 0 < left.count() <= whole
    assert all(word.lower() in row.lower() for row in left.all_text_contents())
    box.fill("no row has these words")
    assert left.count() == 0
    box.fill("")
    assert left.count() == whole


def test_it_opens_without_a_complaint_sorts_searches_and_turns_dark(chromium, report):
    with opened(chromium, report) as page:
        assert page.locator("details.paper").count() == len(MADE)
        sort_and_search(page)
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.locator("#theme").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
        page.reload()
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.release
def test_a_link_opens_the_section_that_it_leads_to(chromium, report):
    with opened(chromium, report) as page:
        links = page.eval_on_selector_all("nav a[href^='#']", "all => all.map((one) => one.hash)")
    assert len(links) > 3 * len(MADE)
    for link in links[:: max(1, len(links) // 20)]:
        with opened(chromium, report, at=link) as page:
            place = page.locator(f"[id='{link[1:]}']").bounding_box()
            assert place is not None and -2 <= place["y"] < WIDE["height"], link


@pytest.mark.release
def test_the_keyboard_alone_reaches_the_content_a_table_and_its_latex(chromium, report):
    with opened(chromium, report) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("location.hash") == "#content"
        reached = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.tagName"))
            shown = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            # Behind the last element the browser itself has its turn.
            assert shown != "none" or "BODY" in reached, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        assert {"A", "BUTTON"} <= reached
        open_all(page)
        page.locator("button", has_text="LaTeX").first.focus()
        page.keyboard.press("Enter")
        assert page.locator("#latex").evaluate("one => one.open")
        code = page.locator("#latex textarea").input_value()
        assert code.startswith("% \\usepackage") and "\\begin{tabular}" in code and code.endswith("\\end{table}")
        page.keyboard.press("Escape")
        assert not page.locator("#latex").evaluate("one => one.open")


@pytest.mark.release
def test_long_words_of_a_table_are_broken_in_latex(chromium, tmp_path):
    folder = tmp_path / "results" / "depth"
    folder.mkdir(parents=True)
    rows = {"table": ["t"], "row": ["a"], "column": ["b"], "published": [1.5], "ours": [2.0], "note": ["word " * 60]}
    write_tsv(folder / "comparison.tsv", pandas.DataFrame(rows))
    with opened(chromium, written(tmp_path, [folder], tmp_path)) as page:
        open_all(page)
        table = page.locator("table", has_text="word word").first
        columns = table.evaluate("table => latexOf(table)").split("\\begin{tabular}{")[1].split("}\n")[0]
    widths = [float(width) for width in re.findall(r"p\{([\d.]+)\\linewidth\}", columns)]
    assert len(widths) == 1 and "r" in columns and 0.2 < sum(widths) <= 0.7


@pytest.mark.release
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("window", [NARROW, WIDE], ids=["390", "1440"])
def test_no_window_scrolls_sideways(chromium, report, window, colours):
    with opened(chromium, report, viewport=window, color_scheme=colours) as page:
        open_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= window["width"]


@pytest.mark.release
def test_all_of_it_is_printed(chromium, report, tmp_path):
    with opened(chromium, report) as page:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details:not([open])").count() == 0
        assert not page.locator("nav").is_visible() and page.locator("table").last.is_visible()
        assert len(page.pdf()) > 10_000


@pytest.mark.release
def test_a_page_of_ten_megabytes_opens_within_three_seconds(chromium, made, tmp_path):
    folders = [tmp_path / "results" / slug for slug in MADE]
    steps = " ".join(f"{k % 400},{k * 7 % 300}" for k in range(90_000))
    drawn = f'<path d="M{steps}" fill="none" stroke="black"/>'
    about = "<metadata><dc:description>A curve.</dc:description></metadata>"
    for folder in folders:
        folder.mkdir(parents=True)
        rows = pandas.DataFrame({"table": ["t"] * 2000, "row": [f"row {k}" for k in range(2000)], "column": "score"})
        write_tsv(folder / "comparison.tsv", rows.assign(published=1.5, ours=2.25, note="as comparisons have them"))
        name = next(iter(load_plugin("papers", f"{folder.name.replace('-', '_')}.about").FIGURES))
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="400pt" height="300pt">{about}{drawn}</svg>'
        (folder / f"{name}.svg").write_text(svg)
    page_file = written(tmp_path, folders, tmp_path)
    assert page_file.stat().st_size > 10e6
    start = time.perf_counter()
    with opened(chromium, page_file) as page:
        page.wait_for_function("document.querySelectorAll('.tools').length > 0")
        assert time.perf_counter() - start < 3
