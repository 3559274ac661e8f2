"""No claim is decided by chance: none is supported by shuffled values, and values can support and refute each."""

import importlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import depth_inputs
import numpy as np
import pandas
import pytest
from reprlab.results import chance
from reprlab.results.chance import decided_by_chance
from reprlab.results.claims import Claim
from reprlab.results.contrasts import Paired, Ratio
from reprlab.results.frame import Frame, frame_of
from reprlab.results.records import PaperResults, records_of
from reprlab.results.schema import FIXED, Factor, Metric
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, Rule, every_unit, mean_over_units

FACTORS = {name: Factor(about=name, kind=kind) for name, kind in (("model", "text"), ("seed", "whole"))}
RECORDS = PaperResults(FACTORS, {"f1": Metric(about="f1", unit="percent", better="higher")}, [])
ABOUT = {"metric": "f1", "unit": "percent"}
ROWS = [
    ABOUT | {"model": model, "seed": seed, "value": value + seed, "low": value - 4, "high": value + 5}
    for model, value in (("small", 40.0), ("large", 60.0), ("random", 10.0))
    for seed in range(2)
]  # fmt: skip


def known() -> Frame:
    rows = pandas.DataFrame(ROWS).assign(n=50).reindex(columns=[*FACTORS, *FIXED])
    return frame_of(rows, RECORDS.settings("mini", [], {}))


def listed(rule: Rule, find: Callable) -> list[str]:
    return [
        one.why for one in decided_by_chance([Claim("1", "it is better", "points", rule, find)], known(), draws=100)
    ]


def best_less_worst(frame: Frame):
    """Above 0 whatever the models are."""
    means = frame.select().groupby("model")["value"].mean()
    return mean_over_units([means.max() - means.min() - shift for shift in (0.0, 0.1, 0.2, 0.3)], "seed")


def test_claims_that_chance_decides_are_listed_with_their_reason():
    assert listed(ABOVE_ZERO, Paired({"metric": "f1"}, {"model": "large"}, {"model": "small"}, "seed")) == []
    assert any("shuffled" in why for why in listed(ABOVE_ZERO, best_less_worst))
    assert any("never supported" in why for why in listed(BELOW_ZERO, best_less_worst))
    assert any("never not supported" in why for why in listed(Rule(low=-1), lambda frame: every_unit([1.0], "model")))
    # What no values decide is not listed, and is not asked longer than it takes to see that.
    asked = []
    assert listed(ABOVE_ZERO, lambda frame: asked.append(0) or mean_over_units([1.0], "seed")) == []
    assert len(asked) == chance.SHUFFLES
    # Two conditions can be equal within narrow bounds.
    nearly = Rule(low=-0.05, high=0.05)
    assert listed(nearly, Paired({"metric": "f1"}, {"model": "large"}, {"model": "small"}, "seed")) == []
    assert any("never supported" in why for why in listed(nearly, lambda frame: best_less_worst(frame).less(-10.0)))
    # A bound on a score can be reached and missed.
    assert (
        listed(Rule(low=20.0), lambda frame: mean_over_units(frame.select(model="large")["value"] * [1, 1], "x")) == []
    )


def test_two_metrics_that_a_claim_compares_are_shuffled_together():
    """One loss is ten times the other, however its own rows are put in order; shuffled together neither is lower."""
    metrics = {name: Metric(about=name, unit="number", better="neither") for name in ("first", "second", "count")}
    records, values = PaperResults(FACTORS, metrics, []), {"first": 1.0, "second": 10.0, "count": 5.0}
    rows = [
        {"model": model, "seed": seed, "metric": name, "unit": "number", "value": value + seed / 10}
        for (name, value), model, seed in itertools.product(values.items(), ("small", "large"), range(6))
    ]
    table = pandas.DataFrame(rows).assign(n=50).reindex(columns=[*FACTORS, *FIXED])
    lower = Ratio(("first", "count"), {"model": "large"}, {"model": "large"}, ("second", "count"), units="seed")
    claims = [Claim("1", "the first is lower", "nats", BELOW_ZERO, lower)]
    assert decided_by_chance(claims, frame_of(table, records.settings("mini", [], {})), draws=100) == []


