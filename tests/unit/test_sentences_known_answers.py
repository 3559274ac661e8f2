"""Tasks of sentence encoders whose score is known: an encoder that spells, and a split in which it lies."""

from pathlib import Path

import numpy as np
import pytest
import torch
from reprlab.data.schema import write_rows
from reprlab.models.build import build_from_config
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.encoder import add_low_rank, build_encoder, embed
from reprlab.sentences.evaluation import score_task
from reprlab.sentences.held_out import LikenessPairs
from reprlab.sentences.settings import EmbeddingTask, EncoderSettings, LowRank, TaskScores
from reprlab.sentences.texts import EncodedTexts
from reprlab.training.finetuning_encoding import Ragged

SCORES = TaskScores(tasks=[EmbeddingTask(name="t", category="sts")], seeds=[0], draws=3, per_label=2, resamples=20)
ENTRY = ModelEntry(
    architecture="llama",
    config={"vocab_size": 30, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2,
            "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 32, "pad_token_id": 0},
    source="ours", tie_output=True, origin={"kind": "scratch"},
)  # fmt: skip


def spelled(texts, instruction):
    """Counts of letters: texts of the same letters are the same, whatever their order."""
    return np.array([[text.count(letter) for letter in "abcdefgh"] for text in texts], dtype=np.float32) + 1e-3


def written(folder: Path, kind: str, splits: dict[str, list[dict]]) -> Path:
    rows = [
        {"id": f"{split}{n}", "group": f"{split}{n}", "split": split, **row}
        for split, some in splits.items()
        for n, row in enumerate(some)
    ]
    write_rows(folder / f"{kind}.parquet", rows, kind, {"name": "s", "title": "S"})
    return folder / f"{kind}.parquet"


def scored(path: Path, category: str, encode=spelled, seed: int = 0, **more) -> dict:
    return score_task(
        path, EmbeddingTask.model_validate({"name": "t", "category": category, **more}), encode, SCORES, seed
    )


def test_likeness_is_the_order_of_cosines_of_the_split(tmp_path):
    right = [{"text_a": "aaaa", "text_b": "a" * n + "b" * (4 - n), "score": float(n)} for n in range(5)]
    wrong = [row | {"score": -row["score"]} for row in right]
    path = written(tmp_path, "similarity", {"train": wrong, "validation": wrong[:3], "test": right})
    found = {split: scored(path, "sts", split=split) for split in ("train", "validation", "test")}
    assert [found[split]["value"] for split in found] == pytest.approx([-100, -100, 100])
    assert [found[split]["n"] for split in found] == [5, 3, 5] and found["test"]["split"] == "test"
    assert scored(path, "sts", limit=3)["n"] == 3
    swapped = [*right[:3], right[4] | {"score": 3.0}, right[3] | {"score": 4.0}]
    path = written(tmp_path, "similarity", {"test": swapped})
    assert scored(path, "sts")["value"] == pytest.approx(90)


def test_pairs_that_belong_together_are_the_nearer_ones(tmp_path):
    rows = [("ab", "ba", "same"), ("aab", "aba", "same"), ("ab", "cd", "other"), ("abc", "abd", "other")]
    rows = [{"text_a": one, "text_b": two, "label": label, "subset": ""} for one, two, label in rows]
    path = written(tmp_path, "pair", {"test": rows})
    assert scored(path, "pair_classification")["value"] == pytest.approx(100)
    # Those of the other label come last: at ranks 3 and 4.
    assert scored(path, "pair_classification", same="other")["value"] == pytest.approx(100 * (1 / 3 + 2 / 4) / 2)
    with pytest.raises(ReprlabError, match="every pair has the label 'same'"):
        scored(written(tmp_path, "pair", {"test": rows[:2]}), "pair_classification")
    with pytest.raises(ReprlabError, match="every pair has the label"):
        scored(written(tmp_path, "pair", {"test": rows[:2]}), "pair_classification", same="x")


def test_passages_of_the_collection_compete_and_instructions_go_to_their_side(tmp_path):
    def row(query, text, passage, words, grade):
        return {"query_id": query, "query": text, "passage_id": passage, "passage": words, "relevance": grade}

    rows = [row("1", "ab", "p1", "ba", 1), row("2", "cd", "p2", "cddd", 1), row("2", "cd", "p3", "gh", 0)]
    path = written(tmp_path, "ranking", {"test": rows, "train": [row("", "", "far", "cd", 0)]})
    # The passage that nobody judged is nearer to the second query than its own.
    found = scored(path, "retrieval")
    assert found["value"] == pytest.approx(100 * (1 + 1 / np.log2(3)) / 2) and found["n"] == 2
    assert scored(path, "retrieval", passages=3)["value"] == pytest.approx(100)
    asked = []

    def noted(texts, instruction):
        asked.append((sorted(texts), instruction))
        return spelled(texts, instruction)

    scored(path, "retrieval", noted, instruction="Q", passage_instruction="P")
    assert asked == [(["ab", "cd"], "Q"), (["ba", "cd", "cddd", "gh"], "P")]
    several = written(tmp_path, "ranking", {"test": [*rows, row("3", "e", "p4", "f", 0)]})
    assert scored(several, "reranking")["value"] == pytest.approx(100) and scored(several, "reranking")["n"] == 2
    upset = written(
        tmp_path, "ranking", {"test": [rows[0], row("2", "cd", "p2", "gh", 1), row("2", "cd", "p3", "cd", 0)]}
    )
    assert scored(upset, "reranking")["value"] == pytest.approx(75)


def test_the_right_choice_is_the_nearest(tmp_path):
    rows = [
        {"context": "", "question": "ab", "choices": ["ba", "cd", "ef"], "answer": 0},
        {"context": "", "question": "cd", "choices": ["dc", "cddd", "ef"], "answer": 1},
        {"context": "", "question": "ef", "choices": ["ab", "fe"], "answer": 1},
    ]
    found = scored(written(tmp_path, "choice", {"test": rows}), "reranking")
    assert found["value"] == pytest.approx(100 * (1 + 1 / 2 + 1) / 3) and found["n"] == 3


def test_labels_are_learnt_from_training_texts_alone(tmp_path):
    """In the training split letters stand for labels; in the validation split for the other ones."""
    right = [
        {"text": "a" * (1 + n % 4) if n % 2 else "b" * (1 + n % 4), "label": str(n % 2), "subset": ""}
        for n in range(12)
    ]
    wrong = [row | {"label": str(1 - int(row["label"]))} for row in right]
    path = written(tmp_path, "single", {"train": right, "validation": wrong, "test": right[:5]})
    found = scored(path, "classification")
    assert found["value"] == pytest.approx(100) and found["majority"] == pytest.approx(60)
    assert scored(path, "classification", split="validation")["value"] == pytest.approx(0)
    grouped = scored(path, "clustering", split="train")
    assert grouped["value"] == pytest.approx(100) and grouped["n"] == 3
    parts = [row | {"subset": "one" if n < 6 else "two"} for n, row in enumerate(right)]
    assert scored(written(tmp_path, "single", {"test": parts}), "clustering")["n"] == 2
    with pytest.raises(ReprlabError, match="no training example"):
        scored(written(tmp_path, "single", {"test": right}), "classification")


TEXTS = [[3, 4, 5], [6, 7, 8, 9, 10, 11], [12], [13, 14], [15, 16, 17, 18]]


@pytest.mark.parametrize("method", ["lora", "prompt", "prefix", "full"])
def test_vectors_are_those_of_each_text_alone_and_of_the_seed(method):
    more = (
        {"adapter": {"rank": 2, "alpha": 4, "targets": ["q_proj", "v_proj"], "dropout": 0.5}}
        if method == "lora"
        else {}
    )
    more |= {"vectors": 2} if method in ("prompt", "prefix") else {}
    settings = EncoderSettings.model_validate({"method": method, "pooling": "mean", **more})

    def built(seed):
        torch.manual_seed(9)
        found = build_encoder(build_from_config(ENTRY, seed=0).train(), settings, seed)
        with torch.no_grad():
            for name, one in found.named_parameters():
                if "lora_B" in name:
                    one.normal_()
        return found.train()

    def vectors(encoder, texts):
        return embed(
            encoder.train(),
            EncodedTexts(Ragged.of(texts), np.zeros(len(texts), dtype=np.int64), 0),
            batch_size=2,
            dtype="float32",
        )

    encoder = built(0)
    trains = [name for name, one in encoder.named_modules() if name and one.training]
    assert all("lora_dropout" in name for name in trains) and bool(trains) == (method == "lora")
    together = vectors(encoder, TEXTS)
    assert np.array_equal(together, vectors(encoder, TEXTS))
    for row in (4, 0, 2, 1, 3):
        assert np.allclose(vectors(encoder, [TEXTS[row]])[0], together[row], atol=1e-5)
    trained = [
        torch.cat([one.flatten() for one in built(seed).parameters() if one.requires_grad]) for seed in (0, 0, 1)
    ]
    assert torch.equal(trained[0], trained[1])
    assert torch.equal(trained[0], trained[2]) == (method == "full")


def test_likeness_of_pairs_is_that_of_their_vectors_at_the_precision_asked_for():
    encoder = build_encoder(build_from_config(ENTRY, seed=0), EncoderSettings(method="none", pooling="mean"), 0)
    texts = EncodedTexts(Ragged.of(TEXTS[:4]), np.zeros(4, dtype=np.int64), 0)
    pairs, (a, b, c, d) = LikenessPairs(texts, np.array([1.0, 0.0])), embed(encoder, texts, batch_size=3)
    exact, rough = (pairs.cosines(encoder, 3, dtype) for dtype in ("float32", "bfloat16"))
    wanted = [one @ two / np.linalg.norm(one) / np.linalg.norm(two) for one, two in ((a, c), (b, d))]
    assert exact == pytest.approx(wanted, abs=1e-5) and rough == pytest.approx(wanted, abs=0.05)
    assert np.abs(rough - exact).max() > 1e-4


def test_an_update_of_adapters_is_alpha_over_rank():
    settings = LowRank.model_validate({"rank": 2, "alpha": 6, "targets": ["q_proj"]})
    model = build_from_config(ENTRY, seed=0)
    add_low_rank(model.base_model, settings, 0)
    layer = next(one for name, one in model.named_modules() if name.endswith("layers.0.self_attn.q_proj"))
    pairs = dict(layer.named_parameters())
    down, up = (next(one for name, one in pairs.items() if part in name) for part in ("lora_A", "lora_B"))
    states = torch.randn(3, 8)
    before = layer(states)
    with torch.no_grad():
        up.normal_()
    assert torch.allclose(layer.eval()(states) - before, 3 * states @ down.T @ up.T, atol=1e-5)
