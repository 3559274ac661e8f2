"""Clouds of the tokens of one prompt: known answers, invariances, the order of shuffled tokens, and their rows."""

import math

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch
from finetune_fixtures import WORDS, make_tokenizer
from reprlab.artifacts.tables import read_tsv
from reprlab.models.build import build_from_config, save_model
from reprlab.papers.intrinsic_dimension.results import RESULTS
from reprlab.registry.models import ModelEntry
from reprlab.representations.token_clouds import (
    Cloud,
    TokenClouds,
    cloud_of,
    cloud_rows,
    clouds,
    mean_cosine,
    neighbour_overlap,
    order_of,
)
from reprlab.results.frame import frame_of
from reprlab.results.gather import gather_rows
from reprlab.results.sources import Source
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.measure_token_clouds import measure_token_clouds
from test_representations import LLAMA, llama

SETTINGS = {"prompts": 4, "tokens": 16, "neighbours": 3, "estimator": {"name": "two_nn", "kind": "two_nn"}}


def settings(**own):
    return TokenClouds.model_validate({**SETTINGS, **own})


def drawn(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def prompts(count=6, length=24):
    rng = np.random.default_rng(1)
    return [[1, *rng.integers(3, 64, length - place % 3).tolist()] for place in range(count)]


@pytest.mark.parametrize("k", [1, 5, 39])
def test_the_overlap_of_a_layer_with_itself_is_one(k):
    points = drawn(40, 12).float()
    assert neighbour_overlap(points, points, k) == 1.0
    # Equal points, as the embeddings of equal tokens are, change nothing in that.
    assert neighbour_overlap(points[torch.arange(40) % 7], points[torch.arange(40) % 7], k) == 1.0


def test_overlap_by_hand_and_by_chance():
    line = torch.tensor([[0.0], [1.0], [3.0], [7.0], [15.0]])
    # Nearest: 0-1, 1-0, 2-1, 3-2, 4-3; with the last point moved before the first: 0-1, 1-0, 2-1, 3-2, 4-0.
    assert neighbour_overlap(line, torch.tensor([[0.0], [1.0], [3.0], [7.0], [-2.0]]), 1) == pytest.approx(4 / 5)
    # Next to it: {1, 2}, {0, 2}, {1, 0}, {2, 1}, {3, 2} beside {1, 4}, {0, 2}, {1, 0}, {2, 1}, {0, 1}.
    assert neighbour_overlap(line, torch.tensor([[0.0], [1.0], [3.0], [7.0], [-2.0]]), 2) == pytest.approx(7 / 10)
    chance = [neighbour_overlap(drawn(60, 8, seed=2 * n), drawn(60, 8, seed=2 * n + 1), 6) for n in range(20)]
    assert np.mean(chance) == pytest.approx(6 / 59, abs=0.02)
    with pytest.raises(ReprlabError, match="5 neighbours of 5 tokens: ask for fewer, or take more tokens"):
        neighbour_overlap(line, line, 5)


def test_near_points_far_from_the_origin_are_told_apart():
    """As in hidden states with a few huge coordinates, where products lose the digits."""
    points = drawn(30, 4)
    far = torch.cat([points * 1e-5, torch.full((30, 1), 3e3, dtype=torch.float64)], 1)
    assert neighbour_overlap(points, far, 4) == 1.0
    assert neighbour_overlap(points, 1e-5 * points + 3e3, 4) == 1.0, "in float64"


def test_mean_cosine_is_that_of_all_pairs():
    points = drawn(9, 5) + 0.5
    pairs = [torch.cosine_similarity(points[one], points[other], dim=0) for one in range(9) for other in range(one)]
    assert mean_cosine(points) == pytest.approx(float(torch.stack(pairs).mean()), abs=1e-12)
    assert mean_cosine(torch.ones(4, 3)) == pytest.approx(1) and mean_cosine(torch.eye(6)) == pytest.approx(0)


def test_rotation_and_scaling_change_no_measure():
    layers = [drawn(64, 10, seed=layer) @ drawn(10, 10, seed=9 + layer) + 1 for layer in range(4)]
    turn = torch.linalg.qr(drawn(10, 10, seed=77))[0]
    wanted = settings(tokens=64, neighbours=6)
    one, other = (cloud_of(found, 2.0, wanted) for found in (layers, [3.7 * layer @ turn for layer in layers]))
    for name in ("dimension", "overlap", "cosine"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9) and len(getattr(one, name)) == 3
    assert len({*one.dimension}) == 3 and all(3 < value < 12 for value in one.dimension)
    # What is no rotation of the whole does: the measures can change.
    bent = cloud_of([layer.pow(3) for layer in layers], 2.0, wanted)
    assert bent.dimension != pytest.approx(one.dimension, rel=1e-3) and bent.cosine != pytest.approx(
        one.cosine, rel=0.01
    )


def test_shuffled_tokens_are_those_of_the_prompt():
    ids, wanted = [1, *range(10, 40)], settings()
    assert order_of(ids, "written", wanted, 0, 1) == ids[:16]
    found = [order_of(ids, "shuffled", settings(seed=seed), number, 1) for seed, number in ((0, 0), (0, 1), (1, 0))]
    for one in found:
        assert sorted(one) == ids[:16] and one[0] == 1 and one != ids[:16]
    assert len({*map(tuple, found)}) == 3 and order_of(ids, "shuffled", wanted, 0, 1) == found[0]
    assert order_of(ids, "shuffled", wanted, 0, 16) == ids[:16], "what the tokenizer put there stays"


@pytest.mark.usefixtures("one_thread")
def test_clouds_are_of_the_states_and_the_loss_of_the_model():
    model, wanted, given = llama(), settings(), prompts()
    found = clouds(model, given, wanted, fixed=1)
    assert [len(found[tokens]) for tokens in ("written", "shuffled")] == [4, 4]
    for number, ids in enumerate(given[:4]):
        for tokens, known in found.items():
            row = torch.tensor([order_of(ids, tokens, wanted, number, 1)])
            with torch.no_grad():
                output = model(input_ids=row, output_hidden_states=True, labels=row)
            assert known[number].loss == pytest.approx(float(output.loss), abs=1e-6)
            assert known[number] == cloud_of([layer[0] for layer in output.hidden_states], known[number].loss, wanted)
    alone = clouds(model, given, settings(prompts=1), fixed=1)
    assert alone == {tokens: known[:1] for tokens, known in found.items()}, "a prompt does not depend on the others"
    short = [given[0][:9], *given]
    assert clouds(model, short, wanted, fixed=1) == found, "what is too short is left out"
    with pytest.raises(ReprlabError, match="tokens: 99, but the longest prompt has 25; lower it"):
        clouds(model, given, settings(tokens=99), fixed=1)
    with torch.no_grad():
        model.model.norm.weight[3] = math.inf
    with pytest.raises(ReprlabError, match="not finite"):
        clouds(model, given, wanted, fixed=1)


@pytest.mark.usefixtures("one_thread")
def test_every_setting_moves_what_is_measured():
    model, given = llama(), prompts()

    def made(**own):
        known = settings(**own)
        found = clouds(model.to(getattr(torch, known.dtype)), given, known, fixed=1)
        return str([row for tokens, measured in found.items() for row in cloud_rows(tokens, measured)])

    base = made()
    changes = {
        "prompts": 3, "tokens": 12, "neighbours": 2, "estimator": {"name": "two_nn_ml", "kind": "two_nn_ml"}, "seed": 1,
        "dtype": "bfloat16",
    }  # fmt: skip
    assert {*changes} == {*TokenClouds.model_fields}
    for name, value in changes.items():
        assert made(**{name: value}) != base, name
    assert str(settings()) == str(settings(dtype="float32"))


def test_rows_are_means_by_layer_and_the_rank_correlation_over_prompts():
    found = [Cloud([2.0 + n, 3.0, 4.0 + n], [1.0, 0.5, 0.25], [0.1 * n, 0.2, 0.3], loss=5 + n**2) for n in range(7)]
    rows = list(cloud_rows("written", found))
    by = {(row["metric"], None if math.isnan(row["layer"]) else row["layer"]): row for row in rows}
    assert len(rows) == 3 * 3 + 2 == len(by) and all(row["n"] == 7 and row["tokens_are"] == "written" for row in rows)
    assert by["token_dimension", 1]["value"] == pytest.approx(5) and by["token_overlap", 3]["value"] == 0.25
    assert by["token_cosine", 1]["value"] == pytest.approx(0.3) and by["token_loss", None]["value"] == pytest.approx(18)
    rank = by["dimension_and_loss", None]
    assert rank["value"] == pytest.approx(1) and 0 < rank["low"] < rank["high"]
    turned = [Cloud(one.dimension, one.overlap, one.cosine, -one.loss) for one in found]
    assert [*cloud_rows("written", turned)][-1]["value"] == pytest.approx(-1)


def test_the_stage_writes_the_rows_of_both_orders(tmp_path):
    vocabulary = make_tokenizer(tmp_path / "model")
    config = {**LLAMA, "vocab_size": vocabulary.padded_size}
    entry = ModelEntry(architecture="llama", config=config, source="x", tie_output=True, origin={"kind": "scratch"})
    save_model(build_from_config(entry, vocabulary.padded_size, seed=0), tmp_path / "model")
    words = [word for word in WORDS if word.isalpha()]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 30)) for _ in range(7)]
    pyarrow.parquet.write_table(pyarrow.table({"prompt": texts}), tmp_path / "prompts.parquet")
    given = {"model": tmp_path / "model", "tokenizer": tmp_path / "model", "prompts": tmp_path / "prompts.parquet"}
    for name in ("one", "two"):
        measure_token_clouds(**given, out=tmp_path / f"{name}.tsv", settings=settings(prompts=6))
    assert (tmp_path / "one.tsv").read_bytes() == (tmp_path / "two.tsv").read_bytes()
    rows = read_tsv(tmp_path / "one.tsv")
    assert rows.groupby("tokens_are").size().to_dict() == {"written": 11, "shuffled": 11} and set(rows["n"]) == {6}
    assert rows["value"].notna().all() and set(rows["layer"].dropna()) == {1, 2, 3}
    source = Source(
        path=tmp_path / "one.tsv",
        factors={"experiment": "tokens", "model": "small", "dataset": "sst2", "condition": "icl_5", "k": 5},
        keys={"tokens_are": "tokens_are", "layer": "layer"},
        data="Texts",
    )
    known = frame_of(gather_rows(RESULTS.settings("mini", [source], {})), RESULTS.settings("mini", [source], {}))
    table = RESULTS.table("token_geometry").make(known)
    assert len(table) == 22 and table["low"].notna().all() and set(table["tokens_are"]) == {"written", "shuffled"}
