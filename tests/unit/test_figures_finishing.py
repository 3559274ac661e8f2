"""What every figure gets before it is saved, seen in the drawn figure and in its files."""

import itertools

import pytest
from PIL import Image
from reprlab.reporting.description import describe
from reprlab.reporting.figures import draw_lines, house_style, name_panel, panels, save_figure, say, shared_legend
from reprlab.reporting.finishing import finish
from reprlab.results.figures import Axis, Boxes, Curves
from reprlab.results.records import Drawn

pandas = pytest.importorskip("pandas")
LABELS = {"icl_0": "no demonstrations", "llama": "Llama, four layers"}


@pytest.fixture
def drawing():
    with house_style():
        yield panels(1, 1)


def ticks(axes):
    axes.get_figure().canvas.draw()
    low, high = axes.get_xlim()
    return [tick for tick in axes.get_xticks() if low <= tick <= high]


def test_layers_have_whole_ticks(drawing):
    figure, [[panel]] = drawing
    panel.plot(range(1, 14), range(13))
    finish(figure, {})
    assert len(ticks(panel)) > 2 and all(float(tick).is_integer() for tick in ticks(panel))


def test_few_whole_numbers_have_a_tick_each(drawing):
    figure, [[panel]] = drawing
    panel.plot([0, 5], [1, 2])
    finish(figure, {})
    assert ticks(panel) == [0, 5]


@pytest.mark.parametrize(
    "points", [[299_040, 502_176, 806_880, 1_111_584, 1_213_152, 1_416_288], [15, 30, 60, 120, 240], [5, 10, 15, 16]]
)
def test_ticks_whose_numbers_would_touch_are_not_at_the_points(drawing, points):
    figure, [[panel]] = drawing
    panel.plot(points, points)
    finish(figure, {})
    figure.canvas.draw()
    extents = [text.get_window_extent() for text in panel.get_xticklabels()]
    assert not any(one.overlaps(other) for one, other in itertools.pairwise(extents))


@pytest.mark.parametrize("points", [[15, 30, 60, 120, 240], [0, 4000, 9000, 20_000, 25_000]])
def test_nor_do_they_touch_in_a_panel_of_a_grid(points):
    with house_style():
        figure, [[panel, *_]] = panels(1, 4)
        panel.plot(points, points)
        finish(figure, {})
        figure.canvas.draw()
    low, high = panel.get_xlim()
    extents = [text.get_window_extent() for text in panel.get_xticklabels() if low <= text.get_position()[0] <= high]
    assert len(extents) > 2 and not any(one.overlaps(other) for one, other in itertools.pairwise(extents))


def test_lines_that_are_moved_apart_stay_in_their_panel(drawing):
    figure, [[panel]] = drawing
    lines = [panel.plot(range(9), [9, *[1] * 8], marker="")[0] for _ in range(12)]
    finish(figure, {})
    figure.canvas.draw()
    lowest = min(line.get_transform().transform(line.get_xydata())[:, 1].min() for line in lines)
    assert lowest >= panel.bbox.y0 - 1


def test_an_axis_of_fractions_keeps_its_ticks(drawing):
    figure, [[panel]] = drawing
    panel.plot([0.5, 1, 1.5], [1, 2, 3])
    before = ticks(panel)
    finish(figure, {})
    assert ticks(panel) == before


def test_an_axis_of_powers_has_short_names_that_do_not_overlap(drawing):
    figure, [[panel]] = drawing
    panel.plot([20_000, 250_000], [1, 2])
    panel.set_xscale("log")
    panel.set_xlim(15_000, 300_000)
    finish(figure, {})
    figure.canvas.draw()
    shown = [text for text in panel.get_xticklabels(which="both") if panel.bbox.x0 <= text.get_window_extent().x1]
    assert {"20k", "50k", "100k", "200k"} <= {text.get_text() for text in shown}
    extents = [text.get_window_extent() for text in shown]
    assert not any(one.overlaps(other) for one, other in itertools.pairwise(extents))


def heights(panel):
    panel.get_figure().canvas.draw()
    return [line.get_transform().transform(line.get_xydata())[0, 1] for line in panel.lines]


