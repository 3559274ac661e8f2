"""Scores of items that are drawn of all sides together: known answers, what joins instead, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from reprlab.results.contrasts import sum_over_seeds
from reprlab.results.items import difference_over_items
from reprlab.results.sources import Items
from reprlab.runtime.errors import ReprlabError
from reprlab.statistics import ABOVE_ZERO, judge

QUERIES = 60
HARD = np.random.default_rng(0).beta(0.5, 0.5, QUERIES) * 80


def side(path: Path, scores: Any, seed: int = 0, **about: Any) -> pandas.DataFrame:
    """A row of a frame, and the scores of its queries in a file."""
    scores = np.asarray(scores, dtype=float)
    names = [f"q{number}" for number in range(len(scores))]
    pandas.DataFrame({"query": names, "split": "test", "seed": seed, "mrr": scores}).to_parquet(path)
    reach = 1.96 * scores.std() / len(scores) ** 0.5
    row = {"metric": "mrr", "split": "test", "subset": "", "seed": seed, "n": len(scores), "source": "scores.tsv"}
    row |= {"value": scores.mean(), "low": scores.mean() - reach, "high": scores.mean() + reach}
    return pandas.DataFrame([row | {"items": Items(path=path, item="query").model_dump_json()} | about])


def test_what_is_hard_for_both_sides_widens_nothing(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).normal(size=QUERIES)
    sides = side(tmp_path / "one.parquet", HARD + 3 + noise), side(tmp_path / "two.parquet", HARD)
    together = sum_over_seeds(sides, (1, -1), "query")
    joined = sum_over_seeds([one.assign(items="") for one in sides], (1, -1), "query")
    assert together is not None and joined is not None
    assert together.value == pytest.approx(joined.value) == pytest.approx(3 + noise.mean())
    assert (together.n, together.unit) == (QUERIES, "query") and "may differ" in together.note
    # The queries differ by far, the differences by their noise.
    assert together.high - together.low == pytest.approx(2 * 1.96 * noise.std() / QUERIES**0.5, rel=0.1)
    assert joined.high - joined.low > 10 * (together.high - together.low)
    assert judge(together, ABOVE_ZERO).verdict == "supported" and judge(joined, ABOVE_ZERO).verdict == "inconclusive"


def test_sides_that_are_alike_differ_by_nothing(tmp_path: Path) -> None:
    sides = [side(tmp_path / f"{name}.parquet", HARD / 3) for name in ("one", "two")]
    found = sum_over_seeds(sides, (1, -1), "query")
    assert found is not None and (found.value, found.low, found.high) == (0, 0, 0)
    assert judge(found, ABOVE_ZERO).verdict == "inconclusive"


def test_two_seeds_name_both_units_and_reach_as_far_as_each(tmp_path: Path) -> None:
    first = [side(tmp_path / f"one{seed}.parquet", HARD + 2 + seed, seed) for seed in (0, 1)]
    # A side that is not trained has one seed.
    found = sum_over_seeds((pandas.concat(first), side(tmp_path / "two.parquet", HARD)), (1, -1), "query")
    assert found is not None and found.unit == "query within 2 seeds"
    assert (found.value, found.low, found.high) == pytest.approx((2.5, 2, 3))


def test_data_sets_apart_weigh_the_same(tmp_path: Path) -> None:
    """By 2 in one and by 5 in the other, whatever their numbers of queries are."""
    gains, sizes = {"a": 2.0, "b": 5.0}, {"a": QUERIES, "b": QUERIES // 3}
    sides = [
        pandas.concat(
            side(tmp_path / f"{name}{number}.parquet", HARD[: sizes[name]] + number * gain, data=name)
            for name, gain in gains.items()
        )
        for number in (1, 0)
    ]
    found = sum_over_seeds(sides, (1, -1), "query", apart="data")
    assert found is not None and found.value == pytest.approx(3.5)


def test_a_score_may_be_a_ratio_of_sums_and_a_side_a_mean_of_rows(tmp_path: Path) -> None:
    counts = pandas.DataFrame({"document": ["a", "b"], "right": [1, 3], "named": [2, 10], "split": "test"})
    found = {}
    for name, more in (("one", 0), ("two", 1), ("three", 3)):
        counts.assign(right=counts["right"] + more).to_parquet(tmp_path / f"{name}.parquet")
        items = Items(path=tmp_path / f"{name}.parquet", item="document", counts={"precision": ("right", "named")})
        about = {"metric": "precision", "split": "test", "subset": "", "value": 100 * (4 + 2 * more) / 12}
        found[name] = pandas.DataFrame([about | {"source": "", "items": items.model_dump_json()}])
    both = pandas.concat([found["two"], found["three"]])
    gap = difference_over_items((both, found["one"]), (1, -1), "document")
    assert gap is not None and gap.value == pytest.approx(100 * (6 + 10 - 2 * 4) / 24)
    # Twice the first document or twice the second.
    assert gap.low == pytest.approx(20) and gap.high == pytest.approx(100)


def test_what_is_not_of_the_same_items_joins(tmp_path: Path) -> None:
    one, two = side(tmp_path / "one.parquet", HARD), side(tmp_path / "two.parquet", HARD[:-1])
    for other in (two, one.assign(items=""), one.assign(subset="long"), one.assign(metric="ndcg")):
        assert difference_over_items((one, other), (1, -1), "query") is None
    assert difference_over_items((one,), (1,), "query") is None


def test_items_of_another_run_are_refused(tmp_path: Path) -> None:
    one = side(tmp_path / "one.parquet", HARD)
    with pytest.raises(ReprlabError, match=r"one.parquet: its 60 items make mrr .*, and scores.tsv has 1; delete both"):
        difference_over_items((one, one.assign(value=1.0)), (1, -1), "query")
    with pytest.raises(ReprlabError, match="no such file"):
        difference_over_items((one, one.assign(items='{"path": "no.parquet", "item": "x"}')), (1, -1), "query")
