"""The stages on rerankers, one behind the other, on tiny models of four families; a killed training goes on."""

from pathlib import Path

import numpy as np
import pytest
import torch
from finetune_fixtures import WORDS, make_tokenizer
from reprlab.artifacts.tables import read_tsv
from reprlab.config.models import ModelEntry
from reprlab.data.schema import write_rows
from reprlab.models.build import build_from_config, save_model
from reprlab.objectives.masked_lm import Objective, Settings
from reprlab.retrieval.rerank_settings import FirstStage, RerankerTraining, Reranking
from reprlab.retrieval.rerank_speed import SpeedSettings
from reprlab.retrieval.trec import read_run
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.measure_rerankers import measure_rerankers
from reprlab.stages.rerank_passages import rerank_passages
from reprlab.stages.retrieve_passages import retrieve_passages
from reprlab.stages.train_reranker import train_reranker
from reprlab.training import passes

SEEDS = [0, 1]
METRICS = ["mrr_at_10", "ndcg_at_10", "recall_at_5"]
SMALL = {"vocab_size": 160, "hidden_size": 16, "num_hidden_layers": 1}
FAMILIES = {
    "bert_mlm": {**SMALL, "num_attention_heads": 2, "intermediate_size": 32, "max_position_embeddings": 64},
    "opt": {**SMALL, "num_attention_heads": 2, "ffn_dim": 32, "word_embed_proj_dim": 16, "max_position_embeddings": 64},
    "mamba": {**SMALL, "state_size": 4},
    "mamba2": {**SMALL, "num_heads": 4, "head_dim": 8, "state_size": 8, "n_groups": 1},
}


def model_folder(folder: Path, family: str) -> Path:
    vocabulary = make_tokenizer(folder)
    ids = {} if family == "bert_mlm" else {"bos_token_id": 1, "eos_token_id": 1}
    origin = {"kind": "scratch"}
    entry = ModelEntry(
        architecture=family, config={**FAMILIES[family], "pad_token_id": 0, **ids}, source="x", tie_output=True,
        origin=origin,
    )  # fmt: skip
    save_model(build_from_config(entry, vocabulary.padded_size, seed=0), folder)
    return folder


def collection(path: Path) -> Path:
    """Passages of four words, each asked for by two of them; queries of an article stay in one split."""
    rng = np.random.default_rng(0)
    words = [*(word for word in WORDS if word.isalpha() and len(word) > 3), *(f"word{number}" for number in range(60))]
    rows = []
    for number in range(24):
        text = rng.choice(words, 6, replace=False).tolist()
        split = ("train", "train", "test")[number % 3]
        about = {"passage_id": f"p{number:02d}", "passage": " ".join(text), "relevance": 1, "split": split}
        for part in (0, 2):
            name = f"q{number:02d}-{part}"
            rows.append(
                {"id": name, "group": name, "query_id": name, "query": " ".join(text[part : part + 2]), **about}
            )
    write_rows(path, rows, "ranking", {"name": "toy", "title": "Toy"})
    return path


def run_all(folder: Path, model: Path, family: str, examples: Path) -> dict[str, Path]:
    found = {name: folder / f"{name}.tsv" for name in ("first", "training", "scores")}
    first = FirstStage(depth=8, splits=["train", "test"], queries={"test": 10}, metrics=METRICS)
    retrieve_passages(examples=examples, out=folder / "runs", metrics=found["first"], settings=first)
    pairs = {"template": "query_first" if family == "bert_mlm" else "document_first", "max_length": 24, "max_query": 8}
    engine = {"steps": 1, "batch_size": 4, "optimizer": {"learning_rate": 1e-3}, "log_every": 2}
    training = RerankerTraining.model_validate(
        {"pairs": pairs, "engine": engine, "epochs": 1, "negatives": 3, "seeds": SEEDS}
    )
    train_reranker(
        examples=examples, run=folder / "runs", model=model, tokenizer=model, out=folder / "models",
        metrics=found["training"], work=folder / "work/one", settings=training, fingerprint="x",
    )  # fmt: skip
    toy = {"name": "toy", "examples": examples, "run": folder / "runs", "split": "test"}
    scoring = Reranking.model_validate({"pairs": pairs, "collections": [toy], "metrics": METRICS, "seeds": SEEDS})
    rerank_passages(
        models=folder / "models", training=found["training"], out=folder / "reranked", metrics=found["scores"],
        settings=scoring,
    )  # fmt: skip
    assert not any((folder / "work").iterdir())
    return {**found, "run": folder / "reranked/toy.test.seed-1.trec"}


@pytest.mark.parametrize("family", FAMILIES)
def test_from_passages_to_scores(family, tmp_path):
    model, examples = model_folder(tmp_path / "model", family), collection(tmp_path / "toy.parquet")
    found, again = (run_all(tmp_path / name, model, family, examples) for name in ("one", "two"))
    for name, path in found.items():
        assert path.read_bytes() == again[name].read_bytes(), f"{name} is not the same again"
    first, scores = read_tsv(found["first"]), read_tsv(found["scores"])
    assert set(first.name) == {"bm25", "random order"} and set(first[first.split == "test"].n) == {10}
    before, after = (read_run(path) for path in (tmp_path / "one/runs/test.trec", found["run"]))
    assert {query: set(documents) for query, documents in before.items()} == {
        query: set(documents) for query, documents in after.items()
    }
    assert set(scores.seed) == set(SEEDS) and (scores.steps > 0).all() and (scores.tokens > 0).all()
    wide = scores.pivot_table(index="seed", columns="metric", values="value")
    assert wide["ndcg_at_10"].between(0, 100).all()
    # Two of its six words, of 70 in all, ask for a passage.
    assert first[(first.split == "test") & (first.name == "bm25") & (first.metric == "mrr_at_10")].value.item() > 70


