"""Stages around coreference on small files: rules, choice of a layer, similarity, seeds that were trained before."""

import json
from pathlib import Path

import pytest
import torch
from coreference_samples import bert_tokenizer, text
from reprlab.artifacts.tables import read_tsv
from reprlab.artifacts.tsv import write_rows
from reprlab.coreference.documents import read_documents, write_documents
from reprlab.coreference.rows import chain_row
from reprlab.coreference.segments import chosen_texts, segment_text
from reprlab.coreference.settings import (
    AggregationSettings,
    CoreferenceTraining,
    HeadSettings,
    SegmentSettings,
    SimilaritySettings,
)
from reprlab.data.schema import write_rows as write_examples
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.build_coreference import build_coreference
from reprlab.stages.embed_documents import embed_documents
from reprlab.stages.link_names import link_names
from reprlab.stages.measure_similarity import measure_similarity
from reprlab.stages.probe_coreference import probe_coreference
from reprlab.stages.select_layer import select_layer
from reprlab.stages.train_coreference import train_coreference
from reprlab.training.fingerprints import run_fingerprint
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings
from transformers import BertConfig, BertModel

CUT = SegmentSettings(segment_length=16, documents={"train": 2})
SENTENCES = [["Emma", "was", "good"], ["the", "film", "was", "bad"], ["so", "Emma", "was", "bad"]]


@pytest.fixture
def made(tmp_path: Path) -> dict[str, Path]:
    """Examples, a tokenizer and two encoders; documents are built from them."""
    rows = []
    for number, split in enumerate(["train"] * 3 + ["validation"] * 2):
        row = chain_row(f"d{number}", f"d{number}", SENTENCES, ["-"] * 11, [[(0, 0), (8, 8)]], "x")
        rows.append({**row, "split": split})
    about = {"name": "toy", "title": "Toy", "kind": "coreference", "labels": []}
    write_examples(tmp_path / "examples.parquet", rows, "coreference", about)
    tokenizer = bert_tokenizer(tmp_path / "tokenizer")
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64,
    )  # fmt: skip
    for seed, name in enumerate(("one", "other")):
        torch.manual_seed(seed)
        BertModel(config).save_pretrained(tmp_path / name)
    found = {name: tmp_path / name for name in ("tokenizer", "one", "other", "documents")}
    found |= {"examples": tmp_path / "examples.parquet", "folder": tmp_path}
    build_coreference(
        examples=found["examples"], tokenizer=found["tokenizer"], out=found["documents"], settings=CUT
    )  # fmt: skip
    return found


def settings(**changes) -> CoreferenceTraining:
    head = HeadSettings(
        hidden=4, features=2, max_span_width=2, span_ratio=0.5, max_spans=20, max_antecedents=4, max_segments=4,
        dropout=0.1,
    )  # fmt: skip
    engine = EngineSettings(
        steps=1, batch_size=1, optimizer=OptimizerSettings(learning_rate=1e-3),
        schedule=ScheduleSettings(name="linear"),
    )  # fmt: skip
    return CoreferenceTraining(
        **{
            "head": head, "aggregation": AggregationSettings(aggregation="attention"), "layers": [2, 2],
            "engine": engine, "head_learning_rate": 1e-2, "epochs": 2, "patience": 2, "seeds": [1, 2],
            "encoder_dropout": False, "resamples": 20, **changes,
        }
    )  # fmt: skip


def probe(made: dict[str, Path], name: str = "out", **more) -> Path:
    out = made["folder"] / name / "metrics.tsv"
    probe_coreference(
        **{
            "documents": made["documents"], "tokenizer": made["tokenizer"], "names": ["one", "other"],
            "encoders": [made["one"], made["other"]], "out": out, "passes": out.with_name("passes.tsv"),
            "work": made["folder"] / "work", "settings": settings(), "fingerprint": "x", **more,
        }
    )  # fmt: skip
    return out


def test_documents_are_limited_by_a_draw(made: dict[str, Path]) -> None:
    assert len(read_documents(made["documents"] / "train.jsonlines")) == 2
    assert len(read_documents(made["documents"] / "validation.jsonlines")) == 2
    texts = [text("a", [], key=str(number)) for number in range(20)]
    few = chosen_texts(texts, SegmentSettings(segment_length=8, documents={"train": 5}))["train"]
    keys = [int(one.key) for one in few]
    assert len(keys) == 5 and keys == sorted(keys) and keys != list(range(5))


def test_rules_are_scored_on_validation_documents(made: dict[str, Path]) -> None:
    out = made["folder"] / "rules.tsv"
    link_names(examples=made["examples"], out=out, settings=CUT, resamples=20)
    rows = read_tsv(out).set_index(["name", "metric"])
    # The name within a sentence makes the one at its start known, too.
    assert rows.loc[("repeated names", "conll_f1"), "value"] == 100
    assert set(rows["n"]) == {2} and set(rows["split"]) == {"validation"}


