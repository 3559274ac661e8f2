"""Tiny language models of five families and a tokenizer of words for the tests of rerankers."""

from types import MappingProxyType
from typing import Any

import torch
from reprlab.retrieval.reranker import reranker

SMALL = {"vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2}
POOLED = {"opt": "last", "mamba": "last", "mamba2": "last", "bert": "first", "bart": "first"}
"""Token whose state a family's reranker scores."""
TEMPLATES = {"last": "document_first", "first": "query_first"}


def tiny(architecture: str) -> Any:
    """A random model: 2 layers, width 16, 60 tokens; 64 positions where it has positions."""
    import transformers

    torch.manual_seed(0)
    heads = {"num_attention_heads": 2}
    if architecture == "opt":
        config = transformers.OPTConfig(**SMALL, **heads, ffn_dim=32, word_embed_proj_dim=8, max_position_embeddings=64)
        return transformers.OPTForCausalLM(config)
    if architecture == "mamba":
        return transformers.MambaForCausalLM(transformers.MambaConfig(**SMALL, state_size=4))
    if architecture == "mamba2":
        config = transformers.Mamba2Config(**SMALL, num_heads=4, head_dim=8, state_size=6, n_groups=1)
        return transformers.Mamba2ForCausalLM(config)
    if architecture == "bart":
        sides = {f"{side}_{name}": size for side in ("encoder", "decoder") for name, size in
                 (("layers", 2), ("attention_heads", 2), ("ffn_dim", 32))}  # fmt: skip
        special = {"bos_token_id": 2, "decoder_start_token_id": 3, "eos_token_id": 3, "pad_token_id": 0}
        config = transformers.BartConfig(vocab_size=60, d_model=16, max_position_embeddings=64, **sides, **special)
        return transformers.BartModel(config)
    return transformers.BertModel(
        transformers.BertConfig(**SMALL, **heads, intermediate_size=32, max_position_embeddings=64)
    )


def tiny_reranker(architecture: str) -> Any:
    """A reranker whose head is large, so that scores differ."""
    model = reranker(tiny(architecture), POOLED[architecture], 0.0).eval()
    with torch.no_grad():
        model.head.weight.normal_()
    return model


class Words:
    """A tokenizer of words: ids by first sight from 10."""

    bos_token_id, eos_token_id, sep_token_id, cls_token_id, pad_token_id = None, 1, 3, 2, 0
    unk_token_id, all_special_ids, added_tokens_decoder = None, (0, 1, 2, 3), MappingProxyType({})

    def __init__(self):
        self.known = {}

    def __call__(self, texts, **_):
        if isinstance(texts, str):
            return {"input_ids": []}
        return {
            "input_ids": [[self.known.setdefault(word, 10 + len(self.known)) for word in one.split()] for one in texts]
        }


class EndPads(Words):
    """As Mamba's tokenizer, which has one id, 0, for the end of a text and for padding."""

    eos_token_id = pad_token_id = 0
