"""Traps of prompt tuning (specification of SPT, section 8): OPT's first token, padding, weight decay, dropout."""

import numpy as np
import pytest
import torch
from reprlab.sentences.encoder import build_encoder, embed
from reprlab.sentences.settings import EncoderSettings, TextForm
from reprlab.sentences.soft_prompts import first_vectors, prompted
from reprlab.sentences.texts import encode_texts
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import LlamaConfig, LlamaForCausalLM, OPTConfig, OPTForCausalLM, PreTrainedTokenizerFast

WORDS = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "one": 4, "two": 5, "three": 6}
SHAPE = {"vocab_size": 20, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
NONE = EncoderSettings(method="none", pooling="last")


def reader(first: str, **special: str) -> PreTrainedTokenizerFast:
    """A tokenizer that writes `first` before a text, as OPT's writes its end token."""
    words = Tokenizer(models.WordLevel(WORDS, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(single=f"{first} $A", special_tokens=[(first, WORDS[first])])
    return PreTrainedTokenizerFast(tokenizer_object=words, bos_token=first, eos_token="</s>", **special)


def opt(dropout=0.0):
    torch.manual_seed(0)
    return OPTForCausalLM(
        OPTConfig(**SHAPE, ffn_dim=24, word_embed_proj_dim=16, max_position_embeddings=32, dropout=dropout)
    )


def test_the_last_token_of_opt_is_of_the_text():
    """OPT's first token is its end token, id 2, and its padding is id 1: neither is pooled (trap 9)."""
    texts = encode_texts(reader("</s>", pad_token="<pad>"), ["one two", "three", ""], TextForm())
    batch = texts.batch(np.arange(3))
    assert batch["input_ids"].tolist() == [[2, 4, 5], [1, 2, 6], [1, 1, 2]]
    assert batch["attention_mask"].sum(1).tolist() == [3, 2, 1]
    together = embed(build_encoder(opt(), NONE, 0), texts, batch_size=3)
    for row in range(3):
        alone = embed(build_encoder(opt(), NONE, 0), texts.chosen(np.array([row])), batch_size=1)
        np.testing.assert_allclose(together[row], alone[0], atol=1e-6)


def test_a_tokenizer_without_padding_takes_another_token_that_is_not_seen():
    """LLaMA has no padding: what stands in its place changes no vector (trap 9)."""
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**SHAPE, intermediate_size=24, max_position_embeddings=32))
    texts = [
        encode_texts(reader("<s>", **more), ["one two three", "two"], TextForm())
        for more in ({}, {"pad_token": "<pad>"})
    ]
    assert [one.pad for one in texts] == [2, 1]
    first, second = (embed(build_encoder(model, NONE, 0), one, batch_size=2) for one in texts)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_weight_decay_acts_on_the_vectors_alone(decay):
    """AdamW's decay shrinks the prompt as it does any trained weight, and no other (trap 11)."""
    model = opt()
    encoder = prompted(model, first_vectors(model, 2, "normal", 0), "append", "last", bidirectional=False).train()
    before, base = encoder.prompt.detach().clone(), {name: value.clone() for name, value in model.state_dict().items()}
    trained = [weight for weight in encoder.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=0.1, weight_decay=decay)
    encoder.prompt.grad = torch.zeros_like(encoder.prompt)
    optimizer.step()
    torch.testing.assert_close(encoder.prompt.detach(), before * (1 - 0.1 * decay))
    assert all(torch.equal(value, base[name]) for name, value in model.state_dict().items())


def test_a_frozen_decoder_drops_nothing_while_its_prompt_is_trained():
    """OPT's dropout of 0.1 would act on its states in training mode (trap 11)."""
    model = opt(dropout=0.5)
    encoder = prompted(model, first_vectors(model, 2, "normal", 0), "append", "last", bidirectional=False).train()
    batch = {"input_ids": torch.tensor([[4, 5, 6]]), "attention_mask": torch.ones(1, 3, dtype=torch.long)}
    assert torch.equal(encoder(batch), encoder(batch))
    assert torch.equal(encoder(batch), encoder.eval()(batch))
