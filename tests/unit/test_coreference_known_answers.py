"""Coreference where the answer is known: losses by hand, windows, splits that differ, seeds, evaluation."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from coreference_samples import bert_tokenizer, text
from reprlab.artifacts.tables import read_tsv
from reprlab.coreference.documents import Document, clusters_of
from reprlab.coreference.head import Antecedents, CoreferenceHead, document_loss
from reprlab.coreference.model import document_tensors
from reprlab.coreference.names import is_capitalised, name_runs
from reprlab.coreference.scores import score_counts, scores_of
from reprlab.coreference.scoring import train_each_seed
from reprlab.coreference.segments import segment_text
from reprlab.coreference.settings import AggregationSettings, CoreferenceTraining, HeadSettings, SegmentSettings
from reprlab.coreference.training import Probe
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings
from transformers import BertConfig, BertModel

TRAIN = ["emma was good|the film was bad|she was good", "the house was bad|anna was good|she was bad|he was good"]
HELD_OUT = [
    "anna was bad|the film was good", "the house was good|he was bad|the house was bad",
    "emma was bad|he was good|the film was bad|emma was good",
]  # fmt: skip


def document(said: str, key: str, tokenizer) -> Document:
    return segment_text(text(said, [[(0, 0), (3, 3)]], key=key), tokenizer, SegmentSettings(segment_length=8))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Two encoders with dropout, and documents that differ by split in texts and number."""
    folder = tmp_path_factory.mktemp("made")
    tokenizer = bert_tokenizer(folder / "tokenizer")
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=32, hidden_dropout_prob=0.4,
    )  # fmt: skip
    for seed, name in enumerate(("one", "other")):
        torch.manual_seed(seed)
        BertModel(config).save_pretrained(folder / name)
    splits = {"train": TRAIN, "validation": HELD_OUT}
    documents = {
        split: [document(said, f"{split}{number}", tokenizer) for number, said in enumerate(texts)]
        for split, texts in splits.items()
    }
    from reprlab.coreference.documents import write_documents

    for split, some in documents.items():
        write_documents(folder / "documents" / f"{split}.jsonlines", some)
    return {"folder": folder, "tokenizer": tokenizer, "documents": documents,
            "encoders": [folder / "one", folder / "other"]}  # fmt: skip


def training(**changes) -> CoreferenceTraining:
    head = HeadSettings(
        hidden=6, features=3, max_span_width=2, span_ratio=0.6, max_spans=20, max_antecedents=4, max_segments=2,
        dropout=0.4,
    )  # fmt: skip
    engine = EngineSettings(
        steps=1, batch_size=1, seed=3, schedule=ScheduleSettings(name="linear"),
        optimizer=OptimizerSettings(learning_rate=1e-3),
    )  # fmt: skip
    return CoreferenceTraining(
        **{
            "head": head, "aggregation": AggregationSettings(aggregation="attention"), "layers": [2, 1],
            "engine": engine, "head_learning_rate": 3e-2, "epochs": 2, "patience": 2, "seeds": [3], "resamples": 20,
            **changes,
        }
    )  # fmt: skip


def probe(made: dict, settings: CoreferenceTraining) -> Probe:
    return Probe(settings, made["documents"], made["encoders"], [], made["tokenizer"])


def test_the_loss_of_four_spans_by_hand() -> None:
    """Spans 1 and 3 are of one cluster, 2 of another, 0 of none; antecedents stand in another order for each."""
    places = torch.tensor([[0, 1], [0, 2], [1, 0], [1, 2]])
    scores = torch.tensor([[0.0, -torch.inf, -torch.inf], [0, 2.0, -torch.inf], [0, 1.0, -1.0], [0, 0.5, 3.0]])
    mention = torch.tensor([-1.0, 2.0, 0.5, -3.0])
    every = torch.arange(4)
    found = Antecedents(every, every, places, scores, mention)
    clusters = torch.tensor([0, 1, 2, 1])

    def log_sum(*values: float) -> float:
        return math.log(sum(map(math.exp, values)))

    links = 0 + log_sum(0, 2) + log_sum(0, 1, -1) + (log_sum(0, 0.5, 3) - 0.5)
    assert float(found.loss(clusters)) == pytest.approx(links, rel=1e-6)
    # A span of a cluster wants a high mention score, one of none a low one.
    wanted = log_sum(0, -1) + log_sum(0, -2) + log_sum(0, -0.5) + log_sum(0, 3)
    assert float(found.loss(clusters, 0.5)) == pytest.approx(links + 0.5 * wanted, rel=1e-6)
    assert found.best() == [-1, 0, 1, 2]
    about = {"mentions": torch.tensor([[1, 1], [2, 2], [3, 3]]), "clusters": torch.tensor([1, 2, 1])}
    assert float(document_loss(found, about, 0.5)) == pytest.approx(links + 0.5 * wanted, rel=1e-6)


