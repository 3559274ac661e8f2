"""A pair's score is its own: whatever it is batched with, however it is padded, and where the end token pads."""

import numpy as np
import pytest
import torch
from reprlab.inference import similar_batches as batches
from reprlab.models.selective_scan import install_scans
from reprlab.retrieval import reranker as library
from reprlab.retrieval.rerank_groups import GroupBatches, mine_groups
from reprlab.retrieval.rerank_inputs import pair_inputs
from rerank_fixtures import POOLED, TEMPLATES, EndPads, Words, tiny_reranker

DECODERS = ("opt", "mamba", "mamba2")


@pytest.fixture(autouse=True)
def _scans():
    install_scans(torch.device("cpu"))


def _pairs(architecture, words):
    """Two queries, and documents of 1 to 30 words in an order that is not that of their lengths."""
    rng = np.random.default_rng(0)
    documents = {
        f"d{place:02d}": " ".join(f"w{rng.integers(30)}" for _ in range(length))
        for place, length in enumerate([7, 30, 1, 12, 12, 3, 29, 18, 5, 24])
    }
    template = TEMPLATES[POOLED[architecture]]
    inputs = pair_inputs(words, {"q0": "who", "q1": "when did it end"}, documents, template, max_length=40, max_query=8)
    return inputs, {query: dict.fromkeys(documents, 0.0) for query in ("q0", "q1")}


def _alone(model, inputs, query, document):
    """The score of one sequence without padding."""
    ids = torch.tensor([inputs.ids(query, document)])
    with torch.inference_mode():
        return model(ids, torch.ones_like(ids)).item()


def _same(found, model, inputs, run):
    expected = {query: {name: _alone(model, inputs, query, name) for name in run[query]} for query in run}
    # Further apart than what is taken for equal below.
    assert len({round(score, 4) for scores in expected.values() for score in scores.values()}) > 10, "scores differ"
    assert list(found) == list(run)
    for query, scores in found.items():
        assert scores == pytest.approx(expected[query], rel=0, abs=1e-5)


@pytest.mark.parametrize("tokens", [1, 200, 2048])
@pytest.mark.parametrize("architecture", POOLED)
def test_a_score_does_not_depend_on_its_batch(architecture, tokens, monkeypatch):
    """One pair at a time, a few, or all in one forward pass: the score of the pair alone and unpadded."""
    monkeypatch.setattr(batches, "_CPU_TOKENS", tokens)
    inputs, run = _pairs(architecture, Words())
    model = tiny_reranker(architecture)
    _same(library.rerank(model, inputs, run, 0), model, inputs, run)


class _Staying:
    """A tensor that stays where it is when it is sent to an accelerator."""

    def __init__(self, tensor):
        self.tensor = tensor

    def to(self, device):
        assert device == "cuda"
        return self.tensor


@pytest.mark.parametrize("architecture", POOLED)
def test_a_score_does_not_depend_on_its_batch_on_an_accelerator(architecture, monkeypatch):
    """There a batch has so many pairs, not tokens."""
    sizes, padded = [], library.padded

    def recorded(ids, rows, pad):
        sizes.append(len(rows))
        return tuple(map(_Staying, padded(ids, rows, pad)))

    monkeypatch.setattr(library, "padded", recorded)
    inputs, run = _pairs(architecture, Words())
    model = tiny_reranker(architecture)
    _same(library.rerank(model, inputs, run, 0, batch_size=3, device="cuda"), model, inputs, run)
    assert sizes == [3] * 6 + [2]


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("architecture", ["bert", *DECODERS])
def test_which_padding_changes_a_state(architecture, batch, side, masked):
    """The scored state of padded sequences of unlike length against that of each alone.

    Behind a causal model's text padding is never seen, masked or not. In front of it a mask hides it. A BERT sees all
    that is not masked, and counts positions from the first place, mask or not.
    """
    backbone = tiny_reranker(architecture).backbone
    generator, width = torch.Generator().manual_seed(0), 9
    # Short, because a Mamba forgets: of padding in front little is left at the end of a long text.
    lengths = [6, 4][:batch]
    texts = [torch.randint(2, 60, (length,), generator=generator) for length in lengths]
    ids, mask = torch.zeros(batch, width, dtype=torch.long), torch.zeros(batch, width, dtype=torch.long)
    with torch.inference_mode():
        for row, text in enumerate(texts):
            place = slice(0, len(text)) if side == "right" else slice(width - len(text), width)
            ids[row, place], mask[row, place] = text, 1
        states = backbone(input_ids=ids, attention_mask=mask if masked else None).last_hidden_state
        for row, text in enumerate(texts):
            alone = backbone(input_ids=text[None]).last_hidden_state[0]
            scored = 0 if architecture == "bert" else len(text) - 1
            before = 0 if side == "right" else width - len(text)
            change = (states[row, before + scored] - alone[scored]).abs().max().item()
            equal = (masked and side == "right") or (architecture != "bert" and (masked or side == "right"))
            assert change < 1e-5 if equal else change > 1e-3


@pytest.mark.parametrize("architecture", DECODERS)
def test_scores_where_the_end_token_pads(architecture):
    """Groups of unlike length: each score is that of its pair alone, though end tokens stand behind it as padding."""
    words = EndPads()
    inputs, run = _pairs(architecture, words)
    groups = mine_groups(run, {"q0": {"d02": 1}, "q1": {"d01": 1}}, 5, 0)
    batch = GroupBatches(groups, inputs, words.pad_token_id)(np.arange(2), 0)
    pairs = [(group.query, document) for group in groups for document in group.documents]
    lengths = [len(inputs.ids(*pair)) for pair in pairs]
    assert batch["attention_mask"].sum(1).tolist() == lengths and len(set(lengths)) > 5
    for row, length in enumerate(lengths):
        assert (batch["input_ids"][row, length - 1 :] == 0).all()
    model = tiny_reranker(architecture)
    with torch.inference_mode():
        scores = model(batch["input_ids"], batch["attention_mask"]).tolist()
    assert scores == pytest.approx([_alone(model, inputs, *pair) for pair in pairs], rel=0, abs=1e-5)
