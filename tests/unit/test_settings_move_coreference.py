"""Every setting of documents with chains, of the head that links them, and of states that are compared moves what is
written, or is said here not to.

The settings are those of the schemas, so that a new one without a change here fails.
"""

import io

import pandas
import pytest
import torch
from coreference_samples import bert_tokenizer
from moved_settings import moved, schemas_of
from pydantic import ValidationError
from reprlab.coreference import settings as schemas
from reprlab.coreference.rows import chain_row
from reprlab.coreference.settings import (
    AggregationSettings,
    CoreferenceTraining,
    HeadSettings,
    SegmentSettings,
    SimilaritySettings,
)
from reprlab.data.schema import write_rows
from reprlab.stages.build_coreference import build_coreference
from reprlab.stages.link_names import link_names
from reprlab.stages.measure_similarity import measure_similarity
from reprlab.stages.probe_coreference import probe_coreference
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings
from transformers import BertConfig, BertModel

pytestmark = [pytest.mark.release, pytest.mark.usefixtures("one_thread")]

SENTENCES = ["Emma was good", "the film was bad", "so Emma was bad", "Anna was the good house", "Emma slept"]
CUT = {"segment_length": 12}
# Of a short document its length says how many spans are kept, of a long one the number itself.
HEAD = {
    "hidden": 6, "features": 3, "max_span_width": 3, "span_ratio": 0.4, "max_spans": 7, "max_antecedents": 3,
    "max_segments": 2, "dropout": 0.2, "mention_loss": 0.5,
}  # fmt: skip
ENGINE = {
    "steps": 1, "batch_size": 1, "optimizer": {"learning_rate": 1e-2, "weight_decay": 0.1},
    "schedule": {"name": "linear"},
}  # fmt: skip
JOINED = {"aggregation": "attention", "width": 4}
BASE = {
    "head": HEAD, "aggregation": JOINED, "layers": [2], "engine": ENGINE, "head_learning_rate": 2e-2,
    "warmup_share": 0.25, "epochs": 4, "patience": 3, "seeds": [1], "resamples": 20,
}  # fmt: skip
SHORT = {**BASE, "epochs": 2}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Examples of lengths and splits of their own, a tokenizer, two encoders with dropout, and segmented documents."""
    folder = tmp_path_factory.mktemp("coreference")
    rows = []
    for number, split in enumerate(["train"] * 3 + ["validation"] * 4):
        said = [one.split() for one in SENTENCES[: 3 + number % 3] * (1 + number % 2)]
        words = [word for sentence in said for word in sentence]
        named = [(place, place) for place, word in enumerate(words) if word == "Emma"]
        chains = [named[: 2 + number], [(3, 4)]]
        speakers = ["a" if place < 8 else "b" for place in range(len(words))]
        row = chain_row(f"{'nw' if number % 2 else 'bc'}_{number}", f"d{number}", said, speakers, chains, "x")
        rows.append({**row, "split": split})
    about = {"name": "toy", "title": "Toy", "kind": "coreference", "labels": []}
    write_rows(folder / "examples.parquet", rows, "coreference", about)
    tokenizer = bert_tokenizer(folder / "tokenizer")
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64, hidden_dropout_prob=0.3, initializer_range=0.3,
    )  # fmt: skip
    for seed, name in enumerate(("one", "other")):
        torch.manual_seed(seed)
        BertModel(config).save_pretrained(folder / name)
    built(folder, CUT, folder / "documents")
    return folder


def built(folder, own, out):
    """Files of segmented documents by their names, as bytes."""
    build_coreference(
        examples=folder / "examples.parquet", tokenizer=folder / "tokenizer", out=out,
        settings=SegmentSettings.model_validate(own),
    )  # fmt: skip
    return {one.name: one.read_bytes() for one in out.iterdir()}


def test_settings_of_documents(given, tmp_path):
    runs = []
    changes = {"segment_length": 10, "singletons": True, "documents": {"train": 2}}

    def documents(own):
        runs.append(None)
        return built(given, own, tmp_path / str(len(runs)))

    first = moved(SegmentSettings, documents, CUT, changes, {})
    fewer = documents({**CUT, "documents": {"train": 2}})
    assert fewer["validation.jsonlines"] == first["validation.jsonlines"], "a limit of a split is that split's"

    def rules(own):
        link_names(
            examples=given / "examples.parquet", out=tmp_path / "r.tsv", settings=SegmentSettings.model_validate(own),
            resamples=20,
        )  # fmt: skip
        return (tmp_path / "r.tsv").read_bytes()

    # Rules read words, and no segment.
    moved(SegmentSettings, rules, CUT, {"singletons": True, "documents": {"validation": 2}}, {"segment_length": 10})


@pytest.fixture(scope="module")
def trained(given):
    """Scores, and what is known of each pass, of a head on one encoder a layer."""
    runs = []

    def train(own):
        out = given / str(len(runs))
        runs.append(out)
        names = ["one", "other"][: len(own["layers"])]
        probe_coreference(
            documents=given / "documents", tokenizer=given / "tokenizer", names=names,
            encoders=[given / name for name in names], out=out / "m.tsv", passes=out / "p.tsv", work=out / "work",
            settings=CoreferenceTraining.model_validate(own), fingerprint="f",
        )  # fmt: skip
        return {name: (out / name).read_bytes() for name in ("m.tsv", "p.tsv")}

    return train


def test_settings_of_the_training_of_a_head(trained):
    changes = {
        "head": {**HEAD, "hidden": 7}, "aggregation": {"aggregation": "mean"}, "layers": [1], "train_encoder": True,
        "encoder_dropout": False, "engine": {**ENGINE, "optimizer": {"learning_rate": 1e-3}},
        "head_learning_rate": 1e-2, "warmup_share": 0.5, "epochs": 5, "patience": 1, "seeds": [2], "resamples": 30,
    }  # fmt: skip
    first = moved(CoreferenceTraining, trained, BASE, changes, {})
    # The bootstrap moves intervals alone; patience cuts what is behind the best pass, and does not change it.
    assert trained({**BASE, "resamples": 30})["p.tsv"] == first["p.tsv"]
    short = trained({**BASE, "patience": 1})["p.tsv"]
    assert first["p.tsv"].startswith(short) and short != first["p.tsv"]
    scores = pandas.read_csv(io.BytesIO(first["m.tsv"]), sep="\t")
    assert scores["value"].max() > 0, "nothing is linked, so that no score can move"


def test_settings_of_a_head(trained):
    changes = {
        "hidden": 7, "features": 4, "max_span_width": 2, "span_ratio": 0.3, "max_spans": 6, "max_antecedents": 2,
        "max_segments": 3, "dropout": 0.1, "mention_loss": 0.0, "genres": ["nw", "bc"],
    }  # fmt: skip
    moved(HeadSettings, lambda own: trained({**SHORT, "head": own}), HEAD, changes, {})


def test_settings_of_aggregation(trained):
    def joined(own):
        return trained({**SHORT, "layers": [2, 2], "aggregation": own})

    changes = {"aggregation": "sum", "attention": "paper", "width": 5, "normalise": True, "concatenated": 2}
    moved(AggregationSettings, joined, JOINED, changes, {})
    # Without attention there is no query to be of a width.
    moved(
        AggregationSettings, joined, {"aggregation": "mean"}, {"aggregation": "sum", "normalise": True},
        {"attention": "paper", "width": 5, "concatenated": 1},
    )  # fmt: skip


def test_settings_of_its_loop(trained):
    def looped(own):
        return trained({**SHORT, "engine": own})

    changes = {"optimizer": {"learning_rate": 1e-3}, "schedule": {"name": "constant"}, "dtype": "bfloat16"}
    # Steps follow from the passes, the seed from `seeds`; a pass is a row, and nothing but the best one is kept.
    still = {"steps": 3, "seed": 5, "log_every": 2, "ladder": [0]}
    for name in ("batch_size", "accumulation"):
        with pytest.raises(ValidationError, match="batch_size"):
            looped({**ENGINE, name: 2})
    moved(EngineSettings, looped, ENGINE, changes, {**still, "batch_size": 1, "accumulation": 1})
    optimizer = {
        "learning_rate": 1e-3, "weight_decay": 0.3, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-2, "clip_norm": 0.1,
    }  # fmt: skip
    moved(
        OptimizerSettings, lambda own: looped({**ENGINE, "optimizer": own}), ENGINE["optimizer"], optimizer,
        {"name": "adamw"},
    )  # fmt: skip
    # The warm-up is a share, and the rate reaches 0 behind the last pass.
    moved(
        ScheduleSettings, lambda own: looped({**ENGINE, "schedule": own}), ENGINE["schedule"], {"name": "cosine"},
        {"warmup_steps": 1, "horizon_steps": 50},
    )  # fmt: skip


def test_settings_of_similarity(given, tmp_path):
    def similar(own):
        measure_similarity(
            documents=given / "documents", encoders=[given / "one"], names=["one"], reference=given / "other",
            tokenizer=given / "tokenizer", out=tmp_path / "s.tsv", settings=SimilaritySettings.model_validate(own),
        )  # fmt: skip
        return (tmp_path / "s.tsv").read_bytes()

    base = {"documents": 2, "seed": 0}
    moved(SimilaritySettings, similar, base, {"documents": 3, "seed": 1, "include_padding": True}, {})


def test_all_schemas_of_the_package_are_here():
    assert schemas_of(schemas) == {
        SegmentSettings,
        HeadSettings,
        AggregationSettings,
        CoreferenceTraining,
        SimilaritySettings,
    }
