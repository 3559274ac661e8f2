"""DEPTH's figures: all drawn from invented tables, with the same bytes each time."""

from pathlib import Path

import depth_inputs as inputs
import pytest
from reprlab.artifacts.tables import write_tsv
from reprlab.papers.depth.about import FIGURES as DESCRIBED
from reprlab.papers.depth.figures import FIGURES
from reprlab.papers.depth.tables import build_table
from reprlab.reporting.figures import short_step
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.plot_figure import plot_figure

FILES = sorted((Path(__file__).parents[2] / "resources" / "published" / "depth").glob("*.tsv"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """One table for each kind of figure."""
    folder = tmp_path_factory.mktemp("figures")

    def build(table, layout):
        write_tsv(folder / f"{table}.tsv", build_table(table, layout.model_dump_json(), inputs.inputs_of(layout)))

    build("discoeval", inputs.discoeval_layout(folder))
    build("loss_fs", inputs.loss_layout(folder))
    build("loss_decomposition", inputs.loss_layout(folder, runs=[inputs.pretrained(folder, "depth")]))
    variants = [inputs.pretrained(folder, "depth", variant=name) for name in ("baseline", "1x", "5x")]
    build("sentence_weight", inputs.loss_layout(folder, runs=variants))
    rates = [inputs.pretrained(folder, "t5", variant=str(rate), learning_rate=rate) for rate in (1e-2, 1e-4)]
    build("packing_lr", inputs.loss_layout(folder, runs=rates))
    build("int8_bug", inputs.loss_layout(folder, runs=[], reason="switched off"))
    return folder


def draw(tables, figure, out, scale="mini"):
    png, svg = out / f"{figure}.png", out / f"{figure}.svg"
    source = tables / f"{FIGURES[figure][0]}.tsv"
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


def test_an_unknown_figure_and_a_missing_table_are_refused(tables, tmp_path):
    known = {
        "published": FILES,
        "scale": "mini",
        "png": tmp_path / "a.png",
        "svg": tmp_path / "a.svg",
        "pdf": tmp_path / "a.pdf",
        "paper": "depth",
    }
    with pytest.raises(ReprlabError, match="no such figure"):
        plot_figure(figure="fig_nothing", tables=[], **known)
    with pytest.raises(ReprlabError, match=r"needs glue\.tsv"):
        plot_figure(figure="fig_glue", tables=[], **known)


def test_every_figure_is_described():
    assert set(FIGURES) == set(DESCRIBED)


@pytest.mark.parametrize(("step", "text"), [(400, "400"), (2_000, "2k"), (512_000, "512k"), (1_000_000, "1M")])
def test_short_steps(step, text):
    assert short_step(step) == text
