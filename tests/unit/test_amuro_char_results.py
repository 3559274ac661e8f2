"""Tables, claims, comparison and figures of amuro-char, from scores whose numbers are known."""

import dataclasses
import json
import math
from pathlib import Path
from types import SimpleNamespace

import pandas
import pytest
from reprlab.artifacts.tables import write_tsv
from reprlab.papers.amuro_char import about
from reprlab.papers.amuro_char.claims import claim_rows, claims
from reprlab.papers.amuro_char.comparison import compare
from reprlab.papers.amuro_char.figures import plot
from reprlab.papers.amuro_char.figures_names import CAPTIONS, FIGURES
from reprlab.papers.amuro_char.layouts import AggregateLayout, ClaimsLayout, HoursLayout, PerfLayout
from reprlab.papers.amuro_char.names import BASE, Pair
from reprlab.papers.amuro_char.plan_results import AGGREGATED, add_results, make_groups
from reprlab.papers.amuro_char.plan_runs import CellJob
from reprlab.papers.amuro_char.published import PUBLISHED
from reprlab.papers.amuro_char.tables import TABLES, build_table
from reprlab.papers.plan import Plan
from reprlab.reporting.layouts import Statistics, paths_of
from reprlab.reporting.published import read_published
from reprlab.runtime.errors import ReprlabError

from tests.unit.amuro_char_scores import GROUPS, MAJORITY, PAPER, row, score_rows, scored, write_scores

ROOT = Path(__file__).parents[2]
PRINTED = sorted((ROOT / "resources/published/amuro-char").glob("*.tsv"))
PERF = PerfLayout(scale="mini", families=["small", "other"], evals=list(PAPER.evaluations))


def aggregate(perf, groups=GROUPS, **more):
    about_golds = {"paraphrase": ["qqp", "stsb"], "statistics": Statistics(resamples=200)}
    return AggregateLayout(**{"scale": "mini", "perf": perf, "groups": groups, "shots": 4, **about_golds, **more})


def table(name, layout):
    return build_table(name, layout.model_dump_json(), list(paths_of(layout)))


