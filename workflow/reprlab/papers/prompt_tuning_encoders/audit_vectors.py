"""Checks of the audit on vectors and on a small random decoder."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from safetensors.torch import load_file

from reprlab.models.build import build_from_config
from reprlab.models.pooling import pool
from reprlab.objectives.decoder_attention import attention_inputs
from reprlab.reporting.audit_given import Given
from reprlab.sentences.contrastive import contrastive_loss
from reprlab.sentences.early_exit import headless
from reprlab.sentences.encoder import build_encoder, save_encoder, trained_weights
from reprlab.sentences.settings import EncoderSettings
from reprlab.sentences.soft_prompts import first_vectors, prefixed, prompted
from reprlab.sentences.task_scores import spearman

_MODEL = "soft_prompt_nano"
_LENGTHS = (7, 4, 1)
_POSITIONS: tuple[Literal["append", "prepend"], ...] = ("append", "prepend")


def known_losses(given: Given) -> Iterator[float]:
    """5.3: the loss of known vectors, in float64 where it is small."""
    for count in (32, 64):
        same = torch.ones(count, 4)
        yield contrastive_loss(same, same, same, 0.05)[0].item()
    axes = torch.eye(64, dtype=torch.float64)
    anchors, negatives = axes[:32], axes[32:]
    yield contrastive_loss(anchors, anchors, negatives, 0.05)[0].item()
    yield contrastive_loss(anchors, anchors, anchors, 0.05)[0].item()


def same_alone_and_padded(given: Given) -> Iterator[float]:
    """5.4, also of a prompt before the text: padding between the two must take no positions."""
    for position in _POSITIONS:
        encoder, batch = _prompted(given, 3, position=position), _batch()
        with torch.no_grad():
            together = encoder(batch)
            alone = [encoder({name: part[row : row + 1, -n:] for name, part in batch.items()}) for row, n in _rows()]
        yield _gap(together, torch.cat(alone))


def frozen(given: Given) -> Iterator[int]:
    """5.5: what three updates leave as it was, and what is then saved."""
    settings = EncoderSettings(method="prompt", pooling="last", vectors=3, start="normal")
    model = _fresh(given)
    encoder = build_encoder(model, settings, 0).train()
    base = {name: value.clone() for name, value in model.state_dict().items()}
    first = {name: value.detach().clone() for name, value in trained_weights(encoder).items()}
    optimizer = torch.optim.AdamW(trained_weights(encoder).values(), lr=0.1, weight_decay=0.01)
    for _ in range(3):
        vectors = encoder(_batch())
        contrastive_loss(vectors, vectors.roll(1, 0), None, 0.05)[0].backward()
        optimizer.step()
        optimizer.zero_grad()
    yield sum(not torch.equal(value, base[name]) for name, value in model.state_dict().items())
    with tempfile.TemporaryDirectory() as place:
        save_encoder(encoder, settings, Path(place))
        saved = load_file(Path(place) / "trained.safetensors")
    # Of those that changed: every one is to.
    yield sum(int((value != first[name]).sum()) for name, value in saved.items())
    yield sum(value.numel() for value in saved.values())


def one_vector(given: Given) -> Iterator[float]:
    """5.6, for each position."""
    for position in _POSITIONS:
        with torch.no_grad():
            ways = [_prompted(given, 1, pooling=way, position=position)(_batch()) for way in ("first", "last", "mean")]
        yield max(_gap(ways[0], other) for other in ways[1:])


def causality(given: Given) -> Iterator[Any]:
    """5.7: only with bidirectional attention does the text see the suffix."""
    batch = _batch()
    kept = batch["attention_mask"].bool()
    for bidirectional in (False, True):
        encoder = _prompted(given, 2, bidirectional=bidirectional)
        with torch.no_grad():
            plain = _states(given, batch, bidirectional=bidirectional)
            states, _, _ = encoder.states(batch["input_ids"], batch["attention_mask"])
        gap = _gap(states[:, : kept.shape[1]][kept], plain[kept])
        yield gap > 1e-3 if bidirectional else gap


def literal_tokens(given: Given) -> float:
    batch, words = _batch(), torch.tensor([9, 11, 13])
    vectors = headless(_decoder(given)).get_input_embeddings()(words).detach()
    behind = {"input_ids": words, "attention_mask": torch.ones_like(words)}
    longer = {name: torch.cat([batch[name], part.expand(len(_LENGTHS), -1)], 1) for name, part in behind.items()}
    with torch.no_grad():
        literal = pool(_states(given, longer), longer["attention_mask"], "last")
        return _gap(prompted(_decoder(given), vectors, "append", "last", bidirectional=False)(batch), literal)


def blind_prompt(given: Given) -> float:
    """5.9: under causal attention the first position sees itself alone, whatever text follows."""
    decoder = headless(_decoder(given))
    ids = _batch()["input_ids"][:1]
    texts = [decoder.get_input_embeddings()(ids), decoder.get_input_embeddings()(ids.flip(1))]
    vector = first_vectors(_decoder(given), 1, "normal", 0)[None]
    with torch.no_grad():
        one, other = (decoder(inputs_embeds=torch.cat([vector, text], 1)).last_hidden_state[:, 0] for text in texts)
    return float((one - other).abs().max())


def no_prefix(given: Given) -> float:
    """5.10: SPT v2 without a key or a value is the decoder's last token."""
    plain = EncoderSettings(method="none", pooling="last")
    with torch.no_grad():
        one = build_encoder(_fresh(given), plain, 0).eval()(_batch())
        other = prefixed(_fresh(given), 0, "last", 0).eval()(_batch())
    return float((one - other).abs().max())


