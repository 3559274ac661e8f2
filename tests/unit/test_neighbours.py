"""The table of neighbours: its verdicts, its rows, their costs, who is asked for it, and the pages that show it."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pandas
import pytest
from reprlab.artifacts.tables import read_tsv, write_tsv
from reprlab.config.load import load_config
from reprlab.planning.neighbour_jobs import add_neighbours
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.plan import Job, Plan
from reprlab.reporting.benchmarks import cpu_seconds
from reprlab.reporting.neighbours import VERDICTS
from reprlab.reporting.page.verdicts import known
from reprlab.results.claims import Claim
from reprlab.results.frame import Option, frame_of
from reprlab.results.neighbour_table import COLUMNS, neighbour_rows, neighbours_table
from reprlab.results.neighbours import Cell, Neighbour, NeighbourSettings, Side, verdict_of
from reprlab.results.records import PaperResults
from reprlab.results.schema import FIXED, Factor, Metric
from reprlab.results.sources import Missing, Source
from reprlab.runs.page_neighbours import BEGIN, END, declared_neighbours, learnt, main, renew
from reprlab.runs.page_neighbours import COLUMNS as PAGE_COLUMNS
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.gather_neighbours import gather_neighbours
from reprlab.stages.write_report import write_report
from reprlab.statistics import ABOVE_ZERO, Estimate, difference_over_pairs

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("low", "high", "margin", "higher", "lower"),
    [
        (1, 2, None, "ahead", "behind"),
        (-2, -1, None, "behind", "ahead"),
        (-1, 2, None, "not told apart", "not told apart"),
        (0, 1, None, "not told apart", "not told apart"),
        (math.nan, math.nan, 9, "not told apart", "not told apart"),
        (-1, 2, 3, "level", "level"),
        (1, 2, 3, "level", "level"),
        (-2, 1, 2, "not told apart", "not told apart"),
        (-1, 2, 2, "not told apart", "not told apart"),
        (1, 4, 3, "ahead", "behind"),
    ],
)
def test_a_verdict_follows_from_interval_direction_and_margin(low, high, margin, higher, lower):
    estimate = Estimate((low + high) / 2, low, high, 9, "document")
    assert verdict_of(estimate, "higher", margin) == higher and verdict_of(estimate, "lower", margin) == lower
    assert {higher, lower} <= set(VERDICTS) and known(higher)
    few = replace(estimate, unit="seed", n=3)
    assert verdict_of(few, "higher", margin) == "not told apart", "three seeds judge nothing by themselves"


FACTORS = {
    "way": Factor(about="way", values=("own", "rival")),
    "depth": Factor(about="depth"),
    "part": Factor(about="part"),
    "seed": Factor(about="seed", kind="whole"),
}
METRICS = {
    "loss": Metric(about="loss", unit="nats", better="lower"),
    "parameters": Metric(about="parameters", unit="count", better="neither"),
}


def values(frame, way):
    return frame.select(way=way, metric="loss").set_index("seed")["value"]


def gap(frame):
    return difference_over_pairs(values(frame, "rival"), values(frame, "own"), "document")


def side(name):
    rows = {"way": name, "part": "scores", "metric": "loss"}
    value = lambda frame: float(frame.select()["value"].mean())  # noqa: E731
    return Side(f"{name} side", rows, value, sized={"way": name, "part": "sizes"})


def neighbour(**own):
    given = {"measure": "loss, nats", "better": "lower", "method": side("own"), "rival": side("rival"), "claim": "X1"}
    return Neighbour("one", **{**given, "stages": ("train", "score"), "by": ("depth",), **own})


def records(*neighbours, unjudged=None):
    claim = Claim("X1", "the rival is better", "loss, nats", ABOVE_ZERO, gap, {"part": "scores"})
    return PaperResults(FACTORS, METRICS, [], [claim], unjudged=unjudged or {}, neighbours=neighbours)


def frame(scale="mini", sizes=True):
    rows = []
    for depth, less in (("whole", 1.0), ("half", -0.5)):
        for way, at in (("own", 3.0), ("rival", 3.0 - less)):
            about = {"way": way, "depth": depth, "data": f"Data of {depth}"}
            rows += [
                {
                    **about,
                    "part": "scores",
                    "seed": seed,
                    "metric": "loss",
                    "value": at + seed * (1 + (way == "own") / 9),
                }
                for seed in range(5)
            ]
            if sizes:
                size = 100 if depth == "whole" else 50
                rows.append({**about, "part": "sizes", "metric": "parameters", "value": size + (way == "rival")})
    filled = pandas.DataFrame(rows, columns=[*FACTORS, *FIXED]).assign(scale=scale, reason="")
    return frame_of(filled, records().settings(scale, [], {}))


def logged(run, stage, job, seconds):
    (run / "logs" / stage).mkdir(parents=True, exist_ok=True)
    (run / "logs" / stage / f"{job}.log").write_text(f"a line\nused 12.0 MB at most, {seconds:.1f} CPU seconds\n")


def rows_of(one, run, found=None, **own):
    cells = {
        "one": [
            Cell(at={"depth": "whole"}, method=["train/a.b.tsv"], rival=["train/a.b.tsv", "score/r.tsv"]),
            Cell(at={"depth": "half"}, method=["train/lost.tsv"], rival=[]),
        ]
    }
    given = frame() if found is None else found
    table = neighbours_table([*neighbour_rows("paper", records(one, **own), given, cells, run / "benchmarks")])
    assert list(table) == list(COLUMNS)
    return table.to_dict("records")


def test_a_row_is_the_claims_difference_with_the_values_and_costs_of_both_sides(tmp_path):
    logged(tmp_path, "train", "a.b", 30)
    logged(tmp_path, "score", "r", 2.5)
    whole, half = rows_of(neighbour(), tmp_path)
    assert whole["measure"] == "loss, nats, depth whole" and half["measure"] == "loss, nats, depth half"
    assert (whole["method"], whole["neighbour"], whole["claim"]) == ("own side", "rival side", "X1")
    # Of seeds 0 to 4 the method has 3 + 10/9 seed.
    assert whole["method_value"] == pytest.approx(3 + 20 / 9) and whole["neighbour_value"] == pytest.approx(4)
    assert whole["difference"] == pytest.approx(whole["neighbour_value"] - whole["method_value"])
    assert half["difference"] == pytest.approx(half["neighbour_value"] - half["method_value"]) == pytest.approx(5 / 18)
    assert (whole["unit"], whole["units"], whole["seeds"]) == ("document", 5, 5)
    assert whole["low"] < whole["difference"] < whole["high"] < 0
    assert whole["verdict"] == "ahead" and half["verdict"] == "behind" and whole["better"] == "lower"
    assert (whole["method_parameters"], whole["neighbour_parameters"]) == (100, 101)
    assert (half["method_parameters"], half["neighbour_parameters"]) == (50, 51)
    assert (whole["method_cpu_seconds"], whole["neighbour_cpu_seconds"]) == (30, 32.5)
    assert math.isnan(half["method_cpu_seconds"]) and math.isnan(half["neighbour_cpu_seconds"])
    assert whole["data"] == "Data of whole" and {whole["scale"], half["scale"]} == {"mini"}
    whole, half = rows_of(neighbour(better="higher", margin=2.0), tmp_path)
    assert (whole["verdict"], half["verdict"], whole["margin"]) == ("level", "level", 2.0)


def test_what_is_not_judged_or_not_there_has_no_verdict_and_says_why(tmp_path):
    reason = "a few updates"
    for row in rows_of(neighbour(), tmp_path, unjudged={"mini": reason}):
        assert row["verdict"] != row["verdict"] and reason in row["note"] and row["difference"] == row["difference"]
    none = frame_of(frame().rows.iloc[:0], records().settings("mini", [], {}))
    for row in rows_of(neighbour(), tmp_path, none):
        assert row["note"] == "not run at scale mini" and row["neighbour"] == "rival side"
        for name in ("verdict", "difference", "method_value", "neighbour_value", "seeds", "method_parameters"):
            assert pandas.isna(row[name]), name
    unsized = replace(side("own"), sized={})
    assert pandas.isna(rows_of(neighbour(method=unsized), tmp_path)[0]["method_parameters"])
    assert pandas.isna(rows_of(neighbour(), tmp_path, frame(sizes=False))[0]["neighbour_parameters"])


def test_an_estimate_without_an_interval_tells_nothing_apart(tmp_path):
    alone = frame()
    alone = frame_of(alone.rows[alone.rows["seed"].fillna(0) == 0], records().settings("mini", [], {}))
    for row in rows_of(neighbour(margin=9.0), tmp_path, alone):
        assert (
            row["verdict"] == "not told apart" and row["low"] != row["low"] and row["difference"] == row["difference"]
        )


def test_cpu_seconds_are_the_logs_and_of_all_jobs_or_none(tmp_path):
    logged(tmp_path, "train", "a", 30)
    for job, sampled in (("a", "9.0"), ("b", "4.25"), ("c", "NA")):
        (tmp_path / "benchmarks/train").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"benchmarks/train/{job}.tsv").write_text(f"s\tcpu_time\n7.0\t{sampled}\n")
    asked = ("", "a", "b", "ab", "c", "ac", "ad")
    seconds = {names: cpu_seconds(tmp_path / "benchmarks", [f"train/{one}.tsv" for one in names]) for names in asked}
    assert seconds == {"": None, "a": 30, "b": 4.25, "ab": 34.25, "c": None, "ac": None, "ad": None}


def test_a_neighbour_names_what_its_paper_declares():
    records(neighbour()).check("paper", [])
    unknown = {
        "no such claim": {"claim": "X2"},
        "way is never 'third'": {"rival": side("third")},
        "no column width": {"by": ("width",)},
        "no column size": {"method": replace(side("own"), sized={"size": 1})},
    }
    for words, own in unknown.items():
        with pytest.raises(ReprlabError, match=words):
            records(replace(neighbour(), **own)).check("paper", [])


def test_the_jobs_behind_each_side_are_its_cost(monkeypatch):
    """Jobs of the record's stages, however far back, of the cell alone, each once."""
    rival = replace(side("rival"), where={"way": Option("rival"), "part": "scores"})
    declared = records(neighbour(stages=("train_encoder", "evaluate_encoder"), rival=rival))
    plan, entries = Plan(), []
    for depth in ("whole", "half"):
        trained = plan.add("train_encoder", f"m/{depth}", Job())
        for way in ("own", "rival"):
            made = plan.add("evaluate_encoder", f"m/{depth}_{way}", Job({"encoders": trained["out"], "tasks": []}))
            entries += [
                Source(
                    path=Path(made["out"]), factors={"way": way, "depth": depth, "part": "scores"}, keys={"seed": key}
                )
                for key in ("seed", "other")
            ]
    untrained = plan.add("evaluate_encoder", "m/none", Job())["out"]
    entries.append(Source(path=Path(untrained), factors={"way": "own", "depth": "whole", "part": "none"}))
    entries.append(Missing(factors={"way": "rival", "depth": "third", "part": "scores"}, reason="too few layers"))
    entries.append(Source(path=Path(untrained), factors={"way": "rival", "part": "scores"}))
    settings = declared.settings("mini", entries, {"rival": "rival"})
    plan.add("gather_results", "depth", Job(settings={"settings": settings}))
    plan.add_targets("depth", ["results/depth/results.parquet"])
    monkeypatch.setattr("reprlab.planning.neighbour_jobs.records_of", lambda slug: declared)
    monkeypatch.setattr("reprlab.planning.neighbour_jobs.has_neighbours", lambda slug: slug == "depth")
    assert add_neighbours(plan, ["depth"]) == "results/neighbours.tsv"
    job = plan.jobs["gather_neighbours"]["all"]
    assert job.inputs["frames"] == ["results/depth/results.parquet"] and job.plugins == ("papers.depth.results",)
    found = NeighbourSettings.model_validate_json(job.settings["settings"]).papers["depth"]["one"]
    assert [cell.at["depth"] for cell in found] == ["whole", "half", "third"]
    whole, _, third = found
    assert whole.method == ["evaluate_encoder/m.whole_own.tsv", "train_encoder/m.whole.tsv"]
    # A source that leaves the depth open may have rows of each.
    assert whole.rival == ["evaluate_encoder/m.none.tsv", "evaluate_encoder/m.whole_rival.tsv",
                           "train_encoder/m.whole.tsv"]  # fmt: skip
    assert third.method == [] and third.rival == ["evaluate_encoder/m.none.tsv"]


