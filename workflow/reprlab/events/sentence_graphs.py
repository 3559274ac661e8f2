"""Mentions in the dependency tree of their sentence, and the vectors that a graph encoder gives them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.events.documents import EventDocument
from reprlab.events.settings import Retrieval
from reprlab.events.windows import open_word_tokenizer, word_pieces
from reprlab.inference.generation import sorted_batches
from reprlab.models.dependency_graph import graph_encoder
from reprlab.retrieval.bi_encoder import padded, save_encoder
from reprlab.runtime.errors import ReprlabError
from reprlab.text.encoding import padding_id, surrounding_ids
from reprlab.training.finetuning_encoding import Ragged

if TYPE_CHECKING:
    import torch

_LAYER = "graph.safetensors"


@dataclass(frozen=True)
class MentionGraph:
    """One mention in its sentence, whose words are counted from 0.

    `ids` [p] are pieces without special tokens, `word_of` [p] their words; `arcs` [2, A] are dependents and their
    heads, `trigger` [t] words.
    """

    ids: np.ndarray
    word_of: np.ndarray
    words: int
    arcs: np.ndarray
    trigger: np.ndarray


@dataclass(frozen=True)
class SentenceGraphs:
    """Mentions from which batches are made; `ids` have special tokens, `lead` of them before the first piece."""

    graphs: Sequence[MentionGraph]
    ids: Ragged
    lead: int
    pad: int

    def batch(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """The mentions `rows` as a graph encoder reads them, their words numbered through."""
        import torch

        graphs = [self.graphs[row] for row in rows]
        ids, mask = padded(self.ids, rows, self.pad)
        starts = np.cumsum([0, *(graph.words for graph in graphs)])
        numbered = list(zip(range(len(graphs)), starts, graphs, strict=False))
        parts = {
            "word_place": [n * ids.shape[1] + self.lead + np.arange(len(graph.ids)) for n, _, graph in numbered],
            "word_owner": [start + graph.word_of for _, start, graph in numbered],
            "arcs": [start + graph.arcs for _, start, graph in numbered],
            "trigger_word": [start + graph.trigger for _, start, graph in numbered],
            "trigger_owner": [np.full(len(graph.trigger), n) for n, _, graph in numbered],
        }
        tensors = {name: torch.from_numpy(np.concatenate(part, axis=-1)) for name, part in parts.items()}
        return {"input_ids": ids, "attention_mask": mask, "word_count": torch.tensor(starts[-1]), **tensors}


def sentence_graphs(
    tokenizer: Any, documents: Sequence[EventDocument], heads: Sequence[np.ndarray], max_length: int
) -> SentenceGraphs:
    """Every mention of every document in its sentence, without markers: the trigger is known by its words.

    A sentence of more than `max_length` ids, special tokens included, is cut to whole words around the trigger; arcs
    that leave it are dropped.

    Args:
        heads: of the tokens of each document [tokens], a root its own.
    """
    before, behind = surrounding_ids(tokenizer)
    room = max_length - len(before) - len(behind)
    graphs = []
    for document, tree, pieces in zip(documents, heads, word_pieces(tokenizer, documents), strict=True):
        packed = Ragged.of(pieces)
        graphs += [_graph(document, mention, tree, packed, room) for mention in range(len(document))]
    ids = Ragged.of([*before, *graph.ids, *behind] for graph in graphs)
    return SentenceGraphs(graphs, ids, len(before), padding_id(tokenizer))


def _graph(document: EventDocument, mention: int, heads: np.ndarray, pieces: Ragged, room: int) -> MentionGraph:
    trigger = np.array(document.triggers[mention])
    first, end = _cut(pieces.offsets, *document.around(mention), trigger, room)
    word_of = np.repeat(np.arange(end - first), pieces.lengths[first:end])[:room]
    start = pieces.offsets[first]
    tree = heads[first:end] - first
    inside = (tree >= 0) & (tree < end - first) & (tree != np.arange(end - first))
    return MentionGraph(
        pieces.flat[start : start + len(word_of)],
        word_of,
        end - first,
        np.stack([np.flatnonzero(inside), tree[inside]]),
        trigger[(trigger >= first) & (trigger < end)] - first,
    )


def _cut(offsets: np.ndarray, first: int, end: int, trigger: np.ndarray, room: int) -> tuple[int, int]:
    """Words around the trigger that have at most `room` pieces; its first word where even that one has more."""
    if offsets[end] - offsets[first] <= room:
        return first, end
    left, right = offsets[trigger.min()], offsets[trigger.max() + 1]
    # The trigger in the middle; where it is longer than the room, its beginning.
    start = max(offsets[first], min(left, (left + right - room) // 2, offsets[end] - room))
    first = int(np.searchsorted(offsets, start))
    return first, max(first + 1, int(np.searchsorted(offsets, start + room, side="right")) - 1)


def save_graph_encoder(model: Any, tokenizer: Any, folder: Path) -> None:
    """Encoder, tokenizer and layer in one folder."""
    from safetensors.torch import save_file

    save_encoder(model.encoder, tokenizer, folder)
    save_file({name: value.contiguous().cpu() for name, value in model.layer.state_dict().items()}, folder / _LAYER)


def graph_vectors(
    folder: Path,
    documents: Sequence[EventDocument],
    heads: Sequence[np.ndarray],
    settings: Retrieval,
    device: torch.device,
    batch_size: int,
) -> list[np.ndarray]:
    """[n, d] vectors of the mentions of each document by the graph encoder in `folder`: one forward for each mention.

    Raises:
        ReprlabError: the encoder has no graph layer.
    """
    import torch
    from safetensors.torch import load_file

    from reprlab.models.build import load_model

    if not (folder / _LAYER).exists():
        raise ReprlabError(
            f"{folder}: the encoder has no graph layer; encoding: graph goes with a fine-tuned retriever"
        )
    model = graph_encoder(load_model(folder))
    model.layer.load_state_dict(load_file(folder / _LAYER))
    model.to(device).eval()
    graphs = sentence_graphs(open_word_tokenizer(folder), documents, heads, settings.max_length)
    vectors = np.zeros((len(graphs.graphs), model.encoder.config.hidden_size), dtype=np.float32)
    bfloat16 = settings.dtype == "bfloat16"
    precision = torch.autocast(device.type, dtype=torch.bfloat16) if bfloat16 else contextlib.nullcontext()
    with torch.inference_mode(), precision:
        for rows in sorted_batches(graphs.ids.lengths, batch_size):
            batch = {name: value.to(device) for name, value in graphs.batch(rows).items()}
            vectors[rows] = model(batch).cpu().numpy()
    return np.split(vectors, np.cumsum([len(document) for document in documents])[:-1])