def test_lines_that_cover_each_other_are_drawn_side_by_side(drawing):
    figure, [[panel]] = drawing
    panel.plot([1, 2, 3], [0.5, 0.5, 0.5])
    panel.plot([1, 2, 3], [0.5, 0.5, 0.6])
    panel.plot([1, 2, 3], [0.9, 0.8, 0.7])
    figure.canvas.draw()
    before = heights(panel)
    finish(figure, {})
    after = heights(panel)
    assert before[0] == before[1] and after[1] - after[0] == pytest.approx(2.0 * 100 / 72)
    assert after[2] == before[2]


def test_a_line_across_the_panel_and_a_lone_line_stay_where_they_are(drawing):
    figure, [[panel]] = drawing
    panel.plot([1, 2], [0.5, 0.5])
    panel.axhline(0.5)
    before = heights(panel)
    finish(figure, {})
    assert heights(panel) == before


def test_names_become_words_in_legend_title_and_ticks(drawing):
    figure, [[panel]] = drawing
    panel.plot([1, 2], [1, 2], label="icl_0")
    panel.set_title("llama\nan icl_0 inside a sentence stays")
    panel.set_xticks([1, 2, 3], ["icl_0", "icl_0+other", "icl_0 (no value)"])
    shared_legend(figure, [panel])
    finish(figure, LABELS)
    assert panel.get_title() == "Llama, four layers\nan icl_0 inside a sentence stays"
    ticks = [text.get_text() for text in panel.get_xticklabels()]
    assert ticks == ["no demonstrations", "no demonstrations+other", "no demonstrations (no value)"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["no demonstrations"]
    assert "no demonstrations from 1" in describe(figure)


def test_a_group_looks_the_same_in_every_panel():
    with house_style():
        _, [[left, right]] = panels(1, 2)
    frame = pandas.DataFrame({"arm": ["a", "a", "b", "b"], "x": [1, 2, 1, 2], "y": [1.0, 2.0, 3.0, 4.0]})
    draw_lines(left, frame, x="x", y="y", by="arm", order=["a", "b"])
    draw_lines(right, frame[frame["arm"] == "b"], x="x", y="y", by="arm", order=["a", "b"])
    looks = [(line.get_color(), line.get_marker(), line.get_label()) for line in (left.lines[1], right.lines[0])]
    assert looks[0] == looks[1] and looks[0][2] == "b"
    assert left.lines[0].get_marker() != left.lines[1].get_marker()


def test_no_two_of_many_groups_look_alike():
    with house_style():
        _, [[panel]] = panels(1, 1)
    order = list(range(20))
    frame = pandas.DataFrame({"arm": order * 2, "x": [1] * 20 + [2] * 20, "y": [float(one) for one in order * 2]})
    draw_lines(panel, frame, x="x", y="y", by="arm", order=order)
    assert len({(line.get_color(), line.get_marker()) for line in panel.lines}) == 20


def test_a_panel_names_its_data_below_its_title(drawing):
    figure, [[panel]] = drawing
    name_panel(panel, "SST-2", "Movie review sentences with human ratings (Hutto and Gilbert 2014)")
    figure.canvas.draw()
    said = panel.texts[0].get_window_extent()
    title = panel.title.get_window_extent()
    assert "Movie review" in panel.texts[0].get_text()
    panel.plot([1, 2], [3, 4], label="T5")
    assert describe(figure).startswith("SST-2, Movie review sentences with human ratings (Hutto and Gilbert 2014): T5")
    assert said.y1 <= title.y0 and said.width <= panel.get_window_extent().width * 1.15


def test_files_have_200_dots_an_inch_and_the_same_bytes_each_time(tmp_path):
    def save(folder):
        folder.mkdir()
        with house_style():
            figure, [[panel]] = panels(1, 1)
            panel.plot([1, 2], [1, 2])
            size = figure.get_figwidth()
            save_figure(figure, [folder / f"f.{ending}" for ending in ("png", "svg", "pdf")])
        return size, {path.name: path.read_bytes() for path in folder.iterdir()}

    (width, first), (_, again) = save(tmp_path / "a"), save(tmp_path / "b")
    assert first == again and set(first) == {"f.png", "f.svg", "f.pdf"}
    assert first["f.pdf"].startswith(b"%PDF") and b"CreationDate" not in first["f.pdf"]
    with Image.open(tmp_path / "a" / "f.png") as image:
        assert image.width == round(width * 200)


def test_words_tell_what_is_seen():
    with house_style():
        figure, [[left, right, last]] = panels(1, 3)
        left.set(title="CoLA", xlabel="step", ylabel="Matthews")
        left.plot([64, 512], [15.0, 8.7], label="T5")
        left.axhline(2.5, label="majority")
        right.bar([0, 1], [1.5, 2000], label="peak")
        right.set_xticks([0, 1], ["sst2", "cola"])
        say(last, "no data: papers.depth.tasks is null")
    assert describe(figure).splitlines() == [
        "CoLA, Matthews by step: T5 from 15 at 64 to 8.7 at 512; majority at 2.5.",
        "peak: sst2 1.5, cola 2,000.",
        "no data: papers.depth.tasks is null.",
    ]


def test_words_tell_points_of_a_tick_and_cells_of_a_map():
    with house_style():
        figure, [[left, right]] = panels(1, 2)
        left.scatter([1, 1], [0.25, 0.5])
        left.set_xticks([1], ["few"])
        right.imshow([[float("nan"), 1.5], [-1.5, float("nan")]])
        right.set_xticks([0, 1], ["a", "b"])
        right.set_yticks([0, 1], ["a", "b"])
    assert describe(figure).splitlines() == ["few from 0.25 to 0.5.", "a against b 1.5; b against a -1.5."]


def drawn(tmp_path, draw, **more):
    """The words of a saved figure of one panel."""
    with house_style():
        figure, [[panel]] = panels(1, 1)
        draw(panel)
        shared_legend(figure, [panel])
        save_figure(figure, [tmp_path / "f.svg"], **more)
    return figure, panel


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda panel: [panel.plot([one], [one], label=str(one)) for one in range(5)], "5 points: too few"),
        (lambda panel: panel.plot([1, 2, 3], [1, 2, 3], label="a"), "3 points: too few"),
        (lambda panel: panel.plot([1, 2, 3], [1, 2, 3], linestyle="", label="a"), "3 points: too few"),
        (lambda panel: panel.plot(range(9), [0] * 9, label="a"), "all 9 values are 0"),
        (lambda panel: panel.bar(range(4), [0, 0, 0, 0], label="a"), "all 4 values are 0"),
        (lambda panel: [panel.boxplot([[1], [2]]), panel.scatter([1, 2], [1, 2])], "2 points: too few"),
    ],
)
def test_a_panel_with_too_few_points_says_so_in_its_place(tmp_path, draw, said):
    figure, panel = drawn(tmp_path, draw)
    assert said in panel.texts[0].get_text().replace("\n", " ") and not panel.lines and not panel.containers
    assert not figure.legends


