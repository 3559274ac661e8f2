"""Every setting of the stages on retrieval and reranking moves what the stage writes, or is said here not to.

Columns and files that repeat a setting are left out of what is compared.
"""

from pathlib import Path
from typing import Any

import finetune_fixtures
import numpy as np
import pytest
import torch
from finetune_fixtures import WORDS, make_bert, make_tokenizer
from moved_settings import moved
from reprlab.artifacts.tables import read_tsv
from reprlab.data.schema import write_rows
from reprlab.inference.call_seconds import call_seconds
from reprlab.models import build
from reprlab.registry.models import ModelEntry
from reprlab.retrieval import rerank_speed, reranker
from reprlab.retrieval.collections import read_collection
from reprlab.retrieval.read_orders import ORDERS
from reprlab.retrieval.rerank_settings import (
    FirstStage,
    ListSettings,
    PairSettings,
    RerankedCollection,
    RerankerTraining,
    Reranking,
)
from reprlab.retrieval.rerank_speed import SpeedSettings
from reprlab.retrieval.run_files import read_run
from reprlab.retrieval.spans import SpanSettings
from reprlab.stages.build_span_queries import build_span_queries
from reprlab.stages.measure_rerankers import measure_rerankers
from reprlab.stages.rerank_passages import rerank_passages
from reprlab.stages.retrieve_passages import retrieve_passages
from reprlab.stages.train_reranker import train_reranker
from reprlab.training.settings import EngineSettings

pytestmark = [pytest.mark.release, pytest.mark.usefixtures("one_thread")]

Own = dict[str, Any]
BART = {
    "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 64,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1, "decoder_start_token_id": 1, "dropout": 0.0,
}  # fmt: skip
PAIRS = {"template": "query_first", "max_length": 20, "max_query": 3}
ENGINE = {"steps": 1, "batch_size": 4, "optimizer": {"learning_rate": 1e-2}, "log_every": 1}
TRAINING = {"pairs": PAIRS, "engine": {**ENGINE, "schedule": {"name": "linear"}}, "epochs": 1, "negatives": 3}
METRICS = ["mrr_at_10", "recall_at_3"]


