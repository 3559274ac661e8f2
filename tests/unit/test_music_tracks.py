"""Tracks: scores and their rendering, folders of one's own, what madmom hears, and how right it is."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from music_samples import heard, tone
from PIL import Image
from reprlab.music import hearing
from reprlab.music.extra import audio_extra
from reprlab.music.hearing import KEYS, hear, key_score, same_tempo
from reprlab.music.rendering import SoundFont, is_on_beat
from reprlab.music.scores import ScoreError, key_label, read_score
from reprlab.music.settings import RATE, EncodingSettings, TrackSettings
from reprlab.music.states import clips_of, encode
from reprlab.music.tracks import Track, is_still, own_tracks, read_tracks, with_splits, write_tracks
from reprlab.runtime.errors import ReprlabError

from tests.nano import needs_audio

ABC = "X:1\nT:Known\nM:{metre}\nL:1/8\nK:{key}\n" + "{tune}|\n" * 8
TUNE = "DFAd fedA"


def settings(**about):
    return TrackSettings(**{"seconds": 2.0, "test_share": 0.5, **about})


def write_score(path: Path, metre: str = "4/4", key: str = "D", tune: str = TUNE) -> Path:
    path.write_text(ABC.format(metre=metre, key=key, tune=tune))
    return path


def write_folder(
    folder: Path, rows: dict[str, np.ndarray], rate: int = RATE, columns: str = "track\tfile\tgenre\tlyrics\tsplit"
) -> Path:
    lines = [columns]
    for name, samples in rows.items():
        soundfile.write(folder / f"{name}.wav", samples, rate)
        lines.append(f"{name}\t{name}.wav\trock\twords\ttest")
    (folder / "tracks.tsv").write_text("\n".join(lines) + "\n")
    return folder


@needs_audio
def test_the_notes_key_metre_and_beat_of_a_score(tmp_path):
    found = read_score(write_score(tmp_path / "a.abc"), 8)
    assert (found.key, found.meter, found.beat, found.upbeat) == ("D major", 4, 1.0, 0.0)
    assert found.notes[:3] == [(0.0, 0.5, 62), (0.5, 0.5, 66), (1.0, 0.5, 69)] and found.notes[-1][0] < 8
    jig = read_score(write_score(tmp_path / "b.abc", "6/8", tune="DFA dfe"), 8)
    assert (jig.meter, jig.beat) == (2, 2 / 3)
    both = "\n".join((tmp_path / f"{name}.abc").read_text().strip() + "\n" for name in "ba")
    (tmp_path / "c.abc").write_text(both.replace("X:1", "X:2").replace("X:2", "X:1", 1))
    assert read_score(tmp_path / "c.abc", 8) == jig, "the first of two tunes"


@needs_audio
def test_scores_that_are_of_no_use(tmp_path):
    with pytest.raises(ScoreError, match="shorter than a clip"):
        read_score(write_score(tmp_path / "a.abc"), 1000)
    (tmp_path / "b.abc").write_text("nothing")
    with pytest.raises(ScoreError):
        read_score(tmp_path / "b.abc", 8)


@needs_audio
def test_keys_are_spelled_as_madmom_spells_them():
    from madmom.features.key import KEY_LABELS

    assert list(KEYS) == list(KEY_LABELS)
    assert (key_label(6, "minor"), key_label(10, "major"), key_label(10, "minor")) == (
        "F# minor",
        "Bb major",
        "Bb minor",
    )


@needs_audio
def test_a_file_that_is_no_sound_font_gives_one_line(tmp_path):
    (tmp_path / "f.sf2").write_bytes(b"nothing")
    with pytest.raises(ReprlabError, match=r"f\.sf2: is not a sound font"):
        SoundFont(tmp_path / "f.sf2")


def test_without_the_extra_one_line_names_the_remedy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "madmom", None)
    with (
        pytest.raises(ReprlabError, match=r"^madmom cannot be imported .* `make setup EXTRAS=audio` .* C compiler$"),
        audio_extra(),
    ):
        import madmom  # noqa: F401


def test_tracks_of_a_folder_are_resampled_and_come_back(tmp_path):
    folder = write_folder(tmp_path, {"a": tone(2.0)[::2], "b": tone(3.0)[::2], "short": tone(0.5)[::2]}, rate=RATE // 2)
    found = list(own_tracks(folder, settings()))
    assert [one.track for one in found] == ["a", "b"] and all(len(one.samples) == 2 * RATE for one in found)
    write_tracks(tmp_path / "t.parquet", with_splits(found, settings()))
    rows = read_tracks(tmp_path / "t.parquet")
    assert [row["split"] for row in rows] == ["test", "test"] and rows[0]["lyrics"] == "words"
    np.testing.assert_allclose(rows[0]["samples"], found[0].samples, atol=2**-15)
    assert [row["track"] for row in read_tracks(tmp_path / "t.parquet", shard=(1, 2))] == ["b"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [(np.zeros(2 * RATE), "is silent"), (np.zeros(0), "holds no sound"), (b"RIFFnothing", "not readable as sound")],
)
def test_a_faulty_file_gives_one_line_that_names_it(tmp_path, content, problem):
    folder = write_folder(tmp_path, {"a": tone(2.0)})
    if isinstance(content, bytes):
        (folder / "a.wav").write_bytes(content)
    else:
        soundfile.write(folder / "a.wav", content, RATE)
    with pytest.raises(ReprlabError, match=rf"a\.wav: .*{problem}"):
        list(own_tracks(folder, settings()))


def test_a_table_without_a_column_gives_one_line(tmp_path):
    folder = write_folder(tmp_path, {"a": tone(2.0)}, columns="track\tfile\tgenre\tx\tsplit")
    with pytest.raises(ReprlabError, match=r"tracks\.tsv: has no column lyrics"):
        list(own_tracks(folder, settings()))


def test_a_video_of_one_picture_is_left_out(tmp_path, caplog):
    (tmp_path / "still").mkdir()
    (tmp_path / "film").mkdir()
    for place in range(3):
        Image.new("L", (32, 32), 100).save(tmp_path / f"still/{place}.png")
        Image.new("L", (32, 32), 60 * place).save(tmp_path / f"film/{place}.png")
    assert is_still(tmp_path / "still") and not is_still(tmp_path / "film")
    table = write_folder(tmp_path, {"a": tone(2.0), "b": tone(2.0)}) / "tracks.tsv"
    lines = table.read_text().splitlines()
    table.write_text("\n".join(f"{line}\t{name}" for line, name in zip(lines, ("video", "still", "film"), strict=True)))
    with caplog.at_level("INFO", logger="reprlab"):
        assert [(one.track, one.video) for one in own_tracks(tmp_path, settings())] == [("b", str(tmp_path / "film"))]
    assert "a: its video is one still picture" in caplog.text and "b: its" not in caplog.text
    (tmp_path / "none").mkdir()
    with pytest.raises(ReprlabError, match="holds no frame"):
        is_still(tmp_path / "none")


def test_clips_of_a_piece_stay_together():
    clips = [Track(f"{piece}_{n}", f"p{piece}", "recorded", "jazz", tone(2.0)) for piece in range(6) for n in range(3)]
    splits: dict[str, set[str]] = {}
    for one, split in with_splits(clips, settings()):
        splits.setdefault(one.piece, set()).add(split)
    assert all(len(found) == 1 for found in splits.values()) and set.union(*splits.values()) == {"train", "test"}


def test_two_tracks_of_one_name_are_refused(tmp_path):
    twice = [(Track("a", "a", "own", "x", tone(2.0)), "train")] * 2
    with pytest.raises(ReprlabError, match="two tracks are called a"):
        write_tracks(tmp_path / "t.parquet", twice)


@needs_audio
def test_a_track_is_heard_once_and_what_is_heard_is_well_formed(tmp_path, monkeypatch, caplog):
    clicks = tone(6.0, 330.0) * (np.arange(6 * RATE) % (RATE // 2) < RATE // 8)
    found = hear(clicks, tmp_path)
    assert sum(strength for _, strength in found["tempo"]) == pytest.approx(1, abs=1e-6)
    assert sum(found["key"]) == pytest.approx(1, abs=1e-4) and len(found["key"]) == 24
    labels = [label for _, _, label in found["chords"]]
    assert all(one != two for one, two in pairwise(labels))
    assert found["chords"][0][0] == 0 and found["chords"][-1][1] == pytest.approx(6, abs=0.1)
    assert any(same_tempo(bpm, 120, (1.0, 2.0, 0.5)) for bpm, _ in found["tempo"])
    (place,) = tmp_path.glob("*.json")
    kept = place.read_bytes()
    raw, heard = hearing._raw, []

    def counted(samples):
        heard.append(1)
        return raw(samples)

    monkeypatch.setattr(hearing, "_raw", counted)
    assert hear(clicks, tmp_path) == found and heard == []
    # Edited by hand: it goes into no result, and a line says so.
    place.write_bytes(kept.replace(b'"bpm": ', b'"bpm": 1'))
    with caplog.at_level("WARNING", logger="reprlab"):
        assert hear(clicks, tmp_path) == found and heard == [1]
    assert "what was heard in a track that is damaged or was edited; made again" in caplog.text
    assert place.read_bytes() == kept
    # Other code, or another version below it, hears anew.
    for other in ({"code": "edited"}, {"versions": {"numpy": "0"}}):
        by = hearing._made_by() | other
        with monkeypatch.context() as patched:
            patched.setattr(hearing, "_made_by", lambda by=by: by)
            before = len(heard)
            assert hear(clicks, tmp_path) == found and len(heard) == before + 1
            assert hear(clicks, tmp_path) == found and len(heard) == before + 1
    assert len(list(tmp_path.glob("*.json"))) == 3


def test_tempo_and_key_are_judged_as_the_field_does():
    assert same_tempo(99.0, 96.0) and not same_tempo(101.0, 96.0)
    assert same_tempo(48.0, 96.0, (1.0, 2.0, 0.5)) and not same_tempo(48.0, 96.0)
    scores = [
        key_score(found, "C major") for found in ("C major", "G major", "A minor", "C minor", "F major", "E minor")
    ]
    assert scores == [1.0, 0.5, 0.3, 0.2, 0.0, 0.0]
    assert key_score("C major", "A minor") == 0.3


@given(st.sampled_from(KEYS), st.sampled_from(KEYS))
def test_only_the_key_itself_is_fully_right(found, known):
    assert (key_score(found, known) == 1.0) == (found == known)


@needs_audio
def test_states_are_of_the_clips_and_their_scale_is_that_of_training(tmp_path):
    wanted = EncodingSettings(encoder="madmom", clips=2, clip_seconds=0.5, bands=8)
    tracks = [
        {"split": split, "samples": tone(2.0, pitch)}
        for split, pitch in (("train", 220.0), ("train", 880.0), ("test", 440.0))
    ]
    assert [len(one) for one in clips_of(tracks[0]["samples"], wanted)] == [RATE // 2] * 2
    states = encode(tracks, wanted, None)
    assert states.shape == (3, 2, 128 + 16) and np.isfinite(states).all()
    known = states[:2].reshape(-1, 144)
    np.testing.assert_allclose(known.mean(0), 0, atol=1e-3)
    assert np.median(known.std(0)) == pytest.approx(1, abs=0.01)
    again = encode([*tracks[:2], {"split": "test", "samples": tone(2.0, 100.0)}], wanted, None)
    np.testing.assert_allclose(states[:2], again[:2])


def test_states_of_a_spectrogram_transformer(tmp_path):
    from reprlab.models.build import build_from_config, save_model
    from reprlab.registry.models import ModelEntry

    config = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "max_length": 64,
        "num_mel_bins": 32,
    }
    entry = ModelEntry(architecture="ast", config=config, source="ours", tie_output=False, origin={"kind": "scratch"})
    save_model(build_from_config(entry, seed=0), tmp_path)
    wanted = EncodingSettings(encoder="spectrogram_transformer", clips=3, clip_seconds=0.5)
    states = encode([{"split": "train", "samples": tone(2.0)}], wanted, tmp_path)
    assert states.shape == (1, 3, 16) and np.isfinite(states).all()


def test_lyrics_with_quotation_marks_and_splits_of_no_kind(tmp_path):
    """A cell that begins with a quotation mark would swallow the rows behind it; `val` would never be used."""
    write_folder(tmp_path, {name: tone(2.0) for name in "abc"})
    table = tmp_path / "tracks.tsv"
    lines = table.read_text().splitlines()
    table.write_text("\n".join([lines[0], lines[1].replace("words", '"Hello, she said'), *lines[2:]]) + "\n")
    found = list(own_tracks(tmp_path, settings()))
    assert [one.track for one in found] == ["a", "b", "c"] and found[0].lyrics == '"Hello, she said'
    for split in ("Train", "val", "test "):
        table.write_text("\n".join([lines[0], lines[1], lines[2].replace("\ttest", f"\t{split}")]) + "\n")
        with pytest.raises(
            ReprlabError, match=rf"tracks\.tsv: line 3: the split '{split}' is none of 'train', 'test', ''"
        ):
            list(own_tracks(tmp_path, settings()))
    table.write_text("\n".join([lines[0], lines[1].replace("a.wav", " ")]) + "\n")
    with pytest.raises(ReprlabError, match="line 2 has no file"):
        list(own_tracks(tmp_path, settings()))


def test_a_clip_of_silence_is_left_out(tmp_path):
    write_folder(tmp_path, {"a": np.concatenate([0 * tone(2.0), tone(2.0)]), "b": tone(2.0)})
    assert [one.track for one in own_tracks(tmp_path, settings())] == ["b"]


@needs_audio
@pytest.mark.parametrize(
    ("metre", "tune", "beats"),
    [
        ("4/4", TUNE, [0, 1, 2, 3]), ("6/8", "DFA dfe", [0, 1.5, 3, 4.5]), ("2/2", TUNE, [0, 2, 4, 6]),
        ("3/4", "DFA dfe", [0, 1, 2, 3]), ("9/8", "DFA dfe def", [0, 1.5, 3, 4.5]),
    ],
)  # fmt: skip
def test_accents_are_on_beats_of_the_music(metre, tune, beats, tmp_path):
    whole = read_score(write_score(tmp_path / "a.abc", metre, tune=tune), 8)
    assert [start for start, _, _ in whole.notes if is_on_beat(start, whole)][:4] == beats
    # With an upbeat of an eighth the beats are half a quarter later.
    path = write_score(tmp_path / "b.abc", metre, tune=tune)
    path.write_text(path.read_text().replace(tune, f"D|{tune}", 1))
    shifted = read_score(path, 8)
    assert [start for start, _, _ in shifted.notes if is_on_beat(start, shifted)][:4] == [0.5 + beat for beat in beats]


def test_a_track_with_the_name_of_markup_is_a_name(tmp_path):
    """In a figure a dollar begins a formula, which stops the stage where it does not end; in Markdown `[` is a link."""
    from reprlab.music.examples import draw_tracks, page

    names = ["$x_{1$", "cost $5 and $6", r"\\frac{", "[a](javascript:x)", "# <b>*b*</b>"]
    for name in names:
        sound = {"track": name, "samples": tone(1.0), "kind": "own"}
        draw_tracks([(sound, heard())], tmp_path / "a.svg")
        drawn = (tmp_path / "a.svg").read_bytes()
        assert drawn
        about = {"track": name, "written_by": '{"caption": "[m](x)"}'} | dict.fromkeys(
            ("caption", "unified", "description"), "text"
        )
        text = page([(about, heard(), sound)], {}, "a.svg")
        (head,) = [line for line in text.split("\n") if line.startswith("## ")]
        assert head.replace("\\", "") == f"## {name}".replace("\\", "") and "](x)" not in text
        assert not {"<b>", "*b*", "](javascript"} & {part for part in ("<b>", "*b*", "](javascript") if part in head}
