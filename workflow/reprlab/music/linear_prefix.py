"""A linear prefix: one linear map of a track's states to vectors in front of the text of a frozen language model.

Merullo et al. (2023), Linearly Mapping from Image to Text Space, train such a map from images; from music it is ours.
Its place behind the start token, and both stages of training, as an adaptor has them, are ours too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.models.build import load_model
from reprlab.music.describer import ADAPTOR, MUSIC, Describer, Examples, asked, prompt_ids
from reprlab.music.prefix_settings import PrefixTraining
from reprlab.runtime.errors import ReprlabError
from reprlab.text.encoding import surrounding_ids

ABOUT = "prefix.json"


class PrefixMap(torch.nn.Module):
    """One linear map with bias: states [B, S, width] of a track, all at once, to `vectors` vectors [B, k, D]."""

    def __init__(self, states: int, width: int, vectors: int, embedded: int) -> None:
        super().__init__()
        self.vectors = vectors
        self.linear = torch.nn.Linear(states * width, vectors * embedded)

    def forward(self, music: torch.Tensor) -> torch.Tensor:
        """See the class."""
        return self.linear(music.flatten(1)).unflatten(-1, (self.vectors, -1))

    @property
    def told(self) -> int:
        """Vectors that are put in front of a text: none of a map of zeros, which says nothing of any track.

        A vector of zeros would not be nothing: a place in the text draws attention, whatever stands there.
        """
        return self.vectors if any(bool(one.any()) for one in self.linear.parameters()) else 0


class PrefixExamples(Examples):
    """Prompts with the places of the vectors, and targets, of tracks with states [tracks, S, width]."""

    def __init__(
        self, tokenizer: Any, tracks: Sequence[Mapping[str, Any]], states: np.ndarray, settings: PrefixTraining
    ) -> None:
        # The text says nothing of the music: where captions have its place, there are no states to put there.
        super().__init__(tokenizer, tracks, states[:, :0], settings.text)
        self.prompts = [with_prefix(tokenizer, ids, settings.vectors) for ids in self.prompts]
        self.states = states


def with_prefix(tokenizer: Any, ids: Sequence[int], vectors: int) -> list[int]:
    """The ids of a prompt with `MUSIC` for each vector between its start token, if it has one, and the text."""
    start = len(surrounding_ids(tokenizer)[0])
    return [*ids[:start], *([MUSIC] * vectors), *ids[start:]]


def prefix_prompts(
    tokenizer: Any, tracks: Sequence[Mapping[str, Any]], inputs: str, vectors: int
) -> tuple[list[str], list[list[int]]]:
    """The text and the ids of each track's prompt for a description; of `inputs` the music is not in the text."""
    pairs = [asked(one, "description", inputs.replace("1", ""), blank=False) for one in tracks]
    ids = [with_prefix(tokenizer, prompt_ids(tokenizer, *pair, 0), vectors) for pair in pairs]
    return [text for text, _ in pairs], ids


def new_prefix(model: Path, shape: tuple[int, int], settings: PrefixTraining, start: Path | None) -> Describer:
    """A frozen language model behind a map that is drawn, or as stage one left it (`start`).

    Args:
        shape: states of a track and their width.

    Raises:
        ReprlabError: stage one has another number of vectors, or read states of another shape.
    """
    torch.manual_seed(settings.engine.seed)
    found = _before(model, shape, settings.vectors)
    if start is not None:
        _take(found, start)
    return found


def save_prefix(found: Describer, folder: Path, about: Mapping[str, Any]) -> None:
    """The map in a folder, with what it was trained on, its vectors and its parameters."""
    given: Any = found.adaptor
    found.save_adaptor(folder)
    parameters = sum(one.numel() for one in given.parameters())
    write_json(folder / ABOUT, {**about, "parameters": parameters, "vectors": given.vectors})


def load_prefix(model: Path, folder: Path, shape: tuple[int, int]) -> Describer:
    """A trained prefix for generation.

    Raises:
        ReprlabError: it read states of another shape.
    """
    found = _before(model, shape, int(read_json(folder / ABOUT)["vectors"]))
    _take(found, folder)
    return found.eval()


def told_by(found: Describer) -> int:
    """Vectors that a describer with a map puts in front of a text."""
    given: Any = found.adaptor
    return int(given.told)


def _before(model: Path, shape: tuple[int, int], vectors: int) -> Describer:
    language: Any = load_model(model).float()
    language.requires_grad_(False)
    found = Describer(language, shape[1])
    found.adaptor = PrefixMap(*shape, vectors, language.get_input_embeddings().weight.shape[1])  # type: ignore[assignment]
    return found


def _take(found: Describer, folder: Path) -> None:
    weights = load_file(folder / ADAPTOR)
    have = {name: tuple(one.shape) for name, one in found.adaptor.state_dict().items()}
    if (given := {name: tuple(one.shape) for name, one in weights.items()}) != have:
        raise ReprlabError(f"{folder}: its map is {given}, and {have} is wanted; delete the folder and run again")
    found.adaptor.load_state_dict(weights)