def fresh_adapters(given: Given) -> float:
    targets = {"rank": 2, "alpha": 4, "targets": ["q_proj", "down_proj"]}
    made: list[dict[str, Any]] = [{"method": "none"}, {"method": "lora", "adapter": targets}]
    with torch.no_grad():
        one, other = (
            build_encoder(_fresh(given), EncoderSettings.model_validate({**settings, "pooling": "last"}), 0).eval()(
                _batch()
            )
            for settings in made
        )
    return float((one - other).abs().max())


def pooled_correlation(given: Given) -> Iterator[Any]:
    """5.11: two subsets that are each ranked perfectly and offset from one another."""
    gold = np.array([1.0, 2, 3, 1, 2, 3])
    scores = np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    yield (spearman(scores[:3], gold[:3]) + spearman(scores[3:], gold[3:])) / 2
    yield spearman(scores, gold) < 1


@functools.cache
def _shared(entry: str) -> Any:
    from reprlab.registry.models import ModelEntry

    return build_from_config(ModelEntry.model_validate_json(entry), 64, seed=0).eval()


def _decoder(given: Given) -> Any:
    return _shared(given.entry(_MODEL).model_dump_json())


def _fresh(given: Given) -> Any:
    return build_from_config(given.entry(_MODEL), 64, seed=0).eval()


def _batch() -> dict[str, torch.Tensor]:
    """Three texts, padded on the left."""
    width = max(_LENGTHS)
    ids = torch.randint(5, 64, (len(_LENGTHS), width), generator=torch.Generator().manual_seed(0))
    attention = (torch.arange(width) >= width - torch.tensor(_LENGTHS)[:, None]).long()
    return {"input_ids": ids * attention, "attention_mask": attention, "text_mask": attention}


def _rows() -> list[tuple[int, int]]:
    return list(enumerate(_LENGTHS))


def _prompted(
    given: Given, count: int, *, pooling: Any = "last", position: Any = "append", bidirectional: bool = False
) -> Any:
    """A prompted decoder; a prompt before the text sees it by bidirectional attention alone."""
    model, seen = _decoder(given), bidirectional or position == "prepend"
    return prompted(model, first_vectors(model, count, "normal", 0), position, pooling, bidirectional=seen)


def _states(given: Given, batch: dict[str, torch.Tensor], *, bidirectional: bool = False) -> torch.Tensor:
    inputs = attention_inputs(batch["attention_mask"], torch.float32, bidirectional=bidirectional)
    found: torch.Tensor = headless(_decoder(given))(input_ids=batch["input_ids"], **inputs).last_hidden_state
    return found


def _gap(one: torch.Tensor, other: torch.Tensor) -> float:
    """Largest difference of two sets of vectors [n, d], each of length 1."""
    unit = torch.nn.functional.normalize
    return float((unit(one, dim=-1) - unit(other, dim=-1)).abs().max())
