"""Tables, claims, comparison and figures of amuro-char, from scores whose numbers are known."""

import dataclasses
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pandas
import pytest
from reprlab.artifacts.json_files import read_json
from reprlab.artifacts.tables import read_tsv, write_tsv
from reprlab.papers.amuro_char import about
from reprlab.papers.amuro_char.names import BASE, Pair
from reprlab.papers.amuro_char.plan import add_results, make_groups
from reprlab.papers.amuro_char.results import RESULTS
from reprlab.planning.plan import Plan
from reprlab.reporting.hours import HoursSettings
from reprlab.reporting.published import read_published
from reprlab.results.claims import claims_table
from reprlab.results.comparison import declarations
from reprlab.results.digits import write_table
from reprlab.results.drawing import draw_figure
from reprlab.results.neighbour_table import neighbour_rows
from reprlab.results.neighbours import Cell
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.compare_published import compare_published
from reprlab.stages.gather_results import gather_results
from reprlab.stages.sum_hours import sum_hours

from tests.unit.amuro_char_scores import GROUPS, PAPER, frame, row, score_rows, scored, settings_of, uneven
from tests.unit.amuro_char_scores import value as known_value

ROOT = Path(__file__).parents[2]
PRINTED = sorted((ROOT / "resources/published/amuro-char").glob("*.tsv"))


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """The frame of all scores."""
    return frame(tmp_path_factory.mktemp("known"), score_rows())


@pytest.fixture(scope="module")
def results(known):
    """All tables by name."""
    return {table.name: table.make(known) for table in RESULTS.tables}


def made(name, frame):
    return RESULTS.table(name).make(frame)


def verdicts(frame, *names):
    """The claims of these names, or all."""
    claims = [claim for claim in RESULTS.claims if not names or claim.id in names]
    table = claims_table(claims, frame, RESULTS.unjudged)
    return {row["id"]: SimpleNamespace(**row) for row in table.to_dict("records")}


def test_every_table_is_told_about(results):
    assert {*results, "gpu_hours"} == set(about.TABLES)
    assert {figure.table for figure in RESULTS.figures} <= set(results)


def test_scores_without_shots_slip_into_no_table(results, tmp_path):
    pairs = (("paws", "paws"), ("mnli", "mnli_matched"), ("xsum", "xsum"), ("paws", "qqp"), ("tulu", "sciq"))
    asked = [
        row(family, ckpt, train, eval, shots=0, performance=0.99)
        for family, ckpt in (("small", "10"), ("small", "main"), ("other", "main"))
        for train, eval in pairs
    ]
    more = frame(tmp_path, [*score_rows(), *asked])
    assert len(made("perf", more)) == len(results["perf"]) + len(asked)
    for name, table in results.items():
        assert name == "perf" or made(name, more).equals(table), name


def test_scores_stand_beside_their_trivial_baselines(results):
    perf = results["perf"].query("family == 'small' and fmt == 'default' and shots == 4 and ckpt == 'main'")
    cells = perf[~perf["method"].isin(["free", "constrained"])].set_index(["train", "eval"])
    tuned = cells.loc[("mnli", "mnli_matched")]
    assert (tuned["baseline"], tuned["baseline_value"], tuned["above_trivial"]) == ("best constant", 40, "above")
    assert tuned["margin"] == pytest.approx(30)
    assert cells.loc[("paws", "qqp"), "above_trivial"] == "not above"
    text = cells.loc[("xsum", "xsum")]
    assert text["seen"] == 3
    assert (text["baseline"], text["baseline_value"], text["above_trivial"]) == ("not fine-tuned", 20, "above")
    assert cells.loc[("mnli", "xsum"), "above_trivial"] == "not above"
    base = cells.loc[(BASE, "mnli_matched")]
    assert base["above_trivial"] == "" and base["majority"] == 40
    assert base["note"] == "constant predictor: 100.0% of the predictions are 'a'"
    assert cells.loc[(BASE, "paws"), "top_share"] == 90
    assert (results["perf"]["scale"] == "mini").all()
    assert list(dict.fromkeys(results["perf"]["ckpt"])) == ["10", "100", "main"]


