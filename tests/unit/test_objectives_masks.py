"""DEPTH's attention masks in the model (spec 2.4, 5.7, 8)."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.objectives import depth, t5
from reprlab.objectives.attention_masks import AttentionMasks, finetuning_masks, plain_masks, pretraining_masks
from reprlab.objectives.masked_seq2seq import encode, seq2seq_logits
from reprlab.text.vocabulary import Vocabulary
from transformers import T5Config, T5ForConditionalGeneration

VOCABULARY = Vocabulary(50, 10, 4)
SENT, EOSEN = VOCABULARY.first_sentence, VOCABULARY.eosen_id
ENCODER = torch.tensor(
    [
        [EOSEN, SENT, 5, 6, EOSEN, SENT + 2, 7, 50, 8, EOSEN, SENT + 1, 9, EOSEN, 1, 0, 0],
        [EOSEN, SENT + 3, 5, EOSEN, SENT, 8, 8, 8, EOSEN, 1, 0, 0, 0, 0, 0, 0],
    ]
)
TYPES = torch.tensor(
    [[1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 0, 0], [1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0]]
)
DECODER = torch.tensor(
    [
        [0, EOSEN, SENT, EOSEN, SENT + 2, 50, 11, EOSEN, SENT + 1, EOSEN],
        [0, EOSEN, SENT + 3, EOSEN, SENT, 51, 5, 6, EOSEN, 0],
    ]
)


@pytest.fixture(scope="module", params=["eager", "sdpa"])
def model(request) -> T5ForConditionalGeneration:
    return tiny_t5(request.param)


def tiny_t5(attention: str, projection: str = "gated-gelu", **options) -> T5ForConditionalGeneration:
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=VOCABULARY.padded_size, d_model=24, d_kv=8, d_ff=32, num_layers=2, num_heads=3,
        feed_forward_proj=projection, dropout_rate=0.0, decoder_start_token_id=0, attn_implementation=attention,
        **options,
    )  # fmt: skip
    built = T5ForConditionalGeneration(config).eval()
    # Larger than the usual initialisation, so that a leak through a mask cannot hide below rounding.
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    return built


def allowed(mask: torch.Tensor) -> np.ndarray:
    assert mask.is_floating_point()
    assert set(mask.unique().tolist()) <= {0.0, torch.finfo(mask.dtype).min}
    return (mask == 0).numpy()


def test_padding_is_hidden_unless_the_settings_say_otherwise():
    for shown in ({}, {"mask_padding": True}):
        assert not allowed(pretraining(**shown).encoder)[1, :, :, 10:].any()
    assert allowed(pretraining(mask_padding=False).encoder)[1, :, :, 10:].any()


def pretraining(encoder=ENCODER, types=TYPES, decoder=DECODER, **switches) -> AttentionMasks:
    return pretraining_masks(encoder, types, decoder, VOCABULARY, dtype=torch.float32, **switches)


def table(encoder, types, decoder, rows: str, keys: str, padding: bool) -> list[np.ndarray]:
    """The table of spec 2.4, cell by cell."""

    def member(token: int, members: str) -> bool:
        return SENT <= token < EOSEN or (members == "sent_eosen" and token == EOSEN)

    masks = []
    for e, s, d in zip(encoder.tolist(), types.tolist(), decoder.tolist(), strict=True):
        shown = [token != 0 or not padding for token in e]
        masks.append(
            [
                [
                    [(not member(row, rows) or s[i] == s[j]) and shown[j] for j in range(len(e))]
                    for i, row in enumerate(e)
                ],
                [
                    [j <= i and (not member(row, rows) or member(d[j], keys) or i == j) for j in range(len(d))]
                    for i, row in enumerate(d)
                ],
                [[(not member(row, rows) or member(e[j], keys)) and shown[j] for j in range(len(e))] for row in d],
            ]
        )
    return [np.array([example[part] for example in masks])[:, None] for part in range(3)]


@pytest.mark.parametrize("rows", ["sent", "sent_eosen"])
@pytest.mark.parametrize("keys", ["sent", "sent_eosen"])
@pytest.mark.parametrize("padding", [True, False])
def test_masks_are_the_table(rows: str, keys: str, padding: bool) -> None:
    masks = pretraining(mask_rows=rows, mask_keys=keys, mask_padding=padding)
    for mask, wanted in zip(masks, table(ENCODER, TYPES, DECODER, rows, keys, padding), strict=True):
        assert (allowed(mask) == wanted).all()


def test_counts_of_ones() -> None:
    encoder, decoder, cross = (allowed(mask)[:, 0] for mask in pretraining())
    for example in range(2):
        for column in torch.nonzero(VOCABULARY.is_sentence(ENCODER[example])).flatten().tolist():
            assert encoder[example, column].sum() == (TYPES[example] == TYPES[example, column]).sum()
        assert decoder[example].diagonal().all()
        assert not np.triu(decoder[example], 1).any()
    # The start token, whose id is that of padding, is seen by every unrestricted row.
    assert decoder[:, 1, 0].all()
    assert decoder[1, 5:, 0].all()
    assert cross.any(axis=-1).all()


def test_finetuning_masks() -> None:
    masks = finetuning_masks(ENCODER, TYPES, 7, VOCABULARY, dtype=torch.float32)
    wanted = table(ENCODER, TYPES, DECODER, "sent_eosen", "sent", True)[0]
    assert (allowed(masks.encoder) == wanted).all()
    assert (allowed(masks.decoder)[0, 0] == np.tril(np.ones((7, 7), bool))).all()
    assert (allowed(masks.cross) == (ENCODER != 0).numpy()[:, None, None]).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from(["sent", "sent_eosen"]))
def test_no_row_of_a_real_batch_is_empty(seed, shuffled, members) -> None:
    rng = np.random.Generator(np.random.Philox(key=seed))
    rows, types = [], []
    for _ in range(3):
        row, numbers = [EOSEN], [1]
        for number, sent in enumerate(rng.permutation(4)[: rng.integers(1, 5)]):
            words = rng.integers(3, 50, size=rng.integers(1, 9)).tolist()
            row += [SENT + int(sent), *words, EOSEN]
            numbers += [number + 1] * (len(words) + 2)
        rows.append([*row, 1])
        types.append([*numbers, numbers[-1]])
    lengths = np.array([len(row) for row in rows])
    ids = np.array([row + [0] * (lengths.max() - len(row)) for row in rows], dtype=np.int32)
    numbers = np.array([row + [0] * (lengths.max() - len(row)) for row in types], dtype=np.int16)
    objective = depth.Objective(depth.Settings(mask_rows=members), VOCABULARY, 64, 64)
    arrays = objective.collate(ids, numbers, lengths, rng, shuffled=shuffled)
    batch = {name: torch.from_numpy(array) for name, array in arrays.items()}
    masks = pretraining(batch["encoder_ids"], batch["encoder_types"], batch["decoder_ids"], mask_rows=members)
    for mask in masks:
        assert allowed(mask).any(axis=-1).all()


def first_layer(stack) -> torch.nn.Module:
    return stack.block[0]


def captured(module: torch.nn.Module, run) -> torch.Tensor:
    """Output of a block while `run` calls the model."""
    outputs = []
    handle = module.register_forward_hook(lambda *args: outputs.append(args[2][0].detach().clone()))
    run()
    handle.remove()
    return outputs[0]


def test_other_sentences_do_not_reach_a_sent_row(model) -> None:
    mask = pretraining().encoder
    changed = ENCODER.clone()
    changed[0, 6:9] = torch.tensor([33, 34, 35])
    before, after = (
        captured(first_layer(model.encoder), lambda ids=ids: encode(model, ids, mask)) for ids in (ENCODER, changed)
    )
    sent_rows = [1, 10]
    assert torch.equal(before[0, sent_rows], after[0, sent_rows])
    # Its own sentence does reach it, and the change reaches the others.
    assert not torch.allclose(before[0, 5], after[0, 5])
    assert not torch.allclose(before[0, 2], after[0, 2])
    # Deeper layers mix through other tokens.
    deep = [captured(model.encoder.block[1], lambda ids=ids: encode(model, ids, mask)) for ids in (ENCODER, changed)]
    assert not torch.allclose(deep[0][0, 1], deep[1][0, 1])


def test_padding_does_not_reach_a_token(model) -> None:
    mask = pretraining().encoder
    changed = ENCODER.clone()
    changed[ENCODER == 0] = 17
    inside = ENCODER != 0
    assert torch.equal(encode(model, ENCODER, mask)[inside], encode(model, changed, mask)[inside])
    open_mask = pretraining(mask_padding=False).encoder
    assert not torch.allclose(encode(model, ENCODER, open_mask)[inside], encode(model, changed, open_mask)[inside])


def test_a_sent_row_of_the_decoder_sees_sentence_tokens_only(model) -> None:
    masks = pretraining()
    changed = DECODER.clone()
    changed[0, [0, 1, 3, 5, 6, 7]] = torch.tensor([20, 21, 22, 23, 24, 25])
    encoder = ENCODER.clone()
    encoder[0, [0, 2, 3, 4, 6, 9, 11]] = 30

    def run(ids: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        # The first decoder layer over embeddings: the encoder's own mixing is left out.
        states = model.shared(inputs)
        return captured(
            first_layer(model.decoder),
            lambda: model.decoder(
                input_ids=ids, attention_mask=masks.decoder, encoder_hidden_states=states,
                encoder_attention_mask=masks.cross, use_cache=False,
            ),
        )  # fmt: skip

    before, after = run(DECODER, ENCODER), run(changed, encoder)
    sent_rows = VOCABULARY.is_sentence(DECODER[0])
    assert sent_rows.sum() == 3
    assert torch.equal(before[0, sent_rows], after[0, sent_rows])
    assert not torch.allclose(before[0, 5], after[0, 5])
    # A change of an earlier SENT does reach a later one.
    sent_changed = DECODER.clone()
    sent_changed[0, 2] = SENT + 3
    assert not torch.allclose(before[0, 4], run(sent_changed, ENCODER)[0, 4])


def test_without_sentence_tokens_all_is_plain_t5(model) -> None:
    encoder = torch.where(ENCODER >= 50, 12, ENCODER)
    decoder = torch.where(DECODER >= 50, 13, DECODER)
    for padding in (True, False):
        masks = pretraining(encoder, TYPES, decoder, mask_padding=padding)
        plain = plain_masks(encoder, decoder.shape[1], dtype=torch.float32, mask_padding=padding)
        for mask, wanted in zip(masks, plain, strict=True):
            assert torch.equal(mask, wanted.expand_as(mask))
        logits = [seq2seq_logits(model, encoder, decoder, m) for m in (masks, plain)]
        assert torch.equal(*logits)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("projection", ["gated-gelu", "relu"])
def test_plain_masks_give_what_transformers_gives(attention: str, projection: str) -> None:
    """v1.1 (gated, no scaling of decoder outputs) and v1.0 (tied and scaled)."""
    built = tiny_t5(attention, projection)
    built.config.scale_decoder_outputs = projection == "relu"
    plain = plain_masks(ENCODER, DECODER.shape[1], dtype=torch.float32)
    ours = seq2seq_logits(built, ENCODER, DECODER, plain)
    theirs = built(input_ids=ENCODER, attention_mask=(ENCODER != 0).long(), decoder_input_ids=DECODER).logits
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    built.config.scale_decoder_outputs = projection != "relu"
    assert not torch.allclose(ours, seq2seq_logits(built, ENCODER, DECODER, plain))


def test_boolean_masks_would_be_ignored() -> None:
    """The trap of spec 8: why masks are float. If transformers mends it, this test says so."""
    built = tiny_t5("eager")
    mask = pretraining().encoder
    none = encode(built, ENCODER, torch.zeros_like(mask))
    assert not torch.allclose(encode(built, ENCODER, mask), none, atol=1e-2)
    as_bool = encode(built, ENCODER, mask == 0)
    assert not torch.allclose(as_bool, encode(built, ENCODER, mask), atol=1e-2)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_masks_in_bfloat16_and_gradients(attention: str) -> None:
    built = tiny_t5(attention)
    batch = {
        "encoder_ids": ENCODER, "encoder_types": TYPES, "decoder_ids": DECODER,
        "labels": torch.where(DECODER == 0, -100, DECODER),
    }  # fmt: skip
    objective = depth.Objective(depth.Settings(), VOCABULARY, 16, 16)
    exact, _ = objective.loss(built, batch)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rounded, _ = objective.loss(built, batch)
    assert rounded.item() == pytest.approx(exact.item(), rel=0.05)
    converted, _ = objective.loss(tiny_t5(attention).to(torch.bfloat16), batch)
    assert converted.item() == pytest.approx(exact.item(), rel=0.05)
    exact.backward()
    gradients = [parameter.grad for parameter in built.parameters()]
    assert all(gradient is not None and torch.isfinite(gradient).all() for gradient in gradients)


def test_t5_ignores_types() -> None:
    built = tiny_t5("sdpa")
    batch = {"encoder_ids": ENCODER, "decoder_ids": DECODER, "labels": torch.where(DECODER == 0, -100, DECODER)}
    objective = t5.Objective(t5.Settings(), VOCABULARY, 16, 16)
    loss, parts = objective.loss(built, batch)
    theirs = built(
        input_ids=ENCODER, attention_mask=(ENCODER != 0).long(), decoder_input_ids=DECODER, labels=batch["labels"]
    ).loss
    torch.testing.assert_close(loss, theirs, rtol=1e-5, atol=1e-5)
    assert parts["loss_sum"].item() == pytest.approx(loss.item() * parts["count"].item(), rel=1e-5)
