"""Every setting of sparse autoencoders, of their comparison and of what is said of their features moves what is
written, or is said here not to.

The settings are those of the schemas, so that a new one without a change here fails.
"""

import io
import json
from contextlib import ExitStack

import numpy as np
import pandas
import pyarrow
import pytest
import scipy.sparse
import torch
from chat_endpoint import serving_digits
from features_samples import VOCABULARY, tiny_mistral, token_file
from moved_settings import moved, schemas_of
from reprlab.artifacts.tables import read_parquet, read_tsv, write_parquet
from reprlab.features import settings as schemas
from reprlab.features.correlation import correlate
from reprlab.features.sample import TokenSample
from reprlab.features.settings import (
    AutoencoderSettings,
    AutoencoderShape,
    CaseStudy,
    ComparedModel,
    CorrelationSettings,
    DescriptionSettings,
    EncodingSettings,
    FeatureComparison,
    InterpretationSettings,
    Pair,
    QualitySettings,
    SampleSettings,
)
from reprlab.features.sparse import SparseFeatures
from reprlab.inference.chat_settings import ChatSettings
from reprlab.models.build import save_model
from reprlab.stages.compare_features import compare_features
from reprlab.stages.describe_features import describe_features
from reprlab.stages.encode_features import encode_features
from reprlab.stages.evaluate_autoencoder import evaluate_autoencoder
from reprlab.stages.interpret_features import interpret_features
from reprlab.stages.sample_tokens import sample_tokens
from reprlab.stages.train_autoencoder import train_autoencoder
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

pytestmark = [pytest.mark.release, pytest.mark.usefixtures("one_thread")]

BLOCK = 6
ENGINE = {
    "steps": 6, "batch_size": 4, "log_every": 1, "optimizer": {"learning_rate": 0.1, "weight_decay": 0.1},
    "schedule": {"name": "linear", "warmup_steps": 1},
}  # fmt: skip
# So much weight on few features that some fire in no block of an update.
SHAPE = {"features": 10, "l1": 10.0, "start_blocks": 0.2, "dead_window": 2}
CODER = {"shape": SHAPE, "block": BLOCK, "engine": ENGINE}
NAMES = ("base", "lua", "stories", "merged", "other")


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A model of two layers, tokens of two corpora, words of which a fifth is punctuation, the sample, and features of
    a lineage on it: those of a child are the base's and something of its own, the merged ones lie between."""
    folder = tmp_path_factory.mktemp("features")
    model = tiny_mistral(0, layers=2)
    with torch.no_grad():
        # What an MLP writes decides what is predicted.
        for name, one in model.named_parameters():
            if "mlp" in name or "lm_head" in name:
                one.mul_(10)
    save_model(model, folder / "model")
    words = {"<s>": 0, "</s>": 1, **{f"{'.' * n if n < 10 else f'w{n}'}": n for n in range(2, VOCABULARY)}}
    PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="<s>")), eos_token="</s>"
    ).save_pretrained(folder / "tokenizer")
    for seed, name in enumerate(("code", "prose")):
        token_file(folder / f"{name}.parquet", seed=seed)
    sampled(folder, {"texts": texts(folder), "block": BLOCK, "blocks": 20, "split": "train"}, folder / "sample.parquet")
    sample = TokenSample.load(folder / "sample.parquet")
    random = np.random.default_rng(0)
    positions, count = sample.ids.size, 12
    drawn = {name: random.normal(size=(positions, count)) for name in NAMES}
    # Half of what a feature is stands in its token.
    drawn["base"] += random.normal(size=(VOCABULARY, count))[sample.ids.ravel()]
    for name, share in (("lua", 0.4), ("stories", 0.7)):
        drawn[name] = drawn["base"] + share * np.arange(1, count + 1) / 4 * drawn[name]
    drawn["merged"] = drawn["lua"] + drawn["stories"] + 0.5 * drawn["merged"]
    drawn["other"] = drawn["base"] + drawn["other"]
    for name, values in drawn.items():
        # Features that fire ever less often, the last ones seldom.
        values = np.maximum(values - np.linspace(0, 2.2, count) * values.std(0), 0).astype(np.float32)
        (folder / name).mkdir()
        SparseFeatures(scipy.sparse.csr_array(values), sample.identity).save(folder / name)
        density = pyarrow.table({"feature": range(count), "density": (values > 0).mean(0)})
        write_parquet(folder / f"{name}.densities.parquet", density)
    none = pyarrow.table({"feature": range(count), "density": np.zeros(count)})
    write_parquet(folder / "none.densities.parquet", none)
    return folder