def test_table_6_counts_the_repeated_set_twice(results):
    table = results["table6_perf_diff"].query("family == 'small'").set_index("ckpt")
    assert table.index.tolist() == ["10", "100", "main"]
    assert table["learned_in_pretrain"].tolist() == pytest.approx([10, 20, 30])
    assert table["learned_in_finetune"].tolist() == pytest.approx([10, 20, 30])
    assert table["n_learned_in_pretrain"].tolist() == [6] * 3
    assert table["n_learned_in_pretrain_once"].tolist() == [5] * 3
    assert table["low_learned_in_finetune"].tolist() == pytest.approx([10, 20, 30]), "seven sets, all alike"
    assert table["low_learned_in_pretrain_once"].isna().all(), "five sets, all alike: no spread to judge by"


def test_intervals_over_sets_stand_around_the_mean_that_counts_one_set_twice(tmp_path):
    rows = score_rows()
    for one in rows:
        if (one["train"], one["eval"]) == ("tulu", "sciq"):
            one["value"] += 12
    table = made("table6_perf_diff", frame(tmp_path, rows)).query("family == 'small'").set_index("ckpt")
    main = table.loc["main"]
    assert main["learned_in_pretrain"] == pytest.approx(34) and main["learned_in_pretrain_once"] == pytest.approx(32.4)
    # Five sets, of which one lies 12 points above the others: t of 4 degrees of freedom, 90 %.
    once = (main["high_learned_in_pretrain_once"] - main["low_learned_in_pretrain_once"]) / 2
    assert once == pytest.approx(2.131847 * 12 / 5, rel=1e-5)
    twice = (main["low_learned_in_pretrain"] + main["high_learned_in_pretrain"]) / 2
    assert twice == pytest.approx(34)


def test_mean_ratios_and_their_counts(results):
    table = results["mrc"]
    whole = table[(table["row"] == "summary") & (table["ckpt"] == "all") & (table["family"] == "small")]
    whole = whole.set_index("direction")
    assert whole.loc["class->gen", "ratio"] == pytest.approx(-0.8)
    assert whole.loc["gen->class", "ratio"] == pytest.approx(0.01)
    assert whole.loc["class->gen", ["ratios", "skipped"]].tolist() == [12, 0]
    assert len(table[table["row"] == "ratio"]) == 2 * 4 * 4
    own = table[(table["row"] == "equation") & (table["train"] == "mnli") & (table["ckpt"] == "10")].iloc[0]
    # xsum and socialiqa (-0.8), paws (0.01), rte and gpt3nli (0.1 / 0.4).
    assert own["ratio"] == pytest.approx((-1.6 + 0.01 + 0.5) / 5) and own["ratios"] == 5


def test_zero_bases_are_skipped_and_counted(tmp_path):
    rows = score_rows()
    for one in rows:
        if (one["train"], one["eval"], one["ckpt"], one["family"]) == (BASE, "xsum", "10", "small"):
            one |= {"value": 0.0, "low": 0.0}
    table = made("mrc", frame(tmp_path, rows))
    found = table[(table["row"] == "summary") & (table["family"] == "small") & (table["direction"] == "class->gen")]
    found = found.set_index("ckpt")
    assert found.loc["all", ["ratios", "skipped"]].tolist() == [10, 2] and found.loc["10", "skipped"] == 2
    assert found.loc["all", "ratio"] == pytest.approx(-0.8)
    assert found.loc["all", "note"] == "2 ratios skipped: the base is zero"


def test_change_out_of_domain_as_ratio_and_as_difference(results):
    table = results["ood_change"]
    mean = table.query("family == 'small' and checkpoints == 'all'").set_index(["task", "eval"])
    assert mean.loc[("nli", "all"), ["difference", "ratio"]].tolist() == pytest.approx([10, 0.25])
    assert mean.loc[("paraphrase", "all"), ["difference", "ratio"]].tolist() == pytest.approx([-10, -1 / 6])
    assert mean.loc[("nli", "all"), "changes"] == 6 and mean.loc[("summary", "cnn"), "changes"] == 3
    assert set(table.query("family == 'other'")["checkpoints"]) == {"all", "main"}