@pytest.mark.parametrize(
    ("declaring", "planned", "build", "papers"),
    [
        ("ab", "ab", "ab", ["a", "b"]),
        ("ab", "abc", "ba", ["b", "a"]),
        ("a", "a", "abc", ["a"]),
        ("ab", "a", "abc", None),
        ("b", "a", "abc", None),
        ("", "a", "a", []),
        ("c", "ab", "ab", []),
        ("", "a", "ab", None),
    ],
)
def test_the_table_is_planned_where_all_papers_that_declare_some_are(declaring, planned, build, papers, monkeypatch):
    """Where none of the planned ones does, and others are not planned, nobody has asked for it."""
    plan = Plan()
    for slug in planned:
        plan.add("gather_results", slug, Job(settings={"settings": records().settings("mini", [], {})}))
        plan.add_targets(slug, [])
    monkeypatch.setattr("reprlab.planning.neighbour_jobs.records_of", lambda slug: records(neighbour()))
    monkeypatch.setattr("reprlab.planning.neighbour_jobs.has_neighbours", lambda slug: slug in declaring)
    made = add_neighbours(plan, list(build))
    assert made == ("" if papers is None else "results/neighbours.tsv")
    if papers is None:
        assert "gather_neighbours" not in plan.jobs
    else:
        job = plan.jobs["gather_neighbours"]["all"]
        assert job.inputs["frames"] == [f"results/{slug}/results.parquet" for slug in sorted(papers)]
        cells = json.loads(job.settings["settings"])["papers"]
        assert list(cells) == sorted(papers) and all(one == {"one": [_EMPTY]} for one in cells.values())


