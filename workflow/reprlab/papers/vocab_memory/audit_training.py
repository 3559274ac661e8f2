"""Checks 5.9 to 5.12: PEMA itself, on a tiny BERT: what stays the same bit by bit, and what does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reprlab.models.pema import PartialVocabulary, adapt_embedding, keep_states_whole, restore_embedding
from reprlab.reporting.audit import AuditRow, check, judge

_ROWS, _WIDTH, _USED, _STEPS = 3_000, 64, 401, 20


@dataclass(frozen=True)
class _Run:
    losses: list[float]
    state: dict[str, Any]
    original: Any

    @property
    def embedding(self) -> Any:
        return next(value for name, value in self.state.items() if "word_embeddings" in name)

    def rest(self) -> list[Any]:
        return [value for name, value in self.state.items() if "word_embeddings" not in name]


def training_checks() -> Iterator[AuditRow]:
    """Checks 5.9 to 5.12."""
    import torch

    threads = torch.get_num_threads()
    # On several threads sums are taken in another order.
    torch.set_num_threads(1)
    try:
        yield from _equivalence()
        yield from _forward()
    finally:
        torch.set_num_threads(threads)
    yield from known_answer()
    yield from _limits()


def _vocabulary() -> PartialVocabulary:
    import numpy as np

    rng = np.random.Generator(np.random.Philox(key=9))
    chosen = rng.choice(np.arange(1, _ROWS), size=_USED - 1, replace=False)
    return PartialVocabulary.of_ids([chosen], _ROWS, [0])


def _model() -> Any:
    return _bert(_ROWS, _WIDTH, 0)


def _bert(rows: int, width: int, padding: int | None) -> Any:
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    return BertForSequenceClassification(
        BertConfig(
            vocab_size=rows,
            hidden_size=width,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=2 * width,
            max_position_embeddings=32,
            pad_token_id=padding,
        )
    )


def _train(pema: bool, *, weight_decay: float = 0.0, clip: bool = True) -> _Run:
    import numpy as np
    import torch

    model, vocabulary = _model(), _vocabulary()
    original = model.get_input_embeddings().weight.detach().clone()
    if pema:
        adapt_embedding(model, vocabulary)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=weight_decay)
    rng = np.random.Generator(np.random.Philox(key=10))
    losses = []
    for step in range(_STEPS):
        ids, labels = rng.choice(vocabulary.selected, size=(8, 16)), torch.from_numpy(rng.integers(0, 2, size=8))
        torch.manual_seed(step)
        shown = vocabulary.renumber(ids) if pema else ids
        loss = model(input_ids=torch.from_numpy(shown), labels=labels).loss
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    if pema:
        restore_embedding(model, vocabulary, original)
    return _Run(losses, model.state_dict(), original)


def _same(first: list[Any], second: list[Any]) -> bool:
    import torch

    return all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


def _equivalence() -> Iterator[AuditRow]:
    import torch

    setting = f"tiny BERT, |V| = {_ROWS:,}, {_USED} used, {_STEPS} AdamW steps, dropout 0.1, one thread"
    for letter, clip in (("a", True), ("b", False)):
        whole, partial = _train(False, clip=clip), _train(True, clip=clip)
        equal = whole.losses == partial.losses and _same(whole.rest(), partial.rest())
        equal = equal and torch.equal(whole.embedding, partial.embedding)
        yield judge(
            f"5.9{letter}",
            f"Weight decay 0, {'with' if clip else 'without'} clipping: losses and restored weights",
            "equal bit by bit",
            "equal bit by bit" if equal else "different",
            equal,
            setting,
        )
    whole, partial = _train(False, weight_decay=0.01), _train(True, weight_decay=0.01)
    used = _vocabulary().selected
    unused = _vocabulary().token_map < 0
    shared = whole.losses == partial.losses and _same(whole.rest(), partial.rest())
    shared = shared and torch.equal(whole.embedding[used], partial.embedding[used])
    yield judge(
        "5.9c",
        "Weight decay 0.01: losses, other weights and rows of used tokens",
        "equal bit by bit",
        "equal bit by bit" if shared else "different",
        shared,
        setting,
    )
    kept = torch.equal(partial.embedding[unused], partial.original[unused])
    moved = bool((whole.embedding[unused] != whole.original[unused]).all(dim=1).all())
    yield judge(
        "5.9d",
        "Section 4: unused embeddings are not updated",
        "not updated",
        "with weight decay they shrink in ordinary training, and stay as they were with PEMA"
        if kept and moved
        else "otherwise",
        not moved,
        "true of gradients, and of the rows where there is no weight decay; the paper prints none",
    )


def _forward() -> Iterator[AuditRow]:
    import numpy as np
    import torch

    model, vocabulary = _model().eval(), _vocabulary()
    ids = np.random.Generator(np.random.Philox(key=11)).choice(vocabulary.selected, size=(4, 16))
    original = model.get_input_embeddings().weight.detach().clone()
    with torch.no_grad():
        before = model(torch.from_numpy(ids)).logits
        adapt_embedding(model, vocabulary)
        during = model(torch.from_numpy(vocabulary.renumber(ids))).logits
        restore_embedding(model, vocabulary, original)
        after = model(torch.from_numpy(ids)).logits
    held = {
        "logits of the adapted model": torch.equal(before, during),
        "logits after restoring": torch.equal(before, after),
        "restore(adapt(E)) = E": torch.equal(model.get_input_embeddings().weight, original),
        "map of the selected ids": bool((vocabulary.token_map[vocabulary.selected] == np.arange(_USED)).all()),
        "ids there and back": bool((vocabulary.selected[vocabulary.renumber(ids)] == ids).all()),
        "padding keeps its id": int(vocabulary.token_map[0]) == 0,
    }
    broken = [name for name, holds in held.items() if not holds]
    yield judge(
        "5.10",
        "Forward invariants",
        f"{len(held)} hold",
        f"{len(held) - len(broken)} hold",
        not broken,
        ", ".join(broken or held),
    )


def known_answer(selected: Sequence[int] = (3, 1), start: float = 1.0) -> Iterator[AuditRow]:
    """Check 5.11: a BERT whose embedding has the rows start .. start + 3, adapted, saved, restored and loaded."""
    import numpy as np
    import torch

    def rows(*values: float) -> Any:
        return torch.tensor(values)[:, None].expand(len(values), 4).clone()

    def shown(matrix: Any) -> str:
        return str(matrix[:, 0].tolist() if (matrix == matrix[:, :1]).all() else matrix.tolist())

    note = "the released tests"
    vocabulary, original = PartialVocabulary(np.array(selected), 4), rows(*(start + row for row in range(4)))
    model = _bert(4, 4, None)
    embedding = model.get_input_embeddings()
    embedding.weight.data.copy_(original)
    adapt_embedding(model, vocabulary)
    found = shown(embedding.weight)
    yield check("5.11a", "Rows 1 to 4, selected 3 and 1: the partial matrix", "[4.0, 2.0]", found, note)
    take_off = keep_states_whole(model, vocabulary, lambda: original)
    embedding.weight.data.copy_(rows(5.0, 6.0))
    state = model.state_dict()
    name = next(name for name in state if "word_embeddings" in name)
    merged = "[1.0, 6.0, 3.0, 5.0]"
    yield check("5.11b", "Its rows set to 5 and 6: the matrix that is saved", merged, shown(state[name]), note)
    model.load_state_dict({**state, name: rows(*(start + 4 + row for row in range(4)))})
    found = shown(embedding.weight)
    yield check("5.11c", "A whole matrix of rows 5 to 8 loaded: the partial matrix", "[8.0, 6.0]", found, note)
    take_off()
    embedding.weight.data.copy_(rows(5.0, 6.0))
    restore_embedding(model, vocabulary, original)
    yield check("5.11d", "Its rows set to 5 and 6, and restored", merged, shown(embedding.weight), note)


def _limits() -> Iterator[AuditRow]:
    import numpy as np

    rng = np.random.Generator(np.random.Philox(key=12))
    sets = [rng.integers(0, 200, size=60) for _ in range(4)]
    sizes = [len(PartialVocabulary.of_ids(sets[:count], 300).selected) for count in range(1, 5)]
    singles = [len(PartialVocabulary.of_ids([ids], 300).selected) for ids in sets]
    everything = PartialVocabulary.of_ids([np.arange(300)], 300)
    held = {
        "all tokens used: nothing is saved, ids stay": bool((everything.token_map == np.arange(300)).all()),
        "one token besides the special one": len(PartialVocabulary.of_ids([np.array([7])], 300, [0]).selected) == 2,
        "order does not matter": bool(
            (PartialVocabulary.of_ids(sets[::-1], 300).selected == PartialVocabulary.of_ids(sets, 300).selected).all()
        ),
        "more splits use no fewer tokens": sizes == sorted(sizes),
        "a union has between the largest and the sum": max(singles) <= sizes[-1] <= sum(singles),
    }
    broken = [name for name, holds in held.items() if not holds]
    yield judge(
        "5.12", "Limits", f"{len(held)} hold", f"{len(held) - len(broken)} hold", not broken, "; ".join(broken or held)
    )
