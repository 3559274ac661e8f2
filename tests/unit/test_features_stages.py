"""Stages of features on a tiny lineage: each passes on what its own inputs say, and what is known comes out of it."""

import functools

import numpy as np
import pytest
import torch
from features_samples import INNER, VOCABULARY, tiny_mistral, token_file
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.features.activations import inner_states
from reprlab.features.autoencoder import SparseAutoencoder
from reprlab.features.comparison import LINK_COLUMNS, compare_models
from reprlab.features.quality import measure_quality
from reprlab.features.sample import TokenSample, draw_sample
from reprlab.features.settings import (
    AutoencoderSettings,
    AutoencoderShape,
    DescriptionSettings,
    EncodingSettings,
    FeatureComparison,
    InterpretationSettings,
    QualitySettings,
    SampleSettings,
)
from reprlab.features.sparse import SparseFeatures, random_features
from reprlab.features.training import block_batches, train_on_blocks
from reprlab.models.build import load_model, save_model
from reprlab.models.merging import MergeSettings, slerp
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.compare_features import compare_features
from reprlab.stages.describe_features import describe_features
from reprlab.stages.encode_features import encode_features
from reprlab.stages.evaluate_autoencoder import evaluate_autoencoder
from reprlab.stages.interpret_features import interpret_features
from reprlab.stages.merge_models import merge_models
from reprlab.stages.sample_tokens import sample_tokens
from reprlab.stages.train_autoencoder import train_autoencoder
from reprlab.text.token_store import TokenStore
from safetensors import safe_open
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

BLOCK = 6
NAMES = ("base", "lua", "stories", "merged")


def save_words(folder, *, start: str | None = None) -> None:
    """A tokenizer of the words w2, w3, … whose texts end with token 1."""
    words = {"<s>": 0, "</s>": 1, **{f"w{number}": number for number in range(2, VOCABULARY)}}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="w2"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", bos_token=start).save_pretrained(folder)


@pytest.fixture(scope="module")
def lineage(tmp_path_factory):
    """Models, tokens, a tokenizer, the sample, and the neurons of every model on it, all by the stages."""
    folder = tmp_path_factory.mktemp("lineage")
    for seed, name in enumerate(NAMES[:3]):
        save_model(tiny_mistral(seed), folder / name)
        save_words(folder / name, start="<s>" if name == "lua" else None)
    merge_models(
        first=folder / "lua", second=folder / "stories", out=folder / "merged",
        settings=MergeSettings(options={"fraction": 0.25}, dtype="float32"),
    )  # fmt: skip
    for seed, name in enumerate(("code", "prose")):
        token_file(folder / f"{name}.parquet", seed=seed)
    texts = {name: folder / f"{name}.parquet" for name in ("code", "prose")}
    sample_tokens(
        tokenizer=folder / "base", out=folder / "sample.parquet",
        settings=SampleSettings(texts=texts, block=BLOCK, blocks=9, seed=3),
    )  # fmt: skip
    for name in NAMES:
        encode_features(
            model=folder / name, sample=folder / "sample.parquet", out=folder / f"{name}_neurons",
            settings=EncodingSettings(batch_blocks=4),
        )  # fmt: skip
    return folder


def two_sided(folder, width: int = INNER) -> None:
    """An autoencoder that loses nothing: a feature for each side of each coordinate."""
    coder = SparseAutoencoder(width, AutoencoderShape(features=2 * width, l1=0.0))
    with torch.no_grad():
        coder.encoder.copy_(torch.cat([torch.eye(width), -torch.eye(width)]))
        coder.decoder.copy_(coder.encoder.T)
    folder.mkdir()
    coder.save(folder)


def test_a_merged_model_lies_between_its_own_two(lineage):
    first, second, found = (load_model(lineage / name).state_dict() for name in ("lua", "stories", "merged"))
    for name, value in found.items():
        assert value.dtype == torch.float32 and torch.allclose(value, slerp(0.25, first[name], second[name])), name
    assert not torch.equal(found["model.embed_tokens.weight"], first["model.embed_tokens.weight"])
    assert (lineage / "merged/tokenizer_config.json").read_bytes() == (
        lineage / "lua/tokenizer_config.json"
    ).read_bytes()
    merge_models(
        first=lineage / "lua",
        second=lineage / "stories",
        out=lineage / "half",
        settings=MergeSettings(options={"fraction": 0.25}),
    )
    with safe_open(lineage / "half/model.safetensors", "pt") as half:
        assert {half.get_tensor(name).dtype for name in half.keys()} == {torch.float16}  # noqa: SIM118


@pytest.mark.parametrize(("tokenizer", "separators"), [("base", (1,)), ("lua", (0, 1))])
def test_a_sample_knows_the_tokens_that_part_texts(lineage, tokenizer, separators, tmp_path):
    texts = {name: lineage / f"{name}.parquet" for name in ("prose", "code")}
    settings = SampleSettings(texts=texts, block=BLOCK, blocks=5)
    sample_tokens(tokenizer=lineage / tokenizer, out=tmp_path / "s.parquet", settings=settings)
    found = TokenSample.load(tmp_path / "s.parquet")
    assert found.separators == separators and found.corpora == ("prose", "code")
    assert found.identity == draw_sample(settings, separators).identity


