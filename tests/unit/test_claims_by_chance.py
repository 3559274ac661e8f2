"""No claim is decided by chance: none is supported by shuffled values, and values can support and refute each."""

import importlib
from collections.abc import Callable
from dataclasses import replace

import pandas
import pytest
from reprlab.results.chance import decided_by_chance
from reprlab.results.claims import Claim
from reprlab.results.contrasts import Paired
from reprlab.results.frame import Frame, frame_of
from reprlab.results.records import PaperResults
from reprlab.results.schema import FIXED, Factor, Metric
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, Rule, every_unit, mean_over_units

FACTORS = {name: Factor(about=name, kind=kind) for name, kind in (("model", "text"), ("seed", "whole"))}
RECORDS = PaperResults(FACTORS, {"f1": Metric(about="f1", unit="percent")}, [])
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
    return [one.why for one in decided_by_chance([Claim("1", "it is better", "points", rule, find)], known(), draws=40)]


def best_less_worst(frame: Frame):
    """Above 0 whatever the models are."""
    means = frame.select().groupby("model")["value"].mean()
    return mean_over_units([means.max() - means.min() - shift for shift in (0.0, 0.1, 0.2, 0.3)], "seed")


def test_claims_that_chance_decides_are_listed_with_their_reason():
    assert listed(ABOVE_ZERO, Paired({"metric": "f1"}, {"model": "large"}, {"model": "small"}, "seed")) == []
    assert any("shuffled" in why for why in listed(ABOVE_ZERO, best_less_worst))
    assert any("never supported" in why for why in listed(BELOW_ZERO, best_less_worst))
    assert any("never not supported" in why for why in listed(Rule(low=-1), lambda frame: every_unit([1.0], "model")))
    # A bound on a score can be reached and missed.
    assert (
        listed(Rule(low=20.0), lambda frame: mean_over_units(frame.select(model="large")["value"] * [1, 1], "x")) == []
    )


PAPERS = ("event_relations", "overparameterized_encoders", "prompt_tuning_encoders", "domain_adaptive_masking",
          "punctuation_restoration", "reverse_probing", "universal_features", "ssm_rerankers")  # fmt: skip


@pytest.mark.parametrize("paper", PAPERS)
def test_no_claim_of_a_paper_is_decided_by_chance(paper):
    """On the hand-made frame of its own tests."""
    module = importlib.import_module(f"tests.unit.test_{paper}_results")
    frame = getattr(module, "whole", None) or module.frame
    given = frame()
    units = [module.RESULTS.metrics[name].unit if name else "" for name in given.rows["metric"]]
    found = decided_by_chance(module.RESULTS.claims, replace(given, rows=given.rows.assign(unit=units)), draws=30)
    assert found == []
