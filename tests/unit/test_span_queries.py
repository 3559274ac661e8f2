"""Spans of passages as queries: what is drawn, from where, and that a reranker goes on from what it learnt on them."""

from pathlib import Path

import numpy as np
import pytest
import torch
from finetune_fixtures import WORDS, make_tokenizer
from reprlab.data.schema import write_rows
from reprlab.models.build import build_from_config, save_model
from reprlab.registry.models import ModelEntry
from reprlab.retrieval.collections import read_collection
from reprlab.retrieval.rerank_settings import RerankerTraining
from reprlab.retrieval.reranker import load_reranker
from reprlab.retrieval.run_files import read_run
from reprlab.retrieval.spans import SpanSettings, draw_windows, span_queries, span_run
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.build_span_queries import build_span_queries
from reprlab.stages.train_reranker import train_reranker

SETTINGS = SpanSettings(words=6, query_words=3, windows=4, negatives=3, seed=1)


def row(number: int, text: str, split: str) -> dict[str, object]:
    name = f"q{number}"
    about = {"id": name, "group": name, "split": split, "query_id": name, "query": f"which {number}"}
    return {**about, "passage_id": f"p{number}", "passage": text, "relevance": 1}


def collection(path: Path) -> Path:
    """Ten passages, each of words of its own; the last two are held out."""
    rng = np.random.default_rng(0)
    words = [word for word in WORDS if word.isalpha() and len(word) > 3]
    rows = [
        row(number, " ".join(rng.choice(words, 9).tolist()) + f" end{number}", "train" if number < 8 else "test")
        for number in range(10)
    ]
    write_rows(path, rows, "ranking", {"name": "toy"})
    return path


def built(tmp_path: Path, name: str, settings: SpanSettings = SETTINGS) -> tuple[Path, Path]:
    examples, out = collection(tmp_path / "toy.parquet"), tmp_path / f"{name}.parquet"
    build_span_queries(examples=examples, out=out, run=tmp_path / name, settings=settings)
    return out, tmp_path / name / "train.arrow"


def test_a_span_stands_in_its_window_and_windows_of_other_passages_beside_it(tmp_path):
    (out, trec), (again, second) = built(tmp_path, "one"), built(tmp_path, "two")
    assert out.read_bytes() == again.read_bytes() and trec.read_bytes() == second.read_bytes()
    whole, found, run = read_collection(tmp_path / "toy.parquet"), read_collection(out), read_run(trec)
    queries = found.queries["train"]
    assert set(found.queries) == {"train"} and len(queries) == 8 * SETTINGS.windows
    for name, query in queries.items():
        passage, window = name.split(".")[0], found.passages[name]
        assert f" {query} " in f" {window} " and f" {window} " in f" {whole.passages[passage]} "
        assert 3 <= len(window.split()) <= 6 and 2 <= len(query.split()) <= 3
        others = set(run[name]) - {name}
        assert 1 <= len(others) <= SETTINGS.negatives and found.judgements["train"][name] == {name: 1}
        assert passage not in {other.split(".")[0] for other in others}
    assert not {name.split(".")[0] for name in queries} & {"p8", "p9"}, "held-out passages are not read"
    other = built(tmp_path, "three", SETTINGS.model_copy(update={"seed": 2}))[0]
    assert read_collection(other).passages != found.passages


def test_scattered_words_and_near_passages(tmp_path):
    settings = SETTINGS.model_copy(update={"scattered": 1.0, "near": 1.0, "reach": 1, "windows": 40})
    out, trec = built(tmp_path, "near", settings)
    found, run = read_collection(out), read_run(trec)
    apart = 0
    for name, query in found.queries["train"].items():
        words, window = query.split(), found.passages[name].split()
        rest = iter(window)
        assert all(word in rest for word in words), "words in the order of their window"
        apart += query not in found.passages[name]
        own = int(name[1:].split(".")[0])
        away = {(int(other[1:].split(".")[0]) - own) % 8 for other in run[name] if other != name}
        assert away <= {1, 7} and away
    assert apart > 40


