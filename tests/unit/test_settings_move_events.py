"""Every setting of the stages on events moves what the stage writes, or is said here not to.

Columns and files that repeat a setting are left out of what is compared.
"""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from chat_endpoint import KEY, serving
from event_samples import event_heads, row
from finetune_fixtures import make_bert, make_t5, make_tokenizer
from moved_settings import moved
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.data.schema import write_rows
from reprlab.events import parses, timing
from reprlab.events.classification import open_classifier
from reprlab.events.documents import load_events
from reprlab.events.parses import write_parses
from reprlab.events.scoring import write_answers
from reprlab.events.settings import (
    AnswerComparison,
    AnswerContrast,
    EventSelection,
    PairClassification,
    PairTiming,
    Retrieval,
    RetrieverTraining,
    SentenceParsing,
    ZeroShotClassification,
)
from reprlab.inference.chat_settings import ChatSettings
from reprlab.retrieval.settings import BiEncoderTraining
from reprlab.stages.ask_relations import ask_relations
from reprlab.stages.classify_pairs import classify_pairs
from reprlab.stages.compare_answers import compare_answers
from reprlab.stages.contrast_answers import contrast_answers
from reprlab.stages.parse_sentences import parse_sentences
from reprlab.stages.rank_partners import rank_partners
from reprlab.stages.time_pairs import time_pairs
from reprlab.stages.train_pair_classifier import train_pair_classifier
from reprlab.stages.train_retriever import train_retriever
from reprlab.training.settings import EngineSettings
from safetensors.torch import load_file, save_file
from torch.nn.modules.module import register_module_forward_hook

pytestmark = [pytest.mark.release, pytest.mark.usefixtures("one_thread")]