def perf_of(folder, rows):
    """perf.tsv of score rows, split over two files."""
    half = len(rows) // 2
    paths = [write_scores(folder / f"{place}.tsv", part) for place, part in enumerate((rows[:half], rows[half:]))]
    write_tsv(folder / "perf.tsv", build_table("perf", PERF.model_dump_json(), paths))
    return folder / "perf.tsv"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder with all tables but the hours."""
    folder = tmp_path_factory.mktemp("results")
    layout = aggregate(perf_of(folder, score_rows()))
    for name in AGGREGATED:
        write_tsv(folder / f"{name}.tsv", table(name, layout))
    return folder


def read(results, name):
    return pandas.read_csv(results / f"{name}.tsv", sep="\t", dtype={"ckpt": str, "checkpoints": str})


def test_every_table_is_made_and_told_about():
    assert set(TABLES) == {"perf", "gpu_hours", *AGGREGATED} == set(about.TABLES)
    assert set(FIGURES) == set(CAPTIONS) and set(FIGURES.values()) <= set(TABLES)


def test_scores_without_shots_slip_into_no_table(results, tmp_path):
    pairs = (("paws", "paws"), ("mnli", "mnli_matched"), ("xsum", "xsum"), ("paws", "qqp"), ("tulu", "sciq"))
    asked = [
        row(family, ckpt, train, eval, shots=0, performance=0.99)
        for family, ckpt in (("small", "10"), ("small", "main"), ("other", "main"))
        for train, eval in pairs
    ]
    layout = aggregate(perf_of(tmp_path, [*score_rows(), *asked]))
    assert len(read(tmp_path, "perf")) == len(read(results, "perf")) + len(asked)
    for name in AGGREGATED:
        write_tsv(tmp_path / f"{name}.tsv", table(name, layout))
        assert (tmp_path / f"{name}.tsv").read_bytes() == (results / f"{name}.tsv").read_bytes(), name


def test_scores_stand_beside_their_trivial_baselines(results):
    perf = read(results, "perf").query("family == 'small' and fmt == 'default' and shots == 4 and ckpt == 'main'")
    cells = perf[~perf["method"].isin(["free", "constrained"])].set_index(["train", "eval"])
    tuned = cells.loc[("mnli", "mnli_matched")]
    assert (tuned["baseline"], tuned["baseline_value"], tuned["learned"]) == ("majority", 0.4, "learned")
    assert cells.loc[("paws", "qqp"), "learned"] == "not learned"
    text = cells.loc[("xsum", "xsum")]
    assert (text["baseline"], text["baseline_value"], text["learned"]) == ("not fine-tuned", 0.2, "learned")
    assert cells.loc[("mnli", "xsum"), "learned"] == "not learned"
    base = cells.loc[(BASE, "mnli_matched")]
    assert pandas.isna(base["learned"]) and base["baseline_value"] == 0.4
    assert base["note"] == "constant predictor: 100.0% of the predictions are 'a'"
    assert cells.loc[(BASE, "paws"), "top_share"] == 0.9
    assert (read(results, "perf")["scale"] == "mini").all()
    assert list(dict.fromkeys(read(results, "perf")["ckpt"])) == ["10", "100", "main"]


def test_table_6_counts_the_repeated_set_twice(results):
    frame = read(results, "table6_perf_diff").query("family == 'small'").set_index("ckpt")
    assert frame.index.tolist() == ["10", "100", "main"]
    assert frame["learned_in_pretrain"].tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert frame["learned_in_finetune"].tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert frame["n_learned_in_pretrain"].tolist() == [6] * 3
    assert frame["n_learned_in_pretrain_once"].tolist() == [5] * 3
    assert frame["low_learned_in_finetune"].tolist() == pytest.approx([0.1, 0.2, 0.3])


def test_mean_ratios_and_their_counts(results):
    frame = read(results, "mrc")
    whole = frame[(frame["row"] == "summary") & (frame["ckpt"] == "all") & (frame["family"] == "small")]
    whole = whole.set_index("direction")
    assert whole.loc["class->gen", "ratio"] == pytest.approx(-0.8)
    assert whole.loc["gen->class", "ratio"] == pytest.approx(0.01)
    assert whole.loc["class->gen", ["ratios", "skipped"]].tolist() == [12, 0]
    assert len(frame[frame["row"] == "ratio"]) == 2 * 4 * 4
    own = frame[(frame["row"] == "equation") & (frame["train"] == "mnli") & (frame["ckpt"] == "10")].iloc[0]
    # xsum and socialiqa (-0.8), paws (0.01), rte and gpt3nli (0.1 / 0.4).
    assert own["ratio"] == pytest.approx((-1.6 + 0.01 + 0.5) / 5) and own["ratios"] == 5


def test_zero_bases_are_skipped_and_counted(tmp_path):
    rows = score_rows()
    for one in rows:
        if (one["train"], one["eval"], one["ckpt"], one["family"]) == (BASE, "xsum", "10", "small"):
            one |= {"performance": 0.0, "low": 0.0}
    frame = table("mrc", aggregate(perf_of(tmp_path, rows)))
    found = frame[(frame["row"] == "summary") & (frame["family"] == "small") & (frame["direction"] == "class->gen")]
    found = found.set_index("ckpt")
    assert found.loc["all", ["ratios", "skipped"]].tolist() == [10, 2] and found.loc["10", "skipped"] == 2
    assert found.loc["all", "ratio"] == pytest.approx(-0.8)
    assert found.loc["all", "note"] == "2 ratios skipped: the base is zero"


def test_change_out_of_domain_as_ratio_and_as_difference(results):
    frame = read(results, "ood_change").query("family == 'small' and checkpoints == 'all'").set_index(["task", "eval"])
    assert frame.loc[("nli", "all"), ["difference", "ratio"]].tolist() == pytest.approx([0.1, 0.25])
    assert frame.loc[("paraphrase", "all"), ["difference", "ratio"]].tolist() == pytest.approx([-0.1, -1 / 6])
    assert frame.loc[("nli", "all"), "changes"] == 6 and frame.loc[("summary", "cnn"), "changes"] == 3
    assert set(read(results, "ood_change").query("family == 'other'")["checkpoints"]) == {"all", "main"}


def test_missing_golds_measure_the_share_of_no(results):
    frame = read(results, "unlabelled_gold").query("family == 'small'").set_index(["ckpt", "train", "eval"])
    one = frame.loc[("main", "paws", "qqp")]
    assert (one["labelled"], one["as_no"], one["majority"]) == (0.5, 0.9, 0.6)
    assert one["change_labelled"] == pytest.approx(-0.1) and one["change_as_no"] == pytest.approx(0)
    assert pandas.isna(frame.loc[("main", BASE, "qqp"), "change_as_no"])


def test_a_run_without_labels_shows_none(results):
    frame = table("unlabelled_gold", aggregate(results / "perf.tsv", golds_read_as_no=True))
    assert frame["labelled"].isna().all() and frame["change_labelled"].isna().all() and frame["as_no"].notna().all()


def test_prediction_methods_formats_and_demonstrations(results):
    methods = read(results, "table3_prediction_method").set_index(["dataset", "model"])
    assert set(methods.index) == {(d, m) for d in ("MNLI", "RTE", "Paws", "STS-B") for m in ("Fine-tuned", "BASE")}
    one = methods.loc[("MNLI", "Fine-tuned")]
    assert one[["free", "constrained", "tokenprob"]].tolist() == pytest.approx([0.63, 0.7, 0.7])
    assert methods.loc[("MNLI", "BASE"), "note"] == "constant predictor: 100.0% of the predictions are 'a'"
    assert methods.loc[("MNLI", "BASE"), "free"] == 0 and one["ckpt"] == "main" and one["majority"] == 0.4
    formats = read(results, "format")
    assert set(formats["eval"]) == {"mnli_matched", "xsum", "rte", "paws"}
    assert not formats.duplicated(["family", "ckpt", "train", "eval", "fmt"]).any()
    shots = read(results, "fig6_fewshot_base")
    assert set(shots["group"]) == {"improving", "flat"} and set(shots["shots"]) == {0, 2, 4}
    assert (shots["headline"] == (shots["shots"] == 4)).all()
    curves = read(results, "curves")
    assert set(curves["figure"]) == {"fig7", "fig9", "fig10", "fig11", "fig12", "fig13"}
    crossed = curves[(curves["figure"] == "fig12") & (curves["train"] != BASE)]
    assert {(one.eval, one.train) for one in crossed.itertuples()} == {
        ("xsum", "mnli"), ("socialiqa", "mnli"), ("paws", "mnli"),
        ("xsum", "paws"), ("socialiqa", "paws"), ("mnli_matched", "paws"),
    }  # fmt: skip


def test_sets_without_data_are_left_out_and_named(results, tmp_path):
    without = [name for name in PAPER.evaluations if name.startswith(("arc", "hellaswag", "openbook", "boolq"))]
    groups = make_groups(PAPER, scored(without=without))
    rows = [one for one in score_rows() if one["eval"] not in without]
    layout = aggregate(perf_of(tmp_path, rows), groups)
    frame = table("table6_perf_diff", layout)
    assert (
        frame["n_learned_in_pretrain"].tolist() == [2] * 4 and frame["n_learned_in_pretrain_once"].tolist() == [1] * 4
    )
    assert "learned_in_finetune without boolq<-tulu: not run at this scale" in frame["note"].iloc[0]
    assert "hellaswag" not in {pair.eval for pair in groups.instruction}
    assert frame["low_learned_in_pretrain_once"].isna().all(), "one value has no interval"


def test_scores_of_another_form_are_refused(tmp_path):
    first = row("small", "10", BASE, "paws")
    path = write_scores(tmp_path / "a.tsv", [first])
    again = write_scores(tmp_path / "b.tsv", [first])
    with pytest.raises(ReprlabError, match="two rows for family=small ckpt=10 train=base eval=paws"):
        build_table("perf", PERF.model_dump_json(), [path, again])
    write_scores(tmp_path / "c.tsv", [first | {"performance": 60.0}])
    with pytest.raises(ReprlabError, match="performance 60 is not in 0 to 1"):
        build_table("perf", PERF.model_dump_json(), [tmp_path / "c.tsv"])
    write_tsv(tmp_path / "d.tsv", pandas.DataFrame([first]).drop(columns="lr"))
    with pytest.raises(ReprlabError, match=r"columns are not those of scores \(lr\)"):
        build_table("perf", PERF.model_dump_json(), [tmp_path / "d.tsv"])
    with pytest.raises(ReprlabError, match="no such table"):
        build_table("nothing", "{}", [])
    with pytest.raises(ReprlabError, match="is not among the inputs"):
        build_table("mrc", aggregate(tmp_path / "perf.tsv").model_dump_json(), [])


def hours(folder):
    for job, seconds in (("x.1", 1800), ("x.2", 3600)):
        (folder / "finetune_completions").mkdir(exist_ok=True)
        write_tsv(
            folder / "finetune_completions" / f"{job}.tsv", pandas.DataFrame({"s": [seconds], "max_rss": [700.0]})
        )
    jobs = {"xsum": {"training": [f"finetune_completions/x.{n}.tsv" for n in (1, 2, 3)]}, BASE: {"evaluation": []}}
    return table("gpu_hours", HoursLayout(scale="mini", benchmarks=str(folder), jobs=jobs, device="cpu"))


def test_hours_of_the_run(tmp_path):
    frame = hours(tmp_path).set_index("train")
    assert frame.loc["xsum", "hours"] == 1.5 and frame.loc["xsum", "published_hours"] == 12
    assert frame.loc["xsum", "peak_mb"] == 700 and frame.loc["xsum", "measured"] == 2
    assert "1 jobs without a measurement" in frame.loc["xsum", "note"]
    assert frame.loc["total", "hours"] == 1.5 and frame.loc["total", "published_hours"] == 1067.1


def losses(path, last=3.0):
    rows = [
        (step, batch, 100 * (value + 0.01 * batch), 100)
        for step, value in ((10, 5.0), (200, last))
        for batch in range(9)
    ]
    write_tsv(path, pandas.DataFrame(rows, columns=["step", "batch", "loss_sum", "count"]))
    return path


def verdicts(perf, **more):
    return {found.id: found for found in claim_rows(ClaimsLayout(aggregate=aggregate(perf, **more)))}


def test_claims(results, tmp_path):
    layout = ClaimsLayout(aggregate=aggregate(results / "perf.tsv"), pretraining=losses(tmp_path / "lm.tsv"))
    rows = claims(layout.model_dump_json(), [results / "perf.tsv", tmp_path / "lm.tsv"])
    found = {one.id: one for one in rows}
    assert list(found) == [
        "A1", "A2", "A3", "A4", "A3b", "A4b", *(f"A{number}" for number in range(5, 18)), "A18", "A18b"
    ]  # fmt: skip
    known = {
        "A1": 0.3, "A2": 0, "A3": -0.8, "A4": 0.01, "A3b": -0.8, "A5": 0.05, "A6": 0.03, "A8": 0.1, "A9": -0.1,
        "A10": 0.1, "A11": -2, "A12": 0.2, "A13": 0.2,
    }  # fmt: skip
    for id, value in known.items():
        assert found[id].estimate == pytest.approx(value, abs=1e-9), id
    supported = {id for id, one in found.items() if one.verdict == "supported"}
    assert supported == {"A1", "A2", "A3", "A4", "A3b", "A4b", "A5", "A6", "A8", "A9", "A11", "A12", "A13"} | {"A7"}
    assert found["A10"].verdict == "not supported", "these models say no as often as their base"
    large = {id for id, one in found.items() if one.verdict == "not testable at this scale"}
    assert large == {"A14", "A15", "A16", "A17"}
    assert all("scale mini" in one.note for one in rows)
    assert "mnli_matched +0.300 (learned)" in found["A1"].note and "paws" in found["A1"].note
    assert "small; not learned:" in found["A3"].note and "other; not learned:" in found["A3b"].note
    assert found["A1"].high - found["A1"].estimate > 1.96 * math.sqrt(2) * 0.02, "three sets, one is chosen"


def test_fine_tuned_models_are_also_asked_as_they_were_trained(tmp_path):
    constant = [one for one in score_rows() if (one["train"], one["eval"]) != ("paws", "paws")]
    constant += [row("small", "main", "paws", "paws", performance=0.6)]
    without = verdicts(perf_of(tmp_path, constant))
    assert without["A18"].estimate is without["A18b"].estimate is None
    asked = [row("small", "main", "paws", "paws", shots=0, performance=0.98)]
    asked += [row("small", "100", "paws", "paws", shots=0, performance=1.0)]
    asked += [row("small", "main", "mnli", "mnli_matched", shots=0, performance=0.41)]
    asked += [row("small", "main", "xsum", "xsum", shots=0, performance=0.9)]
    found = verdicts(perf_of(tmp_path, [*constant, *asked]))
    told = found["A18"]
    assert told.estimate == pytest.approx(0.38) and told.verdict == "supported"
    assert told.note.endswith("paws 0.980 against 0.600 (learned), mnli_matched 0.410 against 0.400 (not learned)")
    assert told.estimate - told.low > 1.96 * 0.02, "two sets, one is chosen"
    for id, one in without.items():
        assert id == "A18" or found[id] == one, "scores without shots slip into other claims"


def test_claims_compare_checkpoints_that_have_all_sets(tmp_path):
    rows = [one for one in score_rows() if one["ckpt"] != "10" or one["train"] in (BASE, "paws")]
    found = verdicts(perf_of(tmp_path, rows))
    assert found["A12"].estimate == found["A13"].estimate == pytest.approx(0.1)
    assert found["A12"].note.endswith("checkpoint main minus 100")
    assert found["A3"].units == 8, "four pairs at two checkpoints"
    assert found["A6"].estimate == pytest.approx(0.01)


def test_claims_can_fail_and_can_lack_evidence(results, tmp_path):
    rows = score_rows()
    for one in rows:
        if one["train"] in ("mnli", "paws") and one["kind"] == "generation":
            one |= {"performance": 0.25, "low": 0.2, "high": 0.3}
        if one["train"] in ("xsum", "socialiqa") and one["eval"] in ("paws", "mnli_matched"):
            one |= {"performance": 0.05, "low": 0.0, "high": 0.1}
    found = verdicts(perf_of(tmp_path, rows))
    assert found["A3"].verdict == "not supported" and found["A3"].estimate == pytest.approx(0.25)
    assert found["A4"].verdict == "not supported"
    for one in rows:
        if one["kind"] == "generation":
            one |= {"performance": 0.0, "low": 0.0, "high": 0.0}
    nothing = verdicts(perf_of(tmp_path, rows))["A3"]
    assert nothing.note == "scale mini: 12 of 12 scores before fine-tuning are zero: no ratios"
    assert found["A11"].verdict == "inconclusive" and "published ones" in found["A11"].note
    assert verdicts(results / "perf.tsv", golds_read_as_no=True)["A9"].verdict == "inconclusive"
    nano = verdicts(results / "perf.tsv", scale="nano")
    assert {one.verdict for one in nano.values()} == {"not testable at this scale", "inconclusive"}
    assert nano["A11"].verdict == "inconclusive" and nano["A3"].estimate == pytest.approx(-0.8)


def test_figures_are_drawn_and_say_what_is_missing(results, tmp_path):
    for figure, name in FIGURES.items():
        png, svg = tmp_path / f"{figure}.png", tmp_path / f"{figure}.svg"
        plot(figure, [results / f"{name}.tsv"], PRINTED, "mini", [png, svg])
        assert png.stat().st_size > 8_000 and svg.stat().st_size > 8_000, figure
        empty = tmp_path / "empty" / f"{name}.tsv"
        if name != "table6_perf_diff":
            write_tsv(empty, read(results, name).iloc[:0])
            plot(figure, [empty], PRINTED, "mini", [png, svg])
    with pytest.raises(ReprlabError, match="no such figure"):
        plot("fig1", [], [], "mini", [tmp_path / "a.png", tmp_path / "a.svg"])
    with pytest.raises(ReprlabError, match=r"needs format\.tsv"):
        plot("fig3", [], [], "mini", [tmp_path / "a.png", tmp_path / "a.svg"])


def test_every_printed_cell_is_compared_once(results, tmp_path):
    write_tsv(tmp_path / "gpu_hours.tsv", hours(tmp_path))
    names = ("table3_prediction_method", "table6_perf_diff", "mrc")
    frame = compare([*(results / f"{name}.tsv" for name in names), tmp_path / "gpu_hours.tsv"], PRINTED, "mini")
    printed = read_published(PRINTED, PUBLISHED)
    cells = sum(int((printed[name][list(one.values)] != "").to_numpy().sum()) for name, one in PUBLISHED.items())
    assert len(frame) == cells and (frame["ours"].astype(bool) | frame["note"].astype(bool)).all()
    found = frame.set_index(["row", "column"])
    assert found.loc[("Table 6: ckpt=main", "learned_in_finetune"), "ours"] == "0.300"
    assert "no checkpoint 342000" in found.loc[("Table 6: ckpt=342000", "learned_in_finetune"), "note"]
    one = found.loc[("Table 3: dataset=MNLI model=BASE", "tokenprob")]
    assert one["ours"] == "0.400" and "scale mini; small; data: Data of mnli_matched" in one["note"]
    assert f"most frequent class {MAJORITY['nli']:.3f}" in one["note"]
    assert found.loc[("Section 4.3: quantity=mrc_class_to_gen family=olmo1b", "value"), "ours"] == "-80.0"
    other = found.loc[("Appendix G: quantity=mrc_class_to_gen family=llama3_8b", "value")]
    assert other["ours"] == "" and other["note"] == "llama3_8b is not run at scale mini"
    assert found.loc[("Table 4: activity=training", "xsum"), "ours"] == "1.500"


def test_the_plan_names_every_input():
    plan, jobs = Plan(), [CellJob("finetune_completions", "small.xsum.all", "small", "xsum")]
    runs = dataclasses.replace(scored(), paths=["scores/b.tsv", "scores/a.tsv"], pretraining="lm.tsv", jobs=jobs)
    config = SimpleNamespace(scale="mini", runtime=SimpleNamespace(device="cpu"), root=ROOT)
    add_results(plan, config, PAPER, runs)
    made = plan.jobs["tabulate_paper"]
    assert set(made) == {f"amuro-char/{name}" for name in TABLES}
    assert made["amuro-char/perf"].inputs == {"inputs": ["scores/a.tsv", "scores/b.tsv"]}
    assert all(
        job.inputs["inputs"] == ["results/amuro-char/perf.tsv"] for name, job in made.items() if "perf" not in name
    )
    assert plan.jobs["test_claims"]["amuro-char"].inputs["inputs"] == ["lm.tsv", "results/amuro-char/perf.tsv"]
    assert json.loads(made["amuro-char/gpu_hours"].settings["layout"])["jobs"] == {
        "xsum": {"training": ["finetune_completions/small.xsum.all.tsv"]}
    }
    found = plan.targets["amuro-char"]
    assert {Path(name).stem for name in found} == {*TABLES, *FIGURES, "comparison", "audit", "claims"}
    layout = json.loads(made["amuro-char/mrc"].settings["layout"])
    assert layout["paraphrase"] == ["qqp", "stsb"] and layout["shots"] == PAPER.prompts.shots


def test_layouts_survive_json():
    layout = aggregate(Path("perf.tsv"))
    assert AggregateLayout.model_validate_json(layout.model_dump_json()) == layout
    assert layout.groups.examples == [Pair("hellaswag", "tulu"), Pair("mnli_matched", "mnli")]
    assert len(json.dumps(layout.model_dump(mode="json"))) < 20_000
