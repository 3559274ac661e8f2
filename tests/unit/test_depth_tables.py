"""DEPTH's tables, comparison and claims from small invented inputs."""

import math
from dataclasses import replace
from pathlib import Path

import depth_inputs as inputs
import pytest
from reprlab.artifacts.tables import read_tsv
from reprlab.config.load import load_config
from reprlab.evaluation.prediction_sample import sample_rows
from reprlab.papers.depth.measures import diverged
from reprlab.papers.depth.names import BENCHMARKS
from reprlab.papers.depth.results import RESULTS
from reprlab.planning.paper_plans import make_plan
from reprlab.reporting.published import read_published
from reprlab.results.claims import NOT_TESTABLE, claims_table
from reprlab.results.comparison import compare, declarations
from reprlab.results.sources import GatherSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.sample_predictions import sample_predictions
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "resources/published/depth").glob("*.tsv"))
WHO_BEATS_WHOM = {"L1a", "L1b", "L3", "L5", "L8a", "L8b", "L9c", "L10", "D1", "D2", "D3", "D4", "D6", "D7", "D10"}


def table(name, frame):
    return RESULTS.table(name).make(frame.narrowed(RESULTS.table(name).where))


def claims(frame):
    return claims_table(RESULTS.claims, frame, RESULTS.unjudged).set_index("id")


@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    return inputs.frame(inputs.everything(tmp_path_factory.mktemp("depth")))


@pytest.fixture(scope="module")
def discoeval(frame):
    return table("discoeval", frame)


def test_benchmark_columns_start_with_the_papers(discoeval):
    assert list(discoeval)[:8] == ["init", "model", "step", *BENCHMARKS["discoeval"]]
    assert list(discoeval)[8:12] == ["scale", "seed", "n", "steps"]
    assert list(discoeval)[-1] == "note"


def test_the_selected_learning_rate_is_shown(discoeval):
    row = discoeval.query("init == 'fs' and model == 't5' and step == 200").iloc[0]
    # 49 for the first checkpoint, 50 for the second; the selected rate adds 1.
    assert row["sp_arxiv"] == 51.0
    assert (row["n"], row["steps"], row["pretraining_tokens"]) == (80, 60, 2000)


def test_above_needs_the_lower_end_above_the_baseline(discoeval):
    # The majority row is at 48; intervals reach 3 points down.
    verdicts = discoeval.query("init == 'fs'").set_index(["model", "step"])["above_trivial_sp_arxiv"]
    assert verdicts["t5", 100] == "not above"
    assert verdicts["depth", 100] == "above"


def test_notes_say_what_is_no_label_and_how_the_rate_was_chosen(discoeval):
    note = discoeval.query("init == 'fs' and model == 't5' and step == 200")["note"].item()
    assert "sp_arxiv: 25% of the predictions are not labels" in note
    assert "sp_arxiv: learning rate the best of 2 on these rows" in note and "dc_wiki: learning rate" not in note
    assert discoeval.query("init == 'baseline'")["note"].str.startswith("sp_wiki: no data at scale mini").all()


def test_notes_count_the_right_answers_that_training_has(frame):
    rows = frame.rows.assign(seen=frame.rows["seen"].where(frame.rows["column"] != "sp_arxiv", 7))
    noted = table("discoeval", replace(frame, rows=rows)).query("init == 'fs' and model == 't5' and step == 200")
    assert "sp_arxiv: 7 of 40 right answers occur in training" in noted["note"].item()
    assert "dc_wiki: 7" not in noted["note"].item()


def test_empty_columns_say_why(discoeval):
    assert discoeval["sp_wiki"].isna().all()
    assert discoeval["note"].str.contains("sp_wiki: no data at scale mini").all()
    assert set(discoeval["data_sp_wiki"]) == {"no data at scale mini"}


def test_seeds_that_chose_other_rates_are_judged_together(tmp_path):
    """A chosen rate says more of a row; it is not another cell."""
    entries = inputs.everything(tmp_path, seeds=(1, 2))
    (path,) = tmp_path.glob("sp_arxiv-fs-depth-2.selected.json")
    path.write_text(path.read_text().replace("0.001", "0.0001"))
    rows = inputs.frame(entries).select(column="sp_arxiv", init="fs", model="depth", step=200)
    assert rows[["seed", "lr", "value"]].to_numpy().tolist() == [[1, 0.001, 57.0], [2, 0.0001, 57.0]]
    assert set(rows["above_trivial"]) == {"above"}