def texts(folder):
    return {name: folder / f"{name}.parquet" for name in ("code", "prose")}


def sampled(folder, own, out):
    sample_tokens(tokenizer=folder / "tokenizer", out=out, settings=SampleSettings.model_validate(own))
    return read_parquet(out).to_pydict()


def test_settings_of_the_sample(given, tmp_path):
    base = {"texts": texts(given), "block": BLOCK, "blocks": 5}
    changes = {"texts": {"code": given / "code.parquet"}, "block": 5, "blocks": 4, "split": "train", "seed": 1}
    moved(SampleSettings, lambda own: sampled(given, own, tmp_path / "s.parquet"), base, changes, {})


@pytest.fixture(scope="module")
def trained(given):
    """Weights and metrics of an autoencoder: its own record of its settings would move with each of them."""
    runs = []

    def train(own):
        out = given / str(len(runs))
        runs.append(out)
        train_autoencoder(
            model=given / "model", tokens=given / "code.parquet", out=out / "coder", metrics=out / "m.tsv",
            throughput=out / "t.tsv", work=out / "work", settings=AutoencoderSettings.model_validate(own),
            fingerprint="f",
        )  # fmt: skip
        return (out / "coder/autoencoder.safetensors").read_bytes(), (out / "m.tsv").read_bytes()

    return train


def test_settings_of_an_autoencoder(given, trained):
    changes = {
        "features": 11, "l1": 8.0, "subtract_bias": True, "normalise": False, "encoder_start": "atoms",
        "start_blocks": 0.5, "dead_window": 1,
    }  # fmt: skip
    first = moved(AutoencoderShape, lambda own: trained({**CODER, "shape": own}), SHAPE, changes, {})
    # The window says which features are counted as idle; nothing is done about them.
    weights, metrics = trained({**CODER, "shape": {**SHAPE, "dead_window": 1}})
    assert weights == first[0]
    one, two = (pandas.read_csv(io.BytesIO(table), sep="\t") for table in (first[1], metrics))
    assert {name.split("_")[0] for name in one if not one[name].equals(two[name])} == {"idle"}
    own = {"shape": {**SHAPE, "l1": 1.0}, "block": 5, "layer": 1, "engine": {**ENGINE, "seed": 1}}
    moved(AutoencoderSettings, trained, CODER, own, {})


def test_settings_of_its_loop(trained):
    def looped(own):
        weights, metrics = trained({**CODER, "engine": own})
        # How often losses are noted moves their table alone.
        return weights, metrics if "log_every" in own else ""

    changes = {
        "steps": 7, "batch_size": 8, "accumulation": 2, "optimizer": {"learning_rate": 0.2}, "schedule": {},
        "dtype": "bfloat16", "seed": 1, "log_every": 2,
    }  # fmt: skip
    # Nothing is kept of a training but its end.
    moved(EngineSettings, looped, ENGINE, changes, {"ladder": [5]})
    optimizer = {
        "learning_rate": 0.2, "weight_decay": 0.3, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-2, "clip_norm": 0.1,
    }  # fmt: skip
    moved(
        OptimizerSettings, lambda own: looped({**ENGINE, "optimizer": own}), ENGINE["optimizer"], optimizer,
        {"name": "adamw"},
    )  # fmt: skip
    schedule = {"name": "cosine", "warmup_steps": 2, "horizon_steps": 20}
    moved(ScheduleSettings, lambda own: looped({**ENGINE, "schedule": own}), ENGINE["schedule"], schedule, {})


