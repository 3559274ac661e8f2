"""Answers of one decoder to the prompts of one cell."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.evaluation.completion_settings import CompletionScoring, ScoreCell
from reprlab.inference import causal_generation
from reprlab.inference.causal_batches import ShotPrompts, padded_batches, shot_prompts
from reprlab.inference.choice_likelihood import Question, choice_ids, log_likelihoods, normalised
from reprlab.inference.generation import decode
from reprlab.inference.label_scores import label_candidates, label_scores
from reprlab.inference.shared_start import shared_start
from reprlab.runtime.errors import ReprlabError
from reprlab.text.completions import read_completions
from reprlab.text.encoding import ids_behind, padding_id
from reprlab.text.prompt_formats import LABELS, label_in_text


@dataclass(frozen=True)
class CellPrompts:
    """The questions of a cell, encoded once for all models."""

    cell: ScoreCell
    kind: str
    template: str
    title: str
    rows: list[dict[str, Any]]
    encoded: ShotPrompts
    room: int

    @property
    def gold(self) -> list[str]:
        """The right answers: texts, label words, or the place of the right choice."""
        if self.kind == "choice":
            return [str(row["answer"]) for row in self.rows]
        return [row["completion"] for row in self.rows]


@dataclass(frozen=True)
class Answers:
    """Answers of a model: label words, places of choices, or texts with the number of their tokens."""

    answers: list[str]
    tokens: list[int] = field(default_factory=list)


def cell_prompts(path: Path, cell: ScoreCell, tokenizer: Any, settings: CompletionScoring) -> CellPrompts:
    """Read and encode the questions of a cell.

    Raises:
        ReprlabError: the file lacks the format or the shots, or the method does not fit the kind of the set.
    """
    rows, about = read_completions(path)
    rows = [row for row in rows if row["fmt"] == cell.fmt]
    tests = [row for row in rows if row["role"] == "test"]
    # Where the file sets no rows apart, the first questions are the solved examples too, as upstream has it.
    shots = [row for row in rows if row["role"] == "shot"] or tests
    if not tests or len(shots) < cell.shots:
        raise ReprlabError(f"{path}: {len(tests)} questions and {len(shots)} shots in format {cell.fmt}, "
                           f"{cell.shots} shots are asked for")  # fmt: skip
    fitting = {"generation": ("generate",), "choice": ("loglikelihood",)}.get(
        about["kind"], ("tokenprob", "constrained", "free")
    )
    if cell.method not in fitting:
        raise ReprlabError(f"{cell.eval}: the method {cell.method} does not fit its kind {about['kind']}")
    room = settings.max_length - _answer_tokens(cell, about, tests, tokenizer, settings)
    encoded = shot_prompts(
        tokenizer,
        [(row["prompt"], row["completion"]) for row in shots[: cell.shots]],
        [row["prompt"] for row in tests],
        room,
    )
    return CellPrompts(cell, about["kind"], about["template"], about["title"], tests, encoded, room)


def _answer_tokens(
    cell: ScoreCell, about: dict[str, str], rows: Sequence[dict[str, Any]], tokenizer: Any, settings: CompletionScoring
) -> int:
    """Tokens that an answer may take."""
    if cell.method == "generate":
        return settings.max_new_tokens
    if cell.method == "loglikelihood":
        choices = [choice for row in rows for choice in row["choices"]]
        return max(map(len, choice_ids(tokenizer, choices)))
    longest = max(len(ids) for ids in _words(tokenizer, LABELS[about["template"]]))
    return max(settings.free_tokens, longest)


def answer(model: Any, prompts: CellPrompts, tokenizer: Any, settings: CompletionScoring, batch: int) -> Answers:
    """The model's answers.

    Args:
        batch: prompts at once; it does not change the result but for rounding.
    """
    import torch

    device = next(model.parameters()).device
    pad = padding_id(tokenizer)
    precision = (
        torch.autocast(device.type, dtype=torch.bfloat16) if settings.dtype == "bfloat16" else contextlib.nullcontext()
    )
    with precision:
        if prompts.kind == "choice":
            return _chosen(model, prompts, tokenizer, settings, batch, pad, device)
        # Each beam of a prompt keeps keys and values of its own.
        beams = settings.beams if prompts.cell.method == "constrained" else 1
        start = shared_start(model, prompts.encoded.ids, device)
        batches = padded_batches(prompts.encoded.ids, max(1, batch // beams), pad, device, start)
        if prompts.cell.method == "generate":
            return _generated(model, batches, prompts, tokenizer, settings)
        return _labelled(model, batches, prompts, tokenizer, settings)


def _generated(model: Any, batches: Any, prompts: CellPrompts, tokenizer: Any, settings: CompletionScoring) -> Answers:
    found = causal_generation.greedy(model, batches, settings.max_new_tokens, len(prompts.rows), tokenizer.eos_token_id)
    texts = decode(tokenizer, found)
    if settings.stop_at_newline:
        texts = [text.partition("\n")[0].strip() for text in texts]
    return Answers(texts, [len(ids) for ids in found])


def _labelled(model: Any, batches: Any, prompts: CellPrompts, tokenizer: Any, settings: CompletionScoring) -> Answers:
    labels, rows, end = LABELS[prompts.template], len(prompts.rows), tokenizer.eos_token_id
    if prompts.cell.method == "tokenprob":
        candidates = label_candidates(tokenizer, labels, all_subtokens=settings.all_subtokens)
        scores = label_scores(model, batches, candidates, rows)
        return Answers([labels[place] for place in scores.argmax(1)])
    if prompts.cell.method == "constrained":
        words = _words(tokenizer, labels)
        places = causal_generation.constrained(
            model,
            batches,
            words,
            beams=settings.beams,
            max_new_tokens=settings.free_tokens,
            rows=rows,
            end=end,
        )
        return Answers([labels[place // 2] for place in places])
    found = causal_generation.greedy(model, batches, settings.free_tokens, rows, end)
    return Answers([label_in_text(prompts.template, text) for text in decode(tokenizer, found)])


def _words(tokenizer: Any, labels: Sequence[str]) -> list[list[int]]:
    """Ids of each label word without and with a space before it, in turn."""
    spelled = [variant for label in labels for variant in (label, f" {label}")]
    return ids_behind(tokenizer, spelled)


def _chosen(
    model: Any, prompts: CellPrompts, tokenizer: Any, settings: CompletionScoring, batch: int, pad: int, device: Any
) -> Answers:
    questions = [
        Question(ids, choice_ids(tokenizer, row["choices"]))
        for row, ids in zip(prompts.rows, prompts.encoded.ids, strict=True)
    ]
    how = settings.normalisation.get(prompts.cell.eval, "none")
    answers = []
    sums = log_likelihoods(model, questions, batch, pad, device)
    for row, question, found in zip(prompts.rows, questions, sums, strict=True):
        tokens, characters = (
            np.array([len(choice) for choice in texts]) for texts in (question.choices, row["choices"])
        )
        answers.append(str(normalised(found, tokens, characters, how).argmax()))
    return Answers(answers)
