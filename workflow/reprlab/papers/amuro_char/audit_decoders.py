"""Checks 5.7 and 5.8: what the loss covers, and what TokenProb is, on a random model of OLMo's architecture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reprlab.config.models import ModelEntry, ScratchOrigin
from reprlab.inference.causal_batches import padded_batches
from reprlab.inference.causal_generation import greedy
from reprlab.inference.label_scores import label_scores
from reprlab.models.build import build_from_config
from reprlab.objectives.objective import IGNORED
from reprlab.reporting.audit import AuditRow, judge
from reprlab.training.completion_texts import encode_completions

_SIZE = 260
_PAD, _END = 0, 1
_SMALL = {
    "vocab_size": _SIZE,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "eos_token_id": _END,
    "pad_token_id": _PAD,
}
_ROWS = [
    {"prompt": "Premise: a. Label:", "completion": "entailment"},
    {"prompt": "Text: b\n ### Label:", "completion": "no"},
]
_CANDIDATES = [[7, 9], [31], [44, 45]]
_CLOSE = 1e-5
_SHIFT = 12.5


def decoder_checks() -> Iterator[AuditRow]:
    """Checks 5.7 and 5.8."""
    entry = ModelEntry(
        architecture="olmo",
        config=dict(_SMALL),
        source="the audit's own",
        tie_output=True,
        origin=ScratchOrigin(kind="scratch"),
    )
    model = build_from_config(entry, seed=0).eval()
    yield _masking(model)
    yield _label_scores(model)


def _masking(model: Any) -> AuditRow:
    import torch

    tokenizer = _bytes_tokenizer()
    texts = encode_completions(tokenizer, [{**row, "turns": None} for row in _ROWS], 64)
    wanted = [len(tokenizer(f" {row['completion']}")["input_ids"]) + 1 for row in _ROWS]
    targets = [sum(label != IGNORED for label in labels) for labels in texts.labels]
    batch = texts.batch([0, 1], _PAD)
    ids, labels = batch["input_ids"], batch["labels"]
    with torch.no_grad():
        output = model(input_ids=ids, labels=labels)
        chances = output.logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]
    by_hand = float(-chances[labels[:, 1:] != IGNORED].mean())
    held = {
        "as many targets as tokens of the completion with its end token": targets == wanted,
        "the loss is the mean over them": abs(by_hand - float(output.loss)) < _CLOSE,
    }
    return _held("5.7", "Labels outside the completion carry no loss", held)


def _label_scores(model: Any) -> AuditRow:
    import torch

    generator = torch.Generator().manual_seed(0)
    prompts = [torch.randint(2, _SIZE, (length,), generator=generator).tolist() for length in (3, 11, 6, 19, 8)]
    rows = len(prompts)

    def moved(**inputs: Any) -> Any:
        output = model(**inputs)
        output.logits = output.logits + _SHIFT
        return output

    def scored(candidates: list[list[int]], size: int, scorer: Any = model) -> Any:
        return label_scores(scorer, padded_batches(prompts, size, _PAD, "cpu"), candidates, rows)

    together, alone, shifted = scored(_CANDIDATES, 3), scored(_CANDIDATES, 1), scored(_CANDIDATES, 3, moved)
    with torch.no_grad():
        logits = [model(input_ids=torch.tensor([prompt])).logits[0, -1] for prompt in prompts]
    flat = [index for tokens in _CANDIDATES for index in tokens]
    owner = [place for place, tokens in enumerate(_CANDIDATES) for _ in tokens]
    restricted = [owner[int(one[flat].argmax())] for one in logits]
    free = [ids[0] if ids else _END for ids in greedy(model, padded_batches(prompts, 3, _PAD, "cpu"), 1, rows, _END)]
    anything = scored([[index] for index in range(_SIZE)], 3).argmax(1).tolist()
    held = {
        "left-padded batches give the scores of single prompts": bool(abs(together - alone).max() < _CLOSE),
        "the answer is the argmax of all logits over the candidates": together.argmax(1).tolist() == restricted,
        "a constant added to all logits changes no answer": shifted.argmax(1).tolist() == restricted,
        "where the free answer is a candidate, it is the answer": anything == free,
    }
    return _held("5.8", "TokenProb on a random decoder", held)


def _bytes_tokenizer() -> Any:
    """One token for each byte, so that every text splits at every boundary."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {"<pad>": _PAD, "<end>": _END, **{byte: place + 2 for place, byte in enumerate(alphabet)}}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", eos_token="<end>")  # noqa: S106


def _held(id: str, what: str, held: dict[str, bool]) -> AuditRow:
    broken = [name for name, holds in held.items() if not holds]
    return judge(
        id, what, f"{len(held)} hold", f"{len(held) - len(broken)} hold", not broken, "; ".join(broken or held)
    )