def test_missing_golds_measure_the_share_of_no(results):
    table = results["unlabelled_gold"].query("family == 'small'").set_index(["ckpt", "train", "eval"])
    one = table.loc[("main", "paws", "qqp")]
    assert (one["labelled"], one["as_no"], one["majority"]) == (50, 90, 60)
    assert one["change_labelled"] == pytest.approx(-10) and one["change_as_no"] == pytest.approx(0)
    assert pandas.isna(table.loc[("main", BASE, "qqp"), "change_as_no"])


def test_a_run_without_labels_shows_none(known):
    as_no = dataclasses.replace(known, options={**known.options, "golds_read_as_no": True})
    table = made("unlabelled_gold", as_no)
    assert table["labelled"].isna().all() and table["change_labelled"].isna().all() and table["as_no"].notna().all()


def test_prediction_methods_formats_and_demonstrations(results):
    methods = results["table3_prediction_method"].set_index(["dataset", "model"])
    assert set(methods.index) == {(d, m) for d in ("MNLI", "RTE", "Paws", "STS-B") for m in ("Fine-tuned", "BASE")}
    one = methods.loc[("MNLI", "Fine-tuned")]
    assert one[["free", "constrained", "tokenprob"]].tolist() == pytest.approx([63, 70, 70])
    assert methods.loc[("MNLI", "BASE"), "note"] == "constant predictor: 100.0% of the predictions are 'a'"
    assert methods.loc[("MNLI", "BASE"), "free"] == 0 and one["ckpt"] == "main" and one["majority"] == 40
    formats = results["format"]
    assert set(formats["eval"]) == {"mnli_matched", "xsum", "rte", "paws"}
    assert not formats.duplicated(["family", "ckpt", "train", "eval", "fmt"]).any()
    shots = results["fig6_fewshot_base"]
    assert set(shots["group"]) == {"improving", "flat"} and set(shots["shots"]) == {0, 2, 4}
    assert (shots["headline"] == (shots["shots"] == 4)).all()
    curves = results["curves"]
    assert set(curves["figure"]) == {"fig7", "fig9", "fig10", "fig11", "fig12", "fig13"}
    assert dict(zip(curves["ckpt"], curves["place"], strict=True)) == {"10": 0, "100": 1, "main": 2}
    crossed = curves[(curves["figure"] == "fig12") & (curves["train"] != BASE)]
    assert {(one.eval, one.train) for one in crossed.itertuples()} == {
        ("xsum", "mnli"), ("socialiqa", "mnli"), ("paws", "mnli"),
        ("xsum", "paws"), ("socialiqa", "paws"), ("mnli_matched", "paws"),
    }  # fmt: skip


def test_sets_without_data_are_left_out_and_named(tmp_path):
    without = [name for name in PAPER.evaluations if name.startswith(("arc", "hellaswag", "openbook", "boolq"))]
    groups = make_groups(PAPER, scored(without=without))
    rows = [one for one in score_rows() if one["eval"] not in without]
    found = frame(tmp_path, rows, without=without)
    table = made("table6_perf_diff", found)
    assert (
        table["n_learned_in_pretrain"].tolist() == [2] * 4 and table["n_learned_in_pretrain_once"].tolist() == [1] * 4
    )
    assert "learned_in_finetune without boolq<-tulu: not run at this scale" in table["note"].iloc[0]
    assert "hellaswag" not in {pair.eval for pair in groups["instruction"]}
    assert found.reason(eval="boolq", metric="accuracy") == "no data at scale mini"


def test_scores_that_cannot_be_are_refused(tmp_path):
    with pytest.raises(ReprlabError, match=r"two rows for family=small ckpt=10 train=base"):
        made("mrc", frame(tmp_path / "twice", [*score_rows(), row("small", "10", BASE, "paws", histogram="{}")]))
    with pytest.raises(ReprlabError, match="a second value of"):
        frame(tmp_path / "same", [*score_rows(), row("small", "10", BASE, "paws")])


