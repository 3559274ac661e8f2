"""Prompts with completions as token ids, with the loss on completions only (spec 2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprlab.objectives.objective import IGNORED
from reprlab.runtime.errors import ReprlabError
from reprlab.text.encoding import LINE_END, Control, encode, ids_behind, part_ids
from reprlab.text.prompt_formats import joined
from reprlab.text.tokenizer_folder import start_ids

if TYPE_CHECKING:
    import numpy as np
    import torch

_USER, _ASSISTANT = Control("<|user|>"), Control("<|assistant|>")


@dataclass(frozen=True)
class CompletionTexts:
    """Encoded rows: ids and labels of each (-100 where no loss is taken), and the rows without a target, left out."""

    ids: list[list[int]]
    labels: list[list[int]]
    dropped: int

    def __len__(self) -> int:
        return len(self.ids)

    def batch(self, rows: np.ndarray | Sequence[int], pad: int) -> dict[str, torch.Tensor]:
        """Rows padded at the right: `input_ids` and `labels` [B, L], and `tokens` [B]."""
        import torch

        chosen = [int(row) for row in rows]
        width = max(len(self.ids[row]) for row in chosen)

        def padded(values: list[list[int]], filler: int) -> torch.Tensor:
            return torch.tensor([values[row] + [filler] * (width - len(values[row])) for row in chosen])

        return {
            "input_ids": padded(self.ids, pad),
            "labels": padded(self.labels, IGNORED),
            "tokens": torch.tensor([len(self.ids[row]) for row in chosen]),
        }


def encode_completions(tokenizer: Any, rows: Sequence[dict[str, Any]], max_length: int) -> CompletionTexts:
    """Encode rows of prompts; a row has `turns`, or a `prompt` with its `completion`.

    A text is cut at the right; where that leaves no target, the row is left out and counted.

    Raises:
        ReprlabError: no row is left.
    """
    start = start_ids(tokenizer)
    ids, labels, dropped = [], [], 0
    for row in rows:
        made = _conversation(tokenizer, row["turns"]) if row["turns"] else _completion(tokenizer, row)
        text, wanted = start + made[0], [IGNORED] * len(start) + made[1]
        text, wanted = text[:max_length], wanted[:max_length]
        if all(label == IGNORED for label in wanted[1:]):
            dropped += 1
            continue
        ids.append(text)
        labels.append(wanted)
    if not ids:
        raise ReprlabError(f"training texts: none of {len(rows)} rows has a target within {max_length} tokens")
    return CompletionTexts(ids, labels, dropped)


def _completion(tokenizer: Any, row: dict[str, Any]) -> tuple[list[int], list[int]]:
    """Ids and labels of prompt, completion and end token.

    The masked prefix is the prompt without its last white space: a tokenizer that puts the space before a word into
    the word's token predicts both together. A token belongs to the completion by the characters it ends with, so that
    a tokenizer which joins both sides of the boundary loses no target.
    """
    prompt, text = row["prompt"], joined(row["prompt"], row["completion"])
    boundary = len(prompt) - (1 if prompt[-1:].isspace() else 0)
    encoded = encode(tokenizer, [text], return_offsets_mapping=True)
    (found,), (offsets,) = encoded["input_ids"], encoded["offset_mapping"]
    labels = [index if end > boundary else IGNORED for index, (_, end) in zip(found, offsets, strict=True)]
    return [*found, tokenizer.eos_token_id], [*labels, tokenizer.eos_token_id]


def _conversation(tokenizer: Any, turns: Sequence[str]) -> tuple[list[int], list[int]]:
    """`<|user|>`, question, `<|assistant|>`, answer, end token: answers and their end tokens are targets."""
    ids: list[int] = []
    labels: list[int] = []
    asked = [(_USER, f"\n{question}\n", _ASSISTANT, LINE_END) for question in turns[::2]]
    opening = [*part_ids(tokenizer, asked[:1]), *part_ids(tokenizer, asked[1:], LINE_END)]
    # A letter ends no line, which some tokenizers would join with the next.
    (after,) = ids_behind(tokenizer, [LINE_END], "a")
    for question, answer in zip(opening, ids_behind(tokenizer, turns[1::2]), strict=True):
        given = [*answer, tokenizer.eos_token_id]
        ids += [*question, *given, *after]
        labels += [*([IGNORED] * len(question)), *given, *([IGNORED] * len(after))]
    return ids, labels