def test_the_mention_loss_of_the_settings_is_added(made: dict) -> None:
    from reprlab.coreference.model import loss_of

    head = training().head
    found = []
    for weight in (0.0, 2.0):
        one = probe(made, training(head=head.model_copy(update={"mention_loss": weight})))
        one.model.eval()
        loss, parts = loss_of(one.model, one.tensors("train", 0))
        assert float(parts["loss_sum"]) == float(loss.detach()) and not parts["loss_sum"].requires_grad
        found.append(float(loss.detach()))
    assert found[1] > found[0] + 1


def test_a_dummy_distance_and_far_segments_have_their_own_weights() -> None:
    """Documents of more segments than the head knows use the last one; antecedents are earlier spans alone."""
    settings = training().head.model_copy(update={"dropout": 0.0, "max_segments": 3})
    torch.manual_seed(0)
    head = CoreferenceHead(5, settings)
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    states, about = torch.randn(12, 5), {
        "sentence": torch.arange(12), "segment": torch.arange(12) // 2, "speaker": torch.zeros(12, dtype=torch.long),
        "genre": torch.tensor(0),
    }  # fmt: skip
    before = head(states, about).scores
    with torch.no_grad():
        head.segment_distance.weight[1] += 1
    nearer = head(states, about).scores
    with torch.no_grad():
        head.segment_distance.weight[2] += 1
    farther = head(states, about).scores
    assert not torch.equal(before, nearer) and not torch.equal(nearer, farther)


def test_a_window_has_the_mentions_that_reach_into_it(made: dict) -> None:
    one = made["documents"]["train"][1]
    bounds = np.cumsum([0, *(len(segment) for segment in one.segments)])
    assert len(one.segments) >= 3
    whole, part = document_tensors(one, [])
    assert part == slice(0, len(one)) and whole["clusters"].tolist() == [1, 1]
    window, part = document_tensors(one, [], 1, 1)
    assert part == slice(int(bounds[1]), int(bounds[2])) and len(window["sentence"]) == bounds[2] - bounds[1]
    inside = [
        (int(start) - bounds[1], int(end) - bounds[1])
        for start, end in whole["mentions"]
        if start < bounds[2] and end >= bounds[1]
    ]
    assert [tuple(pair) for pair in window["mentions"].tolist()] == inside
    # The first and the last token of the window, and the ones beside them.
    first, last = int(bounds[1]), int(bounds[2]) - 1
    edges = replace(one, clusters=(tuple((place, place) for place in (first - 1, first, last, last + 1)),))
    assert document_tensors(edges, [], 1, 1)[0]["mentions"].tolist() == [[0, 0], [last - first] * 2]
    with pytest.raises(Exception, match="genre 'tr' is not among"):
        document_tensors(one, ["nw"])
    assert int(document_tensors(one, ["nw", "tr"])[0]["genre"]) == 1


def test_training_stops_by_held_out_documents_which_are_evaluated_without_dropout(made: dict, tmp_path: Path) -> None:
    one = probe(made, training(epochs=3, patience=3))
    outcome = one.train(work=tmp_path, save_every=1, fingerprint="x", device="cpu")
    counts, weights = one.evaluate()
    assert len(counts) == len(HELD_OUT) and outcome.run.step == 3 * len(TRAIN)
    again, same = one.evaluate()
    assert np.array_equal(counts, again) and weights == same
    best = max(outcome.scores, key=lambda number: (outcome.scores[number], -number))
    assert float(scores_of(counts.sum(0))["conll_f1"]) == pytest.approx(outcome.scores[best])
    assert outcome.weights[best] == pytest.approx(weights, abs=1e-6) and sum(weights) == pytest.approx(1)
    assert len(one.evaluate("train")[0]) == len(TRAIN)
    # One document at a time, by what the model says of it.
    model = one.model.eval()
    for number, document in enumerate(made["documents"]["validation"]):
        with torch.no_grad():
            found, weight = model(one.tensors("validation", number))
        spans = list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))
        assert np.array_equal(counts[number], score_counts(clusters_of(spans, found.best()), document.clusters))
        assert weight.shape == (2, len(document))
    assert json.loads((tmp_path / "held_out.json").read_text())