def test_that_scores_are_those_of_the_trivial_answer_can_be_found():
    """Trivial answers that differ by far between sets, each of which a model may be near to."""
    rows = [
        ABOUT | {"model": f"on {name}", "seed": 0, "value": 50.0, "baseline_value": 25.0 * name} for name in range(4)
    ]
    table = pandas.DataFrame(rows).assign(n=50).reindex(columns=[*FACTORS, *FIXED])

    def gap(frame: Frame):
        found = frame.select()
        return mean_over_units((found["value"] - found["baseline_value"]).to_numpy(), "set")

    claims = [Claim("1", "it is trivial", "points", Rule(-1, 1), gap)]
    assert decided_by_chance(claims, frame_of(table, RECORDS.settings("mini", [], {})), draws=100) == []


def test_times_are_shuffled_together_since_one_may_be_a_part_of_another():
    """A share of 1 % is below 5 % whatever the order of either time; of times in any order it is not."""
    metrics = {name: Metric(about=name, unit="seconds", better="neither") for name in ("part", "whole")}
    rows = [
        {"model": "large", "seed": seed, "metric": name, "unit": "seconds", "value": value * (1 + seed / 10)}
        for name, value in (("part", 0.1), ("whole", 10.0))
        for seed in range(6)
    ]
    table = pandas.DataFrame(rows).assign(n=50).reindex(columns=[*FACTORS, *FIXED])
    frame = frame_of(table, PaperResults(FACTORS, metrics, []).settings("mini", [], {}))

    def share(frame: Frame):
        part, whole = (frame.select(metric=name)["value"].to_numpy() for name in ("part", "whole"))
        return mean_over_units(100 * part / whole, "seed")

    assert decided_by_chance([Claim("1", "it is little", "percent", Rule(-1, 5), share)], frame, draws=100) == []


@pytest.mark.parametrize(
    ("unit", "sums"),
    [
        ("percent", [593.62, 236.74, 126.59, 336.11, 592.07, 561.96, 258.8, 103.01, 26.67, 592.28]),
        ("nats", [4759.58, 195.53, 104.55, 475.41, 2181.33, 464.14, 337.11, 85.08, 22.03, 2099.36]),
        ("number", [9073.16, 78.28, 236.9, 703.61, 3916.66, 482.27, 621.99, 275.84, 401.94, 3752.71]),
    ],
)
def test_sets_of_any_values_are_these(unit, sums):
    """Golden sums of absolute values: docs/statistics.md says how often such sets decide a claim."""
    rng, frame = np.random.default_rng(3), replace(known(), rows=known().rows.assign(unit=unit))
    drawn = [chance._scattered(frame, rng).rows for _ in sums]
    assert [float(rows["value"].abs().sum()) for rows in drawn] == pytest.approx(sums, abs=0.01)
    assert {unit == "number"} == {any((rows["value"] < 0).any() for rows in drawn)}, "a difference has either sign"
    for rows in drawn:
        assert (rows["high"] - rows["value"]).to_numpy() == pytest.approx((rows["value"] - rows["low"]).to_numpy())


def test_the_list_is_of_the_papers_of_a_folder(tmp_path, monkeypatch, capsys):
    asked = []

    def made(claims, frame, draws, twins):
        asked.append((claims, frame, draws, twins))
        return [chance.Constant("7", "why")] if frame == tmp_path / "b-c/results.parquet" else []

    monkeypatch.setattr(chance, "decided_by_chance", made)
    monkeypatch.setattr(chance, "read_frame", lambda path: path)
    monkeypatch.setattr("reprlab.results.records.records_of", lambda name: replace(RECORDS, claims=[name], twins=[]))
    (tmp_path / "a").mkdir()
    (tmp_path / "a/results.parquet").touch()
    assert chance.main([str(tmp_path)]) == 0 and capsys.readouterr().out == ""
    assert asked == [(["a"], tmp_path / "a/results.parquet", chance.DRAWS, [])]
    (tmp_path / "b-c").mkdir()
    (tmp_path / "b-c/results.parquet").touch()
    assert chance.main([str(tmp_path), "--draws", "9"]) == 1 and capsys.readouterr().out == "b-c\t7\twhy\n"
    assert asked[2] == (["b_c"], tmp_path / "b-c/results.parquet", 9, [])


