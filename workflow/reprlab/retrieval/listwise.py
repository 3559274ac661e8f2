"""Reranking of lists by one token (FIRST, Gangi Reddy et al. 2024).

A language model reads a query with some candidates, each under a letter, and the logits of the letters at the place of
its first answer token are the ranking.

Lists longer than a window are ranked by windows that slide from the bottom of the first stage's ranking to its top.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from reprlab.inference.similar_batches import similar_batches
from reprlab.models.pooling import pool
from reprlab.models.similar_lengths import read_by_length
from reprlab.retrieval.bi_encoder import padded
from reprlab.retrieval.list_inputs import ListInputs
from reprlab.retrieval.rerank_settings import ListSettings
from reprlab.retrieval.trec import Run, ordered
from reprlab.runtime.errors import ReprlabError
from reprlab.training.finetuning_encoding import Ragged

if TYPE_CHECKING:
    import numpy as np
    import torch


def list_reranker(model: Any, letters: Sequence[int]) -> Any:
    """A decoder that gives the logits [B, letters] of the letters behind the last token, in float32.

    Raises:
        ReprlabError: it has no output layer.
    """
    import torch

    output = model.get_output_embeddings()
    if output is None:
        raise ReprlabError(
            f"{type(model).__name__} has no output layer, by whose logits lists are ranked; name a decoder"
        )

    class ListReranker(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.backbone, self.output = model.base_model, output
            # A cache would keep the scans of Mamba from running in chunks, and no second token is decoded.
            self.backbone.config.use_cache = False
            self.register_buffer("letters", torch.tensor(letters), persistent=False)

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            states = read_by_length(self.last_state, input_ids, attention_mask)
            with torch.autocast(states.device.type, enabled=False):
                return torch.nn.functional.linear(states.float(), self.output.weight[self.letters].float())

        def last_state(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            """[B, d]: what the answer token is read from."""
            states = self.backbone(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            return pool(states, attention_mask, "last")

    return ListReranker()


def weighted_ranknet(logits: torch.Tensor, ranks: torch.Tensor, grades: torch.Tensor) -> torch.Tensor:
    """Mean over pairs of log(1 + exp(s_j - s_i)) / (r_i + r_j), candidate i with the higher grade (FIRST, section 3.2;
    the mean as in the authors' code).

    Args:
        logits: [B, W]. ranks: of the candidates, 1 the best. grades: candidates of one grade are no pair.
    """
    import torch

    pairs = (grades[:, :, None] > grades[:, None, :]).float()
    losses = torch.nn.functional.softplus(logits[:, None, :] - logits[:, :, None])
    return (pairs * losses / (ranks[:, :, None] + ranks[:, None, :])).sum() / pairs.sum().clamp(min=1)


def list_loss(ranknet_weight: float) -> Callable[[Any, dict[str, torch.Tensor]], tuple[torch.Tensor, dict[str, Any]]]:
    """Cross-entropy of the best candidate's letter among those of the list, and the weighted RankNet of the logits."""

    def loss_of(model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, Any]]:
        import torch

        ranks = batch["ranks"]
        best = ranks.argmin(1)
        logits = model(batch["input_ids"], batch["attention_mask"])[:, : ranks.shape[1]]
        loss = torch.nn.functional.cross_entropy(logits, best)
        loss = loss + ranknet_weight * weighted_ranknet(logits, ranks, batch["grades"])
        count = torch.tensor(len(ranks), device=loss.device)
        hits = (logits.argmax(1) == best).sum()
        parts = {"count": count, "loss_sum": loss.detach() * count, "correct": hits, "total": count}
        return loss, {**parts, "tokens": batch["attention_mask"].sum()}

    return loss_of


def windows(count: int, window: int, step: int) -> list[tuple[int, int]]:
    """First place and end of each window over so many candidates, from the bottom to the top, which one reaches."""
    return [(start, min(start + window, count)) for start in (*range(count - window, 0, -step), 0)]


def slide(
    run: Run, logits_of: Callable[[list[tuple[str, list[str]]]], np.ndarray], window: int, step: int
) -> dict[str, dict[str, float]]:
    """The documents of a run in the order that sliding windows leave; a score is the number of documents from it down.

    Args:
        logits_of: logits [lists, >= W] of lists of a query and its candidates. Equal ones stay as they stand.
    """
    import numpy as np

    order = {query: list(ordered(hits)) for query, hits in run.items()}
    places = {query: windows(len(names), window, step) for query, names in order.items() if names}
    for turn in range(max(map(len, places.values()), default=0)):
        asked = {query: own[turn] for query, own in places.items() if turn < len(own)}
        logits = logits_of([(query, order[query][start:end]) for query, (start, end) in asked.items()])
        for (query, (start, end)), row in zip(asked.items(), logits, strict=True):
            names = order[query][start:end]
            order[query][start:end] = [names[place] for place in np.argsort(-row[: len(names)], kind="stable").tolist()]
    return {
        query: {name: float(len(names) - place) for place, name in enumerate(names)} for query, names in order.items()
    }


def rerank_lists(
    model: Any,
    inputs: ListInputs,
    run: Run,
    pad: int,
    settings: ListSettings,
    *,
    batch_size: int = 32,
    dtype: str = "float32",
    device: Any = "cpu",
) -> tuple[dict[str, dict[str, float]], float]:
    """The documents of a run as the model orders them in windows, and the tokens that were read for each of them."""
    import numpy as np
    import torch

    kind, read = torch.device(device).type, 0
    precision = torch.autocast(kind, dtype=torch.bfloat16) if dtype == "bfloat16" else contextlib.nullcontext()

    def logits_of(lists: list[tuple[str, list[str]]]) -> np.ndarray:
        nonlocal read
        ids = Ragged.of(inputs.ids(query, names) for query, names in lists)
        read += int(ids.lengths.sum())
        logits = np.zeros((len(lists), len(inputs.letters)), dtype=np.float32)
        for rows in similar_batches(ids.lengths, batch_size, kind):
            tokens, mask = (tensor.to(device) for tensor in padded(ids, rows, pad))
            logits[rows] = model(tokens, mask).float().cpu().numpy()
        return logits

    model.eval()
    with torch.inference_mode(), precision:
        found = slide(run, logits_of, settings.window, settings.step)
    documents = sum(map(len, found.values()))
    return found, read / documents if documents else float("nan")
