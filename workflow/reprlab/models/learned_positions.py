"""Learned positions: the width of the distribution that they are drawn from, and texts that are longer than they reach.

Transformers draws them like words, so that half of what a layer reads of a token is where it is. A model of two layers
then takes many times as long to find that two words are the same one.
"""

from __future__ import annotations

from typing import Any

from reprlab.runtime.errors import ReprlabError

# The last part of a table's name in transformers: BERT and ELECTRA, OPT and BART, GPT-2.
_TABLES = ("position_embeddings", "embed_positions", "wpe")


def scale_positions(model: Any, factor: float) -> None:
    """Multiply the learned positions of a model by `factor`, in place.

    Raises:
        ReprlabError: the model has none.
    """
    import torch

    tables = _tables(model)
    if not tables:
        raise ReprlabError(
            f"models.yaml: origin.position_scale: {type(model).__name__} has no learned positions; leave it out"
        )
    with torch.no_grad():
        for table in tables:
            table.weight.mul_(factor)


def refuse_longer_texts(model: Any) -> None:
    """Have a model say which of its texts is longer than its learned positions, in place of an IndexError."""
    # OPT and BART begin at the third row, RoBERTa and MPNet behind that of padding.
    sizes = [
        table.num_embeddings - (getattr(table, "offset", 0) if table.padding_idx is None else table.padding_idx + 1)
        for table in _tables(model)
    ]
    if not sizes:
        return

    def within(_: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        given = [named.get(name) for name in ("input_ids", "inputs_embeds", "decoder_input_ids")]
        for one in (*args[:1], *given):
            if hasattr(one, "shape") and one.shape[1] > min(sizes):
                raise ReprlabError(
                    f"a text of {one.shape[1]} tokens (with all that stands around it) is longer than the model's "
                    f"{min(sizes)} learned positions; set a smaller length, or name a model that has more"
                )

    # OPT's language model calls the decoder inside its base.
    for one in (model.base_model, *(getattr(model.base_model, name, None) for name in ("encoder", "decoder"))):
        if one is not None:
            one.register_forward_pre_hook(within, with_kwargs=True)


def _tables(model: Any) -> list[Any]:
    import torch

    return [
        module
        for name, module in model.named_modules()
        if name.rpartition(".")[2] in _TABLES and isinstance(module, torch.nn.Embedding)
    ]
