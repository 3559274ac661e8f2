"""DEPTH's tables, comparison and claims from small invented inputs."""

import json
import math
from pathlib import Path

import depth_inputs as inputs
import pytest
from reprlab.artifacts.tables import read_tsv, write_tsv
from reprlab.papers.depth.claims import claims
from reprlab.papers.depth.comparison import compare
from reprlab.papers.depth.loss_tables import diverged
from reprlab.papers.depth.published import PUBLISHED
from reprlab.papers.depth.tables import TABLES, build_table
from reprlab.reporting.claims import ABOVE_ZERO, BELOW_ZERO, NOT_TESTABLE, VERDICTS, Rule
from reprlab.reporting.intervals import Estimate
from reprlab.reporting.published import read_published
from reprlab.runtime.errors import ReprlabError

FOLDER = Path(__file__).parents[2] / "resources" / "published" / "depth"
FILES = sorted(FOLDER.glob("*.tsv"))


def build(table, layout):
    return build_table(table, layout.model_dump_json(), inputs.inputs_of(layout))


@pytest.fixture(scope="module")
def discoeval(tmp_path_factory):
    return build("discoeval", inputs.discoeval_layout(tmp_path_factory.mktemp("discoeval")))


def test_benchmark_columns_start_with_the_papers(discoeval):
    assert list(discoeval)[:8] == ["init", "model", "step", *PUBLISHED["discoeval"].values]
    assert list(discoeval)[8:12] == ["scale", "seed", "n", "steps"]
    assert list(discoeval)[-1] == "note"


def test_the_selected_learning_rate_is_shown(discoeval):
    row = discoeval.query("init == 'fs' and model == 't5' and step == 200").iloc[0]
    # 49 for the first checkpoint, 50 for the second; the selected rate adds 1.
    assert row["sp_arxiv"] == 51.0
    assert (row["n"], row["steps"], row["pretraining_tokens"]) == (80, 60, 2000)


def test_learned_needs_the_lower_end_above_the_baseline(discoeval):
    # The majority row is at 48; intervals reach 3 points down.
    verdicts = discoeval.query("init == 'fs'").set_index(["model", "step"])["learned_sp_arxiv"]
    assert verdicts["t5", 100] == "not learned"
    assert verdicts["depth", 100] == "learned"


def test_empty_columns_say_why(discoeval):
    assert discoeval["sp_wiki"].isna().all()
    assert discoeval["note"].str.contains("sp_wiki: no data at scale mini").all()


def test_table1_means_the_tasks_that_have_data(discoeval, tmp_path):
    path = tmp_path / "discoeval.tsv"
    write_tsv(path, discoeval)
    rows = build("table1", inputs.means_layout(path)).set_index("model")
    assert rows.loc["DEPTH-FS", ["sp", "dc"]].tolist() == [57.0, 57.0]
    assert rows.loc["DEPTH-FS", "learned_sp"] == "learned"
    assert "sp_wiki, sp_rocstory" in rows.loc["DEPTH-FS", "note"]


def test_losses_are_ratios_of_sums(tmp_path):
    frame = build("loss_fs", inputs.loss_layout(tmp_path))
    depth = frame.query("model == 'depth' and step == 400").iloc[0]
    assert depth["sentence_loss"] == pytest.approx(0.4)
    assert depth["mean_sentences"] == 5
    # 0.25 ln(5!)/5
    assert depth["chance_sentence_loss"] == pytest.approx(0.25 * math.log(120) / 5)
    assert (depth["sent_accuracy_shuffled"], depth["sent_accuracy_unshuffled"]) == (0.25, 0.75)
    assert depth["loss_low"] < depth["loss"] < depth["loss_high"]
    t5 = frame.query("model == 't5' and step == 400").iloc[0]
    assert t5["loss"] == t5["reconstruction_loss"]
    assert math.isnan(t5["sentence_loss"])


def test_a_table_without_runs_gives_the_reason(tmp_path):
    frame = build("int8_bug", inputs.loss_layout(tmp_path, runs=[], reason="switched off"))
    assert frame["note"].tolist() == ["switched off"]


@pytest.mark.parametrize(
    ("losses", "stopped", "expected"),
    [((6, 5, 4, 3), False, False), ((6, 3, 3.2, 3.4), False, False), ((6, 3, 5, 7), False, True), ((6, 5), True, True)],
)
def test_divergence(tmp_path, losses, stopped, expected):
    path = inputs.training(tmp_path / "metrics.tsv", losses, stopped=stopped)
    assert diverged(read_tsv(path)) is expected


def test_error_samples_are_the_same_examples_with_empty_categories(tmp_path):
    frame = build("error_sample", inputs.error_layout(tmp_path))
    assert frame.groupby("model").size().tolist() == [30, 30]
    assert set(frame.query("model == 't5'")["id"]) == set(frame.query("model == 'depth'")["id"])
    assert (frame["category"] == "").all()
    assert frame["outside_share"].unique().tolist() == [0.25]
    assert set(frame.loc[frame["prediction"] == "ab", "outside_label"]) == {"yes"}


def test_a_layout_may_only_name_inputs(tmp_path):
    layout = inputs.loss_layout(tmp_path)
    with pytest.raises(ReprlabError, match="not among the inputs"):
        build_table("loss_fs", layout.model_dump_json(), [])


def test_an_unknown_table_and_a_bad_layout_are_refused():
    with pytest.raises(ReprlabError, match="no such table"):
        build_table("table99", "{}", [])
    with pytest.raises(ReprlabError, match=r"layout of glue: \w+"):
        build_table("glue", json.dumps({"scale": "huge"}), [])


