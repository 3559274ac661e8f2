"""Every setting of tracks, their annotation, states of audio, and descriptions moves what is written, or is said here
not to.

The settings are those of the schemas, so that a new one without a change here fails. What is heard has none.
"""

import json

import numpy as np
import pyarrow
import pytest
import torch
from chat_endpoint import KEY, serving
from data_fixtures import make_zip, opened
from finetune_fixtures import make_bert, make_tokenizer
from moved_settings import moved, schemas_of
from music_samples import annotated, heard, make_language_model, tone, write_example_files
from PIL import Image
from reprlab.artifacts.tables import read_parquet, write_parquet
from reprlab.data.sources import Sources
from reprlab.models.build import build_from_config, load_model, save_model
from reprlab.music import settings as schemas
from reprlab.music.scores import Score
from reprlab.music.settings import (
    RATE,
    AnnotationSettings,
    DescriberTraining,
    DescriptionGeneration,
    DescriptionScoring,
    EncodingSettings,
    ExampleSettings,
    Recordings,
    Scores,
    TrackSettings,
)
from reprlab.music.tracks import Track, write_tracks
from reprlab.registry.models import ModelEntry
from reprlab.representations.settings import AdapterRecipe
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.annotate_tracks import annotate_tracks
from reprlab.stages.build_tracks import build_tracks
from reprlab.stages.describe_tracks import describe_tracks
from reprlab.stages.encode_audio import encode_audio
from reprlab.stages.estimate_annotation import estimate_annotation
from reprlab.stages.score_description_baselines import score_description_baselines
from reprlab.stages.score_descriptions import score_descriptions
from reprlab.stages.show_tracks import show_tracks
from reprlab.stages.train_describer import train_describer
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings
from test_music_annotation import say
from test_music_stages import wave
from test_music_tracks import write_folder

pytestmark = [pytest.mark.release, pytest.mark.usefixtures("one_thread")]


def test_settings_of_tracks(tmp_path, monkeypatch):
    """Scores and the sound font are stand-ins, whose sound is told by all that a player is given."""

    class Font:
        def __init__(self, path):
            self.pitch = len(path.read_bytes())

        def render(self, score, tempo, programme, seconds):
            return tone(seconds, 100.0 + self.pitch + tempo + programme + score.meter)

    monkeypatch.setattr("reprlab.music.tracks.SoundFont", Font)
    monkeypatch.setattr(
        "reprlab.music.tracks.read_score",
        lambda path, quarters: Score([], "C major", len(path.read_bytes()), 1.0),
    )
    scores = {f"{kind}/{place}.abc": b"x" * (place + 1) for kind in "ab" for place in range(4)}
    fonts, sounds = (
        {"f.sf2": b"f" * 50, "g.sf2": b"g" * 70},
        {"r/one.wav": wave(tone(5.0)), "q/two.wav": wave(tone(5.0, 220.0))},
    )
    made_of = {
        "scores": scores, "others": {name: text * 2 for name, text in scores.items()}, "fonts": fonts, "sounds": sounds,
    }  # fmt: skip
    archives = {
        name: opened(make_zip(tmp_path / f"{name}.zip", members), tmp_path / "cache")
        for name, members in made_of.items()
    }
    monkeypatch.setattr(
        "reprlab.data.sources.open_sources", lambda names, *rest: Sources({one: archives[one] for one in names})
    )
    for name, pitch in (("own", 330.0), ("mine", 350.0)):
        (tmp_path / name).mkdir()
        write_folder(tmp_path / name, {"t": tone(3.0, pitch)})

    def built(own):
        build_tracks(
            cache=tmp_path / "cache", out=tmp_path / "t.parquet", settings=TrackSettings.model_validate(own)
        )  # fmt: skip
        return (tmp_path / "t.parquet").read_bytes()

    kinds = {"members": "a/*", "genre": "folk", "tracks": 3}
    recorded = {"members": "r/*", "genre": "jazz", "tracks": 2}
    base = {
        "seconds": 2.0, "archives": {"scores": "scores", "font": "fonts", "recordings": "sounds"}, "font": "f.sf2",
        "scores": [kinds], "recordings": [recorded], "folder": str(tmp_path / "own"), "test_share": 0.34,
    }  # fmt: skip
    changes = {
        "seconds": 1.5, "archives": {**base["archives"], "scores": "others"}, "font": "g.sf2",
        "scores": [{**kinds, "tracks": 2}], "tempo": [60, 61], "programmes": [1], "recordings": [],
        "folder": str(tmp_path / "mine"), "test_share": 0.7, "limit": 4, "seed": 1,
    }  # fmt: skip
    # Tracks are kept together; what is made of them later is made in parts.
    moved(TrackSettings, built, base, changes, {"shards": 2})
    other = {"members": "b/*", "genre": "polka", "tracks": 2}
    moved(Scores, lambda own: built({**base, "scores": [own]}), kinds, other, {})
    other = {"members": "q/*", "genre": "blues", "tracks": 1}
    moved(Recordings, lambda own: built({**base, "recordings": [own]}), recorded, other, {})


