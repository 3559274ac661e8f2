"""Width of the distribution that learned positions are drawn from, beside that of words.

Transformers draws both alike, so that half of what a layer reads of a token is where it is. A model of two layers
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

    tables = [
        module
        for name, module in model.named_modules()
        if name.rpartition(".")[2] in _TABLES and isinstance(module, torch.nn.Embedding)
    ]
    if not tables:
        raise ReprlabError(
            f"models.yaml: origin.position_scale: {type(model).__name__} has no learned positions; leave it out"
        )
    with torch.no_grad():
        for table in tables:
            table.weight.mul_(factor)
