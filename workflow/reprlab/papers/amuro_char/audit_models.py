"""Parameter counts; what the loss covers and what TokenProb is, on a random OLMo; the bootstrap and ROUGE-L."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from reprlab.evaluation.completion_scores import bootstrap_mean
from reprlab.evaluation.metrics import rouge_l
from reprlab.inference.causal_batches import padded_batches
from reprlab.inference.causal_generation import greedy
from reprlab.inference.label_scores import label_scores
from reprlab.models.build import build_from_config
from reprlab.models.random_model import random_model
from reprlab.objectives.objective import IGNORED
from reprlab.reporting.audit import Found, found
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import held
from reprlab.text.encoding import piece_ids
from reprlab.text.small_tokenizers import bytes_tokenizer
from reprlab.training.completion_texts import encode_completions

_SIZE, _PAD, _END = 260, 0, 1
_ROWS = [
    {"prompt": "Premise: a. Label:", "completion": "entailment", "turns": None},
    {"prompt": "Text: b\n ### Label:", "completion": "no", "turns": None},
]
_CANDIDATES = [[7, 9], [31], [44, 45]]
_CLOSE, _SHIFT = 1e-5, 12.5
_N, _SHARE, _RESAMPLES = 2_000, 0.3, 3_000


def parameters_and_embedding(given: Given) -> Iterator[Found]:
    """5.3: all parameters (tied ones once) and those of the input embedding, on the meta device."""
    for row in given.tables["models"].itertuples(index=False):
        with torch.device("meta"):
            model: Any = build_from_config(given.entry(row.model))
        counts = sum(one.numel() for one in model.parameters()), model.get_input_embeddings().weight.numel()
        printed = f"{int(row.parameters):,} {int(row.embedding):,}"
        yield found("{:,} {:,}".format(*counts), model=row.model, printed=printed, source=row.source)


def _decoder() -> Any:
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "max_position_embeddings": 64}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2}
    return random_model("olmo", vocab_size=_SIZE, eos_token_id=_END, pad_token_id=_PAD, **sizes, **heads)


def masking(given: Given) -> Found:
    """5.7: labels outside the completion."""
    tokenizer = bytes_tokenizer()
    texts = encode_completions(tokenizer, _ROWS, 64)
    wanted = [len(ids) + 1 for ids in piece_ids(tokenizer, [f" {row['completion']}" for row in _ROWS])]
    targets = [sum(label != IGNORED for label in labels) for labels in texts.labels]
    batch = texts.batch([0, 1], _PAD)
    ids, labels = batch["input_ids"], batch["labels"]
    with torch.no_grad():
        output = _decoder()(input_ids=ids, labels=labels)
    chances = output.logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]
    by_hand = float(-chances[labels[:, 1:] != IGNORED].mean())
    properties = {
        "as many targets as tokens of the completion with its end token": targets == wanted,
        "the loss is the mean over them": abs(by_hand - float(output.loss)) < _CLOSE,
    }
    return held(properties)


def token_probabilities(given: Given) -> Found:
    model, generator = _decoder(), torch.Generator().manual_seed(0)
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
    properties = {
        "left-padded batches give the scores of single prompts": abs(together - alone).max() < _CLOSE,
        "the answer is the argmax of all logits over the candidates": together.argmax(1).tolist() == restricted,
        "a constant added to all logits changes no answer": shifted.argmax(1).tolist() == restricted,
        "where the free answer is a candidate, it is the answer": anything == free,
    }
    return held(properties)


def scorers(given: Given) -> Iterator[Any]:
    """5.9, 5.10: the bootstrap of equal scores and of an accuracy; ROUGE-L of equal, disjoint and empty texts."""
    equal, ones = bootstrap_mean([0.5] * 50, _RESAMPLES, 0), int(_N * _SHARE)
    yield f"{equal['std']:g} {equal['performance_boot'] - equal['value']:g}"
    error = bootstrap_mean([1.0] * ones + [0.0] * (_N - ones), _RESAMPLES, 0)["std"]
    known = (_SHARE * (1 - _SHARE) / _N) ** 0.5
    yield found(error, abs(error / known - 1) < 0.06, known=known, share=_SHARE, n=_N)
    yield " ".join(f"{rouge_l([['a cat sat']], [text])[0]:g}" for text in ("a cat sat", "dogs run fast", ""))