_EMPTY = {"at": {}, "method": [], "rival": []}


def test_a_table_without_rows_has_its_columns_and_no_section_of_the_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = Path("results/neighbours.tsv")
    table.parent.mkdir()
    gather_neighbours(settings=NeighbourSettings(papers={}), benchmarks=Path("results/benchmarks"), out=table)
    assert list(read_tsv(table)) == list(COLUMNS) and not len(read_tsv(table))
    assert json.loads(table.with_suffix(".provenance.json").read_text())["stage"] == "gather_neighbours"
    given = {"papers": [], "scale": "mini", "summary": Path("results/summary.tsv")}
    for rows, shown in (([], 0), (rows_of(neighbour(), tmp_path), 1)):
        write_tsv(table, neighbours_table(rows))
        write_report(**given, out=Path("results/report.html"), neighbours=table)
        page = Path("results/report.html").read_text()
        assert page.count('id="table-neighbours"') == bool(page.count('href="#neighbours"')) == shown
        assert page.count('download="neighbours.tsv"') == 1
    assert "own side" in page and "the whole interval of the difference is on the better side" in page
    write_report(**given, out=Path("results/report.html"))
    assert 'id="table-neighbours"' not in Path("results/report.html").read_text()


PAGE = f"# Neighbours\n\n{BEGIN}\n{END}\n\nAfter.\n"