def test_hours_of_the_run(tmp_path):
    (tmp_path / "finetune_completions").mkdir()
    for job, seconds in (("x.1", 1800), ("x.2", 3600)):
        measured = pandas.DataFrame({"s": [seconds], "max_rss": [700.0]})
        write_tsv(tmp_path / "finetune_completions" / f"{job}.tsv", measured)
    jobs = {"xsum": {"training": [f"finetune_completions/x.{n}" for n in (1, 2, 3)]}, BASE: {"evaluation": []}}
    settings = HoursSettings(scale="mini", device="cpu", jobs=jobs, published=PAPER.published_hours)
    # Only measured jobs: a job of another paper in the same folder is none of these.
    write_tsv(tmp_path / "finetune_completions" / "y.1.tsv", pandas.DataFrame({"s": [9000], "max_rss": [9000.0]}))
    sum_hours(
        settings=settings,
        benchmarks=tmp_path,
        out=tmp_path / "hours.tsv",
        inputs=[tmp_path / "finetune_completions/x.1.tsv"],
    )
    table = read_tsv(tmp_path / "hours.tsv").set_index("train")
    record = read_json(tmp_path / "hours.provenance.json")
    assert record["stage"] == "sum_hours" and record["settings"]["scale"] == "mini" and len(record["inputs"]) == 1
    assert table.loc["xsum", "hours"] == 1.5 and table.loc["xsum", "published_hours"] == 12
    assert table.loc["xsum", "peak_mb"] == 700 and table.loc["xsum", "measured"] == 2
    assert "1 jobs without a measurement" in table.loc["xsum", "note"]
    assert table.loc["total", "hours"] == 1.5 and table.loc["total", "published_hours"] == 1067.1


def losses(last=3.0):
    rows = [
        (step, batch, 100 * (value + (0.01 if step == 10 else 0.02) * batch), 100)
        for step, value in ((10, 5.0), (200, last))
        for batch in range(9)
    ]
    return pandas.DataFrame(rows, columns=["step", "batch", "loss_sum", "count"])


def test_the_numbers_of_the_claims(tmp_path):
    found = verdicts(frame(tmp_path, score_rows(), losses=losses()))
    assert list(found) == [
        "A1", "A2", "A3", "A4", "A3b", "A4b", *(f"A{number}" for number in range(5, 18)), "A18", "A18b",
        *(f"A{number}" for number in range(19, 23)),
    ]  # fmt: skip
    known = {
        "A1": 30, "A2": 0, "A3": -0.8, "A4": 0.01, "A3b": -0.8, "A5": 5, "A6": 3, "A8": 10, "A9": -10,
        "A10": 10, "A11": -1.96, "A12": 20, "A13": 20, "A14": 0,
    }  # fmt: skip
    for id, value in known.items():
        assert found[id].estimate == pytest.approx(value, abs=1e-9), id
    alike = {"A2", "A3", "A4", "A3b", "A4b", "A5", "A6", "A8", "A9", "A10"}
    assert {found[id].verdict for id in alike} == {"inconclusive"}, "units that are all alike decide nothing"
    assert all("no spread" in found[id].note for id in alike)
    assert found["A12"].verdict == found["A13"].verdict == "supported", "six sets with one sign are a direction"
    assert all("scale mini" in one.note for one in found.values() if one.id not in ("A18", "A18b"))


def test_a_constant_answer_is_no_help_where_the_untuned_model_answers_with_no_label(tmp_path):
    rows = [
        {**one, **dict.fromkeys(("value", "low", "high"), level - (one["train"] == BASE) * 30)}
        if one["kind"] == "classification" and (level := one["majority"])
        else one
        for one in score_rows()
    ]
    found = verdicts(frame(tmp_path, rows, losses=losses()), "A1")["A1"]
    assert found.estimate == pytest.approx(0) and found.verdict == "inconclusive"


def test_a_growth_below_what_needs_no_model_decides_nothing(tmp_path):
    given = frame(tmp_path, score_rows(), losses=losses())
    rows = given.rows.assign(above_trivial=given.rows["above_trivial"].replace("above", "not above"))
    found, before = (verdicts(one) for one in (replace(given, rows=rows), given))
    for id in ("A12", "A13"):
        assert (found[id].verdict, before[id].verdict) == ("inconclusive", "supported")
        assert "above what needs no model" in found[id].note


