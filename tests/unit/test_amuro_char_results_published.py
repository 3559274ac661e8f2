"""The aggregator on the released values, and its properties."""

from decimal import Decimal
from pathlib import Path

import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.papers.amuro_char.aggregate import (
    all_other_pairs,
    changes,
    complete,
    group_means,
    mean_ratio,
    released_frame,
)
from reprlab.papers.amuro_char.audit import TABLES
from reprlab.papers.amuro_char.names import (
    BASE,
    CHECKPOINTS,
    CLASS_TO_GEN,
    GEN_TO_CLASS,
    Pair,
    mrc_pairs,
    table6_pairs,
)
from reprlab.reporting.audit import rounded
from reprlab.reporting.published import read_published
from reprlab.runtime.errors import ReprlabError

from tests.unit.amuro_char_scores import PAPER

MRC_PAIRS, TABLE_6 = mrc_pairs(PAPER.groups), table6_pairs(PAPER.groups)
ROOT = Path(__file__).parents[2]
PRINTED = sorted((ROOT / "resources/published/amuro-char").glob("*.tsv"))


@pytest.fixture(scope="module")
def tables():
    return read_published(PRINTED, TABLES)


@pytest.fixture(scope="module")
def released(tables):
    return released_frame(tables["released_performance"])


def test_all_cells_of_table_6(tables, released):
    means = group_means(released, TABLE_6).set_index("ckpt")
    printed = tables["table6_perf_diff"].set_index("ckpt")
    assert list(means.index) == list(printed.index) == list(CHECKPOINTS)
    cells = [(ckpt, group) for ckpt in CHECKPOINTS for group in TABLE_6]
    assert len(cells) == 16
    for ckpt, group in cells:
        assert rounded(round(means.loc[ckpt, group], 9), 3) == Decimal(printed.loc[ckpt, group]), (ckpt, group)


def test_table_6_without_the_repetition(released):
    once = list(dict.fromkeys(TABLE_6["learned_in_pretrain"]))
    means = group_means(released, {"once": once})["once"]
    known = [0.0368, 0.0407, 0.0017, 0.0087, 0.022, 0.0174, 0.0135, -0.0018]
    assert means.tolist() == pytest.approx(known, abs=6e-5)


@pytest.mark.parametrize(("direction", "known"), [(CLASS_TO_GEN, -0.61459), (GEN_TO_CLASS, 0.003052)])
def test_mean_ratios_of_change(released, direction, known):
    mean = mean_ratio(changes(released, MRC_PAIRS[direction]))
    assert mean.mean == pytest.approx(known, abs=5e-4) and (mean.n, mean.skipped) == (32, 0)


def test_one_ratio_carries_the_mean(released):
    found = changes(released, MRC_PAIRS[CLASS_TO_GEN])
    largest = found.loc[found["ratio"].idxmax()]
    assert (largest["eval"], largest["train"], largest["ckpt"]) == ("xsum", "paws", "424000")
    assert largest["ratio"] == pytest.approx(4.91, abs=0.005)
    assert mean_ratio(found.drop(index=largest.name)).mean == pytest.approx(-0.793, abs=5e-4)
    assert mean_ratio(found).median == pytest.approx(-0.985, abs=1e-3)


def test_the_groups_of_the_config_are_those_of_the_released_notebook():
    learned = [pair.eval for pair in TABLE_6["learned_in_pretrain"]]
    assert learned == ["sciq", "sciq", "hellaswag", "arc_challenge", "arc_easy", "openbookqa"]
    assert {pair.train for pair in TABLE_6["learned_in_pretrain"]} == {"tulu"}
    tuned = {"mnli_matched": "mnli", "mnli_mismatched": "mnli", "paws": "paws", "xsum": "xsum", "xlsum": "xsum"}
    assert dict(TABLE_6["learned_in_finetune"]) == {**tuned, "socialiqa": "socialiqa", "boolq": "tulu"}
    crossed = {CLASS_TO_GEN: (("xsum", "socialiqa"), ("mnli", "paws"))}
    crossed[GEN_TO_CLASS] = (("paws", "mnli_matched"), ("xsum", "socialiqa"))
    for direction, (evals, trains) in crossed.items():
        assert set(MRC_PAIRS[direction]) == {Pair(eval, train) for eval in evals for train in trains}


def test_hours_of_the_code_are_those_of_table_4(tables):
    frame = tables["table4_gpu_hours"].set_index("activity")
    for task in ("xsum", "socialiqa", "mnli", "paws"):
        hours = frame[task].astype(float)
        assert PAPER.published_hours[task]["training"] == hours["training"]
        evaluation = hours.drop(["training", "total"]).sum()
        assert PAPER.published_hours[task]["evaluation"] == pytest.approx(evaluation)
        assert hours["total"] == pytest.approx(evaluation + hours["training"], abs=0.051)