def test_the_page_has_a_line_for_each_neighbour_and_keeps_what_no_run_tells(tmp_path):
    declared = [("paper", neighbour()), ("paper", neighbour(measure="other | measure", claim="X2"))]
    text, table = renew(Path("p.md"), PAGE, declared[:1], {})
    head = "rival side | own side | [paper](papers/paper.md) | loss, nats"
    assert table.splitlines() == [
        f"| {' | '.join(PAGE_COLUMNS)} |", "| --- | --- | --- | --- | --- | --- |", f"| {head} | not run | not run |",
    ]  # fmt: skip
    logged(tmp_path, "train", "a.b", 30)
    logged(tmp_path, "score", "r", 2.5)
    mini = neighbours_table(rows_of(neighbour(), tmp_path))
    text, _ = renew(Path("p.md"), text, declared[:1], {"mini": mini})
    said = (
        "depth whole: ahead, -1.22 (-1.44 to -1), document, 32 CPU-seconds for 30; "
        "depth half: behind, +0.278 (+0.0596 to +0.496), document"
    )
    assert f"| {head} | {said} | not run |\n" in text
    # A run of the other scale fills its column; a neighbour that is new has none yet.
    small = mini.assign(difference=math.nan)
    text, table = renew(Path("p.md"), text, declared, {"small": small})
    assert f"| {head} | {said} | depth whole: no number; depth half: no number |\n" in text
    assert "| other \\| measure | not run | not run |" in table
    assert renew(Path("p.md"), text, declared, {"small": small})[0] == text
    # A run of other papers alone leaves these cells as they are.
    assert renew(Path("p.md"), text, declared, {"mini": mini.assign(paper="other")})[0] == text
    assert text.startswith("# Neighbours\n") and text.endswith(f"{END}\n\nAfter.\n")
    unjudged = neighbours_table(rows_of(neighbour(), tmp_path, unjudged={"mini": "few"}))
    assert learnt("paper", neighbour(), unjudged).startswith("depth whole: not judged, -1.22")
    assert learnt("another", neighbour(), unjudged) == "not run"
    assert learnt("paper", neighbour(measure="loss of all depths, nats"), unjudged) == "not run", "of the same claim"
    with pytest.raises(ReprlabError, match="has no place for neighbours"):
        renew(Path("p.md"), "# Neighbours\n", declared, {})