def test_every_result_table_has_a_builder():
    assert {name.removesuffix("_cells") for name in TABLES} >= set(PUBLISHED) - {
        "error_types_sp",
        "error_types_dc",
        "statements",
    }


@pytest.fixture(scope="module")
def comparison(discoeval, tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparison")
    write_tsv(folder / "discoeval.tsv", discoeval)
    return compare([folder / "discoeval.tsv"], FILES, "mini")


def test_each_printed_cell_is_compared_exactly_once(comparison):
    published = read_published(FILES, PUBLISHED)
    cells = sum(int((published[name][list(PUBLISHED[name].values)] != "").sum().sum()) for name in PUBLISHED)
    assert len(comparison) == cells == 563
    assert not comparison.duplicated(["table", "row", "column"]).any()


def test_only_the_last_checkpoint_has_a_counterpart_at_another_scale(comparison):
    filled = comparison[comparison["ours"] != ""]
    assert set(filled["row"].str.extract(r"step=(\d+)")[0]) == {"1000000", "256000"}
    assert filled["note"].str.contains("last checkpoint: step 200 here").all()
    assert filled["note"].str.contains("data: stand-in").all()


def test_empty_cells_have_reasons(comparison):
    empty = comparison[comparison["ours"] == ""]
    assert (empty["note"] != "").all()
    assert "step 2k is not trained at scale mini" in set(empty["note"])


def test_the_same_step_is_matched_at_paper_scale(discoeval, tmp_path):
    frame = discoeval.assign(step=discoeval["step"].replace({100: 2_000, 200: 1_000_000}))
    write_tsv(tmp_path / "discoeval.tsv", frame)
    rows = compare([tmp_path / "discoeval.tsv"], FILES, "paper")
    early = rows.query("row == 'Table 7: init=fs model=t5 step=2000 split=validation' and column == 'sp_arxiv'")
    assert early[["published", "ours"]].to_numpy().tolist() == [["21.0", "50.00"]]


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(1, 2, "supported"), (-2, -1, "not supported"), (-1, 1, "inconclusive"), (math.nan, 1, "inconclusive")],
)
def test_rules(low, high, verdict):
    assert Rule(low=0.0).judge(Estimate(0.0, low, high, 9)) == verdict


def test_no_difference_supports_no_direction():
    """Two models that answer alike, such as with nothing at all, have a difference of 0 and an interval of no width."""
    nothing = Estimate(0.0, 0.0, 0.0, 9)
    assert ABOVE_ZERO.judge(nothing) == BELOW_ZERO.judge(nothing) == "inconclusive"
    assert ABOVE_ZERO.describe().startswith("supported if the whole interval is above 0,")
    assert BELOW_ZERO.describe().startswith("supported if the whole interval is below 0,")


def test_who_beats_whom_is_decided_strictly(mini_claims):
    strict = {id for id, row in mini_claims.items() if row.rule in (ABOVE_ZERO.describe(), BELOW_ZERO.describe())}
    assert strict == {"L1a", "L1b", "L3", "L5", "L8a", "L8b", "L9c", "L10", "D1", "D2", "D3", "D4", "D6", "D7", "D10"}


@pytest.fixture(scope="module")
def mini_claims(tmp_path_factory):
    layout = inputs.claims_layout(tmp_path_factory.mktemp("claims"))
    return {row.id: row for row in claims(layout.model_dump_json(), inputs.inputs_of(layout))}


@pytest.mark.parametrize(
    ("id", "verdict"),
    [
        ("L1a", "supported"),
        ("L1b", "supported"),
        ("L2", "supported"),
        ("L3", "supported"),
        ("L4", "not supported"),  # 0.4 nats where chance is 0.24
        ("L5", "supported"),
        ("L6", "supported"),
        ("L7", "not supported"),
        ("L9a", "inconclusive"),  # the two runs have equal losses in every batch
        ("L10", "inconclusive"),
    ],
)
def test_claims_follow_from_the_invented_losses(mini_claims, id, verdict):
    assert mini_claims[id].verdict == verdict


def test_downstream_claims_are_reported_but_not_judged_at_mini(mini_claims):
    row = mini_claims["D3"]
    assert row.verdict == NOT_TESTABLE
    assert row.estimate == 6.0
    assert all(mini_claims[id].verdict == NOT_TESTABLE for id in mini_claims if id.startswith("D"))


def test_downstream_claims_are_judged_at_small(tmp_path):
    layout = inputs.claims_layout(tmp_path, scale="small")
    rows = {row.id: row for row in claims(layout.model_dump_json(), inputs.inputs_of(layout))}
    assert rows["D3"].verdict == "supported"
    assert "not over seeds" in rows["D3"].interval
    assert {row.verdict for row in rows.values()} <= set(VERDICTS)


def test_claims_without_runs_are_inconclusive(tmp_path):
    layout = inputs.claims_layout(tmp_path).model_copy(update={"fs": [], "sentence_weight": [], "packing_lr": []})
    rows = {row.id: row for row in claims(layout.model_dump_json(), inputs.inputs_of(layout))}
    assert rows["L3"].verdict == rows["L9a"].verdict == rows["L10"].verdict == "inconclusive"


def test_passages_of_one_sentence_have_no_chance_level(tmp_path):
    layout = inputs.claims_layout(tmp_path)
    for run in layout.fs:
        frame = read_tsv(run.evaluation)
        frame["eosen_count"] = 2 * frame["sent_count"]
        write_tsv(run.evaluation, frame)
    rows = {row.id: row for row in claims(layout.model_dump_json(), inputs.inputs_of(layout))}
    assert rows["L4"].verdict == "inconclusive"
