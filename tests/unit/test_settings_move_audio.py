"""Every setting of recognisers and their transcripts moves what is written, or is said here not to.

The settings are those of the schemas, so that a new one without a change here fails.
"""

import pytest
from moved_settings import moved, schemas_of
from reprlab.audio import settings as schemas
from reprlab.audio.settings import CountedTuning, CountedTunings, RecogniserSettings, Tuning, TuningShape
from reprlab.audio.transcripts import TranscriptSettings, normalised
from reprlab.models.build import build_from_config, save_model
from reprlab.stages.count_tunings import count_tunings
from reprlab.stages.train_recogniser import train_recogniser
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings
from test_audio_recognition import WAVES, WHISPER, speech

pytestmark = [pytest.mark.release, pytest.mark.usefixtures("one_thread")]

ENGINE = {
    "steps": 4, "batch_size": 2, "log_every": 2, "optimizer": {"learning_rate": 1e-3, "weight_decay": 0.1},
    "schedule": {"name": "linear", "warmup_steps": 1},
}  # fmt: skip
# Two of the four utterances of a second.
BASE = {
    "tuning": {"method": "conv", "inner": 4}, "minutes": 2 / 60, "data_seed": 0, "engine": ENGINE,
    "head_learning_rate": 1e-2,
}  # fmt: skip
TRAINED = "trained/trained.safetensors"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Files of one training by their names, as bytes."""
    folder = tmp_path_factory.mktemp("audio")
    given = speech(folder / "speech.parquet")
    save_model(build_from_config(WHISPER, seed=0), folder / "encoder")
    runs = []

    def train(own):
        out = folder / str(len(runs))
        runs.append(out)
        train_recogniser(
            speech=given, model=folder / "encoder", out=out / "trained", metrics=out / "m.tsv", curve=out / "c.tsv",
            hypotheses=out / "h.parquet", work=out / "work", settings=RecogniserSettings.model_validate(own),
            fingerprint="f",
        )  # fmt: skip
        return {str(one.relative_to(out)): one.read_bytes() for one in sorted(out.rglob("*")) if one.is_file()}

    return train


def test_settings_of_a_recogniser(made):
    changes = {
        "tuning": {"method": "ff", "inner": 4}, "minutes": 3 / 60, "data_seed": 1, "engine": {**ENGINE, "seed": 1},
        "head_learning_rate": 1e-3, "evaluation_utterances": 3,
    }  # fmt: skip
    first = moved(RecogniserSettings, made, base := BASE, changes, {})
    # What is scored is not what is learned, nor the other way round what is drawn.
    fewer = made({**base, "evaluation_utterances": 3})
    assert fewer[TRAINED] == first[TRAINED] and fewer["c.tsv"] == first["c.tsv"]
    assert fewer["m.tsv"] != first["m.tsv"] and fewer["h.parquet"] != first["h.parquet"]
    # Without one update the rate of the head has nothing to move, and the drawn weights are the seed's.
    none = {**base, "engine": {**ENGINE, "steps": 0, "schedule": {}}}
    assert made({**none, "head_learning_rate": 1.0, "data_seed": 1})[TRAINED] == made(none)[TRAINED]


@pytest.mark.parametrize(
    ("schema", "part", "changes", "still"),
    [
        (
            EngineSettings,
            None,
            {"steps": 5, "batch_size": 4, "optimizer": {"learning_rate": 2e-3}, "schedule": {}, "seed": 1,
             "accumulation": 2, "dtype": "bfloat16", "log_every": 1},
            # Nothing is kept of a training but its end.
            {"ladder": [0]},
        ),
        (
            OptimizerSettings,
            "optimizer",
            {"learning_rate": 2e-3, "weight_decay": 0.2, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-2,
             "clip_norm": 0.1},
            {"name": "adamw"},
        ),
        (ScheduleSettings, "schedule", {"name": "cosine", "warmup_steps": 2, "horizon_steps": 20}, {}),
    ],
)  # fmt: skip
def test_settings_of_its_loop(made, schema, part, changes, still):
    def weights(own):
        found = made({**BASE, "engine": {**ENGINE, part: own} if part else own})
        # How often losses are noted moves their table alone.
        return found[TRAINED], found["c.tsv"] if "log_every" in own else ""

    moved(schema, weights, ENGINE[part] if part else ENGINE, changes, still)


TUNED = {
    "ff": {"inner", "depth", "placement", "norm", "blocks", "initial_scale"},
    "conv": {"inner", "placement", "kernel", "blocks", "initial_scale"},
    "lora": {"inner", "blocks"},
    "compacter": {"inner", "placement", "blocks", "initial_scale", "terms", "rank"},
    "parallel": {"inner", "blocks", "initial_scale", "scale"},
    "full": set(),
    "head": set(),
}


@pytest.mark.parametrize("method", TUNED)
def test_settings_of_a_tuning(made, method):
    """An adapter has settings of its own kind, and where no adapter is there is nothing to set."""
    base = {"method": method, "inner": 8}
    changes = {
        "inner": 4, "depth": 3, "placement": "outer", "norm": False, "kernel": 3, "blocks": 1, "initial_scale": 0.1,
        "terms": 2, "rank": 2, "scale": 1.0,
    }  # fmt: skip
    own = {name: value for name, value in changes.items() if name in TUNED[method]}
    still = {name: value for name, value in changes.items() if name not in TUNED[method]}
    other = "head" if method != "head" else "full"
    moved(Tuning, lambda given: made({**BASE, "tuning": given})[TRAINED], base, {"method": other, **own}, still)


def test_settings_of_counts(tmp_path):
    tuning = {"model": "small", "name": "n", "tuning": {"method": "ff", "inner": 4}}
    entries = {"small": WHISPER.model_dump(), "other": WAVES.model_dump()}

    def counted(own):
        count_tunings(settings=CountedTunings.model_validate(own), out=tmp_path / "o.tsv")
        return (tmp_path / "o.tsv").read_bytes()

    base = {"entries": entries, "tunings": [tuning], "symbols": 5}
    wider = {**entries, "small": {**entries["small"], "config": {**WHISPER.config, "encoder_ffn_dim": 32}}}
    moved(CountedTunings, counted, base, {"entries": wider, "tunings": [tuning, tuning], "symbols": 6}, {})
    changes = {"model": "other", "name": "m", "tuning": {"method": "ff", "inner": 5}}
    moved(CountedTuning, lambda own: counted({**base, "tunings": [own]}), tuning, changes, {})


def test_settings_of_transcripts():
    texts = ["Già detto", "Дефис"]

    def said(own):
        return [normalised(text, TranscriptSettings.model_validate(own)) for text in texts]

    first = moved(TranscriptSettings, said, {}, {"alphabet": "CYRILLIC", "fold_accents": True}, {})
    assert first == ["già detto", ""]


def test_all_schemas_of_the_package_are_here():
    # The settings of the shape are tried as those of a tuning.
    assert schemas_of(schemas) == {TuningShape, Tuning, RecogniserSettings, CountedTuning, CountedTunings}
