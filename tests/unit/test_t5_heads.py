"""The encoder of a T5 with a head."""

import pytest
import torch
from finetune_fixtures import make_t5, make_tokenizer
from reprlab.models.t5_heads import T5EncoderClassifier
from reprlab.text.tokenizer_folder import open_tokenizer
from reprlab.training.finetuning_heads import EncoderHead
from reprlab.training.finetuning_settings import TaskSettings
from transformers import T5Config, T5ForSequenceClassification


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


@pytest.mark.parametrize(
    ("kind", "metric", "family"),
    [
        ("classification", "accuracy", T5EncoderClassifier),
        # Whose score is read off the decoder's last token, as transformers has it.
        ("regression", "pearson", T5ForSequenceClassification),
    ],
)
def test_classes_are_read_off_the_encoder_alone(kind, metric, family, tmp_path):
    make_t5(tmp_path / "t5", make_tokenizer(tmp_path / "tokenizer"))
    task = TaskSettings(kind=kind, metrics=[metric], input_length=8)
    labels = ("0", "1") if kind == "classification" else ()
    head = EncoderHead(task, labels, open_tokenizer(tmp_path / "tokenizer"), tmp_path / "tokenizer")
    assert type(head.load(tmp_path / "t5", 0.0)) is family
