"""A language model that reads music: an adaptor from states of audio to its embeddings, and low-rank adapters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional

from reprlab.inference.stop_texts import stop_options
from reprlab.music import forms
from reprlab.music.settings import DescriberTraining
from reprlab.runtime.errors import ReprlabError
from reprlab.text.encoding import ids_behind, piece_ids, surrounding_ids
from reprlab.training.finetuning_order import TrainingOrder

_IGNORED = -100
MUSIC = -1
"""Stands among the ids of an input where a state of audio goes."""
_HUMAN, _ASSISTANT, END = "### Human: ", "\n### Assistant: ", "\n###"
ADAPTOR = "adaptor.safetensors"


def prompt_ids(tokenizer: Any, text: str, instruction: str, states: int) -> list[int]:
    """Ids of the start token, the input and the instruction, in this order; `MUSIC` stands for each state of audio.

    An empty input is one space, as upstream has it.
    """
    parts = [_HUMAN + (text or " "), ""] if forms.AUDIO not in text else (_HUMAN + text).split(forms.AUDIO)
    behind = f"{parts[1]}\n{instruction}{_ASSISTANT}"
    start = surrounding_ids(tokenizer)[0]
    head, tail = piece_ids(tokenizer, [parts[0], behind])
    return [*start, *head, *([MUSIC] * states if forms.AUDIO in text else []), *tail]


def asked(track: Mapping[str, Any], task: str, inputs: str, *, blank: bool) -> tuple[str, str]:
    """Input and instruction of a track."""
    if task == "caption":
        return ("" if blank else forms.input_text(track, "1")), forms.CAPTION_INSTRUCTION
    return ("" if blank else forms.input_text(track, inputs)), forms.INSTRUCTION


class Describer(torch.nn.Module):
    """A language model, frozen but for its adapters, and an adaptor: a linear layer from states of audio [width].

    Whether the adaptor learns follows from its `requires_grad`; without music among the inputs it gets no gradient.
    """

    def __init__(self, language: Any, width: int) -> None:
        super().__init__()
        self.language = language
        self.adaptor = torch.nn.Linear(width, language.get_input_embeddings().weight.shape[1])

    def forward(self, ids: torch.Tensor, music: torch.Tensor) -> torch.Tensor:
        """Embeddings [B, L, D] of ids [B, L]; where they are `MUSIC`, the projected states [B, S, width] in order."""
        places = ids == MUSIC
        found = self.language.get_input_embeddings()(ids.clamp(min=0))
        if not bool(places.any()):
            return found
        projected = self.adaptor(music).to(found.dtype)
        return found.masked_scatter(places.unsqueeze(-1), projected[places.any(1)])

    def save_adaptor(self, folder: Path) -> None:
        """Write the adaptor's weights."""
        save_file(
            {name: one.detach().cpu().contiguous() for name, one in self.adaptor.state_dict().items()}, folder / ADAPTOR
        )

    def load_adaptor(self, folder: Path) -> None:
        """Take the weights of a saved adaptor."""
        self.adaptor.load_state_dict(load_file(folder / ADAPTOR))