def training(**engine) -> AutoencoderSettings:
    own = {"steps": 3, "batch_size": 4, "optimizer": {"learning_rate": 1e-3}, "log_every": 1, **engine}
    return AutoencoderSettings(shape=AutoencoderShape(features=10, l1=0.1, start_blocks=0.2), block=BLOCK, engine=own)


def trained(lineage, folder, settings: AutoencoderSettings, **more) -> None:
    train_autoencoder(
        model=lineage / "stories", tokens=lineage / "prose.parquet", out=folder / "coder", metrics=folder / "m.tsv",
        throughput=folder / "t.tsv", work=folder / "work", settings=settings, fingerprint="f", **more,
    )  # fmt: skip


def test_an_autoencoder_is_trained_on_the_training_text_of_its_own_model(lineage, tmp_path):
    trained(lineage, tmp_path, training(), save_every=2)
    store = TokenStore.open(lineage / "prose.parquet", "train", packing=BLOCK)
    wanted, run = train_on_blocks(
        load_model(lineage / "stories"), store, training(), work=tmp_path / "own", save_every=9, fingerprint="g",
        device="cpu",
    )  # fmt: skip
    found = SparseAutoencoder.load(tmp_path / "coder")
    for name, value in wanted.state_dict().items():
        assert torch.equal(found.state_dict()[name], value), name
    rows = read_tsv(tmp_path / "m.tsv")
    assert rows["step"].tolist() == [1, 2, 3]
    assert rows["reconstruction_loss"].to_numpy() == pytest.approx([row["reconstruction_loss"] for row in run.metrics])
    assert len(read_tsv(tmp_path / "t.tsv")) and not (tmp_path / "work").exists()


def test_a_training_that_diverges_writes_nothing(lineage, tmp_path):
    with pytest.raises(ReprlabError, match=r"diverged at update \d+; lower its learning rate"):
        trained(lineage, tmp_path, training(optimizer={"learning_rate": 1e30, "clip_norm": None}, steps=6))
    assert not (tmp_path / "coder").exists() and not (tmp_path / "m.tsv").exists()


def test_an_autoencoder_that_loses_nothing_recovers_all_of_the_held_out_text(lineage, tmp_path):
    two_sided(tmp_path / "coder")
    settings = QualitySettings(block=BLOCK, blocks=5, batch_blocks=2, seed=1)
    evaluate_autoencoder(
        model=lineage / "lua", autoencoder=tmp_path / "coder", tokens=lineage / "code.parquet", out=tmp_path / "q.tsv",
        densities=tmp_path / "d.parquet", settings=settings,
    )  # fmt: skip
    rows = read_tsv(tmp_path / "q.tsv").set_index("metric")
    assert rows.loc[["loss_recovered", "explained_variance"], "value"].to_numpy() == pytest.approx(100, abs=1e-3)
    assert rows.loc["l0", "value"] == pytest.approx(INNER) and set(rows["n"]) == {5 * BLOCK}
    density = read_parquet(tmp_path / "d.parquet").to_pandas()
    assert density["feature"].tolist() == list(range(2 * INNER))
    sides = density["density"].to_numpy().reshape(2, INNER)
    assert sides.sum(0) == pytest.approx(1) and (sides > 0).any()
    # Which blocks are read is drawn by the seed, of the validation split.
    store = TokenStore.open(lineage / "code.parquet", "validation", packing=BLOCK)
    chosen = np.random.Generator(np.random.Philox(key=1)).permutation(len(store))[:5]
    coder, model = SparseAutoencoder.load(tmp_path / "coder"), load_model(lineage / "lua")
    batches = list(block_batches(store, np.sort(chosen), 2))
    wanted = measure_quality(model, 0, batches, coder.encode, coder.decode)
    for name, value in wanted.values().items():
        assert rows.loc[name, "value"] == pytest.approx(value, rel=1e-6), name
    # A pass of the model itself: what is predicted of all blocks.
    batch = torch.cat(batches)
    with torch.no_grad():
        logits = model.eval()(input_ids=batch).logits[:, :-1].flatten(0, 1)
    clean = torch.nn.functional.cross_entropy(logits, batch[:, 1:].flatten())
    assert rows.loc["clean_loss", "value"] == pytest.approx(float(clean), abs=1e-4)


