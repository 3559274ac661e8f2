"""Sound: what is decoded, and the one line for what is not."""

import io
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from reprlab.audio.decoding import Sound, decode, embedded_sound, read_sound
from reprlab.runtime.errors import ReprlabError


def written(path: Path, samples: np.ndarray, rate: int = 16000) -> Path:
    soundfile.write(path, samples, rate)
    return path


def tone(seconds: float, rate: int, hertz: float = 440.0) -> np.ndarray:
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def test_channels_are_averaged_and_resampled(tmp_path: Path) -> None:
    left = tone(1, 44100)
    path = written(tmp_path / "two.wav", np.stack([left, 0 * left], 1), 44100)
    sound = read_sound(path, rate=16000)
    assert sound.dtype == np.float32
    assert sound.shape == (16000,)
    assert np.abs(sound[1000:-1000] - 0.5 * tone(1, 16000)[1000:-1000]).max() < 1e-3


@given(st.sampled_from([8000, 16000, 22050, 44100, 48000]), st.sampled_from([8000, 16000, 44100]))
def test_duration_survives_any_rate(rate: int, wanted: int) -> None:
    content = io.BytesIO()
    soundfile.write(content, tone(0.3, rate), rate, format="WAV")
    found = decode(content.getvalue(), "a.wav", "wav").at(wanted)
    assert abs(found.seconds - 0.3) <= 1.5 / min(rate, wanted)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.wav", b"", "not readable as sound"),
        ("a.wav", b"RIFF1234WAVE", "not readable as sound"),
        ("a.flac", b"not a sound", "not readable as sound"),
        ("a.m4a", b"not a sound", "not readable as sound"),
        ("a.g722", b"", "a.g722: "),
    ],
)
def test_damaged_files_give_one_line(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ReprlabError, match=said) as caught:
        read_sound(path, rate=16000)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_empty_silent_short_long_and_missing_are_named(tmp_path: Path) -> None:
    cases = [
        (written(tmp_path / "empty.wav", np.zeros(0)), {}, "holds no sound"),
        (written(tmp_path / "silent.wav", np.zeros(16000)), {}, "silent"),
        (written(tmp_path / "short.wav", tone(0.1, 16000)), {"shortest": 0.4}, "0.10 s"),
        (written(tmp_path / "long.wav", tone(2, 16000)), {"longest": 1}, "limit of 1 s"),
        (tmp_path / "none.wav", {}, "does not exist"),
    ]
    for path, limits, said in cases:
        with pytest.raises(ReprlabError, match=said) as caught:
            read_sound(path, rate=16000, **limits)
        assert path.name in str(caught.value)


def test_the_last_bit_alone_is_no_sound() -> None:
    for step, sounds in ((1, False), (2, True)):
        samples = np.zeros((16000, 1), dtype=np.float32)
        samples[5] = -step * 2.0**-15
        with nullcontext() if sounds else pytest.raises(ReprlabError, match="is silent"):
            Sound(samples, 16000, "a.wav").require_content()


def test_another_rate_is_refused_where_none_fits(tmp_path: Path) -> None:
    path = written(tmp_path / "a.wav", tone(0.5, 16000))
    with pytest.raises(ReprlabError, match=r"a\.wav: sampled at 16000 Hz, 44100 Hz are needed"):
        decode(path).require_rate(44100)


def test_g722_has_the_duration_of_its_bytes() -> None:
    sound = decode(bytes(range(256)) * 32, "a.g722", "g722")
    assert sound.rate == 16000
    assert sound.seconds == pytest.approx(256 * 32 / 8000, abs=0.01)


WHOLE = [("WAV", "PCM_16"), ("WAV", "FLOAT"), ("RF64", "PCM_16"), ("W64", "PCM_16"), ("AIFF", "PCM_16"),
         ("AU", "PCM_16"), ("CAF", "PCM_16"), ("FLAC", "PCM_16"), ("OGG", "VORBIS"), ("OGG", "OPUS"),
         ("MP3", "MPEG_LAYER_III")]  # fmt: skip


