"""Sentence encoders from decoders: pooling, early exit, prompts (specs of SPT 5 and L3Prune 5)."""

import pytest
from reprlab.models.build import architecture_classes
from reprlab.models.pooling import pool
from reprlab.objectives.decoder_attention import attention_inputs
from reprlab.registry.models import LINEAR_LAYERS
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.depths import chosen_depths, kept_layers
from reprlab.sentences.early_exit import headless, keep_layers, layer_outputs, layers_of
from reprlab.sentences.encoder import build_encoder
from reprlab.sentences.layer_losses import with_layers
from reprlab.sentences.settings import EncoderSettings
from reprlab.sentences.soft_prompts import first_vectors, prefixed, prompted

torch = pytest.importorskip("torch")

SHARED = {"vocab_size": 50, "hidden_size": 16, "num_attention_heads": 4, "num_hidden_layers": 5}
ROTARY = {**SHARED, "intermediate_size": 24, "num_key_value_heads": 2, "max_position_embeddings": 64}


OWN = {
    "phi3": {**ROTARY, "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 1},
    "opt": {**SHARED, "ffn_dim": 24, "word_embed_proj_dim": 16, "max_position_embeddings": 64},
    "gpt2": {"vocab_size": 50, "n_embd": 16, "n_head": 4, "n_layer": 5, "n_inner": 24, "n_positions": 64},
    "olmo": {**ROTARY, "pad_token_id": 1, "eos_token_id": 1, "bos_token_id": 1},
}


def decoder(name: str):
    torch.manual_seed(3)
    config_class, model_class = architecture_classes(name)
    return model_class(config_class(**OWN.get(name, ROTARY))).eval()


ARCHITECTURES = tuple(LINEAR_LAYERS)


def batch(lengths=(7, 4, 1), seed=0, width=None):
    """Left-padded ids and their mask."""
    width = width or max(lengths)
    ids = torch.randint(5, 50, (len(lengths), width), generator=torch.Generator().manual_seed(seed))
    attention = (torch.arange(width) >= width - torch.tensor(lengths)[:, None]).long()
    return {"input_ids": ids * attention + (1 - attention), "attention_mask": attention}


def run(model, inputs, **more):
    found = attention_inputs(inputs["attention_mask"], torch.float32, bidirectional=False)
    return layer_outputs(model, input_ids=inputs["input_ids"], **found, **more)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_output_of_a_layer_is_that_of_the_model_cut_there(name, tmp_path):
    model, inputs = decoder(name), batch()
    with torch.no_grad():
        for parameter in model.parameters():
            # As drawn, norms are ones and a second one would change little.
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
        whole = run(model, inputs)
        assert len(whole) == 5
        masks = attention_inputs(inputs["attention_mask"], torch.float32, bidirectional=False)
        last = headless(model)(input_ids=inputs["input_ids"], **masks).last_hidden_state
        tokens = inputs["attention_mask"].bool()
        assert torch.equal(whole[-1][tokens], last[tokens])
        first = headless(model)(input_ids=inputs["input_ids"], output_hidden_states=True, **masks).hidden_states
        assert len(first) == 6, "the embeddings come first, and are not depth"
        for depth in range(5, 0, -1):
            keep_layers(model, depth)
            cut = run(model, inputs)
            assert len(cut) == depth == model.config.num_hidden_layers
            assert torch.equal(cut[-1][tokens], whole[depth - 1][tokens])
            if depth == 3:
                model.save_pretrained(tmp_path)
                again = type(model).from_pretrained(tmp_path).eval()
                assert torch.equal(run(again, inputs)[-1][tokens], cut[-1][tokens])
        layers, norm = layers_of(model)
        del layers[0]
        without = headless(model)(input_ids=inputs["input_ids"], **masks).last_hidden_state
        assert torch.equal(without[tokens], norm(first[0])[tokens]), "without layers the normed embeddings are left"


def test_cutting_refuses_what_is_no_depth_and_models_without_layers():
    model = decoder("llama")
    for depth in (0, 6):
        with pytest.raises(ReprlabError, match="from 1 to 5"):
            keep_layers(model, depth)
    from transformers import T5Config, T5ForConditionalGeneration

    t5 = T5ForConditionalGeneration(T5Config(vocab_size=20, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2))
    with pytest.raises(ReprlabError, match="cannot be cut"):
        layers_of(t5)


def test_depths_are_whole_numbers():
    assert [kept_layers(32, 10 * tenth) for tenth in range(10)] == [32, 28, 25, 22, 19, 16, 12, 9, 6, 3]
    assert [kept_layers(28, 10 * tenth) for tenth in range(10)] == [28, 25, 22, 19, 16, 14, 11, 8, 5, 2]
    assert [kept_layers(10, percent) for percent in (80, 90)] == [2, 1]
    with pytest.raises(ReprlabError, match="prune at most 87 %"):
        kept_layers(8, 90)
    assert kept_layers(8, 87) == 1
    with pytest.raises(ReprlabError, match="0 to 99"):
        kept_layers(8, 100)


def test_depths_are_chosen_by_the_least_loss_of_each_half():
    assert chosen_depths([5, 3, 4, 6, 5, 4, 2, 3]) == (2, 7)
    assert chosen_depths([7, 6, 5, 4, 3, 2, 1]) == (3, 7)
    assert chosen_depths([1] * 8) == (1, 5) and chosen_depths([3, 1]) == (1, 2)
    with pytest.raises(ReprlabError, match="no lower and upper half"):
        chosen_depths([1.0])
    with pytest.raises(ReprlabError, match="layer 2 is not finite"):
        chosen_depths([1.0, float("nan"), 2.0])


def test_the_chosen_depths_have_the_least_mean_over_batches(tmp_path):
    """Layers 1 and 3 have the least medians, layers 2 and 4 the least means: one batch in three tells them apart."""
    losses = {1: (1, 1, 9), 2: (2, 2, 2), 3: (0, 0, 9), 4: (2, 2, 2)}
    rows = [f"{layer}\t{batch}\t{loss}" for layer, own in losses.items() for batch, loss in enumerate(own)]
    settings = EncoderSettings(method="none", pooling="mean", layers="small")

    def chosen(lines):
        (tmp_path / "depths.tsv").write_text("\n".join(["layer\tbatch\tloss", *lines]) + "\n")
        given = [settings, settings.model_copy(update={"layers": "large"})]
        return [with_layers(one, tmp_path / "depths.tsv").layers for one in given]

    assert chosen(rows) == chosen(rows[::-1]) == [2, 4]
    with pytest.raises(ReprlabError, match=r"depths\.tsv: losses of the layers 2, 3, 4, not of each from 1 on"):
        chosen(rows[3:])


def test_pooling_by_hand():
    states = torch.arange(24, dtype=torch.float32).reshape(2, 4, 3)
    attention = torch.tensor([[0, 1, 1, 1], [1, 1, 1, 1]])
    text = torch.tensor([[0, 0, 1, 1], [0, 0, 0, 0]])
    assert torch.equal(pool(states, attention, "first"), torch.stack([states[0, 1], states[1, 0]]))
    assert torch.equal(pool(states, attention, "last"), states[:, 3])
    torch.testing.assert_close(pool(states, attention, "mean")[0], states[0, 1:].mean(0))
    weights = torch.tensor([1 / 6, 2 / 6, 3 / 6])
    torch.testing.assert_close(pool(states, attention, "weighted_mean")[0], weights @ states[0, 1:])
    # A text without tokens stands for its last token; an instruction's states have no weight.
    torch.testing.assert_close(pool(states, attention, "weighted_mean", text)[1], states[1, 3])
    changed = states.clone()
    changed[0, 1] = 99
    assert torch.equal(pool(changed, attention, "weighted_mean", text), pool(states, attention, "weighted_mean", text))
    constant = torch.full((1, 4, 3), 2.5)
    for pooling in ("first", "last", "mean", "weighted_mean"):
        torch.testing.assert_close(pool(constant, attention[:1], pooling), torch.full((1, 3), 2.5))


def test_right_padding_pools_the_same_tokens():
    states = torch.randn(1, 3, 4)
    right = torch.cat([states, torch.randn(1, 2, 4)], dim=1), torch.tensor([[1, 1, 1, 0, 0]])
    left = torch.cat([torch.randn(1, 2, 4), states], dim=1), torch.tensor([[0, 0, 1, 1, 1]])
    for pooling in ("first", "last", "mean", "weighted_mean"):
        torch.testing.assert_close(pool(*right, pooling), pool(*left, pooling))


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize(("position", "bidirectional"), [("append", False), ("append", True), ("prepend", True)])
def test_a_prompted_text_is_the_same_alone_and_in_a_padded_batch(name, position, bidirectional):
    model = decoder(name)
    encoder = prompted(model, first_vectors(model, 3, "vocabulary", 0), position, "last", bidirectional=bidirectional)
    inputs = batch()
    with torch.no_grad():
        together = encoder(inputs)
        for row, length in enumerate((7, 4, 1)):
            alone = encoder({key: value[row : row + 1, -length:] for key, value in inputs.items()})
            # Of length 1, as cosines see them.
            one, other = (torch.nn.functional.normalize(side, dim=0) for side in (together[row], alone[0]))
            torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_suffix_of_word_vectors_is_the_text_with_these_words(name):
    model, inputs = decoder(name), batch()
    words = torch.tensor([9, 11, 13])
    vectors = headless(model).get_input_embeddings()(words).detach()
    ones = torch.ones(3, 3, dtype=torch.long)
    longer = torch.cat([inputs["input_ids"], words.expand(3, -1)], 1)
    attention = torch.cat([inputs["attention_mask"], ones], 1)
    with torch.no_grad():
        literal = run(model, {"input_ids": longer, "attention_mask": attention})[-1]
        found = prompted(model, vectors, "append", "last", bidirectional=False)(inputs)
        torch.testing.assert_close(found, pool(literal, attention, "last"), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", ("llama", "opt"))
@pytest.mark.parametrize(("position", "bidirectional"), [("append", False), ("append", True), ("prepend", True)])
def test_each_pooling_is_of_the_prompt_s_own_states(name, position, bidirectional):
    """EOSP, SOSP and mean of Table 2, from the text with the same words written into its ids."""
    model, inputs = decoder(name), batch((6, 6))
    words = torch.tensor([9, 11, 13])
    vectors = headless(model).get_input_embeddings()(words).detach()
    parts = [inputs["input_ids"], words.expand(2, -1)]
    ids = torch.cat(parts if position == "append" else parts[::-1], 1)
    masks = attention_inputs(torch.ones_like(ids), torch.float32, bidirectional=bidirectional)
    own = slice(6, 9) if position == "append" else slice(0, 3)
    with torch.no_grad():
        states = headless(model)(input_ids=ids, **masks).last_hidden_state[:, own]
        for way, expected in (("first", states[:, 0]), ("last", states[:, 2]), ("mean", states.mean(1))):
            found = prompted(model, vectors, position, way, bidirectional=bidirectional)(inputs)
            torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", ("llama", "opt"))
def test_text_sees_the_suffix_only_with_bidirectional_attention(name):
    model, inputs = decoder(name), batch((6, 6))
    vectors = first_vectors(model, 2, "normal", 0)
    with torch.no_grad():
        plain = run(model, inputs)[-1]
        for bidirectional in (False, True):
            encoder = prompted(model, vectors, "append", "last", bidirectional=bidirectional)
            states, _, _ = encoder.states(**inputs)
            same = torch.allclose(states[:, :6], plain, atol=1e-6)
            assert same is not bidirectional


def test_one_vector_has_one_pooling_and_a_causal_prefix_is_refused():
    model, inputs, ways = decoder("llama"), batch(), ("first", "last", "mean")
    vector, several = (first_vectors(model, count, "normal", 0) for count in (1, 3))
    for position, bidirectional in (("append", False), ("append", True), ("prepend", True)):
        with torch.no_grad():
            found, other = (
                [prompted(model, one, position, way, bidirectional=bidirectional)(inputs) for way in ways]
                for one in (vector, several)
            )
        torch.testing.assert_close(found[0], found[1])
        torch.testing.assert_close(found[1], found[2])
        assert not any(torch.allclose(other[one], other[two], atol=1e-3) for one, two in ((0, 1), (1, 2), (0, 2)))
    for way in ways:
        with pytest.raises(ReprlabError, match="same for every text"):
            prompted(model, vector, "prepend", way, bidirectional=False)


def test_vectors_start_from_words_or_normal_numbers():
    """Rows of the embedding, each once, by the seed; N(0, 1) is far larger (specification, section 2)."""
    model = decoder("opt")
    table = headless(model).get_input_embeddings().weight.detach()
    drawn = first_vectors(model, 20, "vocabulary", 3)
    rows = [int((table == vector).all(1).nonzero()) for vector in drawn]
    assert len(set(rows)) == 20 and not torch.equal(drawn, first_vectors(model, 20, "vocabulary", 4))
    assert torch.equal(drawn, first_vectors(model, 20, "vocabulary", 3))
    normal = first_vectors(model, 400, "normal", 3)
    assert normal.std() == pytest.approx(1, abs=0.05) and drawn.std() < 0.1
    assert drawn.dtype == normal.dtype == torch.float32


def test_a_small_update_of_a_prompt_is_kept_beside_weights_of_less_precision():
    """In bfloat16 a step of 1e-3 rounds away (specification, section 3): vectors are float32 until they are read."""
    model, inputs = decoder("llama").to(torch.bfloat16), batch()
    settings = EncoderSettings(method="prompt", pooling="last", vectors=2, start="normal")
    encoder = build_encoder(model, settings, 0).train()
    assert {weight.dtype for weight in model.parameters()} == {torch.bfloat16}
    before = encoder.prompt.detach().clone()
    assert encoder(inputs).dtype == torch.float32
    optimizer = torch.optim.AdamW([encoder.prompt], lr=1e-3, weight_decay=0)
    encoder(inputs).square().sum().backward()
    assert encoder.prompt.grad.abs().max() > 0
    encoder.prompt.grad = torch.ones_like(before)
    optimizer.step()
    moved = before - encoder.prompt.detach()
    torch.testing.assert_close(moved, torch.full_like(moved, 1e-3), atol=1e-6, rtol=0)
    assert (before.bfloat16() - 1e-3 == before.bfloat16()).any(), "a part of it would be lost"


def test_only_the_prompt_learns_and_its_size_is_k_times_d():
    model, inputs = decoder("opt"), batch()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    encoder = prompted(model, first_vectors(model, 4, "vocabulary", 1), "append", "last", bidirectional=False).train()
    trained = [p for p in encoder.parameters() if p.requires_grad]
    assert [tuple(p.shape) for p in trained] == [(4, 16)]
    assert not model.training
    optimizer = torch.optim.AdamW(trained, lr=0.1)
    for _ in range(3):
        loss = encoder(inputs).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not torch.equal(encoder.prompt, first_vectors(model, 4, "vocabulary", 1))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_prefix_in_every_layer(name):
    model, inputs = decoder(name), batch()
    heads = getattr(model.config, "num_key_value_heads", None) or 4
    with torch.no_grad():
        none = prefixed(model, 0, "last", 0)(inputs)
        plain = pool(run(model, inputs)[-1], inputs["attention_mask"], "last")
        torch.testing.assert_close(none, plain)
        encoder = prefixed(model, 3, "last", 0)
        assert encoder.prefix.numel() == 2 * 5 * 3 * heads * 4
        together = encoder(inputs)
        assert not torch.allclose(together, plain, atol=1e-3)
        for row, length in enumerate((7, 4, 1)):
            alone = encoder({key: value[row : row + 1, -length:] for key, value in inputs.items()})
            torch.testing.assert_close(together[row], alone[0], atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("method", ["none", "lora", "prefix"])
@pytest.mark.parametrize("pooling", ["first", "mean", "weighted_mean", "last"])
def test_the_first_token_is_not_of_the_text(method, pooling):
    """Means are over text tokens; under causal attention the state of the first token is the same for every text."""
    adapter = {"adapter": {"rank": 2, "alpha": 4, "targets": ["q_proj"]}} if method == "lora" else {}
    given = {"method": method, "pooling": pooling, "vectors": 3 * (method == "prefix"), **adapter}
    encoder = build_encoder(decoder("llama"), EncoderSettings.model_validate(given), 0).eval()
    inputs = batch((6, 6))
    inputs["input_ids"][:, 0] = 2
    text = inputs["attention_mask"].clone()
    text[:, 0] = 0
    whole = {**inputs, "text_mask": text}
    states = []
    with torch.no_grad():
        found = encoder(whole)
        # What each prefix of the text gives as its last token's state: those are the states.
        last = build_encoder(decoder("llama"), EncoderSettings.model_validate({**given, "pooling": "last"}), 0).eval()
        for end in range(2, 7):
            states.append(last({name: part[:, :end] for name, part in whole.items()}))
    states = torch.stack(states, dim=1)
    weights = torch.arange(1, 6) / 15
    expected = {
        "first": states[:, 0], "last": states[:, -1], "mean": states.mean(1),
        "weighted_mean": torch.einsum("l,bld->bd", weights, states),
    }  # fmt: skip
    torch.testing.assert_close(found, expected[pooling], atol=1e-5, rtol=1e-4)
    assert not torch.allclose(found[0], found[1], atol=1e-3)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_adapters_see_what_follows_only_with_bidirectional_attention(bidirectional):
    """LoRA-bi of Table 1: the state of a text's first token knows of the last one, and padding is seen by none."""
    adapter = {"rank": 2, "alpha": 4, "targets": ["q_proj", "v_proj"]}
    given = {"method": "lora", "pooling": "first", "adapter": adapter, "bidirectional": bidirectional}
    for name in ("llama", "opt"):
        encoder = build_encoder(decoder(name), EncoderSettings.model_validate(given), 0).eval()
        inputs = batch((7, 4))
        inputs["text_mask"] = inputs["attention_mask"]
        changed = {**inputs, "input_ids": inputs["input_ids"].clone()}
        changed["input_ids"][:, -1] = (changed["input_ids"][:, -1] + 1) % 40 + 5
        with torch.no_grad():
            one, other = encoder(inputs), encoder(changed)
            alone = encoder({key: value[1:, 3:] for key, value in inputs.items()})
        gaps = (one - other).abs().amax(1)
        assert (gaps > 1e-4).all() if bidirectional else (gaps == 0).all()
        torch.testing.assert_close(alone[0], one[1], atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("pooling", ["first", "mean", "pooler"])
def test_a_published_encoder_reads_its_words_and_its_own_tokens(pooling, tmp_path):
    from finetune_fixtures import make_tokenizer
    from reprlab.sentences.encoder import embed, size_of
    from reprlab.sentences.texts import encode_texts
    from reprlab.text.model_tokenizers import load_tokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertModel

    make_tokenizer(tmp_path)
    tokenizer = load_tokenizer(tmp_path)
    # As BERT's: a token before and one behind each text.
    first, last = tokenizer.convert_ids_to_tokens([7, 8])
    ends = [(first, 7), (last, 8)]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single=f"{first} $A {last}", special_tokens=ends)
    torch.manual_seed(0)
    model = BertModel(BertConfig(**{**SHARED, "vocab_size": 200}, intermediate_size=24)).eval()
    form = {"whole": True, "max_length": 9}
    own = {"pooling": "first", "pooler": True} if pooling == "pooler" else {"pooling": pooling}
    settings = EncoderSettings.model_validate({"method": "none", "form": form, **own})
    texts = ["the cat finds the letters of the house and the river", "the cat", ""]
    found = embed(
        build_encoder(model, settings, 0), encode_texts(tokenizer, texts, settings.form, "query: "), batch_size=3
    )
    assert size_of(model)[0] == 5
    for vector, text in zip(found, texts, strict=True):
        ids = tokenizer(f"query: {text}", truncation=True, max_length=9)["input_ids"]
        assert len(ids) <= 9 and (ids[0], ids[-1]) == (7, 8)
        with torch.no_grad():
            output = model(torch.tensor([ids]))
        states = output.last_hidden_state[0]
        expected = {"first": states[0], "mean": states.mean(0), "pooler": output.pooler_output[0]}[pooling]
        torch.testing.assert_close(torch.from_numpy(vector), expected, atol=1e-5, rtol=1e-4)


def test_a_layer_over_the_first_token_is_in_float32_under_bfloat16():
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    model = BertModel(BertConfig(**SHARED, intermediate_size=24)).eval()
    encoder = build_encoder(model, EncoderSettings(method="none", pooling="first", pooler=True), 0)
    ids = torch.randint(5, 50, (2, 6))
    ones = torch.ones_like(ids)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        vectors = encoder({"input_ids": ids, "attention_mask": ones, "text_mask": ones})
    assert vectors.dtype == torch.float32 and not torch.equal(vectors, vectors.bfloat16().float())


def test_a_layer_over_the_first_token_is_bert_s_alone():
    settings = EncoderSettings(method="none", pooling="first", pooler=True)
    with pytest.raises(ReprlabError, match="LlamaModel has no layer of that name"):
        build_encoder(decoder("llama"), settings, 0)
    with pytest.raises(ValueError, match="not trained here, not to full"):
        EncoderSettings(method="full", pooling="first", pooler=True)


SEVEN = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


@pytest.mark.parametrize(
    ("name", "matched"),
    [("llama", SEVEN), ("mistral", SEVEN), ("qwen2", SEVEN), ("phi3", ["o_proj", "down_proj"])],
)
def test_names_that_match_no_layer_are_told(name, matched, caplog):
    """L3Prune's trap 2: Phi-3's projections are fused, and the adapters of five names are silently none."""
    from reprlab.sentences.encoder import add_low_rank
    from reprlab.sentences.settings import LowRank

    settings = LowRank(rank=2, alpha=4, targets=SEVEN, partial=True)
    with caplog.at_level("INFO", logger="reprlab"):
        adapted = add_low_rank(headless(decoder(name)), settings, 0)
    assert len(set(adapted)) == len(adapted) == 5 * len(matched)
    assert {one.rpartition(".")[2] for one in adapted} == set(matched)
    told = [record.getMessage() for record in caplog.records]
    if len(matched) == 7:
        assert told == []
        return
    assert told == [
        "adapters are in 10 layers, named down_proj, o_proj; none is named gate_proj, k_proj, q_proj, up_proj, v_proj"
    ]
    with pytest.raises(ReprlabError, match="no layer named gate_proj, k_proj, q_proj, up_proj, v_proj"):
        add_low_rank(headless(decoder(name)), settings.model_copy(update={"partial": False}), 0)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_linear_layers_of_an_architecture_are_all_that_it_has(name):
    from reprlab.sentences.encoder import add_low_rank
    from reprlab.sentences.settings import LowRank

    layers, _ = layers_of(decoder(name))
    linear = {one for one, module in layers.named_modules() if type(module).__name__ in ("Linear", "Conv1D")}
    adapted = add_low_rank(headless(decoder(name)), LowRank(rank=2, alpha=4, targets=list(LINEAR_LAYERS[name])), 0)
    assert len(adapted) == len(linear) and all(one.rpartition(".")[2] in LINEAR_LAYERS[name] for one in linear)


@pytest.mark.parametrize("name", ["llama", "mistral", "qwen2", "phi3"])
@pytest.mark.parametrize("kept", [1, 3, 5])
def test_fresh_adapters_on_a_cut_decoder_change_no_bit(name, kept):
    """L3Prune's 5.6, with dropout as it trains: the second matrix is 0, in each architecture of the paper."""
    from reprlab.sentences.encoder import build_encoder, size_of
    from reprlab.sentences.settings import EncoderSettings

    adapter = {"rank": 2, "alpha": 4, "dropout": 0.5, "targets": SEVEN, "partial": name == "phi3"}
    plain = {"method": "none", "pooling": "weighted_mean", "layers": kept}
    inputs = batch()
    inputs["text_mask"] = inputs["attention_mask"]
    found = []
    for settings in (plain, {**plain, "method": "lora", "adapter": adapter}):
        network = decoder(name)
        encoder = build_encoder(network, EncoderSettings.model_validate(settings), 0).train()
        assert size_of(network)[0] == kept
        found.append(encoder(inputs))
    assert torch.equal(*found)
    with torch.no_grad():
        states = run(decoder(name), inputs)[kept - 1]
        assert torch.equal(found[0], pool(states, inputs["attention_mask"], "weighted_mean"))


@pytest.mark.parametrize("name", ["llama", "mistral", "qwen2", "phi3"])
def test_what_the_paper_s_three_lines_leave_out(name, tmp_path):
    """L3Prune's 8.4: its layers cut and counted, Qwen2 cannot be opened again; counted alone, none leaves memory."""
    from huggingface_hub.errors import StrictDataclassError

    model, inputs = decoder(name), batch()
    with torch.no_grad():
        cut = decoder(name)
        keep_layers(cut, 2)
        wanted, model.config.num_hidden_layers = run(cut, inputs)[-1], 2
        masks = attention_inputs(inputs["attention_mask"], torch.float32, bidirectional=False)
        found = headless(model)(input_ids=inputs["input_ids"], **masks)
    tokens = inputs["attention_mask"].bool()
    assert len(layers_of(model)[0]) == 5 and torch.equal(found.last_hidden_state[tokens], wanted[tokens])
    headless(model).layers = layers_of(model)[0][:2]
    if name == "qwen2":
        with pytest.raises(StrictDataclassError):
            model.save_pretrained(tmp_path)
    else:
        model.save_pretrained(tmp_path)
        assert len(layers_of(type(model).from_pretrained(tmp_path))[0]) == 2