PAPERS = ("amuro_char", "asr_adapters", "depth", "domain_adaptive_masking", "event_relations", "intrinsic_dimension",
          "music_video_description", "overparameterized_encoders", "prompt_tuning_encoders", "punctuation_restoration",
          "reverse_probing", "ssm_rerankers", "universal_features", "vocab_memory")  # fmt: skip


def frame_of_paper(paper: str, records: PaperResults, folder: Path) -> Frame:
    """The hand-made frame of the paper's own tests, or one of scores alone."""
    if paper == "depth":
        return depth_inputs.frame(depth_inputs.everything(folder, seeds=(1, 2)))
    if paper in ("asr_adapters", "music_video_description"):
        rows = recognised() if paper == "asr_adapters" else described()
        table = pandas.DataFrame(list(rows)).assign(split="test", low=0.0, high=1.0, n=50)
        table = table.reindex(columns=[*records.factors, *FIXED])
        return frame_of(table, records.settings("mini", [], {"model": "heard", "floor": "drawn"}))
    module = importlib.import_module(f"tests.unit.test_{paper}_results")
    if paper == "amuro_char":
        return module.frame(folder, module.uneven([*module.score_rows(), *module.moved_rows()]), losses=module.losses())
    if paper == "intrinsic_dimension":
        known = module.known.__wrapped__()
        # What is said of several models wants the areas of more than one.
        areas = known.rows[known.rows["metric"].str.startswith("auc") & (known.rows["experiment"] == "comparison")]
        return replace(known, rows=pandas.concat([known.rows, areas.assign(model="other")], ignore_index=True))
    if paper == "vocab_memory":
        return module.frame(module.all_rows(own="bert_base_uncased"))
    if paper == "universal_features":
        # The claims that take the least of several gaps want more batches than two.
        return module.whole(batches=8)
    return getattr(module, "whole", module.frame if hasattr(module, "frame") else None)()


def recognised() -> Iterator[dict]:
    about = {"model": "heard", "metric": "cer", "value": 50.0, "subset": ""}
    for language, seed in itertools.product(("es", "it"), (1, 2)):
        one = about | {"language": language, "seed": seed}
        for size, method in itertools.product((1.0, 8.0), ("ft", "ff", "conv")):
            yield one | {"part": "main", "size": size, "method": method}
        for method in ("ff", "ff_fast", "ff_bare_fast", "ff_bare_wide"):
            yield one | {"part": "ablation", "size": 8.0, "method": method}
        yield from (one | {"part": "depth", "size": 8.0, "method": "ff", "depth": depth} for depth in (2, 6))
        yield from (one | {"part": "control", "method": "conv", "model": model} for model in ("heard", "drawn"))
    for language, start in (("es", "none"), ("es", "it"), ("it", "none"), ("it", "es")):
        yield about | {"part": "transfer", "language": language, "start": start, "seed": 1}


def described() -> Iterator[dict]:
    cells = [("baseline", "1234"), ("main", "1234"), ("sanity", "1234")]
    cells += [("ablation", inputs) for inputs in ("124", "134", "14", "123", "234", "13")]
    for (section, inputs), seed, metric in itertools.product(cells, (0, 1), ("bleu4", "rouge_f1", "well_formed")):
        yield {"part": "scores", "section": section, "inputs": inputs, "seed": seed, "metric": metric, "value": 50.0}


@pytest.mark.release
@pytest.mark.parametrize("paper", PAPERS)
def test_no_claim_of_a_paper_is_decided_by_chance(paper, tmp_path):
    records = records_of(paper)
    given = frame_of_paper(paper, records, tmp_path)
    units = [records.metrics[name].unit if name else "" for name in given.rows["metric"]]
    assert (
        decided_by_chance(records.claims, replace(given, rows=given.rows.assign(unit=units)), twins=records.twins) == []
    )