def test_the_page_of_the_checkout_lists_what_papers_declare(capsys, tmp_path):
    declared = list(declared_neighbours())
    assert main(["--mini", str(tmp_path), "--small", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == 2 + len(declared)
    page = (ROOT / "docs/neighbours.md").read_text(encoding="utf-8")
    assert renew(Path("p.md"), page, declared, {})[0] == page, "python -m reprlab.runs.page_neighbours --write"


@pytest.mark.parametrize("scale", ["nano", "mini", "small", "paper"])
def test_every_neighbour_that_a_paper_declares_is_planned_with_costs_of_its_own(scale):
    config = load_config(ROOT, {"scale": scale}, targets=["results/neighbours.tsv"])
    plan = make_plan(config)
    planned = {f"{stage}/{key.replace('/', '.')}.tsv" for stage, jobs in plan.jobs.items() for key in jobs}
    cells = NeighbourSettings.model_validate_json(plan.jobs["gather_neighbours"]["all"].settings["settings"]).papers
    assert [slug for slug, _ in dict.fromkeys((slug, "") for slug, _ in declared_neighbours())] == list(config.needed)
    for slug, one in declared_neighbours():
        for cell in cells[slug][one.id]:
            assert cell.at.keys() == set(one.by)
            assert cell.method and cell.rival and {*cell.method, *cell.rival} <= planned
            assert set(cell.rival) - set(cell.method), f"{slug} {one.id}: it costs nothing that the method does not"
            assert {name.partition("/")[0] for name in cell.rival} <= set(one.stages)