def test_settings_of_quality_and_of_features_on_the_sample(given, trained, tmp_path):
    trained(CODER)
    coder = max(given.glob("*/coder"), key=lambda one: int(one.parent.name))

    def quality(own):
        evaluate_autoencoder(
            model=given / "model", autoencoder=coder, tokens=given / "code.parquet", out=tmp_path / "q.tsv",
            densities=tmp_path / "d.parquet", settings=QualitySettings.model_validate(own),
        )  # fmt: skip
        # Sums over other parts round otherwise, most of all shares of a small difference of losses.
        values = read_tsv(tmp_path / "q.tsv").set_index("metric").drop(["loss_recovered", "mean_recovered"])
        return values.round(3).to_csv(), read_parquet(tmp_path / "d.parquet").to_pydict()

    base = {"block": BLOCK, "blocks": 9}
    changes = {"block": 5, "layer": 1, "blocks": 8, "seed": 1}
    moved(QualitySettings, quality, base, changes, {"batch_blocks": 2})

    def encoded(own):
        encode_features(
            model=given / "model", sample=given / "sample.parquet", out=tmp_path / "f", like=given / "base",
            settings=EncodingSettings.model_validate(own),
        )  # fmt: skip
        return SparseFeatures.load(tmp_path / "f").values.toarray().round(5).tolist()

    for base in ({}, {"drawn_seed": 1}):
        moved(EncodingSettings, encoded, base, {"layer": 1, "drawn_seed": 2}, {"batch_blocks": 2})


def comparison(folder):
    links = [(one, two) for one in ("base", "other") for two in ("lua", "stories")]
    links += [(one, two) for one in ("lua", "stories") for two in ("merged", "other")] + [("base", "other")]
    links += [("other", "merged")]
    return {
        "models": {name: {"features": folder / name} for name in NAMES},
        "pairs": [*({"parent": one, "child": two} for one, two in links),
                  {"parent": "base", "child": "lua", "control": "shuffled", "shuffled": True}],
        "thresholds": [0.6], "base": "base", "children": ["lua", "stories"], "merged": "merged",
        "correlation": {"least_positions": 5, "floor": 0.3},
    }  # fmt: skip


def test_settings_of_comparison(given, tmp_path):
    base = comparison(given)

    def compared(own):
        compare_features(
            sample=given / "sample.parquet", out=tmp_path / "c.tsv", links=tmp_path / "l.parquet",
            settings=FeatureComparison.model_validate(own),
        )  # fmt: skip
        # Sums over other parts round otherwise.
        links = read_parquet(tmp_path / "l.parquet").to_pandas().round(9)
        return (tmp_path / "c.tsv").read_bytes(), links.to_csv()

    about = {"features": given / "base", "densities": given / "base.densities.parquet"}
    changes = {
        "models": {**base["models"], "base": {"features": given / "other"}}, "pairs": base["pairs"][:-1],
        "thresholds": [0.5], "base": "other", "children": ["lua", "other"], "merged": "other",
        "correlation": {"least_positions": 5, "floor": 0.2}, "seed": 1,
    }  # fmt: skip
    first = moved(FeatureComparison, compared, base, changes, {})
    assert compared({**base, "thresholds": [0.5]})[1] == first[1], "links have no threshold"

    def model(own):
        return compared({**base, "models": {**base["models"], "base": own}})

    changes = {"features": given / "other", "densities": given / "none.densities.parquet"}
    moved(ComparedModel, model, about, changes, {})

    def pair(own):
        return compared({**base, "pairs": [*base["pairs"][:-1], own]})

    changes = {"parent": "stories", "child": "merged", "control": "chance", "shuffled": False}
    moved(Pair, pair, base["pairs"][-1], changes, {})

    def correlation(own):
        return compared({**base, "correlation": own})

    # Which pairs are shuffled and how stands with the pairs; the size of a block bounds the memory.
    still = {"block": 5, "shuffle_seed": 3}
    changes = {"least_positions": 30, "floor": 0.2}
    moved(CorrelationSettings, correlation, base["correlation"], changes, still)
    one, two = (SparseFeatures.load(given / name) for name in ("base", "lua"))

    def correlated(own):
        found = correlate(one, two, CorrelationSettings.model_validate(own)).arrays()
        return repr({name: values.round(9).tolist() for name, values in found.items()})

    moved(CorrelationSettings, correlated, base["correlation"], {**changes, "shuffle_seed": 3}, {"block": 5})


@pytest.fixture(scope="module")
def links(given):
    compare_features(
        sample=given / "sample.parquet", out=given / "c.tsv", links=given / "l.parquet",
        settings=FeatureComparison.model_validate(comparison(given)),
    )  # fmt: skip
    return given / "l.parquet"


