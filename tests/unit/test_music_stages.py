"""Stages of music from the sound of a track to the page of examples, on tracks that differ in all that is told."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from data_fixtures import make_zip, opened
from music_samples import TEMPLATE, heard, tone
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.inference.chat_settings import ChatSettings
from reprlab.music import hearing
from reprlab.music.annotated import to_annotate
from reprlab.music.annotation import estimated_steps
from reprlab.music.examples import chosen_tracks, draw_tracks
from reprlab.music.hearing import KEYS, described
from reprlab.music.settings import RATE, EncodingSettings, ExampleSettings, TrackSettings
from reprlab.music.tracks import Track, read_tracks, write_tracks
from reprlab.music.training import write_states
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.annotate_tracks import annotate_tracks
from reprlab.stages.build_tracks import build_tracks
from reprlab.stages.encode_audio import encode_audio
from reprlab.stages.estimate_annotation import estimate_annotation
from reprlab.stages.hear_tracks import hear_tracks
from reprlab.stages.judge_hearing import judge_hearing
from reprlab.stages.show_tracks import show_tracks
from test_music_tracks import write_folder

from tests.nano import needs_audio


def wave(samples: np.ndarray) -> bytes:
    packed = io.BytesIO()
    soundfile.write(packed, samples, RATE, format="WAV")
    return packed.getvalue()


def test_tracks_are_those_of_every_source_that_is_named(tmp_path: Path) -> None:
    # A piece of five clips and one of two: of three clips that are wanted each gives two or what is left.
    place = make_zip(tmp_path / "r.zip", {"r/long.wav": wave(tone(10.0)), "r/short-one.wav": wave(tone(5.0, 220.0))})
    opened(place, tmp_path / "cache")
    (tmp_path / "own").mkdir()
    write_folder(tmp_path / "own", {"mine": tone(2.0, 330.0)})
    recordings = {
        "archives": {"recordings": "sample"},
        "recordings": [{"members": "r/*", "genre": "jazz", "tracks": 3}],
    }
    found = {}
    for name, about in {
        "both": {**recordings, "folder": str(tmp_path / "own")}, "recorded": recordings,
        "own": {"folder": str(tmp_path / "own")},
    }.items():  # fmt: skip
        build_tracks(
            receipts=[tmp_path / "cache/r.zip.json"] if "archives" in about else [], cache=tmp_path / "cache",
            out=tmp_path / f"{name}.parquet",
            settings=TrackSettings.model_validate({"seconds": 2.0, "test_share": 0.5, **about}),
        )  # fmt: skip
        found[name] = read_tracks(tmp_path / f"{name}.parquet")
    clips = ["long_00", "long_01", "short_one_00"]
    assert {name: [row["track"] for row in rows] for name, rows in found.items()} == {
        "both": [*clips, "mine"], "recorded": clips, "own": ["mine"]
    }  # fmt: skip
    assert [row["kind"] for row in found["both"]] == ["recorded"] * 3 + ["own"]
    assert {row["split"] for row in found["recorded"]} == {"train", "test"} and found["own"][0]["split"] == "test"
    assert all(len(row["samples"]) == 2 * RATE for row in found["both"])
    np.testing.assert_allclose(found["recorded"][1]["samples"], tone(10.0)[8 * RATE :], atol=2**-14)
    np.testing.assert_allclose(found["recorded"][2]["samples"], tone(5.0, 220.0)[: 2 * RATE], atol=2**-14)
    with pytest.raises(ReprlabError, match="no receipt of this archive"):
        build_tracks(
            cache=tmp_path / "cache", out=tmp_path / "none.parquet",
            settings=TrackSettings.model_validate({"seconds": 2.0, "test_share": 0.5, **recordings}),
        )  # fmt: skip


@pytest.fixture
def rendered(tmp_path: Path) -> Path:
    """Five rendered tracks of two genres and both splits; the key that madmom is told to hear is the place of each."""
    keys = [KEYS[0], KEYS[1], KEYS[2], KEYS[4], KEYS[4]]
    tracks = [
        (
            Track(f"t{place}", f"t{place}", "rendered", "folk" if place < 2 else "chorale",
                  tone(4.0, 200.0 + 40 * place), key=keys[place], meter=3, tempo=90.0 + place),
            "test" if place in (1, 3) else "train",
        )
        for place in range(5)
    ]  # fmt: skip
    write_tracks(tmp_path / "tracks.parquet", tracks)
    return tmp_path / "tracks.parquet"


def written_as_heard(folder: Path) -> list[Path]:
    """Features of t0 to t4 in two files: 90 beats a minute and more, and the keys in their order."""
    paths = [folder / "0.jsonl", folder / "1.jsonl"]
    for shard, path in enumerate(paths):
        rows = [{"track": f"t{place}", **heard(90.0 + place, place)} for place in range(shard, 5, 2)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


@needs_audio
def test_each_track_of_a_shard_is_heard_by_its_own_samples(rendered: Path, tmp_path: Path, monkeypatch) -> None:
    def raw(whole: np.ndarray) -> dict:
        # The pitch, by its passes through nought, stands for the tempo.
        passes = int((np.diff((whole > 0).astype(int)) > 0).sum()) / 4
        return {"tempo": [[passes, 1.0]], "key": [1.0] + [0.0] * 23, "downbeats": [], "chords": []}

    monkeypatch.setattr(hearing, "_raw", raw)
    for shard, names in enumerate((["t0", "t2", "t4"], ["t1", "t3"])):
        hear_tracks(tracks=rendered, out=tmp_path / f"{shard}.jsonl", cache=tmp_path / "kept", shard=shard, shards=2)
        rows = [json.loads(line) for line in (tmp_path / f"{shard}.jsonl").read_text().splitlines()]
        assert [row["track"] for row in rows] == names
        assert [row["bpm"] for row in rows] == pytest.approx([200 + 40 * int(name[1]) for name in names], abs=1)
    assert len(list((tmp_path / "kept/music").glob("*.json"))) == 5


def test_what_is_heard_is_judged_by_what_is_known(rendered: Path, tmp_path: Path) -> None:
    judge_hearing(
        tracks=rendered, heard=written_as_heard(tmp_path), out=tmp_path / "a.tsv", features=tmp_path / "f.tsv"
    )
    features = read_tsv(tmp_path / "f.tsv").set_index("track")
    assert features.index.tolist() == [f"t{place}" for place in range(5)]
    rows = read_tsv(tmp_path / "a.tsv")
    value = rows.set_index(["name", "genre", "metric"])["value"]
    assert value["heard", "all", "tempo"] == 100 and value["heard", "folk", "key"] == 100
    # t3 is in the key that is heard in t4, a semitone and a half off in the order of keys.
    assert value["heard", "chorale", "key"] == pytest.approx(200 / 3)
    names = set(rows["name"])
    assert len(names) == 2 and "heard" in names and len(rows) == 2 * len(rows[rows["name"] == "heard"])
    # The constant is that of the training tracks (t0, t2, t4), of which each has a key of its own: one is right.
    (other,) = names - {"heard"}
    assert value[other, "all", "key"] < 60


def test_the_estimate_is_of_all_steps_and_their_prices(rendered: Path, tmp_path: Path) -> None:
    settings = TEMPLATE.model_copy(update={"prompt_price": 3.0, "answer_price": 5.0})
    estimate_annotation(tracks=rendered, heard=written_as_heard(tmp_path), out=tmp_path / "e.tsv", settings=settings)
    rows = read_tsv(tmp_path / "e.tsv").set_index("step")
    wanted = estimated_steps(to_annotate(rendered, written_as_heard(tmp_path), settings), settings)
    assert rows.index.tolist() == [*wanted, "all"] and (rows.loc[list(wanted), "requests"] == 5).all()
    for name in ("requests", "prompt_tokens", "answer_tokens"):
        assert rows[name].iloc[:-1].tolist() == [getattr(one, name) for one in wanted.values()]
        assert rows.loc["all", name] == rows[name].iloc[:-1].sum() > 0
    priced = (3 * rows["prompt_tokens"] + 5 * rows["answer_tokens"]) / 1e6
    assert rows["dollars"].to_numpy() == pytest.approx(priced.to_numpy(), abs=1e-6)


def test_a_shard_is_annotated_within_its_part_of_the_budget(rendered: Path, tmp_path: Path, monkeypatch) -> None:
    files = written_as_heard(tmp_path)
    for shard, names in enumerate((["t0", "t2", "t4"], ["t1", "t3"])):
        annotate_tracks(
            tracks=rendered, heard=files[shard], out=tmp_path / f"{shard}.parquet", cache=tmp_path / "kept",
            shard=shard, shards=2, settings=TEMPLATE,
        )  # fmt: skip
        rows = read_parquet(tmp_path / f"{shard}.parquet").to_pylist()
        assert [row["track"] for row in rows] == names and all(row["caption"] and row["description"] for row in rows)
        assert [row["split"] for row in rows] == ["test" if name in ("t1", "t3") else "train" for name in names]
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    chat = ChatSettings(model="m", max_tokens=50, base_url="http://127.0.0.1:9")
    dear = TEMPLATE.model_copy(update={"backend": "chat", "chat": chat, "budget": 3.0, "answer_price": 1.5e4})
    with pytest.raises(ReprlabError, match=r"over the \$1\.5000"):
        annotate_tracks(
            tracks=rendered, heard=files[0], out=tmp_path / "dear.parquet", cache=tmp_path / "kept", shard=0, shards=2,
            settings=dear,
        )  # fmt: skip
    assert not (tmp_path / "dear.parquet").exists()


def test_states_are_those_of_each_track_in_turn(rendered: Path, tmp_path: Path, monkeypatch) -> None:
    def means(tracks: list[dict], wanted: EncodingSettings, model: Path | None) -> np.ndarray:
        assert wanted == settings and model == tmp_path / "model"
        return np.array([[one["samples"].std(), int(one["track"][1])] for one in tracks], dtype=np.float32)[:, None]

    settings = EncodingSettings(encoder="spectrogram_transformer", clips=1)
    monkeypatch.setattr("reprlab.music.states.encode", means)
    encode_audio(tracks=rendered, out=tmp_path / "s.parquet", settings=settings, model=tmp_path / "model")
    write_states(
        tmp_path / "own.parquet", read_tracks(rendered), means(read_tracks(rendered), settings, tmp_path / "model")
    )
    assert read_parquet(tmp_path / "s.parquet").equals(read_parquet(tmp_path / "own.parquet"))


def test_the_page_of_examples_shows_each_track_with_its_own_texts(rendered: Path, tmp_path: Path) -> None:
    import pyarrow
    from reprlab.artifacts.tables import write_parquet

    files = written_as_heard(tmp_path)
    for shard in range(2):
        annotate_tracks(
            tracks=rendered, heard=files[shard], out=tmp_path / f"{shard}.parquet", cache=tmp_path, shard=shard,
            shards=2, settings=TEMPLATE,
        )  # fmt: skip
    for name, order in (("music", (3, 1)), ("blank", (1, 3))):
        rows = [
            {"track": f"t{place}", "prompt": f"ask {name} {place}", "text": f"say {name} {place}"} for place in order
        ]
        write_parquet(tmp_path / f"{name}.parquet", pyarrow.Table.from_pylist(rows))
    show_tracks(
        tracks=rendered, heard=files, annotations=[tmp_path / "0.parquet", tmp_path / "1.parquet"],
        out=tmp_path / "out",
        settings=ExampleSettings(
            described={name: tmp_path / f"{name}.parquet" for name in ("music", "blank")}, shown=2
        ),
    )  # fmt: skip
    assert (tmp_path / "out/tracks.png").read_bytes()[:4] == b"\x89PNG"
    page = (tmp_path / "out/examples.md").read_text()
    assert "![" in page and "(tracks.png)" in page
    parts = page.split("## ")[1:]
    # Of folk and chorale the first of each, by name.
    assert [part.split("\n")[0] for part in parts] == ["t1", "t3"]
    caption = {row["track"]: row["caption"] for row in read_parquet(tmp_path / "1.parquet").to_pylist()}
    for part, place in zip(parts, (1, 3), strict=True):
        features = described(heard(90.0 + place, place))
        assert f"Known: {90 + place} beats a minute, {[None, KEYS[1], None, KEYS[4]][place]}, 3 beats a bar." in part
        assert f'"bpm": {features["bpm"]}' in part and caption[f"t{place}"] in part
        for name in ("music", "blank"):
            assert f"ask {name} {place}" in part and f"say {name} {place}" in part


def test_the_first_track_of_each_genre_is_shown_before_a_second_one() -> None:
    rows = [{"track": name, "genre": genre} for name, genre in
            (("d", "jazz, calm"), ("a", "pop, calm"), ("b", "pop, wild"), ("c", "pop, dark"))]  # fmt: skip
    for shown, names in ((1, "a"), (2, "ad"), (3, "adb"), (9, "adbc")):
        assert "".join(row["track"] for row in chosen_tracks(rows, shown)) == names


def test_a_figure_shows_the_sound_tempi_key_and_chords_of_each_track(monkeypatch) -> None:
    shown = []
    monkeypatch.setattr("reprlab.music.examples.save_figure", lambda figure, paths: shown.append((figure, paths)))
    # Loud in its second half alone; the second track is shorter than the points of a panel.
    loud = np.concatenate([tone(2.0, loudness=0.1), tone(2.0, loudness=0.4)])
    sounds = [{"track": "long", "samples": loud}, {"track": "short", "samples": tone(0.02)}]
    features = [heard(96.0, 3), heard(120.0, 13)]
    draw_tracks(list(zip(sounds, features, strict=True)), Path("t.png"))
    ((figure, paths),) = shown
    assert paths == [Path("t.png")] and len(figure.axes) == 8
    columns = np.array(figure.axes).reshape(4, 2).T
    for column, sound, found in zip(columns, sounds, features, strict=True):
        wave_panel, tempi, key, chords = column
        assert wave_panel.get_title() == sound["track"]
        beats = [(line.get_xdata()[0], line.get_color()) for line in wave_panel.lines]
        assert [at for at, _ in beats] == [at for at, _ in found["downbeats"]]
        first = {color for (_, color), (_, place) in zip(beats, found["downbeats"], strict=True) if place == 1}
        assert len(first) == 1 and {color for _, color in beats} > first
        bars = {round(bar.get_x() + bar.get_width() / 2, 3): bar.get_height() for bar in tempi.patches}
        assert bars == dict(found["tempo"])
        assert [bar.get_height() for bar in key.patches] == found["key"]
        ticks = [label.get_text() for label in key.get_xticklabels()]
        assert ticks[:2] == ["A", "Bb"] and ticks[12:14] == ["Am", "Bbm"]
        drawn = [(bar.get_x(), bar.get_x() + bar.get_width(), round(bar.get_y() + bar.get_height() / 2)) for bar in
                 chords.patches]  # fmt: skip
        assert drawn == [pytest.approx(one) for one in ((0.0, 1.0, 0), (1.0, 1.4, 1), (1.4, 4.0, 0))]
        assert [label.get_text() for label in chords.get_yticklabels()] == ["A:maj", "D:maj"]
    (area,) = columns[0][0].collections
    points = area.get_paths()[0].vertices
    assert points[:, 0].max() == pytest.approx(4, abs=0.01)
    quiet, rest = points[points[:, 0] < 1.9], points[points[:, 0] > 2.1]
    assert np.abs(quiet[:, 1]).max() == pytest.approx(0.1, abs=0.01)
    assert rest[:, 1].max() == pytest.approx(0.4, abs=0.01) and rest[:, 1].min() == pytest.approx(-0.4, abs=0.01)
    (few,) = columns[1][0].collections
    assert few.get_paths()[0].vertices[:, 0].max() == pytest.approx(0.02, abs=1e-3)
    assert len(set(few.get_paths()[0].vertices[:, 0])) == int(0.02 * RATE)