SCORES = st.floats(0, 1, allow_nan=False).map(lambda value: round(value, 4))
LADDERS = st.lists(st.lists(SCORES, min_size=3, max_size=3), min_size=1, max_size=5)


def performance(ladder):
    """Checkpoints 1, 2, ...: base and tuned scores on `e`, base on `f` with tuned equal to it."""
    rows = []
    for place, (base, tuned, other) in enumerate(ladder):
        cells = ((BASE, "e", base), ("t", "e", tuned), (BASE, "f", other), ("t", "f", other))
        rows += [("m", str(place + 1), train, eval, score) for train, eval, score in cells]
    return pandas.DataFrame(rows, columns=["family", "ckpt", "train", "eval", "performance"])


@given(LADDERS)
@settings(max_examples=60, deadline=None)
def test_base_against_itself_is_zero_and_no_ratio_is_below_minus_one(ladder):
    perf = performance(ladder)
    same = mean_ratio(changes(perf, [Pair("f", "t")]))
    zero = sum(other == 0 for _, _, other in ladder)
    assert same.n == len(ladder) - zero and same.skipped == zero
    assert same.n == 0 or same.mean == same.median == 0
    found = changes(perf, [Pair("e", "t")])
    assert (found["ratio"].dropna() >= -1).all()
    assert mean_ratio(found).skipped == sum(base == 0 for base, _, _ in ladder)


@given(LADDERS, st.floats(1e-3, 1))
@settings(max_examples=60, deadline=None)
def test_scaling_all_scores_leaves_the_ratios(ladder, factor):
    perf = performance(ladder)
    one, other = (
        mean_ratio(changes(frame, [Pair("e", "t"), Pair("f", "t")]))
        for frame in (perf, perf.assign(performance=perf["performance"] * factor))
    )
    assert (one.n, one.skipped) == (other.n, other.skipped)
    if one.n:
        assert other.mean == pytest.approx(one.mean, rel=1e-9, abs=1e-9)


@given(LADDERS)
@settings(max_examples=30, deadline=None)
def test_a_pair_that_is_given_twice_counts_twice(ladder):
    perf = performance(ladder)
    once = group_means(perf, {"g": [Pair("e", "t"), Pair("f", "t")]})
    twice = group_means(perf, {"g": [Pair("e", "t"), Pair("e", "t"), Pair("f", "t")]})
    gains = [tuned - base for base, tuned, _ in ladder]
    assert once["g"].tolist() == pytest.approx([gain / 2 for gain in gains])
    assert twice["g"].tolist() == pytest.approx([2 * gain / 3 for gain in gains])
    assert twice["n_g"].tolist() == [3] * len(ladder)


def test_checkpoints_without_all_pairs_are_left_out_of_means():
    perf = performance([[0.5, 0.6, 0.1], [0.5, 0.9, 0.3], [0.5, 0.7, 0.3]])
    lacking = perf[~((perf["ckpt"] == "2") & (perf["train"] == "t") & (perf["eval"] == "f"))]
    pairs = [Pair("e", "t"), Pair("f", "t")]
    assert complete(changes(lacking, pairs))["ckpt"].tolist() == ["1", "1", "3", "3"]
    means = group_means(lacking, {"both": pairs, "one": [Pair("e", "t")]}).set_index("ckpt")
    assert means["both"].round(9).tolist()[::2] == [0.05, 0.1] and pandas.isna(means.loc["2", "both"])
    assert means["one"].round(9).tolist() == [0.1, 0.4, 0.2]
    assert complete(changes(perf, pairs)).equals(changes(perf, pairs))


def test_checkpoints_stand_in_the_order_of_their_steps_and_main_is_last():
    perf = pandas.concat(
        [performance([[0.5, 0.6, 0.1]]).assign(ckpt=ckpt) for ckpt in ("main", "1000", "200")], ignore_index=True
    )
    assert changes(perf, [Pair("e", "t")])["ckpt"].tolist() == ["200", "1000", "main"]
    assert group_means(perf, {"g": [Pair("e", "t")]})["ckpt"].tolist() == ["200", "1000", "main"]


def test_the_own_sets_of_a_model_are_left_out_of_equation_1(released):
    pairs = all_other_pairs(released, "mnli", ["mnli_matched", "mnli_mismatched"])
    assert pairs == [Pair("xsum", "mnli"), Pair("socialiqa", "mnli")]


def test_two_scores_of_one_cell_are_refused():
    perf = performance([[0.5, 0.6, 0.1]])
    with pytest.raises(ReprlabError, match="two rows for family=m ckpt=1 train=base eval=e"):
        changes(pandas.concat([perf, perf]), [Pair("e", "t")])