Own = dict[str, Any]
# Words of the tokenizer, as an encoder-decoder writes them.
LABELS = ["positive", "negative"]
ENGINE = {
    "steps": 1, "batch_size": 2, "optimizer": {"learning_rate": 1e-2}, "log_every": 1, "schedule": {"name": "linear"},
}  # fmt: skip
# Each is moved through both trainings. Passes give the steps, of which the last alone is kept, and the seeds of a
# training replace that of its loop.
LOOP = {
    "batch_size": 4, "accumulation": 2, "optimizer": {"learning_rate": 1e-2, "weight_decay": 0.5},
    "schedule": {"name": "constant"}, "dtype": "bfloat16", "log_every": 2,
}  # fmt: skip
LOOP_STILL = {"steps": 7, "ladder": [1], "seed": 1}
PAIRED = {"engine": ENGINE, "epochs": 1, "head_learning_rate": 1e-2}
RETRIEVAL = {"events": {"chains": True}, "ks": [1, 2]}
CLASSIFIED = {
    "events": {}, "kind": "discriminative", "labels": LABELS, "k": 2, "engine": ENGINE, "epochs": 1,
    "max_length": 48,
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An encoder and an encoder-decoder, documents with a test split and without one, and their trees."""
    folder = tmp_path_factory.mktemp("events")
    found = {}
    for name, make in (("discriminative", make_bert), ("generative", make_t5)):
        found[name] = folder / name
        make(found[name], make_tokenizer(found[name]))
        # Larger weights: what is read decides the answer.
        path = found[name] / "model.safetensors"
        weights = {name: value * (8 if value.dim() > 1 else 1) for name, value in load_file(path).items()}
        save_file(weights, path, metadata={"format": "pt"})
    for name, counts in {
        "split": {"train": 4, "validation": 1, "test": 2},
        "folded": {"train": 5, "validation": 1},
    }.items():
        rows = [
            {**row(f"{split}{n}", str(n), 4 + n % 4, LABELS), "split": split}
            for split, count in counts.items()
            for n in range(count)
        ]
        found[name] = folder / f"{name}.parquet"
        write_rows(found[name], rows, "events", {"name": "toy", "title": "Toy"})
    documents = load_events(found["split"])[0]
    found["trees"] = folder / "trees.parquet"
    write_parses(found["trees"], documents, [event_heads(one) for one in documents], "")
    found["rankings"] = folder / "rankings"
    ranked(found, folder, {**RETRIEVAL, "pooling": "random"})
    return found


def contents(folder: Path, pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.glob(pattern))]


def scores(path: Path) -> str:
    return read_tsv(path)[["name", "metric", "split", "subset", "value", "low", "high", "n"]].to_csv()


def ranked(place: dict[str, Path], folder: Path, own: Own) -> list[Any]:
    """Rankings of each seed, recall, and what each document adds to it."""
    settings = Retrieval.model_validate(own)
    rank_partners(
        examples=place["folded" if settings.events.folds else "split"], out=folder / "rankings",
        metrics=folder / "recall.tsv", counts=folder / "counts.parquet", settings=settings,
        model=place["discriminative"],
    )  # fmt: skip
    counts = read_parquet(folder / "counts.parquet").to_pandas().drop(columns="seed").to_csv()
    return [*contents(folder / "rankings", "*.parquet"), scores(folder / "recall.tsv"), counts]


def retriever(place: dict[str, Path], folder: Path, own: Own) -> list[Any]:
    """Weights of each seed, and losses."""
    train_retriever(
        examples=place["split"], parses=place["trees"], model=place["discriminative"],
        tokenizer=place["discriminative"], out=folder / "models", metrics=folder / "losses.tsv", work=folder / "work",
        settings=RetrieverTraining.model_validate(own), fingerprint=str(folder),
    )  # fmt: skip
    losses = read_tsv(folder / "losses.tsv")[["step", "loss", "tokens"]].to_csv()
    return [*contents(folder / "models", "**/*.safetensors"), losses]


def classifier(place: dict[str, Path], folder: Path, own: Own, rankings: Path | None = None) -> list[Any]:
    """Weights of each seed, and losses."""
    settings = PairClassification.model_validate(own)
    model = place[settings.kind]
    train_pair_classifier(
        examples=place["folded" if settings.events.folds else "split"], rankings=rankings or place["rankings"],
        settings=settings, model=model, tokenizer=model, out=folder / "models", metrics=folder / "losses.tsv",
        work=folder / "work", fingerprint=str(folder),
    )  # fmt: skip
    losses = read_tsv(folder / "losses.tsv")[["step", "loss", "tokens"]].to_csv()
    return [*contents(folder / "models", "**/*.safetensors"), losses]


def classified(
    place: dict[str, Path], folder: Path, own: Own, trained: Path | None = None, rankings: Path | None = None
) -> list[Any]:
    """Answers and scores."""
    settings, trained = PairClassification.model_validate(own), trained or folder
    classify_pairs(
        examples=place["folded" if settings.events.folds else "split"], rankings=rankings or place["rankings"],
        models=trained / "models", training=trained / "losses.tsv", out=folder / "answers.parquet",
        metrics=folder / "scores.tsv", counts=folder / "items.parquet", settings=settings,
    )  # fmt: skip
    answers = read_parquet(folder / "answers.parquet").to_pandas().drop(columns="seed").to_csv()
    return [answers, scores(folder / "scores.tsv")]


def test_settings_of_documents(place, fresh):
    def made(own: Own) -> list[Any]:
        folder = fresh()
        found = ranked(place, folder, {**RETRIEVAL, "events": own})
        settings, rankings = {**CLASSIFIED, "events": own}, folder / "rankings"
        weights = classifier(place, folder, settings, rankings)
        return [*found, *weights, *classified(place, folder, settings, rankings=rankings)]

    changes = {"directed": True, "folds": 2, "fold": 1, "limit": 2, "encoding": "trigger", "chains": True}
    moved(EventSelection, made, {}, changes, {}, beside={"folds": {"folds": 3}, "fold": {"folds": 2}})


def test_settings_of_the_training_of_a_retriever(place, fresh):
    base = {"events": {"chains": True}, "training": PAIRED}

    def made(own: Own) -> list[Any]:
        return retriever(place, fresh(), own)

    tree = {"events": {"encoding": "graph"}}
    changes = {
        "events": {"chains": False}, "training": {**PAIRED, "epochs": 2}, "graph_learning_rate": 1e-2, "seeds": [1],
    }  # fmt: skip
    moved(RetrieverTraining, made, base, changes, {}, beside={"graph_learning_rate": tree})
    own = {
        "engine": {**ENGINE, "batch_size": 3}, "epochs": 2, "warmup_share": 0.5, "head_learning_rate": 0.1,
        "negatives": 1, "pooling": "first", "max_length": 8, "frozen_layers": 1,
    }  # fmt: skip
    moved(BiEncoderTraining, lambda own: made({**base, "training": own}), PAIRED, own, {})
    in_loop = lambda own: made({**base, "training": {**PAIRED, "engine": own}})  # noqa: E731
    moved(EngineSettings, in_loop, ENGINE, LOOP, LOOP_STILL)
    for name in ("limit", "encoding"):
        events = {"chains": True, name: {"limit": 2, "encoding": "trigger"}[name]}
        assert made({**base, "events": events}) != made(base)


def test_settings_of_rankings(place, fresh):
    def made(own: Own) -> list[Any]:
        return ranked(place, fresh(), own)

    changes = {
        "events": {"chains": False}, "pooling": "first", "max_length": 8, "ks": [2], "seeds": [1], "dtype": "bfloat16",
    }  # fmt: skip
    # An encoder that was not tuned is the same one for every seed.
    moved(Retrieval, made, RETRIEVAL, changes, {}, beside={"seeds": {"pooling": "random"}})
    kinds = [made({**RETRIEVAL, "pooling": kind}) for kind in ("mean", "first", "random", "chains", "nearest")]
    assert all(one != other for place, one in enumerate(kinds) for other in kinds[:place])


def test_settings_of_the_training_of_a_classifier_of_pairs(place, fresh):
    def made(own: Own) -> list[Any]:
        return classifier(place, fresh(), own)

    changes = {
        "events": {"directed": True}, "labels": LABELS[:1], "none": "film", "k": 1, "kind": "generative",
        "negatives": "random", "engine": {**ENGINE, "batch_size": 3}, "seeds": [1], "epochs": 2, "warmup_share": 0.5,
        "head_learning_rate": 1e-3, "dropout": 0.5, "features": "compared", "relation_weight": 3.0, "max_length": 16,
        "frozen_layers": 1, "patience": 1,
    }  # fmt: skip
    beside = {"none": {"kind": "generative"}, "patience": {"epochs": 3}}
    # Nothing is answered in training without patience.
    moved(PairClassification, made, CLASSIFIED, changes, {"inference": "all", "decoding": "greedy"}, beside=beside)
    everything = {**CLASSIFIED, "inference": "all"}
    assert made({**everything, "negatives": "all"}) != made(everything)
    moved(EngineSettings, lambda own: made({**CLASSIFIED, "engine": own}), ENGINE, LOOP, LOOP_STILL)
    # An encoder-decoder reads mentions, and has no head.
    own = {**CLASSIFIED, "kind": "generative"}
    first = made(own)
    for name, value in {"relation_weight": 3.0, "max_length": 20, "events": {"encoding": "trigger"}}.items():
        assert made({**own, name: value}) != first, f"{name} moves nothing"
    assert made({**own, "head_learning_rate": 1e-3, "dropout": 0.5, "features": "compared"}) == first


def test_settings_of_the_answers_of_a_classifier_of_pairs(place, fresh, tmp_path):
    trained = {kind: tmp_path / kind for kind in ("discriminative", "generative")}
    slow = {**ENGINE, "optimizer": {"learning_rate": 1e-7}}
    for kind, folder in trained.items():
        # As good as drawn, so that they do not all answer alike.
        classifier(place, folder, {**CLASSIFIED, "kind": kind, "seeds": [0, 1], "engine": slow})

    def made(own: Own) -> list[Any]:
        # Little of it changes an answer of so small a model: what is read, and in which arithmetic, is compared too.
        read: set[Any] = set()

        def note(module: Any, given: Any, _: Any) -> None:
            if isinstance(module, torch.nn.Embedding):
                read.add((tuple(given[0].shape), torch.is_autocast_enabled("cpu")))

        hook = register_module_forward_hook(note)
        try:
            return [*classified(place, fresh(), own, trained[own["kind"]]), read]
        finally:
            hook.remove()

    base = {**CLASSIFIED, "kind": "generative", "none": "coherent"}
    changes = {
        "events": {"directed": True}, "labels": LABELS[:1], "none": "film", "k": 1, "inference": "all",
        "kind": "discriminative", "engine": {**ENGINE, "dtype": "bfloat16"}, "seeds": [1], "decoding": "greedy",
        "max_length": 16,
    }  # fmt: skip
    # What is of the training alone.
    still = {
        "negatives": "random", "epochs": 2, "warmup_share": 0.5, "head_learning_rate": 1e-3, "dropout": 0.5,
        "features": "compared", "relation_weight": 3.0, "frozen_layers": 1, "patience": 1,
    }  # fmt: skip
    # Of encoder-decoders only the rows of new tokens are drawn.
    moved(PairClassification, made, base, changes, still, beside={"seeds": {"kind": "discriminative"}})
    for name in ("k", "inference", "max_length"):
        assert made({**CLASSIFIED, name: changes[name]}) != made(CLASSIFIED), f"{name} moves nothing"


@pytest.fixture
def answers(place: dict[str, Path], tmp_path: Path) -> Callable[[str, int], Path]:
    """Drawn answers of two seeds to every pair of every document."""

    def write(name: str, seed: int) -> Path:
        rng, rows = np.random.default_rng(seed), []
        for number in (0, 1):
            for document in load_events(place["folded"])[0]:
                for head, tail in document.pairs(directed=False).tolist():
                    about = {"seed": number, "document": document.name, "head": head, "tail": tail}
                    gold = document.relations.get((head, tail), "NONE")
                    rows.append(about | {"gold": gold, "predicted": ("NONE", LABELS[0])[rng.integers(2)]})
        write_answers(tmp_path / name, rows)
        return tmp_path / name

    return write


def test_settings_of_contrasts_and_comparisons_of_answers(place, answers, fresh):
    first, second = answers("one.parquet", 0), answers("two.parquet", 1)

    def contrasted(own: Own) -> str:
        out = fresh() / "contrasts.tsv"
        settings = AnswerContrast.model_validate(own)
        paths = len(settings.tested)
        contrast_answers(
            examples=place["folded"], first=[first] * paths, second=[second] * paths, out=out, settings=settings
        )
        return read_tsv(out)[["metric", "subset", "value", "low", "high", "n"]].to_csv()

    base = {"events": {"folds": 2}, "labels": LABELS, "tested": [0], "resamples": 50}
    changes = {"events": {"folds": 3}, "labels": LABELS[:1], "tested": [0, 1], "seeds": [1], "resamples": 60}
    # Answers are over all pairs, however many were asked about; k is the name of a row.
    still = {"k": 2, "inference": "all"}
    moved(AnswerContrast, contrasted, base, changes, still, refused={"none": ("NOTHING", "with the labels NOTHING")})

    def compared(own: Own) -> str:
        out = fresh() / "pairs.tsv"
        compare_answers(
            examples=place["folded"], before=first, after=second, out=out,
            settings=AnswerComparison.model_validate(own),
        )  # fmt: skip
        return read_tsv(out).to_csv()

    kept = read_parquet(second).to_pandas()
    write_answers(second, kept[kept["head"] > 0].to_dict("records"))
    moved(
        AnswerComparison, compared, {"scale": "nano"},
        {"seed": 1, "pairs": 3, "none": LABELS[0], "scale": "small"}, {},
    )  # fmt: skip


def test_settings_of_a_chat_model(place, fresh, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(lambda prompt: "It is positive." if "good" in prompt else "none") as endpoint:
        base = {"events": {}, "labels": LABELS, "chat": {"model": "m", "base_url": endpoint.address}}

        def made(own: Own) -> list[Any]:
            folder = fresh()
            endpoint.asked.clear()
            ask_relations(
                examples=place["split"], out=folder / "answers.parquet", metrics=folder / "scores.tsv",
                cache=folder / "cache", settings=ZeroShotClassification.model_validate(own),
            )  # fmt: skip
            asked = sorted(map(repr, endpoint.asked))
            return [asked, (folder / "answers.parquet").read_bytes(), scores(folder / "scores.tsv")]

        changes = {
            "events": {"encoding": "trigger"}, "labels": LABELS[::-1], "none": "NOTHING",
            "chat": {**base["chat"], "model": "other"},
        }  # fmt: skip
        # All pairs are asked about: there is no retriever, and no other value of `inference`.
        moved(ZeroShotClassification, made, base, changes, {"k": 1, "inference": "all"})
        chat = {
            "model": "other", "base_url": f"{endpoint.address}/more", "temperature": 0.5, "max_tokens": 3,
            "length_name": "max_completion_tokens",
        }  # fmt: skip
        # Every answer is there in time.
        moved(ChatSettings, lambda own: made({**base, "chat": own}), base["chat"], chat, {"timeout": 200.0})


def test_settings_of_seconds(place, fresh, tmp_path, monkeypatch):
    """Every call takes a second; what is timed, how often and on how many pairs is what is compared."""
    calls: list[Any] = []

    def in_a_second(work: Callable[[], Any], device: Any, *, repeats: int, warmups: int) -> list[float]:
        work()
        calls.append((repeats, warmups))
        return [1.0] * repeats

    monkeypatch.setattr(timing, "call_seconds", in_a_second)
    settings = PairClassification.model_validate(CLASSIFIED)
    for seed in (0, 1):
        folder = tmp_path / f"models/seed-{seed}"
        open_classifier(place["discriminative"], settings).save(folder)

    def made(own: Own) -> list[Any]:
        out = fresh() / "seconds.tsv"
        calls.clear()
        time_pairs(
            examples=place["split"], models=tmp_path / "models", out=out, settings=PairTiming.model_validate(own)
        )
        return [*calls, read_tsv(out)[["events", "metric", "value"]].to_csv()]

    base = {"classification": CLASSIFIED, "sizes": [4, 6], "ks": [1]}
    changes = {
        "classification": {**CLASSIFIED, "events": {"directed": True}}, "sizes": [4], "ks": [2], "repeats": 2,
    }  # fmt: skip
    moved(PairTiming, made, base, changes, {})


def test_settings_of_trees(place, fresh, monkeypatch):
    monkeypatch.setattr(
        parses, "open_parser", lambda name: SimpleNamespace(meta={"version": "1", "spacy_version": "3"}, name=name)
    )
    monkeypatch.setattr(
        parses, "parse_documents",
        lambda documents, pipeline: [event_heads(one) * (pipeline.name == "one") for one in documents],
    )  # fmt: skip

    def made(own: Own) -> list[list[int]]:
        out = fresh() / "trees.parquet"
        parse_sentences(examples=place["split"], out=out, settings=SentenceParsing.model_validate(own))
        return read_parquet(out)["heads"].to_pylist()

    moved(SentenceParsing, made, {"parser": "one"}, {"parser": "two"}, {})