@pytest.mark.parametrize(
    "draw",
    [
        lambda panel: panel.plot(range(4), [0, 0, 0, 1], label="a"),
        lambda panel: panel.plot(range(4), [3, 1, 2, 2], linestyle="", label="a"),
        lambda panel: panel.bar([0, 1], [2, 2], label="a"),
        lambda panel: panel.scatter(range(4), [1] * 4, label="a"),
    ],
)
def test_one_with_enough_stays(tmp_path, draw):
    figure, panel = drawn(tmp_path, draw)
    assert not panel.texts and len(figure.legends) == 1


def test_a_title_stands_above_the_figures_own_line_as_wide_as_the_figure(tmp_path):
    title = "Restoration teaches sentence boundaries and the control, which reads as much text, does not (mini)"
    figure, _ = drawn(tmp_path, lambda panel: panel.figure.suptitle("mean of 3 seeds"), title=title)
    *lines, last = figure.get_suptitle().split("\n")
    assert " ".join(lines) == title and len(lines) == 2 and last == "mean of 3 seeds"
    assert figure._suptitle.get_window_extent().width <= figure.bbox.width


def test_names_between_commas_become_words_and_underscores_spaces_but_data_stay(drawing):
    figure, [[panel]] = drawing
    panel.plot([1, 2], [1, 2], label="llama, icl_0, other_name")
    panel.text(1, 1, "my_variable", family="monospace")
    shared_legend(figure, [panel])
    finish(figure, LABELS)
    said = "Llama, four layers, no demonstrations, other name"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [said]
    assert panel.texts[0].get_text() == "my_variable"


