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
    refitted = sums(rows, control=REFITTED)
    labels = torch.cat([batch.tensors["labels"].flatten() for batch in held_out])
    assert refitted["loss_sum"] == pytest.approx(-float((counts / counts.sum()).log()[labels].sum()), rel=1e-4)
    assert refitted["correct"] == int((labels == 2).sum())
    assert sums(rows, control=TRAINED)["loss_sum"] > 1.5 * refitted["loss_sum"]


def test_the_rule_copies_what_is_seen_and_answers_masks_with_the_commonest_token():
    fit, held_out = (batches(seed, [0.0, 0.0, 0.5, 0.3, 0.15, 0.05]) for seed in (0, 1))
    counts = label_counts(fit, SIZE)
    found = sums(unigram_rows(held_out, fit, counts, MASK))
    assert found["hidden"] == 0.9 * found["count"]
    hidden = torch.cat([batch.tensors["labels"][batch.tensors["input_ids"] == MASK] for batch in held_out])
    assert found["hidden_correct"] == int((hidden == 2).sum())
    assert found["correct"] == found["hidden_correct"] + found["count"] - found["hidden"]
    # All that is seen is right in `fit`, where 80 tokens are: that costs nearly nothing.
    loss = -float((counts / counts.sum()).log()[hidden].sum())
    assert loss < found["loss_sum"] < loss + 80 * np.log(82 / 81)


def test_where_what_is_seen_is_wrong_as_often_as_right_the_rule_is_as_sure_of_it():
    shares = [0.0, 0.0, 0.25, 0.25, 0.25, 0.25]
    fit = batches(0, shares)
    for batch in fit:
        batch.tensors["input_ids"][::20] = 2
    same = torch.cat([batch.tensors["labels"][::20] == 2 for batch in fit]).double().sum().item() + 40
    counts = torch.ones(SIZE).double()
    one = FixedBatch(0, False, {"labels": torch.tensor([[3]]), "input_ids": torch.tensor([[3]])})
    (row,) = unigram_rows([one], fit, counts, MASK)
    share = (same + 1) / 82
    assert row["loss_sum"] == pytest.approx(-np.log(share + (1 - share) / SIZE), rel=1e-5)


def test_a_model_may_have_more_rows_than_tokens_and_no_token_is_impossible():
    fit = batches(0, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    rows = control_rows(Model([0.0] * 8), Objective(), fit, fit, label_counts(fit, SIZE), torch.device("cpu"))
    assert all(np.isfinite(row["loss_sum"]) for row in rows)
    assert sums(rows, control=REFITTED)["correct"] == sums(rows, control=REFITTED)["count"]


def test_a_model_is_asked_without_dropout():
    class Dropping(Objective):
        def logits(self, model, batch):
            return torch.nn.functional.dropout(super().logits(model, batch), 0.5, training=model.training)

    fit = batches(0, [0.0, 0.0, 0.5, 0.3, 0.15, 0.05])
    given = (fit, fit, label_counts(fit, SIZE), torch.device("cpu"))
    model = Model([3.0, 0.0, -2.0, 0.0, 1.0, 2.0]).train()
    assert control_rows(model, Dropping(), *given) == control_rows(model, Objective(), *given)
