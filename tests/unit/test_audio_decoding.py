"""Sound: what is decoded, and the one line for what is not."""

import io
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from reprlab.audio.decoding import decode, read_sound
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


def test_another_rate_is_refused_where_none_fits(tmp_path: Path) -> None:
    path = written(tmp_path / "a.wav", tone(0.5, 16000))
    with pytest.raises(ReprlabError, match=r"a\.wav: sampled at 16000 Hz, 44100 Hz are needed"):
        decode(path).require_rate(44100)


def test_g722_has_the_duration_of_its_bytes() -> None:
    sound = decode(bytes(range(256)) * 32, "a.g722", "g722")
    assert sound.rate == 16000
    assert sound.seconds == pytest.approx(256 * 32 / 8000, abs=0.01)