@pytest.fixture(scope="module")
def tracks(tmp_path_factory):
    """Four tracks of two genres and both splits, one with frames of its video, and what is heard in them."""
    folder = tmp_path_factory.mktemp("tracks")
    (folder / "frames").mkdir()
    for place in range(2):
        Image.new("L", (8, 8), 100 * place).save(folder / f"frames/{place}.png")
    found = [
        (
            Track(f"t{place}", f"t{place}", "rendered", "folk" if place < 2 else "chorale",
                  tone(4.0, 200.0 + 40 * place) * np.linspace(0.2, 1, 4 * RATE, dtype=np.float32),
                  video=str(folder / "frames") if place == 1 else ""),
            "test" if place % 2 else "train",
        )
        for place in range(4)
    ]  # fmt: skip
    write_tracks(folder / "tracks.parquet", found)
    rows = [{"track": f"t{place}", **heard(90.0 + place, place)} for place in range(4)]
    (folder / "heard.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


CHAT = {"model": "m", "base_url": "http://127.0.0.1:9", "max_tokens": 50}
PAID = {
    "backend": "chat", "chat": CHAT, "frame_seconds": 2.0, "attempts": 2, "fallback": True, "budget": 5.0,
    "image_tokens": {"m": {"low": 10, "high": 20}}, "prompt_price": 1.0, "answer_price": 2.0,
}  # fmt: skip


def test_settings_of_annotation(tracks, tmp_path, monkeypatch):
    """By the template, by a chat model that never names a type, and before anything is asked."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    runs = []
    with serving(lambda prompt: "none of them" if "exactly one of" in prompt else say(prompt)) as server:

        def made(own):
            """Annotations or why there are none, what was asked, and what it cost."""
            cache, before = tmp_path / str(len(runs)), len(server.asked)
            runs.append(cache)
            out = cache / "a.parquet"
            try:
                annotate_tracks(
                    tracks=tracks / "tracks.parquet", heard=tracks / "heard.jsonl", out=out, cache=cache, shard=0,
                    shards=1, settings=AnnotationSettings.model_validate(own),
                )  # fmt: skip
                written = read_parquet(out).to_pydict()
            except ReprlabError as error:
                written = str(error)
            paid = [sorted(path.read_text().splitlines()) for path in sorted(cache.glob("answers/spent/*"))]
            return written, sorted(json.dumps(one) for one in server.asked[before:]), paid

        chat = {**CHAT, "base_url": server.address}
        asking = {**PAID, "chat": chat}
        own = {"backend": "template", "frame_seconds": 1.0, "seed": 1}
        others = {
            "chat": {**chat, "model": "n"}, "attempts": 3, "fallback": False, "budget": 1e-6, "image_detail": "high",
            "image_tokens": {"m": {"low": 10**9}}, "prompt_price": 1e6, "answer_price": 1e6,
        }  # fmt: skip
        first = moved(AnnotationSettings, made, asking, {**own, **others}, {})
        assert set(first[0]["written_by"]) and "template" in first[0]["written_by"][0] and first[1] and first[2]
        # The template asks nobody, and nobody is paid.
        own["backend"] = "chat"
        by_template = {**asking, "backend": "template"}
        moved(AnnotationSettings, made, by_template, own, others)

    def estimated(own):
        estimate_annotation(
            tracks=tracks / "tracks.parquet", heard=[tracks / "heard.jsonl"], out=tmp_path / "e.tsv",
            settings=AnnotationSettings.model_validate(own),
        )  # fmt: skip
        return (tmp_path / "e.tsv").read_bytes()

    changes = {
        "chat": {**CHAT, "max_tokens": 60}, "frame_seconds": 1.0, "image_detail": "high",
        "image_tokens": {"m": {"low": 30}}, "prompt_price": 10.0, "answer_price": 20.0, "seed": 1,
    }  # fmt: skip
    # Each question counts once, whoever answers it and whatever may be spent.
    still = {"backend": "template", "attempts": 3, "fallback": False, "budget": 1e-6}
    moved(AnnotationSettings, estimated, PAID, changes, still)


def test_settings_of_states(tracks, tmp_path, monkeypatch):
    """madmom is a stand-in: of a clip its length and its sound."""
    monkeypatch.setattr(
        "reprlab.music.states.chord_states", lambda clip: np.array([[len(clip), np.abs(clip).mean()]], np.float32)
    )
    config = {
        "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "max_length": 64,
        "num_mel_bins": 32,
    }  # fmt: skip
    entry = ModelEntry(architecture="ast", config=config, source="ours", tie_output=False, origin={"kind": "scratch"})
    save_model(build_from_config(entry, seed=0), tmp_path / "model")

    def encoded(own):
        encode_audio(
            tracks=tracks / "tracks.parquet", out=tmp_path / "s.parquet", model=tmp_path / "model",
            settings=EncodingSettings.model_validate(own),
        )  # fmt: skip
        return read_parquet(tmp_path / "s.parquet").to_pydict()

    base, changes = {"clip_seconds": 0.5, "clips": 2}, {"clips": 3, "clip_seconds": 0.4}
    kinds = ["madmom", "spectrogram_transformer"]
    moved(EncodingSettings, encoded, {**base, "encoder": kinds[0]}, {**changes, "encoder": kinds[1], "bands": 8}, {})
    # A model has the bands that it was made with.
    moved(EncodingSettings, encoded, {**base, "encoder": kinds[1]}, {**changes, "encoder": kinds[0]}, {"bands": 8})


ENGINE = {
    "steps": 3, "batch_size": 2, "log_every": 1, "optimizer": {"learning_rate": 1e-2, "weight_decay": 0.1},
    "schedule": {"name": "linear", "warmup_steps": 1},
}  # fmt: skip
LORA = {"rank": 2, "alpha": 2, "dropout": 0.1, "targets": ["q_proj", "v_proj"], "max_length": 400}
TRAINING = {"task": "description", "inputs": "1234", "max_length": 400, "adapter": LORA, "engine": ENGINE}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("describer")
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
def trained(files):
    """Weights and metrics of a describer: what it says of itself would move with each setting."""
    runs = []

    def train(own):
        out = files / str(len(runs))
        runs.append(out)
        train_describer(
            model=files / "model", annotations=[files / "annotations.parquet"], states=files / "states.parquet",
            out=out / "describer", metrics=out / "m.tsv", work=out / "work",
            settings=DescriberTraining.model_validate(own), fingerprint="f",
        )  # fmt: skip
        weights = {one.name: one.read_bytes() for one in sorted((out / "describer").rglob("*.safetensors"))}
        return weights, (out / "m.tsv").read_bytes()

    return train


def test_settings_of_the_training_of_a_describer(trained):
    changes = {
        "task": "caption", "inputs": "123", "max_length": 300, "adapter": None, "engine": {**ENGINE, "seed": 1},
        "epochs": 2 / 3,
    }  # fmt: skip
    moved(DescriberTraining, trained, TRAINING, changes, {})
    changes = {"rank": 3, "alpha": 4, "dropout": 0.2, "targets": ["q_proj"]}
    # Examples are cut at the length of the training.
    moved(AdapterRecipe, lambda own: trained({**TRAINING, "adapter": own}), LORA, changes, {"max_length": 50})


def test_settings_of_its_loop(trained):
    def looped(own):
        weights, metrics = trained({**TRAINING, "engine": own})
        # How often losses are noted moves their table alone.
        return weights, metrics if "log_every" in own else ""

    changes = {
        "steps": 4, "batch_size": 4, "accumulation": 2, "optimizer": {"learning_rate": 2e-2}, "schedule": {},
        "dtype": "bfloat16", "seed": 1, "log_every": 2,
    }  # fmt: skip
    # Nothing is kept of a training but its end.
    moved(EngineSettings, looped, ENGINE, changes, {"ladder": [3]})
    optimizer = {
        "learning_rate": 2e-2, "weight_decay": 0.3, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-2, "clip_norm": 0.1,
    }  # fmt: skip
    moved(
        OptimizerSettings, lambda own: looped({**ENGINE, "optimizer": own}), ENGINE["optimizer"], optimizer,
        {"name": "adamw"},
    )  # fmt: skip
    schedule = {"name": "constant", "warmup_steps": 2, "horizon_steps": 20}
    moved(ScheduleSettings, lambda own: looped({**ENGINE, "schedule": own}), ENGINE["schedule"], schedule, {})


def test_settings_of_descriptions(files, tmp_path):
    def described(own):
        describe_tracks(
            model=files / "model", annotations=[files / "annotations.parquet"], states=files / "states.parquet",
            out=tmp_path / "d.parquet", settings=DescriptionGeneration.model_validate(own),
        )  # fmt: skip
        return read_parquet(tmp_path / "d.parquet").to_pydict()

    base = {"inputs": "234", "max_new_tokens": 6}
    changes = {
        "inputs": "23", "blank": True, "task": "caption", "max_new_tokens": 7, "temperature": 1.0, "limit": 2,
    }  # fmt: skip
    # The likeliest words are not drawn, and without music nothing of the adaptor is read.
    greedy = moved(DescriptionGeneration, described, base, changes, {"seed": 1, "batch_size": 1})
    sampled = {**base, "temperature": 1.0}
    changes |= {"temperature": 0.5, "seed": 1, "batch_size": 1}
    drawn = moved(DescriptionGeneration, described, sampled, changes, {})
    assert drawn["prompt"] == greedy["prompt"] and drawn["text"] != greedy["text"]
    blank = described({**base, "blank": True})
    assert blank["target"] == greedy["target"] and blank["text"] != greedy["text"]


def test_settings_of_scores_of_descriptions(tmp_path):
    tracks = [annotated(f"t{place}", "test" if place > 3 else "train") for place in range(8)]
    names = ("track", "split", "genre", "type", "lyrics_text", "caption", "description")
    rows = [{**{name: one[name] for name in names}, "frames": json.dumps(one["frames"])} for one in tracks]
    write_parquet(tmp_path / "a.parquet", pyarrow.Table.from_pylist(rows))
    words = ["good film was the very", "a b c d", "bad", "the film"]
    told = [
        {"track": one["track"], "target": f"{words[place]} a b c d good bad", "text": f"{words[-place]} c a very bad d",
         "steps": 1, "tokens": 1}
        for place, one in enumerate(tracks[4:])
    ]  # fmt: skip
    write_parquet(tmp_path / "d.parquet", pyarrow.Table.from_pylist(told))
    model = make_bert(tmp_path / "model", make_tokenizer(tmp_path / "tokenizer"))

    def scored(own):
        about = {"annotations": [tmp_path / "a.parquet"], "model": model}
        settings = DescriptionScoring.model_validate(own)
        score_descriptions(descriptions=tmp_path / "d.parquet", out=tmp_path / "s.tsv", settings=settings, **about)
        return (tmp_path / "s.tsv").read_bytes()

    def baselines(own):
        score_description_baselines(
            annotations=[tmp_path / "a.parquet"], model=model, out=tmp_path / "b.tsv",
            settings=DescriptionScoring.model_validate(own),
        )  # fmt: skip
        return (tmp_path / "b.tsv").read_bytes()

    base, changes = {"max_length": 12, "resamples": 20}, {"max_length": 8, "resamples": 30, "seed": 1}
    for stage in (scored, baselines):
        moved(DescriptionScoring, stage, base, changes, {})


def test_settings_of_the_page_of_examples(tracks, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "reprlab.music.examples.draw_tracks",
        lambda shown, path: path.write_text(" ".join(sound["track"] for sound, _ in shown)),
    )
    given = {"tracks": tracks / "tracks.parquet", "heard": tracks / "heard.jsonl"}
    settings = AnnotationSettings.model_validate({**PAID, "backend": "template"})
    annotate_tracks(**given, out=tmp_path / "a.parquet", cache=tmp_path, shard=0, shards=1, settings=settings)
    for name in "ab":
        rows = [{"track": f"t{place}", "prompt": name, "text": name} for place in range(4)]
        write_parquet(tmp_path / f"says_{name}.parquet", pyarrow.Table.from_pylist(rows))

    def shown(own):
        show_tracks(
            tracks=given["tracks"], heard=[given["heard"]], annotations=[tmp_path / "a.parquet"], out=tmp_path / "out",
            settings=ExampleSettings.model_validate(own),
        )  # fmt: skip
        return {one.name: one.read_text() for one in (tmp_path / "out").iterdir()}

    changes = {"described": {"one": tmp_path / "says_b.parquet"}, "shown": 3}
    moved(ExampleSettings, shown, {"described": {"one": tmp_path / "says_a.parquet"}, "shown": 2}, changes, {})


def test_all_schemas_of_the_package_are_here():
    assert schemas_of(schemas) == {
        Scores, Recordings, TrackSettings, AnnotationSettings, EncodingSettings, DescriberTraining,
        DescriptionGeneration, DescriptionScoring, ExampleSettings,
    }  # fmt: skip