class Examples:
    """Prompts and targets of tracks as ids, from which batches are made."""

    def __init__(
        self, tokenizer: Any, tracks: Sequence[Mapping[str, Any]], states: np.ndarray, settings: DescriberTraining
    ) -> None:
        self.states = states
        pairs = [asked(one, settings.task, settings.inputs, blank=False) for one in tracks]
        self.prompts = [prompt_ids(tokenizer, *pair, states.shape[1]) for pair in pairs]
        wanted = "caption" if settings.task == "caption" else "description"
        targets = ids_behind(tokenizer, [one[wanted].strip() + END for one in tracks], _ASSISTANT)
        room = [settings.max_length - len(prompt) for prompt in self.prompts]
        if min(room) < 1:
            raise ReprlabError(
                f"max_length {settings.max_length}: an input of {settings.max_length - min(room)} tokens leaves no "
                "room for its target; raise lora.max_length"
            )
        self.targets = [ids[:most] for ids, most in zip(targets, room, strict=True)]
        self.cut = sum(len(whole) > len(kept) for whole, kept in zip(targets, self.targets, strict=True))
        self.engine = settings.engine
        self.order = TrainingOrder(len(tracks), settings.engine.batch_size, settings.engine.seed)

    def batch(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """`ids`, `labels` (-100 before the target) [B, L], padded at the right, and `music` [B, S, width]."""
        whole = [[*self.prompts[row], *self.targets[row]] for row in rows]
        size = max(map(len, whole))
        ids = np.zeros((len(rows), size), dtype=np.int64)
        labels = np.full((len(rows), size), _IGNORED, dtype=np.int64)
        for place, (row, one) in enumerate(zip(rows, whole, strict=True)):
            ids[place, : len(one)] = one
            labels[place, len(self.prompts[row]) : len(one)] = self.targets[row]
        return {
            "ids": torch.from_numpy(ids),
            "labels": torch.from_numpy(labels),
            "music": torch.from_numpy(self.states[rows]),
        }

    def __call__(self, step: int, part: int, rank: int, world: int) -> dict[str, torch.Tensor]:
        """The batch of (step, part, rank)."""
        return self.batch(self.order.rows(step).reshape(self.engine.accumulation, world, -1)[part, rank])


def target_loss(network: Any, batch: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Mean cross-entropy of the target's tokens, each predicted at the position before; and sums and counts.

    Rows are padded at the right, where a causal model does not look, so that no mask is needed.
    """
    language = network.language
    inner = language.get_base_model() if hasattr(language, "get_base_model") else language
    states = inner.base_model(inputs_embeds=network(batch["ids"], batch["music"]), use_cache=False).last_hidden_state
    wanted = batch["labels"][:, 1:]
    counted = wanted != _IGNORED
    logits = inner.get_output_embeddings()(states[:, :-1][counted]).float()
    total = functional.cross_entropy(logits, wanted[counted], reduction="sum")
    count = counted.sum()
    with torch.no_grad():
        parts = {"loss_sum": total.detach(), "count": count, "tokens": (batch["ids"] != 0).sum()}
    return total / count.clamp(min=1), parts


def write_texts(
    network: Any, tokenizer: Any, prompts: Sequence[Sequence[int]], music: np.ndarray, *, batch_size: int,
    max_new_tokens: int, temperature: float = 0.0, seed: int = 0,
) -> list[str]:  # fmt: skip
    """The text that the model writes behind each prompt, up to `END`; greedy where the temperature is 0."""
    stop = stop_options(tokenizer, END)
    texts: list[str] = [""] * len(prompts)
    order = sorted(range(len(prompts)), key=lambda row: (len(prompts[row]), row))
    device = next(network.parameters()).device
    torch.manual_seed(seed)
    sampling: dict[str, Any] = (
        {"do_sample": True, "temperature": temperature, "top_k": 0} if temperature else {"do_sample": False}
    )
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        size = max(len(prompts[row]) for row in rows)
        ids = torch.zeros((len(rows), size), dtype=torch.long)
        mask = torch.zeros((len(rows), size), dtype=torch.long)
        for place, row in enumerate(rows):
            ids[place, size - len(prompts[row]) :] = torch.tensor(list(prompts[row]))
            mask[place, size - len(prompts[row]) :] = 1
        with torch.inference_mode():
            inputs = network(ids.to(device), torch.from_numpy(music[rows]).to(device))
            written = network.language.generate(
                inputs_embeds=inputs, attention_mask=mask.to(device), max_new_tokens=max_new_tokens,
                **stop, **sampling,
            )  # fmt: skip
        for row, text in zip(rows, tokenizer.batch_decode(written, skip_special_tokens=True), strict=True):
            texts[row] = text.partition(END)[0].strip()
    return texts