def test_table1_means_the_tasks_that_have_data(frame):
    rows = table("table1", frame).set_index("model")
    assert rows.loc["DEPTH-FS", ["sp", "dc"]].tolist() == [57.0, 57.0]
    assert rows.loc["DEPTH-FS", "above_trivial_sp"] == "above"
    assert "sp_wiki, sp_rocstory" in rows.loc["DEPTH-FS", "note"]


def test_losses_are_ratios_of_sums(frame):
    losses = table("loss_fs", frame)
    depth = losses.query("model == 'depth' and step == 400").iloc[0]
    assert depth["sentence_loss"] == pytest.approx(0.4)
    assert depth["mean_sentences"] == 5
    # 0.25 ln(5!)/5
    assert depth["chance_sentence_loss"] == pytest.approx(0.25 * math.log(120) / 5)
    assert (depth["sent_accuracy_shuffled"], depth["sent_accuracy_unshuffled"]) == (25, 75)
    assert depth["loss_low"] < depth["loss"] < depth["loss_high"]
    assert (depth["n"], depth["tokens"]) == (8, 4000)
    t5 = losses.query("model == 't5' and step == 400").iloc[0]
    assert t5["loss"] == t5["reconstruction_loss"] == t5["loss_unshuffled"]
    assert math.isnan(t5["sentence_loss"]) and math.isnan(t5["loss_shuffled"])


def test_losses_are_split_by_shuffled_and_in_order(frame):
    """All of the invented sentence loss is on shuffled batches: 0.8 there, on 44 of 144 labels."""
    depth = table("loss_decomposition", frame).query("init == 'fs' and step == 400").iloc[0]
    assert (depth["sentence_loss_shuffled"], depth["sentence_loss_unshuffled"]) == pytest.approx((0.8, 0.0))
    for order, share in (("shuffled", 0.8), ("unshuffled", 0.0)):
        parts = 100 * depth[f"reconstruction_loss_{order}"] + 44 * share
        assert depth[f"loss_{order}"] == pytest.approx(parts / 144)
        assert depth[f"loss_{order}_low"] < depth[f"loss_{order}"] < depth[f"loss_{order}_high"]
    assert depth["loss"] == pytest.approx((depth["loss_shuffled"] + depth["loss_unshuffled"]) / 2)


def test_a_table_without_runs_gives_the_reason(frame):
    assert table("int8_bug", frame)["note"].tolist() == ["switched off"]


def test_scale_counts_passages(frame):
    row = table("table2_scale", frame).set_index("model").loc["DEPTH-FS"]
    assert row[["tokens", "steps", "batch", "params", "lr", "n"]].tolist() == [4000, 400, 16, 1000, 1e-3, 6400]


@pytest.mark.parametrize(
    ("losses", "stopped", "expected"),
    [((6, 5, 4, 3), False, False), ((6, 3, 3.2, 3.4), False, False), ((6, 3, 5, 7), False, True), ((6, 5), True, True)],
)
def test_divergence(tmp_path, losses, stopped, expected):
    path = inputs.training(tmp_path / "metrics.tsv", losses, stopped=stopped)
    assert diverged(read_tsv(path).rename(columns={"diverged": "stopped"})) is expected


def test_a_run_that_stopped_is_marked(tmp_path):
    entries = inputs.pretrained(tmp_path, "packing_lr", "t5", variant="x", packing="no", lr=0.01)
    inputs.training(entries[0].path, (6, 5), stopped=True)
    rows = table("packing_lr", inputs.frame(entries))
    assert rows["diverged"].tolist() == ["yes"] * 3 and rows["steps"].tolist() == [201] * 3
    assert rows["note"].tolist() == ["", "", "loss or gradient no longer finite: the run stopped"]


def test_error_samples_are_the_same_examples_with_empty_categories(tmp_path):
    rows = sample_rows(inputs.sample(tmp_path))
    assert rows.groupby("model").size().tolist() == [30, 30]
    assert set(rows.query("model == 't5'")["id"]) == set(rows.query("model == 'depth'")["id"])
    assert (rows["category"] == "").all()
    assert rows["outside_share"].unique().tolist() == [0.25]
    assert set(rows.loc[rows["prediction"] == "ab", "outside_label"]) == {"yes"}
    assert set(rows["text"]) == {"One. | Two."} and rows[["steps", "tokens"]].iloc[0].tolist() == [30, 900]


def test_a_sample_without_selection_is_refused(tmp_path):
    settings = inputs.sample(tmp_path)
    settings.models[1].selection.write_text('{"best": {}}')
    with pytest.raises(ReprlabError, match=r"depth-1\.selected\.json: selects no learning rate for step-00000200"):
        sample_predictions(settings=settings, out=tmp_path / "sample.tsv")
    assert not (tmp_path / "sample.tsv").exists()


