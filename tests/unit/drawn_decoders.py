"""Tiny decoders of four architectures with drawn weights, biases and norms, and drawn texts for them."""

import numpy as np
import torch
from reprlab.models.build import architecture_classes
from reprlab.sentences.texts import EncodedTexts
from reprlab.training.finetuning_encoding import Ragged

SIZES = {
    "llama": {"hidden_size": 16, "num_attention_heads": 4, "num_hidden_layers": 4, "intermediate_size": 24},
    "qwen2": {
        "hidden_size": 16, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 4,
        "intermediate_size": 24,
    },
    "opt": {
        "hidden_size": 16, "num_attention_heads": 4, "num_hidden_layers": 4, "ffn_dim": 24, "word_embed_proj_dim": 16,
    },
    "gpt2": {"n_embd": 16, "n_head": 4, "n_layer": 4, "n_positions": 64},
}  # fmt: skip


def decoder(name="llama", layers=4, **own):
    torch.manual_seed(3)
    config_class, model_class = architecture_classes(name)
    sizes = {**SIZES[name], "n_layer" if name == "gpt2" else "num_hidden_layers": layers}
    model = model_class(config_class(vocab_size=32, **sizes, **own)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.3)
    return model


def texts(count):
    """Texts of 2 to 11 ids of the vocabulary's 32."""
    random = np.random.default_rng(0)
    ids = [random.integers(3, 32, length).tolist() for length in random.integers(2, 12, count)]
    return EncodedTexts(Ragged.of(ids), np.zeros(count, dtype=np.int64), 0)
