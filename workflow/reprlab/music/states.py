"""States of audio by a frozen encoder: one vector for each of a few short clips of a track."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.music.hearing import chord_states
from reprlab.music.settings import RATE, EncodingSettings

_SLOW_RATE, _WINDOW, _HOP = 16_000, 400, 160


def clips_of(samples: np.ndarray, settings: EncodingSettings) -> list[np.ndarray]:
    """`clips` parts of `clip_seconds`, evenly spaced from the beginning to the end."""
    size = min(int(settings.clip_seconds * RATE), len(samples))
    starts = np.linspace(0, len(samples) - size, settings.clips).astype(int)
    return [samples[start : start + size] for start in starts.tolist()]


def encode(tracks: Sequence[dict[str, Any]], settings: EncodingSettings, model: Path | None) -> np.ndarray:
    """States [tracks, clips, width].

    `madmom`: the mean state of the network of chords, and mean and deviation of each log-mel band, each number in
    deviations from its mean over the training tracks. `spectrogram_transformer`: the pooled state of the model.
    """
    if settings.encoder == "spectrogram_transformer":
        assert model is not None
        return _by_transformer(tracks, settings, model)
    found = np.stack(
        [[_statistics(clip, settings.bands) for clip in clips_of(one["samples"], settings)] for one in tracks]
    )
    known = found[[one["split"] == "train" for one in tracks]].reshape(-1, found.shape[-1])
    return ((found - known.mean(0)) / (known.std(0) + 1e-6)).astype(np.float32)


def _statistics(clip: np.ndarray, bands: int) -> np.ndarray:
    mel = log_mel(clip, bands)
    return np.concatenate([chord_states(clip).mean(0), mel.mean(0), mel.std(0)])


def log_mel(clip: np.ndarray, bands: int) -> np.ndarray:
    """Log-mel energies [frames, bands] at 16 kHz, 100 frames a second."""
    from transformers.audio_utils import mel_filter_bank, spectrogram, window_function

    filters = mel_filter_bank(_WINDOW // 2 + 1, bands, 40.0, _SLOW_RATE / 2, _SLOW_RATE, norm="slaney")
    window = window_function(_WINDOW, "hann")
    mel = spectrogram(
        _slow(clip), window, _WINDOW, _HOP, power=2.0, mel_filters=filters, log_mel="log10", mel_floor=1e-8
    )
    return np.asarray(mel).T


def _by_transformer(tracks: Sequence[dict[str, Any]], settings: EncodingSettings, folder: Path) -> np.ndarray:
    """Pooled states of clips, padded to the length that the model has positions for (10.24 s as published)."""
    import torch
    from transformers import ASTFeatureExtractor

    from reprlab.models.build import load_model

    model: Any = load_model(folder).float().eval()
    shape = {"num_mel_bins": model.config.num_mel_bins, "max_length": model.config.max_length}
    extract = ASTFeatureExtractor(sampling_rate=_SLOW_RATE, **shape)
    states = []
    for one in tracks:
        clips = [_slow(clip) for clip in clips_of(one["samples"], settings)]
        inputs = extract(clips, sampling_rate=_SLOW_RATE, return_tensors="pt").input_values
        with torch.inference_mode():
            states.append(model(inputs).pooler_output.numpy())
    return np.stack(states)


def _slow(clip: np.ndarray) -> np.ndarray:
    from scipy.signal import resample_poly

    return np.asarray(resample_poly(clip, 160, 441), dtype=np.float32)
