"""Scores of generated texts against one reference each: BLEU, ROUGE-L, BERTScore; an empty text counts 0."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.evaluation.resampling import percentiles, resample_sums
from reprlab.text.encoding import piece_ids, surrounding_ids

_ORDERS = 4
_AT_ONCE = 32


def bleu_counts(references: Sequence[str], written: Sequence[str]) -> np.ndarray:
    """Of each text: clipped matches and n-grams of orders 1 to 4, its length and that of the reference [N, 10].

    Words are what stands between spaces, in lower case, on both sides. As nltk has it, a text too short for an order
    has one n-gram of it, which matches nothing.
    """
    from nltk.translate.bleu_score import modified_precision

    rows = []
    for reference, text in zip(references, written, strict=True):
        gold, found = reference.lower().split(), text.lower().split()
        row: list[int] = []
        for order in range(1, _ORDERS + 1):
            share = modified_precision([gold], found, order)
            row += [share.numerator, share.denominator]
        rows.append([*row, len(found), len(gold)])
    return np.array(rows, dtype=np.float64).reshape(-1, 2 * _ORDERS + 2)


def bleu(sums: np.ndarray, orders: int) -> np.ndarray:
    """BLEU (0 to 100) of sums of counts [..., 10], with equal weights of the orders 1 to `orders`; no smoothing."""
    matches, grams = sums[..., 0 : 2 * orders : 2], sums[..., 1 : 2 * orders : 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(matches > 0, np.log(matches / np.maximum(grams, 1)), -np.inf).mean(-1)
        length = np.minimum(0, 1 - sums[..., -1] / np.maximum(sums[..., -2], 1e-9))
    return 100 * np.exp(logs + length)


def rouge_l(references: Sequence[str], written: Sequence[str]) -> np.ndarray:
    """Precision, recall and F1 of ROUGE-L of each text [N, 3], 0 to 1."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    found = [scorer.score(gold, text)["rougeL"] for gold, text in zip(references, written, strict=True)]
    return np.array([[one.precision, one.recall, one.fmeasure] for one in found], dtype=np.float64).reshape(-1, 3)


def bert_score(references: Sequence[str], written: Sequence[str], model: Path, max_length: int) -> np.ndarray:
    """Precision, recall and F1 of BERTScore (Zhang et al. 2020) of each text [N, 3], without weights or rescaling.

    Tokens are matched greedily by the cosine of the encoder's last states; its own special tokens do not count.
    """
    states = _states([*references, *written], model, max_length)
    found = np.zeros((len(written), 3))
    for place, (gold, text) in enumerate(zip(states[: len(references)], states[len(references) :], strict=True)):
        if len(gold) and len(text):
            alike = text @ gold.T
            precision, recall = float(alike.max(1).mean()), float(alike.max(0).mean())
            total = precision + recall
            found[place] = precision, recall, 2 * precision * recall / total if total else 0.0
    return found


def _ids(tokenizer: Any, texts: Sequence[str], room: int) -> list[list[int]]:
    return [own[:room] for own in piece_ids(tokenizer, list(texts))]


def _states(texts: Sequence[str], folder: Path, max_length: int) -> list[np.ndarray]:
    """States of length 1 of the tokens of each text [tokens, D]."""
    import torch

    from reprlab.models.build import load_model
    from reprlab.text.tokenizer_folder import open_tokenizer

    tokenizer = open_tokenizer(folder)
    model: Any = load_model(folder).float().eval()
    before, behind = surrounding_ids(tokenizer)
    ids = _ids(tokenizer, texts, max_length - len(before) - len(behind))
    found: list[np.ndarray] = [np.zeros((0, 1))] * len(texts)
    order = sorted((row for row in range(len(ids)) if ids[row]), key=lambda row: (len(ids[row]), row))
    for start in range(0, len(order), _AT_ONCE):
        rows = order[start : start + _AT_ONCE]
        whole = [torch.tensor([*before, *ids[row], *behind]) for row in rows]
        padded = torch.nn.utils.rnn.pad_sequence(whole, batch_first=True)
        mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(one) for one in whole], batch_first=True)
        with torch.inference_mode():
            states = model(input_ids=padded, attention_mask=mask).last_hidden_state
        states = torch.nn.functional.normalize(states, dim=-1)
        for place, row in enumerate(rows):
            found[row] = states[place, len(before) : len(before) + len(ids[row])].numpy()
    return found


def score_rows(
    references: Sequence[str], written: Sequence[str], model: Path, max_length: int, *, resamples: int, seed: int
) -> list[dict[str, Any]]:
    """One row for each measure in percent, with its 95 % interval over texts; scores are means over texts but BLEU."""
    counts, n = bleu_counts(references, written), len(written)
    parts = [(f"bleu{orders}", counts, orders) for orders in (1, _ORDERS)]
    rows = []
    for name, sums, orders in parts:
        drawn = bleu(resample_sums(sums, resamples, seed), orders)
        rows.append({"metric": name, "value": float(bleu(sums.sum(0), orders)), **_bounds(drawn, n)})
    means = {"rouge": rouge_l(references, written), "bert": bert_score(references, written, model, max_length)}
    for name, each in means.items():
        drawn = 100 * resample_sums(each, resamples, seed) / n
        for place, side in enumerate(("p", "r", "f1")):
            row = {"metric": f"{name}_{side}", "value": float(100 * each[:, place].mean())}
            rows.append({**row, **_bounds(drawn[:, place], n)})
    return [{**row, "n": n} for row in rows]


def _bounds(drawn: np.ndarray, n: int) -> dict[str, float]:
    low, high = percentiles(drawn, n)
    return {"low": low, "high": high}
