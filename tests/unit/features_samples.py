"""A tiny one-layer language model, tokens for it, and activations with a planted dictionary."""

from pathlib import Path
from typing import Any

import numpy as np

VOCABULARY, HIDDEN, INNER = 40, 16, 24


def tiny_mistral(seed: int = 0, layers: int = 1) -> Any:
    import torch
    from transformers import MistralConfig, MistralForCausalLM

    torch.manual_seed(seed)
    config = MistralConfig(
        vocab_size=VOCABULARY, hidden_size=HIDDEN, intermediate_size=INNER, num_hidden_layers=layers,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=64, tie_word_embeddings=False,
    )  # fmt: skip
    return MistralForCausalLM(config).eval()


def token_file(path: Path, rows: int = 60, length: int = 20, seed: int = 0) -> Path:
    """Rows that end with token 1, three quarters of them for training and the rest for validation."""
    import pyarrow
    import pyarrow.parquet

    random = np.random.default_rng(seed)
    ids = [[*random.integers(2, VOCABULARY, length - 1).tolist(), 1] for _ in range(rows)]
    columns = {
        "split": ["validation" if row % 4 == 0 else "train" for row in range(rows)],
        "input_ids": pyarrow.array(ids, pyarrow.list_(pyarrow.int32())),
        "token_types": pyarrow.array([[1] * length] * rows, pyarrow.list_(pyarrow.int16())),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def planted(atoms: int, width: int, tokens: int, active: int, seed: int = 0) -> tuple[Any, Any]:
    """Unit-norm atoms [width, atoms], and activations [tokens, width] that are sums of `active` of them on average."""
    import torch

    random = torch.Generator().manual_seed(seed)
    dictionary = torch.randn(width, atoms, generator=random)
    dictionary = dictionary / dictionary.norm(dim=0)
    on = torch.rand(tokens, atoms, generator=random) < active / atoms
    weights = on * (0.5 + torch.rand(tokens, atoms, generator=random))
    return dictionary, weights @ dictionary.T
