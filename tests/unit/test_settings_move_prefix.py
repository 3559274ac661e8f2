"""Every setting of a linear prefix and of its descriptions moves what is written, or is said here not to."""

import pytest
import torch
from moved_settings import moved, schemas_of
from music_samples import annotated, make_language_model, write_example_files
from reprlab.artifacts.tables import read_parquet
from reprlab.models.build import load_model, save_model
from reprlab.music import prefix_settings as schemas
from reprlab.music.prefix_settings import PrefixDescription, PrefixTraining
from reprlab.stages.describe_by_prefix import describe_by_prefix
from reprlab.stages.train_prefix import train_prefix

pytestmark = [pytest.mark.release, pytest.mark.usefixtures("one_thread")]
ENGINE = {"steps": 3, "batch_size": 2, "log_every": 1, "optimizer": {"learning_rate": 1e-2}}
TRAINING = {"task": "description", "inputs": "1234", "vectors": 3, "max_length": 400, "engine": ENGINE}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    model = load_model(make_language_model(folder / "model"))
    with torch.no_grad():
        # So large that what is read decides what is written.
        for one in model.parameters():
            if one.dim() > 1:
                one.mul_(10)
    save_model(model, folder / "model")
    write_example_files(folder, [annotated(f"t{place}", "test" if place > 5 else "train") for place in range(9)])
    return folder


@pytest.fixture(scope="module")
def train(files):
    runs = []

    def made(own):
        out = files / str(len(runs))
        runs.append(out)
        train_prefix(
            model=files / "model", annotations=[files / "annotations.parquet"], states=files / "states.parquet",
            out=out / "prefix", metrics=out / "m.tsv", work=out / "work",
            settings=PrefixTraining.model_validate(own), fingerprint="f",
        )  # fmt: skip
        return out

    return made


def test_settings_of_the_training_of_a_prefix(train):
    def weights(own):
        out = train(own)
        return (out / "prefix/adaptor.safetensors").read_bytes(), (out / "m.tsv").read_bytes()

    changes = {
        "task": "caption", "inputs": "123", "vectors": 4, "max_length": 300, "engine": {**ENGINE, "seed": 1},
        "epochs": 2 / 3,
    }  # fmt: skip
    moved(PrefixTraining, weights, TRAINING, changes, {})


def test_settings_of_descriptions_by_a_prefix(files, train, tmp_path):
    prefix = train(TRAINING) / "prefix"

    def described(own):
        describe_by_prefix(
            model=files / "model", prefix=prefix, annotations=[files / "annotations.parquet"],
            states=files / "states.parquet", out=tmp_path / "d.parquet",
            settings=PrefixDescription.model_validate(own),
        )  # fmt: skip
        return read_parquet(tmp_path / "d.parquet").to_pydict()

    base, changes = {"inputs": "1234", "max_new_tokens": 6}, {"inputs": "123", "max_new_tokens": 7, "limit": 2}
    # The likeliest words are not drawn.
    greedy = moved(PrefixDescription, described, base, {**changes, "temperature": 1.0}, {"seed": 1, "batch_size": 1})
    sampled = {**base, "temperature": 1.0}
    changes |= {"temperature": 0.5, "seed": 1, "batch_size": 1}
    drawn = moved(PrefixDescription, described, sampled, changes, {})
    assert drawn["prompt"] == greedy["prompt"] and drawn["text"] != greedy["text"]


def test_all_schemas_of_the_package_are_here():
    assert schemas_of(schemas) == {PrefixTraining, PrefixDescription}