def test_a_killed_training_goes_on_with_the_seed_that_was_not_finished(tmp_path, monkeypatch):
    model, examples = model_folder(tmp_path / "model", "mamba"), collection(tmp_path / "toy.parquet")
    whole = run_all(tmp_path / "whole", model, "mamba", examples)
    engine_train, seeds = passes.train, []

    def until_the_machine_goes_down(network, batch_of, loss_of, settings, **rest):
        seeds.append(settings.seed)

        def dying(step, *more):
            if step == 3:
                raise KeyboardInterrupt
            return batch_of(step, *more)

        dies = seeds == [0, 1]
        rest = {**rest, "save_every": 1} if dies else rest
        return engine_train(network, dying if dies else batch_of, loss_of, settings, **rest)

    monkeypatch.setattr(passes, "train", until_the_machine_goes_down)
    with pytest.raises(KeyboardInterrupt):
        run_all(tmp_path / "killed", model, "mamba", examples)
    found = run_all(tmp_path / "killed", model, "mamba", examples)
    assert seeds == [0, 1, 1], "what was finished before is not trained again"
    for name, path in found.items():
        assert path.read_bytes() == whole[name].read_bytes(), f"{name} is another after a kill"


def test_dense_first_stage_and_bad_input(tmp_path):
    examples = collection(tmp_path / "toy.parquet")
    settings = FirstStage(kind="dense", depth=5, splits=["test"], metrics=METRICS, max_length=16)
    with pytest.raises(ReprlabError, match="needs a model"):
        retrieve_passages(examples=examples, out=tmp_path / "x", metrics=tmp_path / "x.tsv", settings=settings)
    with pytest.raises(ReprlabError, match="validation has no query"):
        retrieve_passages(
            examples=examples, out=tmp_path / "x", metrics=tmp_path / "x.tsv",
            settings=FirstStage(depth=5, splits=["validation"], metrics=METRICS),
        )  # fmt: skip
    assert not (tmp_path / "x").exists() and not (tmp_path / "x.tsv").exists()
    plain = model_folder(tmp_path / "plain", "bert_mlm")
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    BertModel(BertConfig(**FAMILIES["bert_mlm"], pad_token_id=0)).save_pretrained(plain)
    retrieve_passages(
        examples=examples, out=tmp_path / "out", metrics=tmp_path / "m.tsv", settings=settings, model=plain
    )
    assert {len(found) for found in read_run(tmp_path / "out/test.trec").values()} == {5}


@pytest.mark.parametrize("family", ["opt", "mamba2"])
def test_speed(family, tmp_path):
    model = model_folder(tmp_path / "model", family)
    settings = SpeedSettings(
        template="document_first", training_length=8, training_batches=[1, 2], lengths=[8, 16], batch=4, documents=2,
        repeats=2, operators=5,
    )  # fmt: skip
    measure_rerankers(model=model, out=tmp_path / "speed.tsv", settings=settings)
    rows = read_tsv(tmp_path / "speed.tsv")
    assert rows.groupby("metric").size().to_dict() == {"operator_share": 5, "scoring_speed": 2, "training_speed": 2}
    assert set(rows.kernels) == {"none" if family == "opt" else "chunked"} and (rows.value > 0).all()
    assert rows[rows.metric == "operator_share"].value.sum() <= 100


def test_masked_lm(tmp_path):
    """Of the chosen 15 %, 80 % are masked, 10 % replaced; special tokens and padding are never chosen."""
    model = model_folder(tmp_path / "model", "bert_mlm")
    from reprlab.models.build import load_model
    from reprlab.text.vocabulary import Vocabulary

    vocabulary = Vocabulary.load(model)
    objective = Objective(Settings(), vocabulary, 64, 64)
    ids = np.full((200, 50), 5, dtype=np.int32)
    ids[:, 0], ids[:, 40:] = vocabulary.eos_id, 0
    lengths = np.full(200, 40)
    batch = objective.collate(ids, np.zeros_like(ids), lengths, np.random.default_rng(0))
    chosen = batch["labels"] != -100
    assert not chosen[:, 0].any() and not chosen[:, 40:].any()
    assert chosen[:, 1:40].mean() == pytest.approx(0.15, abs=0.01)
    assert (batch["input_ids"][chosen] == vocabulary.first_sentinel).mean() == pytest.approx(0.8, abs=0.03)
    assert (batch["input_ids"][~chosen] == ids[~chosen]).all() and (batch["labels"][chosen] == 5).all()
    network = load_model(model)
    given = {name: torch.from_numpy(value) for name, value in batch.items()}
    loss, parts = objective.loss(network, given)
    assert int(parts["count"]) == chosen.sum()
    # Padding behind the text changes nothing.
    cut = {name: value[:, :40] for name, value in given.items()}
    torch.testing.assert_close(objective.loss(network, cut)[0], loss, rtol=0, atol=1e-5)
