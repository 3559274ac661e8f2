"""DEPTH's figures: all drawn from invented tables, with the same bytes each time."""

from pathlib import Path

import depth_inputs as inputs
import pytest
from reprlab.papers.depth.results import RESULTS
from reprlab.reporting.finishing import short_step
from reprlab.results.digits import write_table
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.plot_figure import plot_figure

FILES = sorted((Path(__file__).parents[2] / "resources" / "published" / "depth").glob("*.tsv"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """All tables, two of them empty."""
    folder = tmp_path_factory.mktemp("figures")
    frame = inputs.frame(inputs.everything(folder))
    for table in RESULTS.tables:
        write_table(folder / f"{table.name}.tsv", table.make(frame.narrowed(table.where)))
    return folder


def draw(tables, figure, out, scale="mini"):
    png, svg = out / f"{figure}.png", out / f"{figure}.svg"
    source = tables / f"{RESULTS.figure(figure).table}.tsv"
    files = {"png": png, "svg": svg, "pdf": out / f"{figure}.pdf"}
    plot_figure(paper="depth", figure=figure, tables=[source], published=FILES, scale=scale, **files)
    return png, svg


@pytest.mark.parametrize(
    "figure", ["fig_discoeval", "loss_fs", "loss_decomposition", "sentence_weight", "packing_lr", "int8_bug"]
)
def test_figures_have_the_same_bytes_each_time(tables, tmp_path, figure):
    first = [path.read_bytes() for path in draw(tables, figure, tmp_path)]
    (tmp_path / "again").mkdir()
    assert [path.read_bytes() for path in draw(tables, figure, tmp_path / "again")] == first
    assert first[0].startswith(b"\x89PNG")
    assert b"<dc:date>" not in first[1]


def test_the_papers_curves_join_ours_at_paper_scale(tables, tmp_path):
    small = draw(tables, "fig_discoeval", tmp_path)[1].read_text()
    (tmp_path / "paper").mkdir()
    full = draw(tables, "fig_discoeval", tmp_path / "paper", "paper")[1].read_text()
    # 4 rows of 5 panels at mini, where the paper has rows of its own; 2 rows at paper scale.
    assert small.count('id="axes_') == 20
    assert full.count('id="axes_') == 10


def test_a_column_without_data_says_why_in_its_panel(tables):
    from matplotlib import pyplot
    from reprlab.artifacts.tables import read_tsv
    from reprlab.reporting.published import read_published
    from reprlab.results.comparison import declarations
    from reprlab.results.records import Drawn

    printed = read_published(FILES, declarations(RESULTS.printed))
    figure = RESULTS.figure("fig_discoeval").draw(read_tsv(tables / "discoeval.tsv"), Drawn("mini", printed))
    words = [text.get_text().replace("\n", " ") for axes in figure.axes for text in axes.texts]
    pyplot.close(figure)
    # Three columns, from scratch and continued.
    assert words.count("no data at scale mini") == 6


def test_an_unknown_figure_is_refused(tables, tmp_path):
    files = {ending: tmp_path / f"a.{ending}" for ending in ("png", "svg", "pdf")}
    given = {"tables": [tables / "glue.tsv"], "published": FILES, "scale": "mini"}
    with pytest.raises(ReprlabError, match="no such figure"):
        plot_figure(paper="depth", figure="fig_nothing", **given, **files)


@pytest.mark.parametrize(
    ("step", "text"),
    [(400, "400"), (1_024, "1024"), (2_000, "2k"), (1_500, "1.5k"), (512_000, "512k"), (1_000_000, "1M")],
)
def test_short_steps(step, text):
    assert short_step(step) == text
