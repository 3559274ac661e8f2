"""Settings that save memory leave results equal: accumulation but for rounding, checkpointing to the bit."""

import json

import numpy as np
import pytest
import torch
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.training_memory import TrainingMemory, memory_of_whole_batches, save_memory, training_memory
from reprlab.training.activation_checkpointing import checkpointed_blocks
from reprlab.training.engine import train
from reprlab.training.settings import EngineSettings
from training_samples import tiny_batch, tiny_settings, train_tiny

WIDTH, WORDS = 32, 64
SIZES = {"vocab_size": WORDS, "hidden_size": WIDTH, "intermediate_size": 48, "num_hidden_layers": 3,
         "num_attention_heads": 4, "max_position_embeddings": 64}  # fmt: skip


@pytest.fixture(autouse=True)
def _as_before(one_thread):
    yield
    save_memory(TrainingMemory())


def made(kind):
    import transformers as t

    torch.manual_seed(3)
    if kind == "t5":
        sizes = {"vocab_size": WORDS, "d_model": WIDTH, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4}
        return t.T5ForConditionalGeneration(t.T5Config(**sizes, dropout_rate=0.1, decoder_start_token_id=0))
    if kind == "mamba":
        return t.MambaForCausalLM(t.MambaConfig(**{**SIZES, "state_size": 4}, pad_token_id=0))
    if kind == "mamba2":
        heads = {"num_heads": 8, "head_dim": 8, "n_groups": 1, "state_size": 8, "chunk_size": 8}
        return t.Mamba2ForCausalLM(t.Mamba2Config(**{**SIZES, **heads}, pad_token_id=0))
    if kind == "opt":
        sizes = {**SIZES, "ffn_dim": 48, "word_embed_proj_dim": WIDTH, "dropout": 0.1, "layerdrop": 0.0}
        return t.OPTForCausalLM(t.OPTConfig(**sizes))
    if kind == "bert":
        return t.BertForMaskedLM(t.BertConfig(**SIZES))
    return t.LlamaForCausalLM(t.LlamaConfig(**SIZES, attention_dropout=0.1))


def batch_of(step, part, rank, world):
    rows = np.random.default_rng(step).integers(3, WORDS, (8, 16))[rank::world]
    return {"input_ids": torch.from_numpy(rows)}


def loss_of(model, batch):
    output = model(input_ids=batch["input_ids"], labels=batch["input_ids"])
    count = torch.tensor(batch["input_ids"].numel())
    return output.loss, {"count": count, "loss_sum": output.loss.detach() * count}


def trained(kind, memory, work, dtype="float32"):
    model = made(kind)
    engine = {"steps": 3, "batch_size": 8, "log_every": 1, "dtype": dtype, "optimizer": {"learning_rate": 1e-3}}
    run = train(
        model, batch_of, loss_of, EngineSettings.model_validate(engine), work=work, save_every=9, fingerprint="x",
        on_checkpoint=lambda step, model: None, device="cpu", memory=memory,
    )  # fmt: skip
    return torch.cat([one.detach().flatten() for one in model.parameters()]), run.metrics


@pytest.mark.parametrize("kind", ["t5", "bert", "opt", "llama", "mamba", "mamba2"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_blocks_that_are_computed_again_give_the_same_bits(kind, dtype, tmp_path):
    """With dropout, and a cache that the model would fill by itself."""
    kept, log = trained(kind, TrainingMemory(), tmp_path / "kept", dtype)
    again, same = trained(kind, TrainingMemory(checkpointing=True), tmp_path / "again", dtype)
    assert torch.equal(kept, again) and log == same


def test_blocks_keep_their_inputs_alone():
    model, held = made("llama"), []

    def keep(tensor):
        held.append(tensor.numel())
        return tensor

    def kept(checkpointing):
        held.clear()
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda one: one):
            if checkpointing:
                with checkpointed_blocks(model) as blocks:
                    assert blocks == SIZES["num_hidden_layers"]
                    model.model(input_ids=batch_of(0, 0, 0, 1)["input_ids"])
            else:
                model.model(input_ids=batch_of(0, 0, 0, 1)["input_ids"])
        return sum(held)

    # What checkpoint itself keeps are the inputs; hooks of its own hold what is within.
    assert kept(True) < kept(False) / 5
    assert all("forward" not in vars(module) for module in model.modules())


def test_a_kernel_that_was_chosen_is_chosen_again():
    from torch.nn.attention import SDPBackend, sdpa_kernel

    model, ids = made("llama").eval(), batch_of(0, 0, 0, 1)["input_ids"]
    seen = []
    attention = torch.nn.functional.scaled_dot_product_attention

    def watched(*args, **named):
        seen.append(torch.backends.cuda.flash_sdp_enabled())
        return attention(*args, **named)

    torch.nn.functional.scaled_dot_product_attention = watched
    try:
        with checkpointed_blocks(model):
            with sdpa_kernel(SDPBackend.MATH):
                states = model.model(input_ids=ids).last_hidden_state
            states.sum().backward()
    finally:
        torch.nn.functional.scaled_dot_product_attention = attention
    assert seen == [False] * 2 * SIZES["num_hidden_layers"]


@pytest.mark.parametrize("asked", [2, 4, 7, 8, 100])
def test_parts_that_memory_asks_for_give_the_same_weights(asked, tmp_path):
    """In float64 only the order of summation differs, whatever the labels of each part."""
    whole_run, whole = train_tiny(tmp_path / "a", tmp_path / "o", tiny_settings(), dropout=0.0)
    save_memory(TrainingMemory(accumulation=asked))
    seen = []

    def cut(settings):
        def batch(step, part, rank, world):
            seen.append(world)
            return tiny_batch(settings)(step, part, rank, world)

        return batch

    for accumulation in (1, 2):
        settings = tiny_settings(accumulation=accumulation)
        work = tmp_path / f"b{accumulation}"
        cut_run, found = train_tiny(work, tmp_path / "o", settings, dropout=0.0, batch_of=cut(settings))
        for one, two in zip(whole.parameters(), found.parameters(), strict=True):
            assert torch.allclose(one, two, rtol=0, atol=1e-12)
        for before, after in zip(whole_run.metrics, cut_run.metrics, strict=True):
            assert before == pytest.approx(after, rel=1e-12)
    assert max(seen) == {2: 2, 4: 4, 7: 4}.get(asked, 8)


@pytest.mark.parametrize(("of", "asked", "parts"), [(8, 1, 1), (8, 3, 2), (6, 4, 3), (7, 4, 1), (1, 9, 1), (5, 9, 5)])
def test_parts_are_equal_and_no_more_than_asked_for(of, asked, parts):
    assert TrainingMemory(accumulation=asked).parts(of) == parts


def test_a_training_of_whole_batches_refuses_parts_in_one_line():
    assert memory_of_whole_batches("why") == training_memory() == TrainingMemory()
    save_memory(TrainingMemory(accumulation=4, checkpointing=True))
    with pytest.raises(ReprlabError, match=r"^runtime\.accumulation=4: why; .*activation_checkpointing=true$"):
        memory_of_whole_batches("why")


def test_the_command_of_a_job_says_how_memory_is_saved():
    from reprlab.runtime.planned import parse_arguments

    given = parse_arguments("x", ["--plan", "p", "--accumulation", "4", "--activation-checkpointing", "1"])
    assert (given.accumulation, given.activation_checkpointing) == (4, 1)
    assert json.dumps([parse_arguments("x", ["--plan", "p"]).accumulation]) == "[1]"
