"""States of frozen encoders that are computed once: an array for each split and layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from reprlab.coreference.documents import Document, read_documents
from reprlab.coreference.model import input_tensors, open_encoder
from reprlab.coreference.settings import SimilaritySettings
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.progress import track
from reprlab.statistics.linear_evidence import log_evidence

SPLITS = ("train", "validation")


def documents_of(folder: Path, split: str) -> list[Document]:
    """The segmented documents of a split.

    Raises:
        ReprlabError: there are none, or the file is damaged.
    """
    path = folder / f"{split}.jsonlines"
    found = read_documents(path)
    if not found:
        raise ReprlabError(f"{path}: no document; change the splits of the data or the setting documents")
    return found


def write_states(
    encoder: Path, tokenizer: Any, documents: Mapping[str, Sequence[Document]], layers: Sequence[int], folder: Path
) -> None:
    """Write `<split>.layer-<l>.npy` [T of all documents, H] in half precision for each of `layers`.

    Hidden states of a BERT are of the order of 1, of which half precision keeps three digits.
    """
    network = open_encoder(encoder, max(layers)).eval()
    for split, found in documents.items():
        parts: dict[int, list[np.ndarray]] = {layer: [] for layer in layers}
        for document in track(found, f"states of {split}"):
            for layer, state in hidden_states(network, tokenizer, document, layers).items():
                parts[layer].append(state.half().numpy())
        for layer, arrays in parts.items():
            np.save(folder / _name(split, layer), np.concatenate(arrays))


def hidden_states(network: Any, tokenizer: Any, document: Document, layers: Sequence[int]) -> dict[int, torch.Tensor]:
    """[T, H] outputs of some layers for one document, each segment read alone."""
    inputs = input_tensors(document, tokenizer)
    inside = inputs["attention_mask"].bool()
    with torch.inference_mode():
        hidden = network(**inputs, output_hidden_states=True).hidden_states
    return {layer: hidden[layer][inside] for layer in layers}


@dataclass(frozen=True)
class StoredStates:
    """The states of several sources for the documents of one split."""

    arrays: list[list[np.ndarray]]
    """By source and layer, [T of all documents, H]; they are mapped, not read."""
    starts: np.ndarray
    """Where each document begins."""

    @classmethod
    def open(
        cls,
        folders: Sequence[Path],
        split: str,
        layers: Sequence[int],
        concatenated: int,
        documents: Sequence[Document],
    ) -> StoredStates:
        """The states of the `concatenated` layers up to each source's layer.

        Raises:
            ReprlabError: a folder lacks a layer, or has another number of tokens.
        """
        starts = np.cumsum([0, *(len(document) for document in documents)])
        arrays = []
        for folder, layer in zip(folders, layers, strict=True):
            found = []
            for path in layer_files(folder, split, layer, concatenated):
                try:
                    found.append(np.load(path, mmap_mode="r"))
                except (OSError, ValueError) as error:
                    raise ReprlabError(f"{path}: cannot be read ({error}); delete {folder} and run again") from None
                if len(found[-1]) != starts[-1]:
                    raise ReprlabError(f"{path}: {len(found[-1])} tokens, the documents have {starts[-1]}; run again")
            arrays.append(found)
        return cls(arrays, starts)

    @property
    def width(self) -> int:
        """H, the width of one layer."""
        return self.arrays[0][0].shape[1]

    def of(self, document: int, part: slice) -> torch.Tensor:
        """[n, T, H * layers] the states of the tokens `part` of a document."""
        place = slice(self.starts[document] + part.start, self.starts[document] + part.stop)
        return torch.from_numpy(
            np.stack([np.concatenate([array[place] for array in found], -1) for found in self.arrays])
        )


def similarity_rows(
    encoders: Mapping[str, Path],
    reference: Path,
    tokenizer: Any,
    documents: Sequence[Document],
    settings: SimilaritySettings,
) -> list[dict[str, Any]]:
    """What the last states of each encoder say of coreference without a head, by document that is drawn: their mean
    cosine over tokens with those of `reference`, and the evidence of a linear model of the gold chains."""
    draw = sorted(np.random.default_rng(settings.seed).permutation(len(documents))[: settings.documents])
    inputs = [input_tensors(documents[number], tokenizer) for number in draw]
    target = _last_states(reference, inputs)
    rows = []
    for name, folder in encoders.items():
        for batch, (one, ours, theirs) in enumerate(zip(inputs, _last_states(folder, inputs), target, strict=True)):
            cosine, inside = torch.nn.functional.cosine_similarity(ours, theirs, dim=-1), one["attention_mask"].bool()
            kept = torch.ones_like(cosine).bool() if settings.include_padding else inside
            about = {"name": name, "batch": batch, "metric": "cosine", "value": float(cosine[kept].mean())}
            rows.append({**about, "n": int(kept.sum())})
            mentions, chains = chained_mentions(documents[draw[batch]], ours[inside].numpy())
            if chains.shape[1] > 1:
                evidence = log_evidence(mentions, chains)
                rows.append({"name": name, "batch": batch, "metric": "logme", "value": evidence, "n": len(mentions)})
    return rows


def chained_mentions(document: Document, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gold mentions as features, and their chains as targets.

    Args:
        states: [T, H] of the document's sub-tokens.

    Returns:
        [M, H] means over the sub-tokens of each mention; [M, K] 1 where a mention is of a chain.
    """
    spans, chains = document.mentions()
    means = [states[first : last + 1].mean(0) for first, last in spans]
    return np.array(means).reshape(-1, states.shape[1]), np.eye(len(document.clusters))[chains - 1]


def _last_states(encoder: Path, inputs: Sequence[dict[str, torch.Tensor]]) -> list[torch.Tensor]:
    network = open_encoder(encoder).eval()
    with torch.inference_mode():
        return [network(**one).last_hidden_state for one in inputs]


def layer_files(folder: Path, split: str, layer: int, concatenated: int) -> list[Path]:
    """Files of the `concatenated` layers up to `layer`."""
    return [folder / _name(split, number) for number in range(layer - concatenated + 1, layer + 1)]


def _name(split: str, layer: int) -> str:
    return f"{split}.layer-{layer:02d}.npy"