def test_the_verdicts_of_the_claims(tmp_path):
    found = verdicts(frame(tmp_path, uneven(score_rows()), losses=losses()))
    supported = {id for id, one in found.items() if one.verdict == "supported"}
    assert supported == {"A1", "A2", "A3", "A4", "A3b", "A4b", "A5", "A6", "A7", "A8", "A9", "A11", "A12", "A13"}
    assert found["A10"].verdict == "not supported", "these models say no as often as their base"
    large = {id for id, one in found.items() if one.verdict == "not testable at this scale"}
    assert large == {"A14", "A15", "A16", "A17"}
    assert (found["A3"].unit, found["A3"].units) == ("evaluation set and training set", 2)
    assert found["A12"].unit == "evaluation set" and found["A11"].unit == "batch"
    assert (
        "paws +30.0 (above the trivial)" in found["A1"].note
        and "mnli_matched +29.9 (above the trivial)" in found["A1"].note
    )
    assert "small; 54 of 105 fine-tuned" in found["A3"].note and "other; " in found["A3b"].note
    assert found["A1"].high - found["A1"].estimate > 4 * 2**0.5, "three sets, one is chosen"


def test_fine_tuned_models_are_also_asked_as_they_were_trained(tmp_path):
    constant = [one for one in score_rows() if (one["train"], one["eval"]) != ("paws", "paws")]
    constant += [row("small", "main", "paws", "paws", performance=0.6)]
    without = verdicts(frame(tmp_path / "without", constant))
    assert pandas.isna(without["A18"].estimate) and pandas.isna(without["A18b"].estimate)
    asked = [row("small", "main", "paws", "paws", shots=0, performance=0.98)]
    asked += [row("small", "100", "paws", "paws", shots=0, performance=1.0)]
    asked += [row("small", "main", "mnli", "mnli_matched", shots=0, performance=0.41)]
    asked += [row("small", "main", "xsum", "xsum", shots=0, performance=0.9)]
    found = verdicts(frame(tmp_path / "asked", [*constant, *asked]))
    told = found["A18"]
    assert told.estimate == pytest.approx(38) and told.verdict == "supported" and told.unit == "example"
    for part in (
        "one seed",
        "paws 98.0 against 60.0 (above the trivial)",
        "mnli_matched 41.0 against 40.0 (not above the trivial)",
    ):
        assert part in told.note
    assert told.estimate - told.low > 4, "two sets, one is chosen"
    for id, one in without.items():
        assert id == "A18" or repr(found[id]) == repr(one), "scores without shots slip into other claims"


def moved_rows(own=0.05, other=-0.02):
    """Scores of RE-Adapt, that much above those of the fine-tuned last checkpoint; LoRE-Adapt has a point less."""
    pairs = [(pair, own) for group in ("in_domain", "instruction") for pair in GROUPS[group]]
    pairs += [(pair, other) for listed in GROUPS["mrc"].values() for pair in listed]
    pairs = [(pair, lead + 0.002 * (place % 3 - 1)) for place, (pair, lead) in enumerate(pairs)]
    return [
        row("small", "main", pair.train, pair.eval, way=way,
            performance=known_value("main", pair.train, pair.eval) + lead - lost)
        for way, lost in (("re_adapt", 0.0), ("lore_adapt", 0.01)) for pair, lead in pairs
    ]  # fmt: skip


def test_re_adapt_stands_beside_fine_tuning_of_the_last_checkpoint(tmp_path):
    both = frame(tmp_path / "both", uneven([*score_rows(), *moved_rows()]), losses=losses())
    found = verdicts(both)
    leads = {"A19": 5, "A20": 4, "A21": -2, "A22": -3}
    for id, lead in leads.items():
        assert found[id].estimate == pytest.approx(lead, abs=0.1), id
        assert found[id].verdict == ("supported" if lead > 0 else "not supported")
    assert found["A21"].unit == "evaluation set and training set" and found["A21"].units == 4
    assert found["A19"].note.startswith("against no fine-tuning +35.0, fine-tuned +30.0")
    table = made("re_adapt", both)
    assert len(table) == 2 * (len(GROUPS["in_domain"]) + len(GROUPS["instruction"]) + 8) and set(table["family"]) == {
        "small"
    }
    one = table.set_index(["way", "eval", "train"]).loc[("re_adapt", "xsum", "mnli")]
    assert one[["base", "tuned", "moved", "lead"]].tolist() == pytest.approx([20, 4, 2, -2], abs=0.4)
    assert one[["ratio", "ratio_moved"]].tolist() == pytest.approx([-0.8, -0.9], abs=0.02)
    cells = {one.id: [Cell()] for one in RESULTS.neighbours}
    rows = {one["claim"]: one for one in neighbour_rows("amuro-char", RESULTS, both, cells, tmp_path)}
    for id, lead in leads.items():
        one = rows[id]
        assert one["neighbour_value"] - one["method_value"] == pytest.approx(one["difference"]), id
        assert one["verdict"] == ("ahead" if lead > 0 else "behind") and one["seeds"] == 1


