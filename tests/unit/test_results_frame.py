"""The frame of results: gathering, selections, tables, claims and comparison, on hand-made files."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pandas
import pyarrow.parquet
import pytest
from reprlab.reporting.published import read_published
from reprlab.results.claims import Claim, NoVerdict, claims_table
from reprlab.results.comparison import Match, Printed, about, compare, declarations
from reprlab.results.contrasts import Contrast, Paired, Ratio, by_unit
from reprlab.results.digits import sensible, write_table
from reprlab.results.frame import FIRST, LAST, frame_of, read_frame, write_results
from reprlab.results.gather import gather_rows
from reprlab.results.records import Drawn, Figure, PaperResults, Table
from reprlab.results.schema import FIXED, Factor, Metric
from reprlab.results.sources import Baseline, Missing, Source, rivals
from reprlab.results.table_forms import Listing, Pivot
from reprlab.runtime.errors import ReprlabError
from reprlab.statistics import ABOVE_ZERO, Estimate

FACTORS = {
    "model": Factor(about="model", values=("majority", "small", "large")),
    "task": Factor(about="task"),
    "seed": Factor(about="seed", kind="whole"),
}
METRICS = {"accuracy": Metric(about="share of right answers", unit="percent", better="higher", scored=True)}
SCORES = {"where": {"split": "validation"}, "data": "True name"}
WIDE = Table(
    "wide", "All tasks.", Pivot("model", "task", over="seed"), where={"metric": "accuracy", "model": ("small", "large")}
)
LONG = Table("long", "All scores.", Listing("model task seed accuracy=value low baseline above_trivial n reason"))


def write_scores(path: Path, values: dict[str, float], low: float = 40.0) -> Path:
    """A file of a scored stage; one row for each name."""
    rows = [
        {"name": name, "metric": "accuracy", "split": split, "value": value, "low": low, "high": 90.0, "n": 50,
         "steps": 10, "tokens": 1000}
        for name, value in values.items() for split in ("validation", "test")
    ]  # fmt: skip
    pandas.DataFrame(rows).to_csv(path, sep="\t", index=False)
    return path


def source(path: Path, name: str, baselines: list[Baseline] | None = None, **factors: object) -> Source:
    """The rows of one name."""
    beside = {"answer": "class", "baselines": baselines} if baselines else {"unjudged": "for tests"}
    where = {"name": name, "split": "validation"}
    return Source(path=path, factors=factors, where=where, data="True name", **beside)


@pytest.fixture
def entries(tmp_path):
    """A baseline, one model with two seeds, one with one seed, a task without data."""
    trivial = write_scores(tmp_path / "baselines.tsv", {"majority": 50.0})
    own = write_scores(tmp_path / "own.tsv", {"s1": 62.74999999999999, "s2": 64.75, "large": 70.0}, low=55.0)
    against = [Baseline(name="majority", path=trivial, where={"name": "majority", "split": "validation"})]
    return [
        source(trivial, "majority", model="majority", task="sst2"),
        source(own, "s1", against, model="small", task="sst2", seed=1),
        source(own, "s2", against, model="small", task="sst2", seed=2),
        source(own, "large", against, model="large", task="sst2", seed=1),
        Missing(factors={"task": "cola"}, reason="no data at scale nano"),
    ]


def results(*tables: Table, claims=(), figures=(), printed=None, unjudged=None) -> PaperResults:
    """Records of a paper."""
    return PaperResults(FACTORS, METRICS, tables, claims, figures, printed or {}, unjudged or {})


@pytest.fixture
def frame(entries, tmp_path):
    """The frame of these, through its file."""
    write_results(tmp_path / "results.parquet", results().settings("nano", entries, {"level": 0.95}))
    return read_frame(tmp_path / "results.parquet")


def test_the_frame_keeps_identity_order_and_options(frame):
    assert frame.rows["model"].tolist() == ["majority", "small", "small", "large", ""]
    assert frame.select(model="small")["seed"].tolist() == [1, 2]
    assert set(frame.rows["unit"][:4]) == {"percent"} and set(frame.rows["scale"]) == {"nano"}
    assert frame.options == {"level": 0.95} and frame.scale == "nano"


def test_results_of_another_version_are_refused_in_one_line(frame, tmp_path):
    path = tmp_path / "results.parquet"
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table.drop_columns(["items"]), path)
    with pytest.raises(ReprlabError, match="lacks the columns items, as results of another version do"):
        read_frame(path)


def test_above_is_judged_over_seeds_where_there_are_several(frame):
    small, large = frame.select(model="small"), frame.select(model="large")
    assert small["above_trivial"].tolist() == ["above", "above"]
    assert large["above_trivial"].tolist() == ["above"] and large["margin"].tolist() == [20.0]
    assert small["margin"].round(2).tolist() == [12.75, 14.75]
    assert frame.select(model="majority")["above_trivial"].tolist() == [""]


def test_the_two_flags_answer_two_questions(tmp_path):
    """The hardest of several trivial baselines counts, and the untrained model of the same task."""
    trivial = write_scores(tmp_path / "baselines.tsv", {"majority": 50.0, "copy": 55.0})
    own = write_scores(tmp_path / "own.tsv", {"s1": 60.0, "raw": 59.0}, low=56.0)
    against = [
        Baseline(name=name, path=trivial, where={"name": name, "split": "validation"}) for name in ("majority", "copy")
    ]
    trained = source(own, "s1", against, model="small", task="sst2", seed=1)
    raw = source(own, "raw", model="large", task="sst2")
    found = {}
    for name, untrained in (("alone", {}), ("beside", {"model": "large", "task": "sst2"})):
        entries = [trained.model_copy(update={"untrained": untrained}), raw]
        write_results(tmp_path / "results.parquet", results().settings("nano", entries, {}))
        found[name] = read_frame(tmp_path / "results.parquet").select(model="small").iloc[0]
    assert found["alone"]["above_trivial"] == "above" and found["alone"]["baseline"] == "copy"
    assert found["alone"]["baseline_value"] == 55 and pandas.isna(found["alone"]["margin_untrained"])
    assert found["beside"]["above_trivial"] == "above"
    assert found["alone"]["above_untrained"] == "" and found["beside"]["above_untrained"] == "not above"
    assert found["beside"]["margin_untrained"] == 1


def test_a_pivot_averages_seeds_and_says_why_cells_are_empty(frame):
    table = WIDE.make(frame)
    assert list(table)[:3] == ["model", "sst2", "cola"]
    assert table["sst2"].tolist() == pytest.approx([63.75, 70.0]) and table["cola"].isna().all()
    assert table["seeds"].tolist() == [2, 1] and table["n"].tolist() == [100, 50]
    assert table["data_sst2"].tolist() == ["True name"] * 2
    assert table["note"].tolist() == ["cola: no data at scale nano"] * 2


def test_metrics_of_the_same_answers_are_counted_once(frame):
    """The 100 examples of two seeds stay 100 beside a second metric of theirs; what counts more is taken."""
    more = frame.rows.assign(metric="f1", n=frame.rows["n"] + 1)
    both = replace(frame, rows=pandas.concat([frame.rows, more], ignore_index=True))
    for rows, n in ((frame, [100, 50]), (both, [102, 51])):
        table = Table("wide", "", Pivot("model", "metric", over="seed"), where={"task": "sst2"}).make(rows)
        assert table.loc[table["model"].isin(["small", "large"]), "n"].tolist() == n


def test_items_that_several_methods_answer_are_counted_once(frame):
    """Fifty examples that three models answered are fifty."""
    rows = {"task": "sst2", "seed": 1}
    for same, n in ((False, 100), (True, 50)):
        pivot = Pivot("metric", "model", over="seed", same_items=same)
        table = Table("wide", "", pivot, where={**rows, "model": ("small", "large")}).make(frame)
        assert table["n"].tolist() == [n]


def test_a_pivot_refuses_to_average_what_it_was_not_told_to(frame):
    with pytest.raises(ReprlabError, match="several values of sst2"):
        Table("wide", "", Pivot("model", "task")).make(frame)


def test_a_pivot_averages_over_the_factors_that_it_names_and_counts_each(frame):
    table = Table("wide", "", Pivot("metric", "task", over="model seed"))
    row = table.make(frame).iloc[0]
    assert row["sst2"] == pytest.approx((50 + 62.75 + 64.75 + 70) / 4) and (row["models"], row["seeds"]) == (3, 2)
    with pytest.raises(ReprlabError, match=r"several values of sst2 .* name the factors to average over"):
        Table("wide", "", Pivot("metric", "task", over="seed")).make(frame)


def test_the_only_seed_of_one_side_stands_beside_every_seed_of_the_other(frame):
    found = Paired({"task": "sst2"}, {"model": "large"}, {"model": "small"}, "seed")(frame)
    assert (found.value, found.unit) == (pytest.approx(70 - 63.75), "document within 2 seeds")
    assert found.low < found.value < found.high
    other = Paired({"task": "sst2"}, {"model": "small"}, {"model": "large"}, "task seed")(frame)
    assert other.value == pytest.approx(63.75 - 70) and (other.low, other.high) == (-found.high, -found.low)
    assert Paired({"task": "cola"}, {"model": "large"}, {"model": "small"}, "seed")(frame) == "no data at scale nano"


@pytest.mark.parametrize(("chosen_on", "flag"), [("validation", "not above"), ("test", "above")])
def test_a_learning_rate_that_was_chosen_on_the_rows_is_paid_for(tmp_path, chosen_on, flag):
    trivial = write_scores(tmp_path / "baselines.tsv", {"majority": 50.0})
    own = write_scores(tmp_path / "own.tsv", {"a": 60.0}, low=51.0)
    rates = pandas.concat([pandas.read_csv(own, sep="\t").assign(learning_rate=rate) for rate in (0.1, 0.2, 0.3)])
    rates.to_csv(own, sep="\t", index=False)
    selection = tmp_path / "selected.json"
    selection.write_text(json.dumps({"split": chosen_on, "best": {"a": {"learning_rate": 0.2}}}))
    against = [Baseline(name="majority", path=trivial, where={"name": "majority", "split": "validation"})]
    scored = source(own, "a", against, model="small", task="sst2", seed=1).model_copy(update={"selection": selection})
    write_results(tmp_path / "results.parquet", results().settings("nano", [scored], {}))
    assert read_frame(tmp_path / "results.parquet").select()["above_trivial"].tolist() == [flag]


def test_an_empty_selection_gives_one_row_with_its_reason(frame):
    table = Table("cola", "", Listing("model task value"), where={"task": "cola"}).make(frame)
    assert table[["scale", "note"]].to_numpy().tolist() == [["nano", "no data at scale nano"]]


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (Table("t", "", WIDE.build, where={"modle": "small"}), "no column modle"),
        (Table("t", "", WIDE.build, where={"model": "smal"}), "model is never 'smal'; declared are majority, small"),
        (Table("t", "", WIDE.build, where={"metric": "f1"}), "metric is never 'f1'"),
        (Table("t", "", Listing("model taks")), "no column taks"),
        (Table("t", "", Pivot("model", "step")), "no column step"),
    ],
)
def test_selections_are_checked_before_anything_runs(table, problem):
    with pytest.raises(ReprlabError, match=f"slug: table t: {problem}"):
        results(table).check("slug", [])


def test_sources_figures_and_contrasts_are_checked_as_well(tmp_path):
    with pytest.raises(ReprlabError, match=r"slug: x.tsv: model is never 'tiny'"):
        results().check("slug", [Source(path=Path("x.tsv"), factors={"model": "tiny"})])
    with pytest.raises(ReprlabError, match="there is no such table"):
        results(figures=[Figure("f", "", "wide", lambda table, drawn: None)]).check("slug", [])
    for claim in (
        Claim("1", "it rises", "points", ABOVE_ZERO, Contrast({"model": "none"}, {}, {}, "task", len)),
        Claim("1", "it rises", "points", ABOVE_ZERO, len, {"model": "none"}),
    ):
        with pytest.raises(ReprlabError, match="claim 1: model is never 'none'"):
            results(claims=[claim]).check("slug", [])


def test_a_misspelt_column_is_refused_where_no_cell_is_missing_too(frame):
    complete = replace(frame, rows=frame.rows[frame.rows["reason"] == ""])
    assert not complete.rows.empty and complete.reason(model="small") == ""
    for asked in (frame, complete):
        with pytest.raises(ReprlabError, match="there is no column modle"):
            asked.reason(modle="small")


def test_a_second_value_of_one_cell_is_refused(entries, tmp_path):
    with pytest.raises(ReprlabError, match="a second value of model=small task=sst2 seed=1 metric=accuracy"):
        write_results(tmp_path / "r.parquet", results().settings("nano", [*entries, entries[1]], {}))
    assert not (tmp_path / "r.parquet").exists()


def test_a_factor_may_have_any_name(entries):
    """Columns that gathering adds for itself are not in its way."""
    factors = FACTORS | {"entry": Factor(about="name in the registry")}
    named = [one.model_copy(update={"factors": one.factors | {"entry": "mine"}}) for one in entries[:4]]
    rows = gather_rows(PaperResults(factors, METRICS, [WIDE]).settings("mini", named, {}))
    assert set(rows["entry"]) == {"mine"} and rows["above_trivial"].notna().any()


@pytest.mark.parametrize(
    ("change", "problem"),
    [({"where": {"name": "s9"}}, "has no rows with name = s9"), ({"keys": {"seed": "run"}}, "lacks the column run")],
)
def test_a_file_without_what_was_promised_is_named(entries, tmp_path, change, problem):
    with pytest.raises(ReprlabError, match=rf"own.tsv: {problem}"):
        wrong = entries[1].model_copy(update=change)
        write_results(tmp_path / "r.parquet", results().settings("nano", [wrong], {}))


def test_wide_files_and_chosen_learning_rates(tmp_path):
    path = tmp_path / "wide.tsv"
    path.write_text("name\tlearning_rate\tloss\taccuracy\tn\na\t0.1\t2.0\t50\t7\na\t0.2\t1.0\t60\t7\n")
    (tmp_path / "selected.json").write_text('{"best": {"a": {"learning_rate": 0.2}}}')
    more = {"factors": {"model": "small"}, "unjudged": "for tests"}
    wanted = Source(path=path, wide=["accuracy"], selection=tmp_path / "selected.json", **more)
    write_results(tmp_path / "r.parquet", results().settings("nano", [wanted], {}))
    found = read_frame(tmp_path / "r.parquet").select()
    assert found[["metric", "value", "n"]].to_numpy().tolist() == [["accuracy", 60.0, 7]]


def test_a_column_beside_the_metrics_of_a_file_is_one_too(tmp_path):
    path = tmp_path / "scores.tsv"
    head = "task\tmetric\tvalue\tlow\thigh\tn\tparameters"
    path.write_text(f"{head}\ncola\taccuracy\t50\t40\t60\t9\t123\ncola\tf1\t70\t60\t80\t9\t123\n")
    both = replace(
        results(), metrics={**METRICS, "parameters": Metric(about="all parameters", unit="count", better="neither")}
    )
    wanted = Source(path=path, wide=["parameters"], where={"task": "cola"}, factors={"model": "small"})
    write_results(tmp_path / "r.parquet", both.settings("nano", [wanted], {}))
    found = read_frame(tmp_path / "r.parquet").select()
    assert found[["metric", "value"]].to_numpy().tolist() == [["parameters", 123.0]]
    assert found[["low", "high", "n"]].isna().all(axis=None)


def mean(differences) -> Estimate:
    """An interval by hand."""
    value = float(differences.mean())
    return Estimate(value, value - 1, value + 1, len(differences), "task", "by hand")


GAP = Contrast({"metric": "accuracy"}, {"model": "large"}, {"model": "small"}, "task", mean)


def no_verdict(frame):
    """A number from too little."""
    raise NoVerdict(Estimate(3.0, 2.0, 4.0, 1, "task"), "points: 1, 5 are needed")


def test_a_claim_is_judged_where_its_scale_can_show_it(frame):
    claims = [
        Claim("1", "claim 1", "points", ABOVE_ZERO, GAP),
        Claim("2", "claim 2", "points", ABOVE_ZERO, GAP, only_at=("paper",), because="needs them"),
        Claim("3", "claim 3", "points", ABOVE_ZERO, lambda frame: "was left out"),
        Claim("4", "claim 4", "points", ABOVE_ZERO, no_verdict),
        Claim("5", "claim 5", "points", ABOVE_ZERO, no_verdict, {"task": "cola"}),
    ]
    rows = claims_table(claims, frame, {})
    untestable = "not testable at this scale"
    assert rows["verdict"].tolist() == ["supported", untestable, "inconclusive", untestable, "inconclusive"]
    assert rows["estimate"].tolist()[:2] == pytest.approx([6.25, 6.25]) and rows["estimate"][3] == 3
    notes = ["scale nano", "needs them; scale nano", "was left out", "points: 1, 5 are needed; scale nano"]
    notes.append("no data at scale nano")
    assert rows["claim"].tolist() == [f"claim {claim.id}" for claim in claims]
    assert rows["note"].tolist() == notes
    assert rows["units"].tolist()[:2] == [1, 1] and rows["unit"].tolist()[:2] == ["task", "task"]
    rows = claims_table(claims, frame, {"nano": "for tests"})
    assert set(rows["verdict"]) == {untestable}
    assert rows["note"][1].startswith("needs them"), "the claim's own reason comes first"
    whole = claims_table(claims[:1], frame, {})["interval"][0]
    assert rows["interval"][0] == "; ".join(filter(None, [whole, "reported, not judged"]))
    with pytest.raises(ReprlabError, match="two claims have the id 1"):
        claims_table(claims[:1] * 2, frame, {})


def sums(seeds=(1,), batches=4, skip=()):
    """Losses and counts of two models at two steps; every seed and batch has another loss."""
    factors = {name: Factor(about=name, kind="text" if name == "model" else "whole") for name in
               ("model", "step", "seed", "batch")}  # fmt: skip
    metrics = {name: Metric(about=name, unit="count", better="neither") for name in ("loss_sum", "count")}
    rows = [
        {"model": model, "step": step, "seed": seed, "batch": batch, "metric": metric, "value": value}
        for model, level in (("small", 3.0), ("large", 2.0)) if model not in skip
        for step in (100, 200) for seed in seeds for batch in range(batches)
        for metric, value in (("count", 10.0), ("loss_sum", 10 * (level - step / 100 + 0.1 * seed * batch)))
    ]  # fmt: skip
    rows += [{"model": name, "reason": "was not trained"} for name in skip]
    records = PaperResults(factors, metrics, [])
    table = pandas.DataFrame(rows, columns=[*factors, *FIXED])
    return frame_of(table, records.settings("nano", [], {}))


def test_an_edge_is_the_first_or_last_value_among_the_others_that_are_selected():
    found = sums()
    assert set(found.select(step=LAST, batch=0)["step"]) == {200}
    assert set(found.select(step=FIRST, model="small")["step"]) == {100}
    assert found.select(step=LAST, model="huge").empty
    assert sums(skip=("small",)).reason(step=LAST, model="small") == "was not trained"


def test_of_several_reasons_the_one_of_the_whole_selection_is_given():
    factors = {name: Factor(about=name, kind="text") for name in ("model", "encoding")}
    records = PaperResults(factors, {"f1": Metric(about="f1", unit="percent", better="higher")}, [])
    rows = [{"encoding": "graph", "reason": "no parser"}, {"model": "t5", "reason": "no weights"},
            {"model": "gpt", "encoding": "words", "reason": "off"},
            {"model": "bert", "encoding": "words", "metric": "f1", "value": 1.0}]  # fmt: skip
    found = frame_of(pandas.DataFrame(rows, columns=[*factors, *FIXED]), records.settings("nano", [], {}))
    assert found.reason(model="t5", metric="f1") == found.reason(model="t5", encoding="words") == "no weights"
    assert found.reason(model=("bert", "t5"), encoding="graph") == "no parser"
    assert found.reason(model="gpt", metric="f1") == "off", "what is named counts before what is left open"
    assert found.reason(model="bert", encoding="words") == ""
    where = {"metric": "f1", "model": ("bert", "t5")}
    contrast = Contrast(where, {"encoding": "words"}, {"encoding": "graph"}, "model", mean)
    assert contrast(found) == "no parser"


def test_ratios_are_over_seeds_where_there_are_four_else_over_batches_within_them():
    of, last, first = ("loss_sum", "count"), {"step": LAST, "model": "small"}, {"step": FIRST, "model": "small"}
    one = Ratio(of, last)(sums())
    assert (one.value, one.unit, one.n) == (pytest.approx(1.15), "batch", 4) and one.low < one.value < one.high
    for seeds, unit, n in (((1,), "batch", 4), ((1, 2, 3), "batch within 3 seeds", 4), ((1, 2, 3, 4), "seed", 4)):
        large, small = {"step": LAST, "model": "large"}, {"step": LAST, "model": "small"}
        gap = Ratio(of, small, large, paired=False, times=100)(sums(seeds))
        assert (gap.value, gap.unit, gap.n) == (pytest.approx(100), unit, n)
        # Every batch of a pair has the same noise; batches of other encodings are not pairs.
        assert (gap.low < gap.value) == unit.startswith("batch") and (gap.low != gap.low) == (unit == "seed")
        assert "no spread" in Ratio(of, last, first)(sums(seeds)).note
    assert Ratio(of, {"model": "large"}, {"model": "small"})(sums(skip=("small",))) == "was not trained"


def test_the_comparison_joins_on_keys_and_takes_reasons_from_the_frame(frame, tmp_path):
    (tmp_path / "t.tsv").write_text("who\tsst2\tcola\tsource\nsmall\t0.71\t0.4\tTable 1\nhuge\t0.9\t\tTable 1\n")
    match = Match("wide", {"who": "model"}, places=3, across="task", share=True)
    records = results(WIDE, printed={"t": Printed(("who",), ("sst2", "cola"), match)})
    published = read_published([tmp_path / "t.tsv"], declarations(records.printed))
    found = compare(records.own(frame), published, records.printed)
    assert found["ours"].tolist() == ["0.637", "", ""]
    assert found["note"].tolist() == [
        "scale nano; mean of 2 seeds; n=100; data: True name",
        "no data at scale nano",
        "not run at scale nano",
    ]


@pytest.mark.parametrize(("seeds", "said"), [(0, "scale nano; n=9"), (2, "scale nano; mean of 2 seeds; n=9")])
def test_what_has_no_seed_is_the_mean_of_none(seeds, said):
    """A first stage is scored once; its table counts the seeds of those that were trained."""
    assert about(pandas.Series({"f1": 1.0, "seeds": seeds, "n": 9}, dtype=object), "f1", "nano") == said


def test_digits_of_tables(tmp_path):
    assert [sensible(value) for value in (62.74999999999999, 0.000123456789, 1234567.891, 0.0)] == [
        62.75, 0.000123457, 1234568.0, 0.0,
    ]  # fmt: skip
    write_table(tmp_path / "t.tsv", pandas.DataFrame({"a": [62.74999999999999], "b": ["x"], "c": [1]}))
    assert (tmp_path / "t.tsv").read_text() == "a\tb\tc\n62.75\tx\t1\n"


def test_pandas_and_datasets_open_the_file(frame, tmp_path):
    plain = pandas.read_parquet(tmp_path / "results.parquet")
    assert plain["value"].tolist()[:4] == frame.rows["value"].tolist()[:4] and plain["reason"].notna().sum() == 1
    import datasets

    found = datasets.load_dataset("parquet", data_files=str(tmp_path / "results.parquet"), cache_dir=str(tmp_path))
    assert found["train"].num_rows == 5 and found["train"][1]["above_trivial"] == "above"
    assert found["train"][0]["seed"] is None


def test_a_table_reads_its_own_sources_alone(entries):
    settings = results(WIDE).settings("nano", entries, {})
    part = settings.narrowed({"model": ["small"], "task": ["sst2"]})
    assert [getattr(entry, "factors", {}).get("seed") for entry in part.entries] == [1, 2], "and no missing task"
    assert settings.narrowed({"task": ["cola"]}).entries == entries[-1:]
    untrained = entries[1].model_copy(update={"untrained": {"model": "large"}})
    part = results().settings("nano", [untrained, *entries[3:]], {}).narrowed({"model": ["small"]})
    assert [one.factors.get("model") for one in part.entries] == ["small", "large", None], "what it is held against"


def test_baselines_of_many_cells_are_matched_by_their_columns(tmp_path):
    """A baseline beside the score, one in another file, and names that are numbers in one file and words in another."""
    rows = [
        ("1", "a", 60.0, 50.0),
        ("1", "b", 40.0, float("nan")),
        ("2", "a", 45.0, 50.0),
        ("2", "b", 40.0, float("nan")),
    ]
    own = pandas.DataFrame(rows, columns=["task", "kind", "value", "majority"]).assign(metric="accuracy")
    own["low"], own["high"] = own["value"] - 5, own["value"] + 5
    own.to_csv(tmp_path / "own.tsv", sep="\t", index=False)
    raw = own.assign(value=[10.0, 30.0, 70.0, 38.0])
    pandas.concat([raw, raw.iloc[:1].assign(task="main")]).to_csv(tmp_path / "raw.tsv", sep="\t", index=False)
    on = ["task", "kind"]
    against = [
        Baseline(name="majority", path=tmp_path / "own.tsv", column="majority", on=on),
        Baseline(name="raw", path=tmp_path / "raw.tsv", where={"kind": "b"}, on=on),
    ]
    entry = Source(path=tmp_path / "own.tsv", keys={"task": "task", "model": "kind"}, baselines=against, answer="class")
    write_results(tmp_path / "results.parquet", results().settings("nano", [entry], {}))
    found = read_frame(tmp_path / "results.parquet").rows
    assert found["task"].tolist() == ["1", "1", "2", "2"], "text, though the file has numbers"
    assert found["baseline"].tolist() == ["majority", "raw", "majority", "raw"]
    assert found["baseline_value"].tolist() == [50, 30, 50, 38]
    assert found["above_trivial"].tolist() == ["above", "above", "not above", "not above"]


def test_a_wide_source_is_left_out_of_tables_of_other_metrics(tmp_path):
    wide = Source(path=tmp_path / "losses.tsv", wide=["loss"])
    assert results().settings("nano", [wide], {}).narrowed({"metric": ["accuracy"]}).paths() == []
    assert results().settings("nano", [wide], {}).narrowed({"metric": ["loss"]}).paths() == [tmp_path / "losses.tsv"]


def test_panels_of_one_axis_stand_in_rows_of_four_with_words_at_their_ticks():
    from reprlab.reporting.figures import house_style
    from reprlab.results.figures import Axis, Curves

    rows = [
        (name, line, place, 10.0 + place, word, level)
        for name, level in zip("abcdef", (50, 51, 52, 53, 54, 55), strict=True)
        for line in ("first", "second")
        for place, word in enumerate(("1k", "main"))
    ]
    table = pandas.DataFrame(rows, columns=["panel", "line", "place", "value", "word", "level"])
    axis = Axis("value", "score", level="level", level_label="majority")
    with house_style():
        figure = Curves(Axis("place", "checkpoint", ticks="word"), [axis], "line", "panel")(table, Drawn("nano", {}))
    shown = [panel for panel in figure.axes if panel.get_visible()]
    assert len(figure.axes) == 8 and [panel.get_title() for panel in shown] == list("abcdef")
    assert [bool(panel.get_xlabel()) for panel in shown] == [False, False, True, True, True, True]
    assert [label.get_text() for label in shown[0].get_xticklabels()] == ["1k", "main"]
    assert [line.get_label() for line in shown[1].lines] == ["first", "second", "majority"], "one level for both"
    assert list(shown[1].lines[2].get_ydata()) == [51, 51]


def test_a_curve_lies_in_the_range_of_its_interval():
    from reprlab.reporting.figures import house_style
    from reprlab.results.figures import Axis, Curves

    table = pandas.DataFrame({"x": [1, 2], "y": [3.0, 4.0], "low": [2.5, 2.0], "high": [3.25, 6.0], "model": "m"})
    with house_style():
        figure = Curves(Axis("x", "x"), [Axis("y", "y", "low", "high")], "model", "")(table, Drawn("nano", {}))
    (band,) = figure.axes[0].collections
    corners = {tuple(point) for point in band.get_paths()[0].vertices.tolist()}
    assert corners >= {(1, 2.5), (2, 2), (1, 3.25), (2, 6)} and {y for _, y in corners} == {2.5, 2, 3.25, 6}


def test_columns_become_curves_of_means_over_seeds_with_their_range():
    from reprlab.reporting.figures import house_style
    from reprlab.results.figures import Axis, Curves, Long

    rows = [
        {"step": step, "seed": seed, "init": "fs", "loss": step + seed, "part": float(seed), "empty": None, "data": "D"}
        for step in (100, 200) for seed in (1, 3)
    ]  # fmt: skip
    table = pandas.DataFrame(rows).assign(loss_low=0.0, loss_high=999.0, part_low=0.0, part_high=999.0)
    curves = Curves(Axis("step", "step", log=True), [Axis("value", "nats", "low", "high")], "quantity", "init")
    with house_style():
        figure = Long({"loss": "total", "part": "its part", "empty": "none"}, curves)(table, Drawn("nano", {}))
        (panel,) = figure.axes
        assert [line.get_label() for line in panel.lines] == ["total", "its part"] and panel.get_xscale() == "log"
        assert list(panel.lines[0].get_ydata()) == [102, 202] and panel.get_ylim()[1] < 300, "the range of seeds"
        nothing = Long({"empty": "none"}, curves)(table.assign(note="was left out"), Drawn("nano", {}))
    assert "was left out" in [text.get_text() for text in nothing.axes[0].texts]


def test_bars_stand_side_by_side_with_their_intervals():
    from reprlab.reporting.figures import house_style
    from reprlab.results.figures import Axis, Bars

    table = pandas.DataFrame({"task": ["a", "b"], "own": [3.0, 4.0], "low": [2.5, 3.0], "high": [5.0, 4.5]})
    table = table.assign(other=float("nan"), model="small")
    with house_style():
        figure = Bars("task", [Axis("own", "ours", "low", "high"), Axis("other", "theirs")], "points", panel="model")(
            table, Drawn("nano", {})
        )
        (panel,) = figure.axes
        assert [patch.get_height() for patch in panel.patches][:2] == [3, 4] and panel.get_title() == "small"
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["ours", "theirs (no value)"]
        (reach,) = next(one for one in panel.containers if hasattr(one, "has_yerr")).lines[2]
        ends = [segment.tolist() for segment in reach.get_segments()]
        assert ends == [
            [pytest.approx((-0.2, 2.5)), pytest.approx((-0.2, 5))],
            [pytest.approx((0.8, 3)), pytest.approx((0.8, 4.5))],
        ]
        long = table.melt(["task", "model"], ["own", "low"], "kind", "score")
        (one,) = Bars("task", [Axis("score", "score")], "points", line="kind")(long, Drawn("nano", {})).axes
        assert [patch.get_height() for patch in one.patches] == [2.5, 3, 3, 4]
        centres = [patch.get_x() + patch.get_width() / 2 for patch in one.patches]
        assert centres == pytest.approx([-0.2, 0.8, 0.2, 1.2]), "on both sides of the tick of their task"


def test_counts_of_several_sizes_stand_on_a_logarithmic_axis():
    from reprlab.reporting.figures import house_style
    from reprlab.results.figures import Axis, Curves

    table = pandas.DataFrame({"threshold": [1, 2], "concepts": [100, 90_000], "after": "graph", "panel": "hops"})
    curves = Curves(Axis("threshold", "Threshold"), [Axis("concepts", "Concepts", log=True)], "after", "panel")
    with house_style():
        (panel,) = curves(table, Drawn("nano", {})).axes
        assert (panel.get_xscale(), panel.get_yscale()) == ("linear", "log")


def test_of_errors_the_least_is_hardest_and_less_is_better(tmp_path):
    """19.7 % of the characters beside nothing at 100 % and a string of the right length at 74 %."""
    rows = [("model", 19.7, 18.0, 21.4), ("worse", 80.0, 78.0, 82.0), ("nothing", 100.0, 100.0, 100.0),
            ("most common", 90.0, 88.0, 92.0), ("duration alone", 74.0, 73.0, 75.0)]  # fmt: skip
    table = pandas.DataFrame(rows, columns=["name", "value", "low", "high"]).assign(metric="cer", seen=2, n=64)
    table.to_csv(tmp_path / "s.tsv", sep="\t", index=False)
    beside = rivals("transcript", tmp_path / "s.tsv")
    entries = [Source(path=tmp_path / "s.tsv", factors={"model": name, "seed": 1}, where={"name": said}, **beside)
               for name, said in (("small", "model"), ("large", "worse"))]  # fmt: skip
    cer = Metric(about="character errors", unit="percent", better="lower", scored=True, range=(0, None))
    records = replace(results(), metrics={"cer": cer})
    write_results(tmp_path / "r.parquet", records.settings("nano", entries, {}))
    found = read_frame(tmp_path / "r.parquet").rows
    assert found["baseline"].tolist() == ["duration alone"] * 2 and found["baseline_value"].tolist() == [74, 74]
    assert found["above_trivial"].tolist() == ["above", "not above"]
    assert found["margin"].tolist() == pytest.approx([54.3, -6.0]) and found["seen"].tolist() == [2, 2]


def test_a_choice_among_settings_on_the_scored_items_is_paid_for(tmp_path):
    trivial = write_scores(tmp_path / "b.tsv", {"majority": 53.0})
    own = write_scores(tmp_path / "own.tsv", {"s1": 60.0}, low=54.0)
    against = [Baseline(name="majority", path=trivial, where={"name": "majority", "split": "validation"})]
    flags = []
    for tried in (1, 9):
        entry = source(own, "s1", against, model="small", task="sst2", seed=1).model_copy(update={"tried": tried})
        write_results(tmp_path / "r.parquet", results().settings("nano", [entry], {}))
        flags += read_frame(tmp_path / "r.parquet").rows["above_trivial"].tolist()
    assert flags == ["above", "not above"]


def test_a_row_of_what_has_no_seed_is_there(frame):
    table = Table("t", "", Pivot("model seed", "task")).make(frame)
    assert table.set_index("model").loc["majority", "sst2"] == 50 and len(table) == 4


def test_units_that_one_side_lacks_are_left_out_and_a_single_one_stands_beside_each():
    def rows(model, **values):
        about = {"model": model, "metric": "accuracy", "unit": "percent", "seed": 1, "n": 9}
        return [about | {"task": task, "value": float(value)} for task, value in values.items()]

    known = pandas.DataFrame(rows("small", a=50, b=60, c=70) + rows("large", b=61, c=72, d=99) + rows("majority", a=40))
    frame = frame_of(known.reindex(columns=[*FACTORS, *FIXED]), results().settings("nano", [], {}))
    for other, value, n in (("large", -1.5, 2), ("majority", 20, 3)):
        found = Paired({"metric": "accuracy"}, {"model": "small"}, {"model": other}, "task")(frame)
        assert (found.value, found.n) == (value, n)
    sides = [frame.select(model=model) for model in ("small", "large", "majority")]
    assert [[side["task"].item() for side in part] for part in by_unit(sides, "task")] == [
        ["b", "b", "a"],
        ["c", "c", "a"],
    ]


def test_what_no_number_of_a_unit_is_below():
    units = {"percent": (0, 100), "number": (-math.inf, math.inf)}
    units |= dict.fromkeys(("count", "nats", "seconds", "megabytes"), (0, math.inf))
    for unit, bounds in units.items():
        assert Metric(about="x", unit=unit, better="neither").bounds == bounds
    assert Metric(about="x", unit="nats", better="neither", range=(None, 3.0)).bounds == (-math.inf, 3)


def test_of_several_faults_the_first_is_named(tmp_path):
    """The first row that is outside, and the first name without a rate in alphabetical order."""
    path, metrics = tmp_path / "s.tsv", {**METRICS, "z": METRICS["accuracy"]}
    records, about = replace(results(), metrics=metrics), {"factors": {"model": "small"}, "unjudged": "for tests"}
    path.write_text("metric\tvalue\nz\t101\naccuracy\t102\n")
    with pytest.raises(ReprlabError, match="z is 101, outside"):
        write_results(tmp_path / "r.parquet", records.settings("nano", [Source(path=path, **about)], {}))
    names = "hgfedbcaijklmnop"
    path.write_text("name\tlearning_rate\tmetric\tvalue\n" + "".join(f"{one}\t0.1\tz\t1\n" for one in names))
    (tmp_path / "selected.json").write_text('{"best": {}}')
    with pytest.raises(ReprlabError, match="selects no learning rate for a;"):
        chosen = Source(path=path, selection=tmp_path / "selected.json", **about)
        write_results(tmp_path / "r.parquet", records.settings("nano", [chosen], {}))


def test_an_empty_cell_is_selected_where_it_is_asked_for_alone(tmp_path):
    path = tmp_path / "s.tsv"
    path.write_text("task\tmetric\tvalue\ncola\taccuracy\t10\n\taccuracy\t20\nsst2\taccuracy\t30\n")
    for wanted, values in (("cola", [10]), ("", [20]), (["", "sst2"], [20, 30])):
        one = Source(path=path, where={"task": wanted}, keys={"task": "task"}, unjudged="for tests")
        write_results(tmp_path / "r.parquet", results().settings("nano", [one], {}))
        assert read_frame(tmp_path / "r.parquet").rows["value"].tolist() == values


def test_a_value_outside_the_range_of_its_metric_is_refused(tmp_path):
    def written(value, **about):
        table = pandas.DataFrame([("accuracy", value)], columns=["metric", "value"])
        table.to_csv(tmp_path / "s.tsv", sep="\t", index=False)
        settings = results().settings("nano", [Source(path=tmp_path / "s.tsv", **about)], {})
        write_results(tmp_path / "r.parquet", settings)

    with pytest.raises(ReprlabError, match="accuracy is 101, outside its range, 0 to 100"):
        written(101.0, unjudged="for tests")
    with pytest.raises(ReprlabError, match="accuracy is -40, outside"):
        written(-40.0, unjudged="for tests")
    written(-40.0, differences=True)
    written(100.0, unjudged="for tests")
    with pytest.raises(ReprlabError, match="beside no baseline"):
        written(40.0)