def collection(path: Path, seed: int = 0) -> Path:
    """Passages of 8 to 24 words, each asked for by three of them; a query has the id of its passage."""
    rng = np.random.default_rng(seed)
    words = [word for word in WORDS if word.isalpha()]
    rows = []
    for number in range(27):
        text = rng.choice(words, rng.integers(8, 25)).tolist()
        rows.append(
            {"id": f"q{number}", "group": f"q{number}", "query_id": f"p{number}", "query": " ".join(text[2:7]),
             "passage_id": f"p{number}", "passage": " ".join(text), "relevance": 1,
             "split": ("train", "test", "validation")[number % 3]}
        )  # fmt: skip
    write_rows(path, rows, "ranking", {"name": "toy"})
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Collections, a first stage of each depth, and an encoder-decoder."""
    folder = tmp_path_factory.mktemp("rerankers")
    vocabulary = make_tokenizer(folder / "bert")
    make_bert(folder / "bert", vocabulary)
    make_tokenizer(folder / "bart")
    entry = ModelEntry(architecture="bart", config=BART, source="x", tie_output=True, origin={"kind": "scratch"})
    build.save_model(build.build_from_config(entry, vocabulary.padded_size, seed=0), folder / "bart")
    found = {"bert": folder / "bert", "bart": folder / "bart", "toy": collection(folder / "toy.parquet")}
    found["other"] = collection(folder / "other.parquet", seed=1)
    for name, depth in (("deep", 8), ("flat", 4)):
        found[name] = folder / name
        settings = FirstStage(depth=depth, splits=["train", "test"], metrics=METRICS)
        retrieve_passages(examples=found["toy"], out=found[name], metrics=folder / "m.tsv", settings=settings)
    return found


def runs_of(folder: Path) -> list[Any]:
    """Hits with their scores, without the names of the files."""
    return [read_run(path) for path in sorted(folder.glob("*.arrow"))]


def trained(place: dict[str, Path], folder: Path, own: Own) -> list[Any]:
    """Weights and head of each seed, and losses."""
    train_reranker(
        examples=place["toy"], run=place["deep"], model=place["bart"], tokenizer=place["bart"], out=folder / "models",
        metrics=folder / "training.tsv", work=folder / "work", settings=RerankerTraining.model_validate(own),
        fingerprint=str(folder),
    )  # fmt: skip
    weights = [path.read_bytes() for path in sorted((folder / "models").glob("*/*.safetensors"))]
    return [*weights, read_tsv(folder / "training.tsv")[["step", "loss", "tokens"]].to_csv()]


def reranked(models: Path, folder: Path, own: Own) -> list[Any]:
    rerank_passages(
        models=models / "models", training=models / "training.tsv", out=folder / "runs", metrics=folder / "scores.tsv",
        contrasts=folder / "contrasts.tsv", settings=Reranking.model_validate(own),
    )  # fmt: skip
    columns = ["dataset", "metric", "value", "low", "high", "n"]
    return [*runs_of(folder / "runs"), read_tsv(folder / "scores.tsv")[columns].to_csv()]


def test_an_order_moves_training_and_scores(place, tmp_path):
    """Each stage by itself: what is trained on one order can be scored in another."""
    examples = {"examples": place["toy"], "run": place["deep"], "model": place["bart"], "tokenizer": place["bart"]}
    scoring = Reranking.model_validate({"pairs": PAIRS, "collections": [toy(place)], "metrics": METRICS})
    found, tokens = {}, {}
    for order in ORDERS:
        folder = tmp_path / order
        train_reranker(
            **examples, out=folder / "models", metrics=folder / "training.tsv", work=folder / "work",
            settings=RerankerTraining.model_validate(TRAINING), fingerprint=order, order=order,
        )  # fmt: skip
        rerank_passages(
            models=tmp_path / "once/models", training=folder / "training.tsv", out=folder / "runs",
            metrics=folder / "scores.tsv", contrasts=folder / "contrasts.tsv", settings=scoring, order=order,
        )  # fmt: skip
        weights = (folder / "models/seed-0/model.safetensors").read_bytes()
        found[order] = weights, str(runs_of(folder / "runs"))
        tokens[order] = set(read_tsv(folder / "scores.tsv")["pair_tokens"])
    assert len({weights for weights, _ in found.values()}) == len({runs for _, runs in found.values()}) == len(ORDERS)
    (once,), (reverse,), (twice,), (both,) = (tokens[order] for order in ORDERS)
    assert (
        once == pytest.approx(reverse, abs=1) and 1.8 * once < twice <= 2 * once and twice == pytest.approx(both, abs=2)
    )


def toy(place: dict[str, Path], **own: Any) -> Own:
    return {"name": "toy", "examples": place["toy"], "run": place["deep"], "split": "test", **own}


def test_settings_of_a_first_stage(place, fresh):
    def made(own: Own) -> list[Any]:
        folder = fresh()
        retrieve_passages(
            examples=place["toy"], out=folder / "runs", metrics=folder / "m.tsv", model=place["bert"],
            settings=FirstStage.model_validate(own),
        )  # fmt: skip
        return [*runs_of(folder / "runs"), read_tsv(folder / "m.tsv")[["metric", "value", "n"]].to_csv()]

    base = {"depth": 5, "splits": ["test"], "metrics": METRICS}
    changes = {
        "kind": "dense", "depth": 4, "drop_own": True, "k1": 0.5, "b": 0.1, "prefix": "very film ", "pooling": "mean",
        "max_length": 8, "splits": ["validation"], "queries": {"test": 4}, "seed": 1, "metrics": METRICS[:1],
    }  # fmt: skip
    dense = {"kind": "dense"}
    beside = {"prefix": dense, "pooling": dense, "max_length": dense, "seed": {"queries": {"test": 4}}}
    moved(FirstStage, made, base, changes, {}, beside=beside)
    for name in ("k1", "b"):
        assert made({**base, **dense, name: changes[name]}) == made({**base, **dense}), f"{name} is BM25's"


def test_settings_of_the_training_of_a_reranker_and_of_its_pairs(place, fresh):
    def made(own: Own) -> list[Any]:
        return trained(place, fresh(), own)

    changes = {
        "pairs": {**PAIRS, "max_query": 2}, "engine": {**TRAINING["engine"], "batch_size": 3}, "epochs": 2,
        "warmup_share": 0.5, "negatives": 2, "judged_negatives": True, "dropout": 0.5, "head_factor": 10.0,
        "seeds": [1],
    }  # fmt: skip
    moved(RerankerTraining, made, TRAINING, changes, {})
    engine = {
        "batch_size": 2, "accumulation": 2, "optimizer": {"learning_rate": 1e-2, "weight_decay": 0.5},
        "schedule": {"name": "constant"}, "dtype": "bfloat16", "log_every": 2,
    }  # fmt: skip
    # Passes give the steps, of which the last alone is kept; the seeds of the training replace that of the loop.
    still = {"steps": 7, "ladder": [1], "seed": 1}
    moved(EngineSettings, lambda own: made({**TRAINING, "engine": own}), TRAINING["engine"], engine, still)

    pairs = {"template": "document_first", "max_length": 16, "max_query": 2, "encoder_cls": True}
    moved(PairSettings, lambda own: made({**TRAINING, "pairs": own}), PAIRS, pairs, {})


def test_settings_of_reranking_and_of_its_collections(place, fresh, tmp_path):
    trained(place, tmp_path, {**TRAINING, "seeds": [0, 1]})

    def made(own: Own) -> list[Any]:
        return reranked(tmp_path, fresh(), own)

    base = {"pairs": PAIRS, "collections": [toy(place)], "metrics": METRICS}
    changes = {
        "pairs": {**PAIRS, "max_length": 16}, "collections": [toy(place), toy(place, name="two", run=place["flat"])],
        "metrics": METRICS[:1], "stride": 4, "seeds": [1], "dtype": "bfloat16",
    }  # fmt: skip
    moved(Reranking, made, base, changes, {})
    one = {"name": "other", "examples": place["other"], "run": place["flat"], "split": "train"}
    moved(RerankedCollection, lambda own: made({**base, "collections": [own]}), toy(place), one, {})
    pairs = {"template": "document_first", "max_length": 16, "max_query": 2}
    # The encoder alone is what is kept of the training.
    moved(PairSettings, lambda own: made({**base, "pairs": own}), PAIRS, pairs, {"encoder_cls": True})


def test_settings_of_spans(place, fresh):
    def made(own: Own) -> list[Any]:
        folder = fresh()
        build_span_queries(
            examples=place["toy"], out=folder / "o.parquet", run=folder / "run",
            settings=SpanSettings.model_validate(own),
        )  # fmt: skip
        found = read_collection(folder / "o.parquet")
        return [found.queries, found.passages, *runs_of(folder / "run")]

    base = {"words": 6, "query_words": 3, "windows": 2, "negatives": 3}
    changes = {
        "words": 4, "query_words": 2, "scattered": 1.0, "foreign": 0.5, "windows": 3, "negatives": 2, "near": 1.0,
        "reach": 1, "seed": 1,
    }  # fmt: skip
    moved(SpanSettings, made, base, changes, {}, beside={"reach": {"near": 1.0}})


def test_settings_of_speed(place, fresh, monkeypatch):
    """Every repeat takes a second, and each pass tells what it was given; the shares of operators are counted alone."""
    passes: list[Any] = []
    load, pool = build.load_model, reranker.pool

    def in_a_second(work: Any, device: Any, **how: int) -> list[float]:
        return [1.0 for _ in call_seconds(work, device, **how)]

    def note(side: Any, _: Any, given: Own, found: Any) -> None:
        how = side.training, side.config._attn_implementation, torch.is_autocast_enabled("cpu")
        passes.append([type(side).__name__, tuple(given["input_ids"].shape), *how])

    def watched(folder: Path) -> Any:
        model: Any = load(folder)
        for side in (model.base_model, model.get_encoder()):
            side.register_forward_hook(note, with_kwargs=True)
        return model

    def pooled(states: torch.Tensor, mask: torch.Tensor, pooling: Any) -> torch.Tensor:
        passes.append(pooling)
        return pool(states, mask, pooling)

    monkeypatch.setattr(build, "load_model", watched)
    monkeypatch.setattr(rerank_speed, "call_seconds", in_a_second)
    monkeypatch.setattr(reranker, "pool", pooled)

    def made(own: Own) -> list[Any]:
        out = fresh() / "speed.tsv"
        passes.clear()
        measure_rerankers(model=place["bart"], out=out, settings=SpeedSettings.model_validate(own))
        rows = read_tsv(out)[["metric", "length", "batch", "value", "n"]]
        rows.loc[rows["metric"] == "operator_share", "value"] = 0
        return [*passes, rows.to_csv()]

    base = {
        "template": "query_first", "training_length": 8, "training_batches": [1, 2], "lengths": [8, 16], "batch": 4,
        "documents": 2, "repeats": 2, "operators": 5,
    }  # fmt: skip
    changes = {
        "template": "document_first", "encoder_cls": True, "training_length": 12, "training_batches": [1],
        "lengths": [16], "batch": 2, "documents": 4, "repeats": 3, "warmups": 2, "dtype": "bfloat16",
        "attention": ["eager"], "operators": 4,
    }  # fmt: skip
    moved(SpeedSettings, made, base, changes, {})


def test_settings_of_lists(fresh, tmp_path, monkeypatch):
    """What a training reads of them, and what a ranking does: neither has a use for what is the other's alone."""
    monkeypatch.setattr(finetune_fixtures, "WORDS", [*WORDS, *"ABCDE"])
    vocabulary = make_tokenizer(tmp_path / "opt")
    config = {
        "hidden_size": 16, "word_embed_proj_dim": 16, "ffn_dim": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
        "max_position_embeddings": 256, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1, "vocab_size": 160,
    }  # fmt: skip
    entry = ModelEntry(architecture="opt", config=config, source="x", tie_output=True, origin={"kind": "scratch"})
    build.save_model(build.build_from_config(entry, vocabulary.padded_size, seed=0), tmp_path / "opt")
    examples, run, pairs = (
        collection(tmp_path / "toy.parquet"),
        tmp_path / "run",
        {**PAIRS, "template": "document_first"},
    )
    first = FirstStage(depth=8, splits=["train", "test"], metrics=METRICS)
    retrieve_passages(examples=examples, out=run, metrics=tmp_path / "m.tsv", settings=first)

    def learnt(own: Own) -> list[Any]:
        folder = fresh()
        train_reranker(
            examples=examples, run=run, model=tmp_path / "opt", tokenizer=tmp_path / "opt", out=folder / "models",
            metrics=folder / "training.tsv", work=folder / "work", fingerprint=str(folder),
            settings=RerankerTraining.model_validate({**TRAINING, "pairs": pairs}),
            lists=ListSettings.model_validate(own),
        )  # fmt: skip
        return [(folder / "models/seed-0/model.safetensors").read_bytes()]

    def ordered_by(own: Own) -> list[Any]:
        folder = fresh()
        one = {"name": "toy", "examples": examples, "run": run, "split": "test"}
        rerank_passages(
            models=tmp_path / "opt", tokenizer=tmp_path / "opt", out=folder / "runs", metrics=folder / "scores.tsv",
            contrasts=folder / "contrasts.tsv", lists=ListSettings.model_validate(own),
            settings=Reranking.model_validate({"pairs": pairs, "collections": [one], "metrics": METRICS}),
        )  # fmt: skip
        return [*runs_of(folder / "runs"), read_tsv(folder / "scores.tsv")["pair_tokens"].tolist()]

    base = {"window": 4, "passage_tokens": 6}
    # A group has one candidate for each letter; the window says how many of a ranking are read at once.
    moved(ListSettings, learnt, base, {"passage_tokens": 3, "ranknet_weight": 10.0}, {"window": 5, "step": 2})
    moved(ListSettings, ordered_by, base, {"window": 3, "step": 2, "passage_tokens": 3}, {"ranknet_weight": 10.0})