def test_scores_of_re_adapt_slip_into_no_other_table_or_claim(tmp_path, results):
    plain, more = (frame(tmp_path / name, [*score_rows(), *rows]) for name, rows in (("a", []), ("b", moved_rows())))
    for name, table in results.items():
        assert name == "re_adapt" or made(name, more).equals(table), name
    without, beside = verdicts(plain), verdicts(more)
    for id, one in without.items():
        assert repr(beside[id]) == repr(one) or id in ("A19", "A20", "A21", "A22"), id
    assert "no ladder is fine-tuned at checkpoint 424000" in without["A19"].note


def test_claims_compare_checkpoints_that_have_all_sets(tmp_path):
    rows = [one for one in score_rows() if one["ckpt"] != "10" or one["train"] in (BASE, "paws")]
    found = verdicts(frame(tmp_path, rows))
    assert found["A12"].estimate == pytest.approx(10) and found["A13"].estimate == pytest.approx(10)
    assert "checkpoints 100 and main" in found["A12"].note
    assert found["A6"].estimate == pytest.approx(1)


def test_claims_can_fail_and_can_lack_evidence(known, tmp_path):
    rows = uneven(score_rows())
    for one in rows:
        if one["train"] in ("mnli", "paws") and one["kind"] == "generation":
            one["value"] += 21
        if one["train"] in ("xsum", "socialiqa") and one["eval"] in ("paws", "mnli_matched"):
            one["value"] *= 0.1
    found = verdicts(frame(tmp_path / "failing", rows), "A3", "A4", "A11")
    assert found["A3"].verdict == "not supported" and found["A3"].estimate == pytest.approx(0.25, abs=0.01)
    assert found["A4"].verdict == "not supported"
    for one in rows:
        if one["kind"] == "generation":
            one |= {"value": 0.0, "low": 0.0, "high": 0.0}
    nothing = verdicts(frame(tmp_path / "zero", rows), "A3")["A3"]
    assert nothing.note == "scale mini: 12 of 12 scores before fine-tuning are zero: no ratios"
    assert found["A11"].verdict == "inconclusive" and "published ones" in found["A11"].note
    as_no = dataclasses.replace(known, options={**known.options, "golds_read_as_no": True})
    assert verdicts(as_no, "A9")["A9"].note == "this run read every right answer as no"
    nano = verdicts(dataclasses.replace(known, scale="nano"))
    assert {one.verdict for one in nano.values()} == {"not testable at this scale"}
    assert nano["A3"].estimate == pytest.approx(-0.8)


def test_figures_are_drawn_and_say_what_is_missing(results, tmp_path):
    empty = frame(tmp_path / "empty", [row("small", "10", BASE, "xsum", "io")])
    for figure in RESULTS.figures:
        png, svg = tmp_path / f"{figure.name}.png", tmp_path / f"{figure.name}.svg"
        for table, says in (
            (results[figure.table], "(mini)"),
            (made(figure.table, empty), "not run at scale mini"),
        ):
            write_table(tmp_path / "table.tsv", table)
            # One as pixels: that takes the most time, and no figure has a way of its own there.
            files = [svg, png] if figure is RESULTS.figures[0] else [svg]
            draw_figure(RESULTS, figure.name, tmp_path / "table.tsv", PRINTED, "mini", files)
            assert says.lower() in svg.read_text().lower(), figure.name
            assert all(path.stat().st_size > 5_000 for path in files), figure.name
    with pytest.raises(ReprlabError, match="no such figure"):
        draw_figure(RESULTS, "fig1", tmp_path / "table.tsv", PRINTED, "mini", [png])