def test_scores_and_passes_of_each_seed(made: dict[str, Path]) -> None:
    out = probe(made)
    rows, passes = read_tsv(out), read_tsv(out.with_name("passes.tsv"))
    assert set(rows["seed"]) == {1, 2} and set(rows["layers"]) == {"2+2"}
    assert set(rows["metric"]) >= {"conll_f1", "muc_f1", "b_cubed_f1", "ceaf_phi4_f1"} and set(rows["n"]) == {2}
    # Two training documents a pass.
    assert set(rows["steps"]) <= {2, 4} and (rows["tokens"] > 0).all()
    assert set(passes["epoch"]) == {1, 2} and set(passes["metric"]) == {"conll_f1", "loss", "share"}
    shares = passes[passes["metric"] == "share"].groupby(["seed", "epoch"])["value"].sum()
    assert shares.to_list() == pytest.approx([100.0] * 4)
    assert not (made["folder"] / "work").exists()


def test_a_chosen_layer_is_read_from_the_stored_states(made: dict[str, Path], monkeypatch) -> None:
    inputs: list[Path] = []

    def noted(fingerprint: str, wanted: CoreferenceTraining, files: list[Path]) -> str:
        inputs[:] = files
        return run_fingerprint(fingerprint, wanted, files)

    monkeypatch.setattr("reprlab.coreference.scoring.run_fingerprint", noted)
    states = []
    for name in ("one", "other"):
        states.append(made["folder"] / f"{name}-states")
        embed_documents(
            documents=made["documents"], encoder=made[name], tokenizer=made["tokenizer"], out=states[-1], layers=[1, 2]
        )
    chosen = made["folder"] / "layer.json"
    chosen.write_text(json.dumps({"layer": 1}))
    stored = read_tsv(probe(made, "stored", states=states, encoders=[], chosen=[chosen, chosen]))
    assert set(stored["layers"]) == {"1+1"}
    # Other states, or other documents, are another run.
    read = {path for folder in states for path in folder.rglob("*layer-01*") if "test" not in path.name}
    assert len(read) == 4 and read <= set(inputs) and made["documents"] / "train.jsonlines" in inputs
    given = read_tsv(probe(made, "given", states=states, encoders=[], settings=settings(layers=[1, 1])))
    assert stored["value"].tolist() == given["value"].tolist() and len(stored) == 20
    with pytest.raises(ReprlabError, match=r"layer-00.npy: cannot be read"):
        probe(made, "absent", states=states, encoders=[], settings=settings(layers=[0, 1]))


def test_a_trained_encoder_is_kept_and_opened_again(made: dict[str, Path]) -> None:
    out = made["folder"] / "trained/models"
    one = settings(
        train_encoder=True, layers=[2], aggregation=AggregationSettings(aggregation="mean"), seeds=[1], epochs=1
    )
    train_coreference(
        documents=made["documents"], encoder=made["one"], tokenizer=made["tokenizer"], out=out,
        metrics=out.with_name("metrics.tsv"), passes=out.with_name("passes.tsv"), work=made["folder"] / "trained-work",
        settings=one, fingerprint="x",
    )  # fmt: skip
    similar = made["folder"] / "similar.tsv"
    for padding in (False, True):
        measure_similarity(
            documents=made["documents"], encoders=[made["one"], out / "seed-1"], names=["start", "same"],
            reference=out / "seed-1", tokenizer=made["tokenizer"], out=similar,
            settings=SimilaritySettings(documents=5, seed=0, include_padding=padding),
        )  # fmt: skip
        found = read_tsv(similar)
        # One chain tells nothing apart: no evidence is written.
        assert set(found["metric"]) == {"cosine"}
        rows = found.set_index(["name", "batch"])["value"]
        assert rows["same"].to_numpy() == pytest.approx([1.0, 1.0]) and (rows["start"] < 1).all()


def test_the_layer_with_the_highest_mean_is_chosen_and_the_upper_one_of_equals(tmp_path: Path) -> None:
    def scores(name: str, *values: float) -> Path:
        rows = [{"seed": seed, "metric": "conll_f1", "value": value} for seed, value in enumerate(values)]
        write_rows(tmp_path / name, [*rows, {"seed": 0, "metric": "muc_f1", "value": 99.0}])
        return tmp_path / name

    paths = [scores("6.tsv", 10.0, 20.0), scores("4.tsv", 30.0, 20.0), scores("2.tsv", 25.0, 25.0)]
    select_layer(metrics=paths, layers=[6, 4, 2], metric="conll_f1", out=tmp_path / "layer.json")
    found = json.loads((tmp_path / "layer.json").read_text())
    assert found == {"layer": 4, "conll_f1": {"6": 15.0, "4": 25.0, "2": 25.0}}
    with pytest.raises(ReprlabError, match="has no f1"):
        select_layer(metrics=paths, layers=[6, 4, 2], metric="f1", out=tmp_path / "none.json")


def test_a_split_without_documents_is_named(made: dict[str, Path]) -> None:
    write_documents(made["documents"] / "validation.jsonlines", [])
    with pytest.raises(ReprlabError, match=r"validation.jsonlines: no document"):
        probe(made)


def test_a_word_longer_than_a_segment_is_named(made: dict[str, Path]) -> None:
    with pytest.raises(ReprlabError, match="raise segment_length"):
        segment_text(text("y" * 60, []), bert_tokenizer(made["folder"] / "again"), CUT)