@pytest.fixture(scope="module")
def printed():
    return read_published(FILES, declarations(RESULTS.printed))


@pytest.fixture(scope="module")
def comparison(frame, printed):
    return compare(RESULTS.own(frame), printed, RESULTS.printed)


def test_each_printed_cell_is_compared_exactly_once(comparison, printed):
    cells = sum(int((printed[name][list(one.values)] != "").sum().sum()) for name, one in RESULTS.printed.items())
    assert len(comparison) == cells == 563
    assert not comparison.duplicated(["table", "row", "column"]).any()


def test_only_the_last_checkpoint_has_a_counterpart_at_another_scale(comparison):
    filled = comparison[(comparison["ours"] != "") & (comparison["table"] == "discoeval")]
    assert set(filled["row"].str.extract(r"step=(\d+)")[0]) == {"1000000", "256000"}
    assert filled["note"].str.contains("last checkpoint: step 200 here").all()
    assert filled["note"].str.contains("data: stand-in").all()


def test_empty_cells_have_reasons(comparison):
    empty = comparison[comparison["ours"] == ""]
    assert (empty["note"] != "").all()
    assert "step 2k is not trained at scale mini" in set(empty["note"])
    last = empty[(empty["table"] == "discoeval") & empty["row"].str.contains("step=1000000 split=validation")]
    assert "no data at scale mini" in set(last.loc[last["column"] == "sp_wiki", "note"])


def test_statements_are_of_our_last_checkpoint(comparison):
    rows = comparison[comparison["table"] == "statements"]
    accuracy = rows[rows["row"].str.contains("quantity=sent_accuracy") & (rows["ours"] != "")]
    assert set(accuracy["ours"]) == {"25.00", "0.00"}  # the gain is of equal runs


def test_the_same_step_is_matched_at_paper_scale(tmp_path, printed):
    entries = [
        one.model_copy(update={"factors": {**one.factors, "step": {100: 2_000, 200: 1_000_000}[one.factors["step"]]}})
        if "step" in one.factors
        else one
        for one in inputs.everything(tmp_path)
    ]
    rows = compare(RESULTS.own(inputs.frame(entries, "paper")), printed, RESULTS.printed)
    early = rows.query("row == 'Table 7: init=fs model=t5 step=2000 split=validation' and column == 'sp_arxiv'")
    assert early[["published", "ours"]].to_numpy().tolist() == [["21.0", "50.00"]]


def test_who_beats_whom_is_decided_strictly():
    assert {one.id for one in RESULTS.claims if one.rule in (ABOVE_ZERO, BELOW_ZERO)} == WHO_BEATS_WHOM


@pytest.fixture(scope="module")
def mini_claims(frame):
    return claims(frame)


@pytest.mark.parametrize(
    ("id", "verdict"),
    [
        ("L1a", "supported"),
        ("L1b", "supported"),
        ("L2", "supported"),
        ("L3", "supported"),
        ("L4", "not supported"),  # 0.4 nats where chance is 0.24
        ("L5", "supported"),
        ("L6", "inconclusive"),  # three checkpoints
        ("L7", "not supported"),
        ("L9a", "inconclusive"),  # the two runs have equal losses in every batch
        ("L10", "inconclusive"),  # one run of each kind
    ],
)
def test_claims_follow_from_the_invented_losses(mini_claims, id, verdict):
    assert mini_claims.loc[id, "verdict"] == verdict


def test_claims_of_one_seed_say_what_they_are_over(mini_claims):
    assert mini_claims.loc[["L1a", "L6", "L10"], "unit"].tolist() == ["batch", "checkpoint", "seed"]
    assert "one seed" in mini_claims.loc["L1a", "note"] and "learning rate 0.01" in mini_claims.loc["L10", "note"]
    assert mini_claims.loc[["L5", "L7"], "estimate"].tolist() == [50.0, 25.0]


def test_accuracies_of_nothing_support_nothing(tmp_path):
    """0 hits in order and 0 shuffled, 0 with and without the weight."""

    def no_hits(rows):
        rows["sent_correct"] = 0.0

    entries = [one for one in inputs.everything(tmp_path, change=no_hits) if one.factors["experiment"] == "main"]
    for name in ("baseline", "5x"):
        entries += inputs.pretrained(tmp_path, "sentence_weight", "depth", variant=name, change=no_hits)
    rows = claims(inputs.frame(entries))
    assert rows.loc[["L5", "L9d"], "estimate"].tolist() == [0, 0]
    assert rows.loc[["L5", "L9d"], "verdict"].tolist() == ["inconclusive"] * 2
    # 0 of 160 labels: at most 2.3 % by the exact interval.
    assert rows.loc["L7", "verdict"] == "supported" and 0 < rows.loc["L7", "high"] < 5