def test_every_printed_cell_is_compared_once(tmp_path, monkeypatch):
    settings = settings_of(tmp_path, score_rows())
    monkeypatch.chdir(tmp_path)
    inputs = sorted(settings.paths())
    with pytest.raises(ReprlabError, match="is not among the inputs"):
        gather_results(inputs=inputs[1:], settings=settings, out=tmp_path / "results.parquet")
    gather_results(inputs=inputs, settings=settings, out=tmp_path / "results.parquet")
    compare_published(
        paper="amuro-char", scale="mini", tables=[tmp_path / "results.parquet"], published=PRINTED,
        out=tmp_path / "c.tsv",
    )  # fmt: skip
    for name, stage, count in (
        ("results", "gather_results", len(inputs)),
        ("c", "compare_published", 1 + len(PRINTED)),
    ):
        record = read_json(tmp_path / f"{name}.provenance.json")
        assert record["stage"] == stage and len(record["inputs"]) == count
    table = pandas.read_csv(tmp_path / "c.tsv", sep="\t", dtype=str, keep_default_na=False)
    printed = read_published(PRINTED, declarations(RESULTS.printed))
    cells = sum(int((printed[name][list(one.values)] != "").to_numpy().sum()) for name, one in RESULTS.printed.items())
    assert len(table) == cells and (table["ours"].astype(bool) | table["note"].astype(bool)).all()
    found = table.set_index(["row", "column"])
    assert found.loc[("Table 6: ckpt=main", "learned_in_finetune"), "ours"] == "0.300"
    assert "no checkpoint 342000" in found.loc[("Table 6: ckpt=342000", "learned_in_finetune"), "note"]
    one = found.loc[("Table 3: dataset=MNLI model=BASE", "tokenprob")]
    assert one["ours"] == "0.400"
    for part in ("scale mini", "data: Data of mnli_matched", "small", "most frequent class 0.400"):
        assert part in one["note"].split("; ")
    assert found.loc[("Section 4.3: quantity=mrc_class_to_gen family=olmo1b", "value"), "ours"] == "-80.0"
    other = found.loc[("Appendix G: quantity=mrc_class_to_gen family=llama3_8b", "value")]
    assert other["ours"] == "" and other["note"] == "llama3_8b is not run at scale mini"
    assert "gpu_hours.tsv" in found.loc[("Table 4: activity=training", "xsum"), "note"]


def test_the_plan_names_every_input():
    plan, jobs = Plan(), [("finetune_completions", "small/xsum/all")]
    files = {"b.tsv": ("small", BASE, "all"), "a.tsv": ("small", "xsum", "all")}
    runs = dataclasses.replace(scored(), files=files, losses={"small": "lm.tsv"}, jobs=jobs)
    config = SimpleNamespace(scale="mini", runtime=SimpleNamespace(device="cpu"), root=ROOT)
    add_results(plan, config, PAPER, runs)
    tables = plan.jobs["tabulate_paper"]
    assert set(tables) == {f"amuro-char/{table.name}" for table in RESULTS.tables}
    base, beside = "results/shared/scored/small/base/all/scores.tsv", "results/shared/scored/baselines/amuro-char.tsv"
    assert tables["amuro-char/perf"].inputs == {"inputs": ["a.tsv", "b.tsv", beside, base]}
    assert tables["amuro-char/fig6_fewshot_base"].inputs == {"inputs": ["b.tsv"]}, "models before fine-tuning alone"
    assert plan.job("gather_results", "amuro-char").inputs["inputs"] == ["a.tsv", "b.tsv", "lm.tsv", beside, base]
    settings = json.loads(plan.job("sum_hours", "amuro-char").settings["settings"])
    assert settings["jobs"] == {"xsum": {"training": ["finetune_completions/small.xsum.all"]}}
    options = json.loads(plan.job("gather_results", "amuro-char").settings["settings"])["options"]
    assert options["unlabelled"] == ["qqp", "stsb"] and options["shots"] == PAPER.prompts.shots
    figures = {figure.name for figure in RESULTS.figures}
    further = {"comparison", "audit", "claims", "gpu_hours", "results"}
    assert {Path(name).stem for name in plan.targets["amuro-char"]} == {*about.TABLES, *figures, *further}


def test_the_groups_of_the_paper():
    assert GROUPS["examples"] == [Pair("hellaswag", "tulu"), Pair("mnli_matched", "mnli")]
    assert len(json.dumps(GROUPS)) < 20_000