def content_of(kind: tuple[str, str], seconds: float = 2.0, channels: int = 1) -> bytes:
    content = io.BytesIO()
    samples = np.stack([tone(seconds, 16000)] * channels, 1)
    soundfile.write(content, samples, 16000, format=kind[0], subtype=kind[1])
    return content.getvalue()


@pytest.mark.parametrize("kind", WHOLE, ids="-".join)
def test_sound_that_is_cut_off_is_no_shorter_sound(kind: tuple[str, str]) -> None:
    whole = content_of(kind)
    assert decode(whole, "a").seconds == pytest.approx(2.0, abs=0.15)
    for kept in (len(whole) // 2, len(whole) * 9 // 10, len(whole) - 7):
        with pytest.raises(ReprlabError, match=r"^a: (is cut off after|not readable|holds no sound)"):
            decode(whole[:kept], "a")


@pytest.mark.parametrize("kind", [("WAV", "PCM_16"), ("RF64", "PCM_16"), ("W64", "PCM_16"), ("CAF", "PCM_16")])
def test_a_file_that_ends_in_its_header_is_one_line(kind: tuple[str, str]) -> None:
    whole = content_of(kind, seconds=0.1)
    for kept in range(0, 44, 3):
        with pytest.raises(ReprlabError, match=r"^a: (is cut off after|not readable|holds no sound)"):
            decode(whole[:kept], "a")


def test_frames_of_an_mp3_without_a_header_of_its_own_are_followed_to_the_last() -> None:
    """The first frame of an encoder holds the number of frames; streams have none, and tags may stand around them."""
    # The first frame (144 bytes a kilobit of 8, over 16 kHz, twice) is the header of the encoder.
    bare = content_of(("MP3", "MPEG_LAYER_III"))[288:]
    tags = b"ID3\x03\x00\x00\x00\x00\x00\x0a" + bytes(10)
    for content in (bare, tags + bare, bare + b"TAG" + bytes(125)):
        assert decode(content, "a", "mp3").seconds > 1.5
    for content in (bare[:-5], tags + bare[:-5]):
        with pytest.raises(ReprlabError, match="a: is cut off"):
            decode(content, "a", "mp3")


def test_sizes_that_a_stream_does_not_know_are_no_lack() -> None:
    whole = bytearray(content_of(("WAV", "PCM_16")))
    place = whole.index(b"data")
    whole[4:8] = whole[place + 4 : place + 8] = b"\xff" * 4
    assert decode(bytes(whole), "a").seconds == 2.0
    # An odd chunk before the sound has a byte of padding.
    content = content_of(("WAV", "PCM_16"))
    odd = content[:12] + b"LIST" + (3).to_bytes(4, "little") + b"abc\0" + content[12:]
    assert decode(odd, "a").seconds == 2.0


@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_channels_out_of_phase_are_named(tmp_path: Path, noise: float) -> None:
    left = tone(1, 16000)
    right = -left * (1 - noise)
    path = written(tmp_path / "a.wav", np.stack([left, right], 1))
    with pytest.raises(ReprlabError, match=r"a\.wav: its channels are out of phase .* keep one channel"):
        read_sound(path, rate=16000)
    assert len(read_sound(written(tmp_path / "b.wav", np.stack([left, 0 * left], 1)), rate=16000))


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ({"bytes": None, "path": "clips/one.wav"}, "only the path 'clips/one.wav'"),
        ({"bytes": b"", "path": None}, "holds no sound, and no path"),
        (None, "holds no sound"),
    ],
)
def test_a_table_without_the_sounds_says_so(cell: object, said: str) -> None:
    with pytest.raises(ReprlabError, match=f"row 3: .*{said}.*embed_external_files"):
        embedded_sound(cell, "row 3")
    assert embedded_sound({"bytes": b"x", "path": "a/b.mp3"}, "row") == (b"x", "mp3")
