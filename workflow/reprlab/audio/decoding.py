"""Sound files as arrays: decoding, mixing down, resampling, and what is refused with one line that names the file."""

from __future__ import annotations

import io
import math
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.audio.completeness import bytes_lacking, is_uncounted_mpeg
from reprlab.runtime.errors import ReprlabError, first_line

if TYPE_CHECKING:
    import numpy as np

# What libsndfile does not read goes through FFmpeg, which must be told the format of files without a header.
_HEADERLESS = {"g722": "g722", "gsm": "gsm"}
_FFMPEG = {*_HEADERLESS, "m4a", "aac", "webm", "wma"}
_MOST_RATE = 768_000
_NO_LIMIT = 24 * 3600.0
# The quietest that 16 bits can hold: below it there is nothing but noise of rounding.
_SILENCE = 2**-15
# Share of the channels' root mean square (-40 dB) below which their mean has lost what they say.
_CANCELLED = 0.01
# Seconds that a container may be longer than what is decoded: codecs pad their first and last frames.
_PADDED = 0.2


@dataclass(frozen=True)
class Sound:
    """Decoded sound: `samples` [N, channels] in -1..1 as float32, `rate` in samples a second, `name` for messages."""

    samples: np.ndarray
    rate: int
    name: str

    @property
    def seconds(self) -> float:
        """Duration."""
        return len(self.samples) / self.rate

    def mono(self) -> Sound:
        """The mean of the channels, as one."""
        if self.samples.shape[1] == 1:
            return self
        return Sound(self.samples.mean(axis=1, keepdims=True), self.rate, self.name)

    def at(self, rate: int) -> Sound:
        """The same at another rate, by a polyphase filter; the duration stays within one sample."""
        if rate == self.rate:
            return self
        import numpy as np
        from scipy.signal import resample_poly

        common = math.gcd(rate, self.rate)
        samples = resample_poly(self.samples, rate // common, self.rate // common, axis=0)
        return Sound(samples.astype(np.float32), rate, self.name)

    def require_rate(self, rate: int) -> Sound:
        """Itself.

        Raises:
            ReprlabError: it has another rate; what reads it takes no other.
        """
        if self.rate != rate:
            raise ReprlabError(f"{self.name}: sampled at {self.rate} Hz, {rate} Hz are needed; resample it first")
        return self

    def require_content(self, shortest: float = 0.0, longest: float = _NO_LIMIT) -> Sound:
        """Itself.

        Raises:
            ReprlabError: it is silent, its channels cancel each other, or it is shorter or longer than these seconds.
        """
        if not self.seconds > shortest:
            raise ReprlabError(f"{self.name}: {self.seconds:.2f} s of sound, more than {shortest:g} s are needed")
        if self.seconds > longest:
            raise ReprlabError(f"{self.name}: {self.seconds:.1f} s of sound, more than the limit of {longest:g} s")
        if not float(abs(self.samples).max()) > _SILENCE:
            raise ReprlabError(f"{self.name}: is silent throughout; leave it out, or give another recording")
        if self.samples.shape[1] > 1 and not _level(self.mono().samples) > _CANCELLED * _level(self.samples):
            raise ReprlabError(
                f"{self.name}: its channels are out of phase and their mean is silent; keep one channel alone"
            )
        return self


def _level(samples: np.ndarray) -> float:
    """Root mean square."""
    import numpy as np

    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


def embedded_sound(cell: Any, name: str) -> tuple[bytes, str]:
    """Content and ending of a sound in a cell of a table, as `datasets` writes it: `bytes` and `path`.

    Raises:
        ReprlabError: the cell holds no content, or nothing but the path of a file that is not in the table.
    """
    held = cell if isinstance(cell, dict) else {"bytes": cell}
    content, path = held.get("bytes"), held.get("path")
    if not content:
        only = f"only the path {path!r} of a file that is not in it" if path else "and no path of one"
        raise ReprlabError(
            f"{name}: holds no sound, {only}; write the table with the files' content "
            "(datasets: `embed_external_files=True`)"
        )
    return content, Path(path or "x.flac").suffix.lstrip(".")


def read_sound(path: Path, *, rate: int, shortest: float = 0.0, longest: float = _NO_LIMIT) -> np.ndarray:
    """One channel of a file at `rate`: float32 [N].

    Raises:
        ReprlabError: it cannot be decoded, is empty, silent, or shorter or longer than these seconds.
    """
    return decode(path).require_content(shortest, longest).mono().at(rate).samples[:, 0]


def decode(source: Path | bytes, name: str = "", kind: str = "") -> Sound:
    """Decode a file, or the bytes of one: WAV, FLAC, Ogg and MP3 by libsndfile, G.722, GSM and the rest by FFmpeg.

    Args:
        source: path, or content.
        name: what messages call it; the path where this is empty.
        kind: ending of its name without the dot (`g722`), where the path does not say it.

    Raises:
        ReprlabError: it is missing, damaged, cut off, of an unknown format, or holds no sound.
    """
    import numpy as np

    name = name or str(source if isinstance(source, Path) else "sound")
    kind = (kind or (source.suffix.lstrip(".") if isinstance(source, Path) else "")).lower()
    if isinstance(source, Path) and not source.is_file():
        raise ReprlabError(f"{name}: does not exist; fetch it again, or correct the path")
    opened: Any = str(source) if isinstance(source, Path) else io.BytesIO(source)
    samples, rate = (_by_ffmpeg if kind in _FFMPEG else _by_sndfile)(opened, kind, name)
    if not len(samples):
        raise ReprlabError(f"{name}: holds no sound; leave it out, or fetch it again")
    if not 0 < rate <= _MOST_RATE or not np.isfinite(samples).all():
        raise ReprlabError(f"{name}: damaged sound (rate {rate}, or values that are no numbers); fetch it again")
    return Sound(samples, rate, name)


def _by_sndfile(opened: Any, kind: str, name: str) -> tuple[np.ndarray, int]:
    import soundfile

    try:
        with open(opened, "rb") if isinstance(opened, str) else nullcontext(opened) as handle:
            lacking, uncounted = bytes_lacking(handle), is_uncounted_mpeg(handle)
            handle.seek(0)
            if uncounted and not lacking:
                return _by_ffmpeg(handle, "mp3", name)
            with soundfile.SoundFile(handle) as sound:
                samples, whole, rate = sound.read(dtype="float32", always_2d=True), sound.frames, sound.samplerate
        if lacking or len(samples) < whole:
            _refuse_cut_off(
                name, len(samples) / rate, f"{lacking:,} bytes" if lacking else f"{whole - len(samples):,} samples"
            )
        return samples, rate
    except (soundfile.SoundFileError, RuntimeError, TypeError, ValueError) as error:
        reason = getattr(error, "error_string", "") or first_line(error)
        raise ReprlabError(f"{name}: not readable as sound ({reason}); fetch it again, or convert it to WAV") from None


def _refuse_cut_off(name: str, seconds: float, lacking: str) -> None:
    raise ReprlabError(f"{name}: is cut off after {seconds:.2f} s, {lacking} are not there; fetch it again")


def _by_ffmpeg(opened: Any, kind: str, name: str) -> tuple[np.ndarray, int]:
    import av
    import numpy as np

    parts: list[np.ndarray] = []
    try:
        with av.open(opened, format=_HEADERLESS.get(kind)) as container:
            if not container.streams.audio:
                raise ReprlabError(f"{name}: holds no sound; leave it out, or fetch it again")
            declared = 0.0 if kind in {*_HEADERLESS, "mp3"} else (container.duration or 0) / av.time_base
            resampler, rate = av.AudioResampler(format="flt"), 0
            for frame in container.decode(audio=0):
                rate = frame.rate
                for converted in resampler.resample(frame):
                    channels = len(converted.layout.channels)
                    parts.append(converted.to_ndarray().reshape(-1, channels))
    except (av.FFmpegError, ValueError) as error:
        raise ReprlabError(f"{name}: not readable as sound ({first_line(error)}); fetch it again, or convert it "
                           "to WAV") from None  # fmt: skip
    decoded = sum(map(len, parts)) / (rate or 1)
    if decoded and declared - decoded > _PADDED:
        _refuse_cut_off(name, decoded, f"{declared - decoded:.2f} s")
    return (np.concatenate(parts) if parts else np.empty((0, 1), np.float32)), rate or 1
