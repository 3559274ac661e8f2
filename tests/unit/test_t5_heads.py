"""The encoder of a T5 with a head."""

import torch
from reprlab.models.t5_heads import T5EncoderClassifier
from transformers import T5Config


def test_the_mean_is_over_tokens_and_padding_says_nothing():
    torch.manual_seed(0)
    config = T5Config(vocab_size=11, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2, num_labels=3)
    model = T5EncoderClassifier(config).eval()
    ids = torch.tensor([[3, 4, 1]])
    padded = torch.tensor([[3, 4, 1, 0, 0]])
    with torch.no_grad():
        alone = model(ids, torch.ones_like(ids)).logits
        beside = model(padded, (padded != 0).long()).logits
        states = model.transformer(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        by_hand = model.classifier(states.mean(1))
    assert alone.shape == (1, 3)
    torch.testing.assert_close(alone, beside)
    torch.testing.assert_close(alone, by_hand)


def test_the_checkpoint_of_an_encoder_decoder_gives_its_encoder(tmp_path):
    from transformers import T5ForConditionalGeneration

    config = T5Config(vocab_size=11, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    whole = T5ForConditionalGeneration(config)
    whole.save_pretrained(tmp_path)
    model = T5EncoderClassifier.from_pretrained(tmp_path, num_labels=2)
    torch.testing.assert_close(model.transformer.encoder.block[0].layer[0].SelfAttention.q.weight,
                               whole.encoder.block[0].layer[0].SelfAttention.q.weight)  # fmt: skip
    assert 0 < model.classifier.out_proj.weight.std() < 1