def test_seeds_are_the_units_where_there_are_four_and_items_within_fewer(tmp_path):
    few = tmp_path / "few"
    few.mkdir()
    rows = claims(inputs.frame(inputs.everything(few, seeds=(1, 2)), "small"))
    assert rows.loc[["L1a", "D3"], "unit"].tolist() == ["batch within 2 seeds", "example within 2 seeds"]
    rows = claims(inputs.frame(inputs.everything(tmp_path, seeds=(1, 2, 3, 4)), "small"))
    assert set(rows.loc[["L1a", "L3", "L5", "L6", "L8a", "D3", "D9", "D10"], "unit"]) == {"seed"}
    assert rows.loc["D3", ["estimate", "units"]].tolist() == [7.5, 4]  # 6 to 9 points
    assert rows.loc["D3", "verdict"] == "supported" and "4 seeds" in rows.loc["D3", "note"]


def test_downstream_claims_are_reported_but_not_judged_at_mini(mini_claims):
    row = mini_claims.loc["D3"]
    assert (row["verdict"], row["estimate"]) == (NOT_TESTABLE, 6.0)
    assert set(mini_claims.loc[mini_claims.index.str.startswith("D"), "verdict"]) == {NOT_TESTABLE}


def test_downstream_claims_are_judged_at_small(tmp_path):
    rows = claims(inputs.frame(inputs.everything(tmp_path), scale="small"))
    # 3 points of either side: sqrt(9 + 9) around 6.
    assert rows.loc["D3", ["verdict", "unit"]].tolist() == ["supported", "example"]
    assert rows.loc["D3", "low"] == pytest.approx(6 - math.sqrt(18))
    assert rows.loc["D1", "verdict"] == "inconclusive"


def test_emergence_compares_two_checkpoints(tmp_path):
    entries = [
        one.model_copy(update={"factors": {**one.factors, "step": {100: 32_000, 200: 64_000}[one.factors["step"]]}})
        for one in inputs.discoeval(tmp_path)
        if "step" in one.factors
    ]
    row = claims(inputs.frame(entries, "paper")).loc["D8"]
    assert row[["estimate", "verdict", "unit"]].tolist() == [1.0, "not supported", "example"]


def test_claims_without_runs_are_inconclusive(tmp_path):
    rows = claims(inputs.frame(inputs.discoeval(tmp_path)))
    assert set(rows.loc[["L3", "L9a", "L10"], "verdict"]) == {"inconclusive"}
    assert rows.loc["L3", "note"] == "not run at scale mini"


def test_passages_of_one_sentence_have_no_chance_level(tmp_path):
    def one_sentence(rows):
        rows["eosen_count"] = 2 * rows["sent_count"]

    row = claims(inputs.frame(inputs.pretrained(tmp_path, "main", "depth", change=one_sentence))).loc["L4"]
    assert (row["verdict"], row["note"]) == ("inconclusive", "passages of one sentence have no order to know")


@pytest.mark.parametrize("scale", ["nano", "paper"])
def test_the_plan_gives_each_table_its_own_sources(scale):
    """A benchmark needs its scores and the curves of the main runs, and no validation losses."""
    plan = make_plan(load_config(ROOT, {"scale": scale, "build": ["depth"]}))
    whole = GatherSettings.model_validate_json(plan.job("gather_results", "depth").settings["settings"])
    found = {name: plan.job("tabulate_paper", f"depth/{name}").inputs["inputs"] for name in ("glue", "loss_fs")}
    assert not any("evaluated/" in path or "dc_wiki" in path for path in found["glue"])
    assert not any("finetuned/" in path or "_cpt_" in path for path in found["loss_fs"])
    assert {path for paths in found.values() for path in paths} < set(map(str, whole.paths()))
    assert whole.options["tried"]["cola"] >= 1 and whole.options["confidence"] == 0.95


def test_fine_tuning_seeds_are_told_apart():
    config = load_config(ROOT, {"scale": "nano", "set": "papers.depth.finetuning.seeds=[1, 2]"})
    settings = make_plan(config).job("gather_results", "depth").settings["settings"]
    entries = GatherSettings.model_validate_json(settings).entries
    assert {one.factors["tuning_seed"] for one in entries if "tuning_seed" in one.factors} == {1, 2}