def test_the_training_goes_on_in_training_mode_after_an_evaluation(made: dict, tmp_path: Path) -> None:
    one = probe(made, training(epochs=2))
    modes = []
    plain = Probe.tensors

    def watched(self, split, number, step=None):
        modes.append((split, step is None, self.model.head.training))
        return plain(self, split, number, step)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Probe, "tensors", watched)
        one.train(work=tmp_path, save_every=10, fingerprint="x", device="cpu")
    assert {(split, whole, mode) for split, whole, mode in modes} == {
        ("train", False, True),
        ("validation", True, False),
    }
    assert len(modes) == 2 * (len(TRAIN) + len(HELD_OUT))


def test_seeds_and_the_rate_of_the_head_move_what_they_must(made: dict, tmp_path: Path) -> None:
    def rows(name: str, **changes):
        out = tmp_path / name
        train_each_seed(
            training(**{"seeds": [3, 4], "epochs": 1, **changes}), made["folder"] / "documents",
            made["folder"] / "tokenizer", ["one", "other"], encoders=made["encoders"], metrics=out / "m.tsv",
            passes=out / "p.tsv", work=out / "work", fingerprint="x", save_every=10, device="cpu",
        )  # fmt: skip
        return read_tsv(out / "m.tsv"), read_tsv(out / "p.tsv")

    metrics, passes = rows("base")
    assert set(metrics["split"]) == {"validation"} and set(metrics["n"]) == {len(HELD_OUT)}
    assert set(metrics["steps"]) == {len(TRAIN)} and set(metrics["seed"]) == {3, 4}
    assert (metrics["tokens"] > 0).all()
    losses = passes[passes["metric"] == "loss"]
    assert set(losses["split"]) == {"train"} and set(losses["n"]) == {len(TRAIN)}
    assert losses["value"].nunique() == 2
    share = passes[passes["metric"] == "share"]
    assert share["name"].tolist() == ["one", "other"] * 2 and share.groupby("seed")["value"].sum().tolist() == (
        pytest.approx([100, 100])
    )
    again, other = rows("same")[1], rows("rate", head_learning_rate=3e-1)[1]
    assert again.equals(passes)
    assert (other[other["metric"] == "loss"]["value"].to_numpy() != losses["value"].to_numpy()).all()


def test_the_head_is_drawn_by_the_seed_alone(made: dict) -> None:
    engine = training().engine
    found = [
        probe(made, training(engine=engine.model_copy(update={"seed": seed}), **more)).model.head.coarse.weight
        for seed, more in ((3, {}), (3, {"layers": [1, 1]}), (4, {}))
    ]
    assert torch.equal(found[0], found[1]) and not torch.equal(found[0], found[2])


def test_scores_by_hand() -> None:
    """One document of four mentions in two pairs, of which one pair is found: each measure finds one half."""
    found = scores_of(score_counts([["a", "b"]], [["a", "b"], ["c", "d"]]))
    assert found["muc_recall"] == 50 and found["b_cubed_recall"] == 50 and found["ceaf_phi4_recall"] == 50
    assert found["muc_precision"] == found["b_cubed_precision"] == found["ceaf_phi4_precision"] == 100
    assert found["conll_f1"] == pytest.approx(200 / 3)
    # A ratio below one counts as well.
    assert scores_of(np.full((3, 4), 0.5))["conll_f1"] == pytest.approx(100)


def test_names_are_runs_of_words_with_capitals() -> None:
    assert [is_capitalised(word) for word in ("Anna", "I", "NATO", "anna", "A")] == [True, False, False, False, False]
    words = ["Mr.", "Anna", "Smith", "saw", "Bob", "and", "Sir", "."]
    assert name_runs(words, is_capitalised) == [(0, 2), (4, 4)]
