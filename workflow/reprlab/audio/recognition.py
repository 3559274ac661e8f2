"""Recognisers: a speech encoder with a CTC head, its utterances, and greedy decoding."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from reprlab.audio.decoding import decode
from reprlab.data.schema import read_rows
from reprlab.models.padded_convolution import require_own_statistics, set_padding
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import get_logger

RATE = 16_000
BLANK = 0
# Utterances whose features are kept: of two seconds each they take a quarter of a gigabyte.
_KEPT = 4096
# Samples of one frame of Whisper's encoder: two steps of 10 ms.
_FRAME = 320
_ALONE = 30 * RATE
_LEAVE_OUT = "leave it out by longest or shortest in the options of its data set"


def spectrogram_states(encoder: Any, mel: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    """States [B, T, d] of a Whisper encoder for spectrograms [B, mel, 2 T] of any length up to its own.

    Its own forward takes nothing but 30 s; an utterance of T frames has the first T positions.

    Args:
        mask: added to attention scores, [B, 1, 1, T].
    """
    states = nn.functional.gelu(encoder.conv2(nn.functional.gelu(encoder.conv1(mel)))).transpose(1, 2)
    states = states + encoder.embed_positions.weight[: states.shape[1]]
    for layer in encoder.layers:
        states = layer(states, mask)
        states = states[0] if isinstance(states, tuple) else states
    normed: torch.Tensor = encoder.layer_norm(states)
    return normed


class Recogniser(nn.Module):
    """A tuned encoder and a head over symbols, of which the first is the blank."""

    def __init__(self, encoder: Any, symbols: int, head_rate_factor: float) -> None:
        super().__init__()
        require_own_statistics(encoder, type(encoder).__name__)
        self.encoder = encoder
        self.head = nn.Linear(encoder.config.hidden_size, symbols)
        for parameter in self.head.parameters():
            parameter.rate_factor = head_rate_factor  # type: ignore[attr-defined]

    @property
    def reads_waves(self) -> bool:
        """Whether it reads samples and not a log-mel spectrogram."""
        return type(self.encoder).__name__ == "Wav2Vec2Model"

    def frames(self, length: Any) -> Any:
        """Frames of an input of this length, a number or a tensor."""
        if not self.reads_waves:
            return length // 2
        for kernel, stride in zip(self.encoder.config.conv_kernel, self.encoder.config.conv_stride, strict=True):
            length = (length - kernel) // stride + 1
        return length

    def forward(self, inputs: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Log-probabilities [B, T, symbols] of samples [B, N] or spectrograms [B, mel, N], padded with 0 behind
        `lengths` [B]. What is padding changes no frame of an utterance."""
        frames = self.frames(lengths)[:, None]
        set_padding(self.encoder, torch.arange(int(self.frames(inputs.shape[-1])), device=inputs.device) < frames)
        states = self._waves(inputs, lengths) if self.reads_waves else self._spectrograms(inputs, lengths)
        found: torch.Tensor = self.head(states).float().log_softmax(-1)
        return found

    def _waves(self, samples: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        seen = torch.arange(samples.shape[1], device=samples.device) < lengths[:, None]
        states: torch.Tensor = self.encoder(samples, attention_mask=seen.long()).last_hidden_state
        return states

    def _spectrograms(self, mel: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        padding = torch.arange((mel.shape[-1] + 1) // 2, device=mel.device) >= (lengths // 2)[:, None]
        mask = None
        if bool(padding.any()):
            hidden = torch.finfo(mel.dtype).min
            mask = torch.zeros(padding.shape, device=mel.device).masked_fill(padding, hidden)[:, None, None]
        return spectrogram_states(self.encoder, mel, mask)


@dataclass(frozen=True)
class Vocabulary:
    """Characters of the transcripts; symbol 0 is the blank."""

    characters: str

    @classmethod
    def of(cls, texts: Sequence[str]) -> Vocabulary:
        """The characters of some texts, and the space."""
        return cls("".join(sorted({" ", *"".join(texts)})))

    def __len__(self) -> int:
        return len(self.characters) + 1

    def encode(self, text: str) -> list[int]:
        """Symbols of a text of known characters."""
        places = {char: place for place, char in enumerate(self.characters, 1)}
        return [places[char] for char in text]

    def collapse(self, symbols: Sequence[int]) -> str:
        """The text of the best symbol of each frame: repeats are merged, blanks dropped, spaces are single."""
        merged = (symbol for symbol, _ in groupby(symbols))
        return " ".join("".join(self.characters[one - 1] for one in merged if one != BLANK).split())


class Utterances:
    """Some recordings of a set with their transcripts, and their inputs for a recogniser."""

    def __init__(self, table: Any, model: Recogniser) -> None:
        self.rows, self.model = table, model
        self.texts: list[str] = table["text"].to_pylist()
        self.seconds = table["seconds"].to_numpy()
        self.input = functools.lru_cache(_KEPT)(self._input)

    def __len__(self) -> int:
        return len(self.texts)

    def require_lengths(self) -> None:
        """Check all of them by their durations, before anything is trained that is only scored on them at its end.

        Raises:
            ReprlabError: one is too long for Whisper, or so short that the encoder makes no frame of it.
        """
        names = self.rows["id"].to_pylist()
        for name, seconds in zip(names, self.seconds.tolist(), strict=True):
            length = round(seconds * RATE)
            if not self.model.reads_waves and length > _ALONE:
                raise ReprlabError(f"{name}: {seconds:.1f} s of speech, Whisper reads 30 s at most; {_LEAVE_OUT}")
            if self.model.frames(length if self.model.reads_waves else 2 * -(-length // _FRAME)) < 1:
                raise ReprlabError(f"{name}: {seconds:.3f} s of speech make no frame of the encoder; {_LEAVE_OUT}")

    def _input(self, number: int) -> np.ndarray:
        row = self.rows.slice(number, 1).to_pylist()[0]
        sound = decode(row["audio"], row["id"], row["kind"]).mono().at(RATE).samples[:, 0]
        if self.model.reads_waves:
            normed: np.ndarray = (sound - sound.mean()) / np.sqrt(sound.var() + 1e-7)
            return normed
        if len(sound) > _ALONE:
            # The spectrogram would be cut without a word.
            raise ReprlabError(
                f"{row['id']}: {row['seconds']:.1f} s of speech, Whisper reads 30 s at most; {_LEAVE_OUT}"
            )
        return log_mel(sound, self.model.encoder.config.num_mel_bins)

    def batch(self, numbers: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
        """Inputs of some utterances, padded with 0, and their lengths [B]."""
        inputs = [torch.from_numpy(self.input(int(number))) for number in numbers]
        lengths = torch.tensor([one.shape[-1] for one in inputs])
        padded = [nn.functional.pad(one, (0, int(lengths.max()) - one.shape[-1])) for one in inputs]
        return torch.stack(padded), lengths

    def kept(self, numbers: Sequence[int]) -> Utterances:
        """Those of the given numbers."""
        return Utterances(self.rows.take(list(numbers)), self.model)


@functools.cache
def _extractor(bins: int) -> Any:
    from transformers import WhisperFeatureExtractor

    return WhisperFeatureExtractor(feature_size=bins)


def log_mel(sound: np.ndarray, bins: int) -> np.ndarray:
    """Whisper's log-mel spectrogram [bins, N] of samples at 16 kHz, 100 steps a second, an even number of them."""
    sound = np.pad(sound, (0, -len(sound) % _FRAME))
    found = _extractor(bins)(sound, sampling_rate=RATE, padding="longest")["input_features"][0]
    return np.ascontiguousarray(found[:, : len(sound) // 160], dtype=np.float32)


def utterances(path: Path, split: str, model: Recogniser) -> Utterances:
    """The utterances of a split.

    Raises:
        ReprlabError: there are none.
    """
    import pyarrow.compute

    table, _ = read_rows(path, "speech")
    table = table.filter(pyarrow.compute.equal(table["split"], split))
    if not len(table):
        raise ReprlabError(f"{path}: has no utterance in its split {split}; change `splits` of its entry")
    return Utterances(table, model)


def subset(seconds: np.ndarray, minutes: float | None, seed: int) -> list[int]:
    """Numbers of the utterances of a subset of this duration; a shorter one is the beginning of a longer one.

    Raises:
        ReprlabError: there are not so many minutes.
    """
    order = np.random.Generator(np.random.Philox(key=[seed, 0])).permutation(len(seconds))
    if minutes is None:
        return [int(one) for one in order]
    ends = np.cumsum(seconds[order])
    if ends[-1] < 60 * minutes:
        raise ReprlabError(f"sizes: {minutes:g} minutes are asked for, the split has {ends[-1] / 60:.1f}")
    count = int(np.searchsorted(ends, 60 * minutes))
    # The end that is nearer to the target: the one before it, or the one behind.
    nearer = count > 0 and 60 * minutes - ends[count - 1] < ends[count] - 60 * minutes
    return [int(one) for one in order[: count + (not nearer)]]


def alignable(chosen: Utterances) -> Utterances:
    """Those with at least one frame for each character, and one between equal neighbours; the others are logged."""
    fits = []
    for number, text in enumerate(chosen.texts):
        needed = len(text) + sum(one == two for one, two in pairwise(text))
        if chosen.model.frames(chosen.input(number).shape[-1]) >= needed:
            fits.append(number)
    if len(fits) < len(chosen):
        get_logger().info("%d utterances are too short for their transcripts and left out", len(chosen) - len(fits))
    return chosen.kept(fits)


def ctc_loss(model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Mean over utterances of the CTC loss a character, with sums and counts for the loop."""
    scores = model(batch["inputs"], batch["lengths"])
    frames, targets = model.frames(batch["lengths"]), batch["target_lengths"]
    each = nn.functional.ctc_loss(
        scores.transpose(0, 1), batch["targets"], frames, targets, BLANK, "none", zero_infinity=True
    )
    loss = (each / targets).mean()
    count = torch.tensor(len(targets), device=loss.device)
    return loss, {"loss_sum": loss.detach() * count, "count": count, "tokens": frames.sum()}


def transcribed(heard: Utterances, vocabulary: Vocabulary, batch_size: int, device: str) -> list[str]:
    """What a recogniser writes for each utterance, in their order; batches are of similar lengths."""
    model, found = heard.model.eval(), [""] * len(heard)
    order = np.argsort(heard.seconds, kind="stable")
    with torch.no_grad():
        for start in range(0, len(order), batch_size):
            numbers = order[start : start + batch_size]
            inputs, lengths = heard.batch(numbers.tolist())
            best = model(inputs.to(device), lengths.to(device)).argmax(-1).cpu()
            for number, symbols, frames in zip(numbers, best, model.frames(lengths).tolist(), strict=True):
                found[number] = vocabulary.collapse(symbols[:frames].tolist())
    return found