def test_short_and_empty_passages():
    rng = np.random.default_rng(0)
    found = draw_windows({"empty": " ", "one": "word", "odd": "ünï\u00adcode 語 \u2028 ok"}, SETTINGS, rng)
    run = span_run(found, SETTINGS, rng)
    queries = span_queries(found, run, SETTINGS, rng)
    assert {name.split(".")[0] for name in found.words} == {"one", "odd"} and found.passages == 2
    assert found.words["one.0"] == ["word"] and queries["one.0"] == "word"


def test_words_of_negatives_replace_some_of_the_query():
    """As many as asked for, up to chance; a query without negatives keeps its words."""
    rng = np.random.default_rng(0)
    passages = {f"p{number}": " ".join(f"w{number}x{word}" for word in range(30)) for number in range(40)}
    settings = SETTINGS.model_copy(
        update={"words": 20, "query_words": 10, "windows": 5, "foreign": 0.3, "scattered": 0.5}
    )
    windows = draw_windows(passages, settings, rng)
    run = span_run(windows, settings, rng)
    own = []
    for name, query in span_queries(windows, run, settings, rng).items():
        others = {word for other in run[name] if other != name for word in windows.words[other]}
        own += [word in windows.words[name] for word in query.split()]
        assert set(query.split()) <= others | set(windows.words[name])
    assert np.mean(own) == pytest.approx(0.7, abs=0.05)
    alone = {name: {name: 1.0} for name in windows.words}
    kept = span_queries(windows, alone, settings, rng)
    assert all(set(query.split()) <= set(windows.words[name]) for name, query in kept.items())


def test_one_passage_is_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "one.parquet"
    write_rows(path, [row(1, "a b c", "train"), row(2, "d e f", "test")], "ranking", {"name": "toy"})
    with pytest.raises(ReprlabError, match="fewer than two passages of the train split"):
        build_span_queries(examples=path, out=tmp_path / "out.parquet", run=tmp_path / "run", settings=SETTINGS)
    assert {entry.name for entry in tmp_path.iterdir()} == {"one.parquet"}


def test_training_goes_on_from_a_reranker_with_its_head(tmp_path):
    """A rate near zero: what comes out is what went in, the head too; from a language model the head is a fresh one."""
    model = tmp_path / "model"
    pieces = make_tokenizer(model).padded_size
    small = {"hidden_size": 16, "num_hidden_layers": 1, "state_size": 4, "pad_token_id": 0}
    entry = ModelEntry(
        architecture="mamba", config={**small, "vocab_size": pieces, "bos_token_id": 1, "eos_token_id": 1}, source="x",
        tie_output=True, origin={"kind": "scratch"},
    )  # fmt: skip
    save_model(build_from_config(entry, pieces, seed=0), model)
    examples, run = built(tmp_path, "spans")

    def trained(name: str, start: Path, rate: float, seed: int) -> Path:
        engine = {"steps": 1, "batch_size": 8, "optimizer": {"learning_rate": rate, "weight_decay": 0.0}}
        pairs = {"template": "document_first", "max_length": 48, "max_query": 8}
        settings = {"pairs": pairs, "engine": engine, "epochs": 1, "negatives": 2, "seeds": [seed]}
        train_reranker(
            examples=examples, run=run.parent, model=start, tokenizer=model, out=tmp_path / name,
            metrics=tmp_path / f"{name}.tsv", work=tmp_path / "work" / name,
            settings=RerankerTraining.model_validate(settings), fingerprint="x",
        )  # fmt: skip
        return tmp_path / name / f"seed-{seed}"

    first = trained("first", model, 1e-2, 0)
    further, fresh = trained("further", first, 1e-12, 5), trained("fresh", model, 1e-12, 5)
    before, after, other = (load_reranker(folder, "last").state_dict() for folder in (first, further, fresh))
    for name, value in before.items():
        torch.testing.assert_close(after[name], value, rtol=0, atol=1e-6)
    assert not torch.allclose(other["head.weight"], before["head.weight"], atol=1e-3)