def test_a_legend_is_laid_out_for_the_words_and_numbers_on_an_axis_stay(tmp_path):
    long = {str(name): f"model number {name} after a long training" for name in range(1, 7)}

    def draw(panel):
        for name in long:
            panel.plot(range(1, 5), [float(name), 1, 2, 3], label=name)

    figure, panel = drawn(tmp_path, draw, labels=long)
    figure.canvas.draw()
    assert figure.legends[0].get_window_extent().width <= figure.bbox.width
    assert [text.get_text() for text in panel.get_xticklabels()] == ["1", "2", "3", "4"]


def test_data_that_fill_all_panels_are_named_once(tmp_path):
    rows = [(model, x, float(x), "Brown corpus") for model in "ab" for x in range(5)]
    table = pandas.DataFrame(rows, columns=["model", "x", "y", "data"])
    with house_style():
        figure = Curves(Axis("x", "x"), [Axis("y", "y")], "model", "model")(table, Drawn("mini", {}))
        save_figure(figure, [tmp_path / "f.svg"], title="A title")
    assert figure.get_suptitle() == "A title\nBrown corpus"
    assert not [text for axes in figure.axes for text in axes.texts]


def test_a_box_has_the_name_of_its_group_in_each_panel():
    rows = itertools.product(("first", "second"), ("small", "large"), (1.0, 2.0, 4.0))
    table = pandas.DataFrame(rows, columns=["task", "size", "value"])
    with house_style():
        figure = Boxes("size", Axis("value", "Score"), "task")(table, Drawn("mini", {}))
    for axes, title, label in zip(figure.axes, ("first", "second"), ("Score", ""), strict=True):
        assert (axes.get_title(), axes.get_ylabel()) == (title, label)
        assert axes.get_xticks().tolist() == [1, 2]
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["small", "large"]
        assert [points.get_offsets().tolist() for points in axes.collections] == [
            [[place, value] for value in (1, 2, 4)] for place in (1, 2)
        ]
        assert {size for points in axes.collections for size in points.get_sizes()} == {12}


def test_no_row_has_five_panels():
    table = pandas.DataFrame([(place, x, float(x)) for place in range(5) for x in range(4)], columns=["p", "x", "y"])
    with house_style():
        figure = Curves(Axis("x", "x"), [Axis("y", "y"), Axis("x", "x")], "p", "p")(table, Drawn("mini", {}))
    shown = [axes.get_subplotspec() for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 10 and max(place.colspan.stop for place in shown) == 4
    assert figure.get_figwidth() < 13


def test_dollars_are_dollars_and_powers_are_letters(tmp_path):
    """A text between two dollars would be set as a formula, and the figure would be that of `$5 to 10$` read so."""
    from matplotlib import pyplot

    with house_style():
        figure, (axes, other) = pyplot.subplots(1, 2, layout="constrained")
        for panel, title in ((axes, "$5 to $10"), (other, "$\\alpha$")):
            panel.plot([1, 2, 3, 4], [0.0001, 0.01, 1, 100], label="a $x_{ b")
            panel.set_title(title)
            panel.legend()
        axes.set_yscale("log")
        save_figure(figure, [tmp_path / "a.png"])
        assert [panel.get_title() for panel in (axes, other)] == ["$5 to $10", "$\\alpha$"]
        assert not axes.title.get_parse_math()
        ticks = [text.get_text() for text in axes.get_yticklabels()]
    assert any("10⁻" in tick for tick in ticks) and not any("$" in tick or "mathdefault" in tick for tick in ticks), (
        ticks
    )