def test_features_of_the_sample_are_neurons_atoms_or_those_of_a_random_dictionary(lineage, tmp_path):
    sample = TokenSample.load(lineage / "sample.parquet")
    model = load_model(lineage / "lua").eval()
    states = inner_states(model, 0, torch.from_numpy(sample.ids.astype(np.int64))).flatten(0, 1)
    neurons = SparseFeatures.load(lineage / "lua_neurons")
    assert neurons.sample == sample.identity
    assert np.allclose(neurons.values.toarray(), states.numpy(), atol=1e-6)
    two_sided(tmp_path / "coder")
    encode = functools.partial(encode_features, model=lineage / "lua", sample=lineage / "sample.parquet")
    encode(out=tmp_path / "atoms", settings=EncodingSettings(batch_blocks=5), autoencoder=tmp_path / "coder")
    atoms = SparseFeatures.load(tmp_path / "atoms")
    assert np.allclose(atoms.values.toarray(), torch.cat([states, -states], 1).relu().numpy(), atol=1e-6)
    encode(out=tmp_path / "drawn", settings=EncodingSettings(drawn_seed=2), like=tmp_path / "atoms")
    drawn = SparseFeatures.load(tmp_path / "drawn")
    assert (drawn.values != random_features(model, 0, sample, atoms, 2, 9).values).nnz == 0


def comparison(lineage) -> FeatureComparison:
    links = [("base", "lua"), ("base", "stories"), ("lua", "merged"), ("stories", "merged")]
    return FeatureComparison.model_validate({
        "models": {name: {"features": lineage / f"{name}_neurons"} for name in NAMES},
        "pairs": [*({"parent": one, "child": two} for one, two in links),
                  {"parent": "lua", "child": "lua", "control": "itself"}],
        "thresholds": [0.6], "base": "base", "children": ["lua", "stories"], "merged": "merged",
        "correlation": {"least_positions": 5, "floor": 0.3},
    })  # fmt: skip


def test_stages_compare_describe_and_interpret_one_lineage(lineage, tmp_path):
    settings, sample = comparison(lineage), TokenSample.load(lineage / "sample.parquet")
    compare_features(
        sample=lineage / "sample.parquet", out=tmp_path / "c.tsv", links=tmp_path / "l.parquet", settings=settings
    )
    counts = read_tsv(tmp_path / "c.tsv")
    wanted = compare_models(settings, sample.inner)
    assert counts["value"].to_numpy() == pytest.approx([row["value"] for row in wanted.counts])
    itself = counts[(counts["control"] == "itself") & (counts["metric"] == "share_parent")]
    assert set(itself["positions"]) == {"all", "inner"} and (itself["value"] == 100).all()
    links = read_parquet(tmp_path / "l.parquet")
    assert links.column_names == list(LINK_COLUMNS) and links["r"].to_pylist() == wanted.links["r"]
    asked = {"parent": "base", "child": "lua", "threshold": 0.6, "least_positions": 5}
    interpret_features(
        features=lineage / "base_neurons", sample=lineage / "sample.parquet", tokenizer=lineage / "base",
        links=tmp_path / "l.parquet", out=tmp_path / "i.tsv", settings=InterpretationSettings(features=4, **asked),
    )  # fmt: skip
    rows = read_tsv(tmp_path / "i.tsv")
    assert len(rows) == 4 and set(rows["explainer"]) == {"token statistics"}
    for row in rows.to_dict("records"):
        own = SparseFeatures.load(lineage / "base_neurons").values.toarray()[:, row["feature"]]
        assert {one.strip("' ,") for one in row["explanation"].split()} <= {
            f"w{one}" for one in sample.ids.ravel()[own > 0]
        } | {"</s>"}
    told = {"features": {name: lineage / f"{name}_neurons" for name in NAMES}, "base": "base", "merged": "merged",
            "children": ["lua", "stories"], "least_positions": 5, "contexts": 2, "threshold": 2.0}  # fmt: skip
    lost = {"kind": "lost", "corpus": "prose", "pattern": "^w1"}
    for cases, shown in (({"a": lost, "b": {**lost, "pattern": "^q"}}, ["base", "lua"]), ({}, [])):
        describe_features(
            sample=lineage / "sample.parquet", tokenizer=lineage / "base", links=tmp_path / "l.parquet",
            out=tmp_path / "d.tsv", contexts=tmp_path / "x.tsv", formatting=tmp_path / "f.tsv",
            settings=DescriptionSettings.model_validate({**told, "cases": cases}),
        )  # fmt: skip
        found, tokens = read_tsv(tmp_path / "d.tsv"), read_tsv(tmp_path / "x.tsv")
        assert found["model"].tolist() == shown and set(found["case"]) <= {"a"}
        assert {"corpus", "partner", "r", "mass_share", "token_share"} <= set(found.columns)
        assert len(tokens) == len(shown) * 2 * BLOCK and {"context", "place", "activation"} <= set(tokens.columns)
        assert set(tokens["token"]) <= {f"w{number}" for number in range(2, VOCABULARY)} | {"</s>"}
        formatting = read_tsv(tmp_path / "f.tsv")
        assert set(formatting["child"]) == {"lua", "stories"} and set(formatting["metric"]) == {"format_share"}
