"""Word frequencies and refitted output biases beside a masked language model: known answers."""

import numpy as np
import pytest
import torch
from reprlab.objectives.objective import IGNORED
from reprlab.training.mask_controls import REFITTED, TRAINED, control_rows, label_counts, unigram_rows
from reprlab.training.validation import FixedBatch

SIZE, MASK = 6, 1


def batches(seed, shares, count=4, rows=200):
    """Every token is predicted; nine of ten are hidden."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        labels = torch.from_numpy(rng.choice(SIZE, size=(rows, 1), p=shares))
        ids = torch.where(torch.arange(rows)[:, None] % 10 == 0, labels, torch.full_like(labels, MASK))
        found.append(FixedBatch(number, False, {"labels": labels, "input_ids": ids}))
    return found


class Objective:
    """Scores that ignore the text: those of the model, a vector."""

    class masks:  # noqa: N801
        mask_id = MASK

    def logits(self, model, batch):
        return model.scores.expand(int((batch["labels"] != IGNORED).sum()), -1)


class Model(torch.nn.Module):
    def __init__(self, scores):
        super().__init__()
        self.scores = torch.nn.Parameter(torch.tensor(scores))


def sums(rows, **where):
    kept = [row for row in rows if where.items() <= row.items()]
    return {
        name: sum(row[name] for row in kept) for name in ("loss_sum", "count", "correct", "hidden", "hidden_correct")
    }


def test_a_model_that_ignores_the_text_becomes_word_frequencies_once_its_bias_is_refitted():
    shares = [0.0, 0.0, 0.5, 0.3, 0.15, 0.05]
    fit, held_out = batches(0, shares), batches(1, shares)
    counts = label_counts(fit, SIZE)
    model = Model([3.0, 0.0, -2.0, 0.0, 1.0, 2.0])
    rows = control_rows(model, Objective(), held_out, fit, counts, torch.device("cpu"))
    unigram, refitted = sums(unigram_rows(held_out, counts, MASK)), sums(rows, control=REFITTED)
    assert refitted["loss_sum"] == pytest.approx(unigram["loss_sum"], rel=1e-4)
    assert refitted["correct"] == unigram["correct"]
    entropy = -sum(p * np.log(p) for p in shares if p)
    assert unigram["loss_sum"] / unigram["count"] == pytest.approx(entropy, abs=0.05)
    assert unigram["correct"] / unigram["count"] == pytest.approx(0.5, abs=0.05)
    assert sums(rows, control=TRAINED)["loss_sum"] > 1.5 * refitted["loss_sum"]


def test_what_is_hidden_is_told_apart_from_what_can_be_copied():
    held_out = batches(1, [0.0, 0.0, 0.5, 0.3, 0.15, 0.05])
    found = sums(unigram_rows(held_out, label_counts(held_out, SIZE), MASK))
    assert found["hidden"] == 0.9 * found["count"]
    hidden = torch.cat([batch.tensors["labels"][batch.tensors["input_ids"] == MASK] for batch in held_out])
    assert found["hidden_correct"] == int((hidden == 2).sum())


def test_a_model_may_have_more_rows_than_tokens_and_no_token_is_impossible():
    fit = batches(0, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    rows = control_rows(Model([0.0] * 8), Objective(), fit, fit, label_counts(fit, SIZE), torch.device("cpu"))
    assert all(np.isfinite(row["loss_sum"]) for row in rows)
    assert sums(rows, control=REFITTED)["correct"] == sums(rows, control=REFITTED)["count"]
