"""overparameterized-encoders at nano, one decoder: from WordNet to its table, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv
from reprlab.config.papers import NEIGHBOURS

from tests.nano import PARTS
from tests.plans import rerun_counts

SLUG = "overparameterized-encoders"
PART = PARTS[SLUG]
pytestmark = pytest.mark.reads(SLUG)
TABLE = "results/overparameterized-encoders/table1.tsv"
OTHERS = "results/overparameterized-encoders/published.tsv"
SCORED = {"evaluate_encoder": 4, "evaluate_text_baselines": 1, "tabulate_paper": 1}
TRAINED = {"train_encoder": 2, "evaluate_encoder": 2, "tabulate_paper": 1}
EDITS = {
    "training.batch_size=4": TRAINED,
    "training.adapter.rank=4": TRAINED,
    "backbones.llama_deep.steps=5": TRAINED,
    # The sample chooses the small depth, trained and untrained, and its batch is that of the measured loss.
    "sample.batches=3": {"measure_layers": 1, "train_encoder": 1, "evaluate_encoder": 2, "tabulate_paper": 1},
    "pooling=mean": {"measure_layers": 1, "train_encoder": 2, "evaluate_encoder": 4, "tabulate_paper": 1},
    "max_length=12": {
        "tokenize_triples": 2, "measure_layers": 1, "train_encoder": 2, "evaluate_encoder": 4, "tabulate_paper": 1,
    },
    "evaluation.draws=3": SCORED,
    "evaluation.tasks.wn_sts.limit=14": SCORED,
    "warm_start.learning_rate=0.001": {
        "pretrain_lm": 1, "measure_layers": 1, "train_encoder": 2, "evaluate_encoder": 4, "tabulate_paper": 1,
    },
    "backbones.qwen2.steps=5": {},
    "neighbours.echo.pooling=last": {},
    "neighbours.whitening.dimensions=3": {},
    "neighbours.pruning.alpha=2.0": {},
    "neighbours.matryoshka.weight=2.0": {},
}  # fmt: skip
# What they rerun in the table of neighbours: each its own rows, with and without training.
BESIDE = {
    "neighbours.echo.pooling=last": {"train_encoder": 1, "evaluate_encoder": 2, "tabulate_paper": 1},
    "neighbours.echo.between=' '": {
        "tokenize_triples": 1, "train_encoder": 1, "evaluate_encoder": 2, "tabulate_paper": 1,
    },
    "neighbours.echo.depths=[]": {"tabulate_paper": 1},
    "neighbours.whitening.dimensions=3": {"evaluate_encoder": 4, "tabulate_paper": 1},
    "neighbours.whitening.both_ends=false": {"evaluate_encoder": 4, "tabulate_paper": 1},
    # The map is one way's; the texts choose the block of both.
    "neighbours.pruning.alpha=2.0": {"prune_block": 1, "train_encoder": 1, "evaluate_encoder": 2, "tabulate_paper": 1},
    "neighbours.pruning.texts=30": {"prune_block": 2, "train_encoder": 2, "evaluate_encoder": 4, "tabulate_paper": 1},
    "neighbours.pruning.ways=[replace_me]": {"tabulate_paper": 1},
    "neighbours.matryoshka.weight=2.0": {"train_encoder": 1, "evaluate_encoder": 2, "tabulate_paper": 1},
    "neighbours.matryoshka.depths=[p00]": {"tabulate_paper": 1},
    # Of the one training the small depth is scored anew; untrained it is the plain encoder.
    "sample.batches=3": {
        "measure_layers": 1, "prune_block": 2, "train_encoder": 4, "evaluate_encoder": 10, "tabulate_paper": 1,
    },
    # The plain encoder has its loss beside its scores.
    "evaluation.loss_batches=3": {"evaluate_encoder": 2, "tabulate_paper": 1},
}  # fmt: skip


def test_the_table_has_every_depth_with_its_size_and_score(made):
    found = read_tsv(made.nano / TABLE).set_index("depth")
    assert list(found.index) == ["p00", "small"] and found["seeds"].eq(2).all()
    assert found.loc["p00", "layers"] == 4 and found.loc["small", "layers"] <= 2
    assert (found["pct_exact"] >= found["pct"]).all() and found["loss_untrained"].gt(0).all()
    assert found["score"].between(-100, 100).all() and set(found["scale"]) == {"nano"}


def test_encoders_of_others_stand_in_a_table_of_their_own(made):
    row, words = read_tsv(made.nano / OTHERS).to_dict("records")
    assert words["model"] == "character n-grams" and words["tasks"] == 6 and 0 < words["score"] < 100
    assert row["model"] == "minilm" and row["params_exact"] == 22713216 and row["tasks"] == 6
    assert row["score"] > read_tsv(made.nano / TABLE)["score"].max()


def test_neighbours_stand_beside_the_plain_encoder_of_their_depth(made):
    found = read_tsv(made.nano / NEIGHBOURS).query("paper == @SLUG").set_index(["claim", "measure"])
    measure = "mean score of all tasks, percent, depth"
    expected = [("O8", "small"), ("O9", "p00"), ("O9", "small"), ("O10", "small"), ("O11", "small")]
    expected += [("O12", "p00"), ("O12", "small")]
    curve = ("O12", "mean score of all tasks at all depths, percent")
    assert [*found.index] == [*((claim, f"{measure} {depth}") for claim, depth in expected), curve]
    plain = read_tsv(made.nano / TABLE).set_index("depth")["score"]
    own = [*(plain[depth] for _, depth in expected), plain.mean()]
    assert found["method_value"].tolist() == pytest.approx(own, rel=1e-4)
    assert found["difference"].tolist() == pytest.approx((found["neighbour_value"] - own).tolist(), abs=1e-3)
    assert found["verdict"].isna().all() and set(found["scale"]) == {"nano"} and found["seeds"].eq(2).all()
    more = (found["neighbour_parameters"] - found["method_parameters"]).tolist()
    assert more[0] == 0 and more[1] == more[2] > 0, "whitening has the numbers of its map beside"
    assert more[3:] == [0] * 5, "the map is in a matrix that was there, and a cut encoder is one of fewer layers"
    nested, shared = found.loc["O12", "neighbour_cpu_seconds"], found.loc["O12", "method_cpu_seconds"]
    assert nested.iloc[:2].max() < nested.iloc[2] < nested.iloc[:2].sum(), "one training has one cost"
    assert shared.iloc[2] == pytest.approx(shared.iloc[:2].sum(), rel=0.01), "each depth has its own"
    assert found["neighbour_cpu_seconds"].gt(0).all() and found["method_cpu_seconds"].gt(0).all()


@pytest.mark.parametrize("edit", BESIDE)
def test_an_edit_of_a_neighbour_reruns_its_own_rows_alone(edit):
    table = "results/overparameterized-encoders/neighbours.tsv"
    assert rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", table) == BESIDE[edit]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(edit):
    assert rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", TABLE) == EDITS[edit]