def test_settings_of_descriptions(given, links, tmp_path):
    def described(own):
        describe_features(
            sample=given / "sample.parquet", tokenizer=given / "tokenizer", links=links, out=tmp_path / "d.tsv",
            contexts=tmp_path / "x.tsv", formatting=tmp_path / "f.tsv",
            settings=DescriptionSettings.model_validate(own),
        )  # fmt: skip
        return [(tmp_path / f"{name}.tsv").read_bytes() for name in "dxf"]

    case = {"kind": "lost", "corpus": "prose", "pattern": "^w1"}
    base = {
        "features": {name: given / name for name in NAMES}, "base": "base", "children": ["lua", "stories"],
        "merged": "merged", "threshold": 0.8, "least_positions": 5, "contexts": 2,
        "cases": {"a": case, "b": {**case, "kind": "universal"}},
    }  # fmt: skip
    changes = {
        "features": {**base["features"], "base": given / "other"}, "base": "other", "children": ["lua", "other"],
        "merged": "other", "threshold": 0.7, "least_positions": 40, "cases": {"a": case}, "contexts": 3,
    }  # fmt: skip
    first = moved(DescriptionSettings, described, base, changes, {})
    assert len(read_tsv(tmp_path / "d.tsv")) > 0
    # The one threshold says which case studies there are, and what of the features that persist is formatting.
    assert all(one != other for one, other in zip(first, described({**base, "threshold": 0.7}), strict=True))
    studied = {"kind": "universal", "corpus": "code", "pattern": "^w2"}
    moved(CaseStudy, lambda own: described({**base, "cases": {"a": own}}), case, studied, {})


def test_settings_of_interpretation(given, links, tmp_path, monkeypatch):
    """Statistics of tokens, or a chat model whose answers depend on all that it is told."""
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    runs = []

    def interpreted(own):
        runs.append(None)
        interpret_features(
            features=given / "base", sample=given / "sample.parquet", tokenizer=given / "tokenizer", links=links,
            out=tmp_path / "i.tsv", settings=InterpretationSettings.model_validate(own),
            cache=tmp_path / str(len(runs)),
        )  # fmt: skip
        return (tmp_path / "i.tsv").read_bytes()

    def say(messages):
        total = sum(json.dumps(messages).encode())
        return f"tokens of kind {total}", {str(total % 10): -0.1}

    base = {
        "features": 4, "top": 3, "lower": 1, "random": 2, "same_tokens": 2, "parent": "base", "child": "lua",
        "threshold": 0.8, "least_positions": 5,
    }  # fmt: skip
    changes = {
        "features": 5, "top": 4, "lower": 2, "random": 3, "same_tokens": 3, "parent": "other", "child": "stories",
        "threshold": 0.95, "least_positions": 60, "seed": 1,
    }  # fmt: skip
    with ExitStack() as stack:
        server, other = (stack.enter_context(serving_digits(say)) for _ in range(2))
        chat = {"model": "m", "base_url": server.address, "max_tokens": 60}
        # Without a chat model nobody is told anything.
        told = {"explain": "You explain.", "simulate": "You score."}
        moved(InterpretationSettings, interpreted, base, {**changes, "chat": chat}, told)
        asking = {**base, "features": 2, "top": 1, "lower": 0, "random": 1, "same_tokens": 1, "chat": chat}
        changes |= {"features": 1, "top": 2, "lower": 1, "random": 2, "same_tokens": 2}
        moved(InterpretationSettings, interpreted, asking, {**changes, **told, "chat": {**chat, "model": "n"}}, {})

        def asked(own):
            before = [len(one.asked) for one in (server, other)]
            interpreted({**asking, "chat": own})
            return [
                sorted(json.dumps(request) for request in one.asked[start:])
                for one, start in zip((server, other), before, strict=True)
            ]

        ways = {
            "model": "n", "base_url": other.address, "temperature": 0.5, "max_tokens": 50,
            "length_name": "max_completion_tokens",
        }  # fmt: skip
        # How long is waited is no part of a request.
        moved(ChatSettings, asked, chat, ways, {"timeout": 20.0})


def test_all_schemas_of_the_package_are_here():
    assert schemas_of(schemas) == {
        AutoencoderShape, AutoencoderSettings, QualitySettings, SampleSettings, EncodingSettings, CorrelationSettings,
        ComparedModel, Pair, FeatureComparison, CaseStudy, DescriptionSettings, InterpretationSettings,
    }  # fmt: skip
