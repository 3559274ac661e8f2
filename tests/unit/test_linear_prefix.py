"""A linear prefix: one map of all of a track's states, k vectors in front of the text, and nothing else that learns."""

import hashlib

import numpy as np
import pytest
import torch
from music_samples import annotated, make_language_model, write_example_files
from reprlab.artifacts.json_files import read_json
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.models.build import load_model
from reprlab.music.describer import END, MUSIC, Examples, asked, prompt_ids, target_loss, write_texts
from reprlab.music.linear_prefix import (
    ABOUT,
    PrefixExamples,
    PrefixMap,
    load_prefix,
    new_prefix,
    prefix_prompts,
    told_by,
    with_prefix,
)
from reprlab.music.prefix_settings import PrefixDescription, PrefixTraining
from reprlab.music.training import load_describer, load_examples
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.describe_by_prefix import describe_by_prefix
from reprlab.stages.train_prefix import train_prefix
from reprlab.text.tokenizer_folder import open_tokenizer
from reprlab.training.settings import EngineSettings, OptimizerSettings

SHAPE = (3, 6)


def wanted(task="description", inputs="1234", vectors=4, steps=3, seed=0, max_length=400, **about):
    engine = EngineSettings(steps=steps, batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-2), seed=seed)
    return PrefixTraining(task=task, inputs=inputs, vectors=vectors, max_length=max_length, engine=engine, **about)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_language_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def files(tmp_path):
    tracks = [annotated(f"t{place}", "test" if place > 5 else "train") for place in range(8)]
    return write_example_files(tmp_path, tracks)


def trained(model, files, folder, settings, start=None):
    train_prefix(
        model=model, annotations=[files[0]], states=files[1], out=folder / "prefix", metrics=folder / "m.tsv",
        work=folder / "work", settings=settings, fingerprint="f", start=start,
    )  # fmt: skip
    return folder / "prefix"


def texts_of(model, files, prefix, out, **about):
    settings = PrefixDescription(**{"inputs": "1234", "max_new_tokens": 12, **about})
    describe_by_prefix(model=model, prefix=prefix, annotations=[files[0]], states=files[1], out=out, settings=settings)
    return read_parquet(out)


def zeroed(network):
    for one in network.adaptor.parameters():
        torch.nn.init.zeros_(one)
    return network


def loud(network):
    """Weights ten times as large: what is read decides what is written."""
    with torch.no_grad():
        for one in network.language.parameters():
            if one.dim() > 1:
                one.mul_(10)
    return network


def test_a_map_of_zeros_is_the_model_of_text_alone_bit_for_bit(model, files):
    """The same ids, the same embeddings, the same logits and the same words as without music among the inputs."""
    tokenizer, tracks = open_tokenizer(model), load_examples([files[0]], files[1], "test")
    network = zeroed(loud(new_prefix(model, SHAPE, wanted(), None).eval()))
    plain = loud(load_describer(model, None, SHAPE[1]))
    said, prompts = prefix_prompts(tokenizer, tracks[0], "1234", told_by(network))
    pairs = [asked(one, "description", "234", blank=False) for one in tracks[0]]
    assert said == [text for text, _ in pairs]
    assert prompts == [prompt_ids(tokenizer, *pair, SHAPE[0]) for pair in pairs]
    with torch.inference_mode():
        for ids, music in zip(prompts, tracks[1], strict=True):
            given = torch.tensor([ids]), torch.from_numpy(music[None])
            mine, theirs = network(*given), plain.language.get_input_embeddings()(given[0])
            assert torch.equal(mine, theirs)
            assert torch.equal(network.language(inputs_embeds=mine).logits, plain.language(given[0]).logits)
    more = {"batch_size": 2, "max_new_tokens": 8}
    assert write_texts(network, tokenizer, prompts, tracks[1], **more) == write_texts(
        plain, tokenizer, prompts, tracks[1], **more
    )
    drawn = loud(new_prefix(model, SHAPE, wanted(), None).eval())
    _, longer = prefix_prompts(tokenizer, tracks[0], "1234", told_by(drawn))
    assert [len(one) for one in longer] == [len(one) + 4 for one in prompts]
    assert write_texts(drawn, tokenizer, longer, tracks[1], **more) != write_texts(
        plain, tokenizer, prompts, tracks[1], **more
    )


@pytest.mark.parametrize("name", ["weight", "bias"])
def test_a_map_that_says_anything_is_told(name):
    found = PrefixMap(*SHAPE, 2, 5)
    for one in found.parameters():
        torch.nn.init.zeros_(one)
    assert found.told == 0
    getattr(found.linear, name).data.view(-1)[-1] = 1e-3
    assert found.told == 2


def test_it_is_one_linear_map_of_all_states_to_each_vector():
    """f(x) - f(0) is linear, each vector has weights of its own, and each number of each state reaches each vector."""
    found = PrefixMap(*SHAPE, 4, 5).double()
    one, two = torch.randn(2, 1, *SHAPE, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    nothing = found(torch.zeros_like(one))
    torch.testing.assert_close(
        found(2 * one - 3 * two) - nothing, 2 * (found(one) - nothing) - 3 * (found(two) - nothing)
    )
    assert found(one).shape == (1, 4, 5) and torch.equal(nothing.flatten(), found.linear.bias)
    assert sum(each.numel() for each in found.parameters()) == (3 * 6 + 1) * 4 * 5
    by_hand = found.linear.weight.view(4, 5, 3, 6)
    torch.testing.assert_close(found(one)[0], torch.einsum("kdsw,sw->kd", by_hand, one[0]) + nothing[0])


def test_vectors_are_in_front_of_the_text_in_their_order_and_of_their_own_track(model, files):
    tokenizer = open_tokenizer(model)
    tracks, audio = load_examples([files[0]], files[1], "train")
    examples = PrefixExamples(tokenizer, tracks, audio, wanted())
    text = Examples(tokenizer, tracks, audio, wanted().text)
    assert [ids[:4] for ids in examples.prompts] == [[MUSIC] * 4] * len(tracks)
    assert [ids[4:] for ids in examples.prompts] == text.prompts and examples.targets == text.targets
    batch = examples.batch(np.array([3, 0]))
    assert batch["music"].shape == (2, *SHAPE) and torch.equal(batch["music"][1], torch.from_numpy(audio[0]))
    network = new_prefix(model, SHAPE, wanted(), None).eval()
    with torch.inference_mode():
        found = network(batch["ids"], batch["music"])
        assert torch.equal(found[:, :4], network.adaptor(batch["music"]))
        words = network.language.get_input_embeddings()(batch["ids"][:, 4:])
    assert torch.equal(found[:, 4:], words)


def test_a_start_token_stays_in_front_of_the_vectors(model):
    class Starting:
        def __call__(self, text, add_special_tokens=True, **_):
            return {"input_ids": [7] * add_special_tokens + [9] * len(text)}

    assert with_prefix(Starting(), [7, 9, 9], 2) == [7, MUSIC, MUSIC, 9, 9]
    assert with_prefix(open_tokenizer(model), [5, 6], 1) == [MUSIC, 5, 6]


def test_the_map_alone_learns_and_the_model_stays_as_it_is(model, files, tmp_path):
    def digest():
        return hashlib.sha256((model / "model.safetensors").read_bytes()).hexdigest()

    before, network = digest(), new_prefix(model, SHAPE, wanted(), None)
    assert {name for name, one in network.named_parameters() if one.requires_grad} == {
        "adaptor.linear.weight", "adaptor.linear.bias",
    }  # fmt: skip
    found = trained(model, files, tmp_path, wanted())
    kept = load_prefix(model, found, SHAPE)
    assert not kept.training and not torch.equal(kept.adaptor.linear.weight, network.adaptor.linear.weight)
    for one, two in zip(kept.language.parameters(), load_model(model).parameters(), strict=True):
        assert torch.equal(one, two.float())
    assert digest() == before and sorted(one.name for one in found.iterdir()) == ["adaptor.safetensors", ABOUT]
    about = read_json(found / ABOUT)
    assert (about["parameters"], about["vectors"], about["steps"]) == (19 * 4 * 32, 4, 3)
    assert about["diverged"] is False and about["tokens"] > 100
    losses = read_tsv(tmp_path / "m.tsv")
    assert losses["loss"].notna().all() and set(losses["cut_targets"]) == {0}


def test_only_tokens_of_the_target_are_learned_and_the_vectors_count_as_tokens(model, files):
    tokenizer = open_tokenizer(model)
    tracks, audio = load_examples([files[0]], files[1], "train")
    examples = PrefixExamples(tokenizer, tracks, audio, wanted())
    batch = examples.batch(np.array([0, 1]))
    kept = batch["labels"][0][batch["labels"][0] != -100].tolist()
    assert tokenizer.decode(kept) == tracks[0]["description"] + END
    loss, parts = target_loss(new_prefix(model, SHAPE, wanted(), None), batch)
    whole = [len(prompt) + len(target) for prompt, target in zip(examples.prompts, examples.targets, strict=True)]
    assert torch.isfinite(loss) and int(parts["tokens"]) <= sum(whole[:2])
    most = len(examples.prompts[0]) + 10
    cut = PrefixExamples(tokenizer, tracks[:1], audio[:1], wanted(max_length=most))
    assert cut.cut == 1 and len(cut.prompts[0]) + len(cut.targets[0]) == most


def test_stage_two_goes_on_from_stage_one_and_seeds_draw_the_map(model, files, tmp_path):
    first = trained(model, files, tmp_path / "1", wanted(task="caption", inputs="1", steps=2))
    start = new_prefix(model, SHAPE, wanted(seed=3), first)
    assert torch.equal(start.adaptor.linear.weight, load_prefix(model, first, SHAPE).adaptor.linear.weight)
    drawn = [new_prefix(model, SHAPE, wanted(seed=seed), None).adaptor.linear.weight for seed in (0, 0, 1)]
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[1], drawn[2])
    second = trained(model, files, tmp_path / "2", wanted(), start=first)
    alone = trained(model, files, tmp_path / "3", wanted())
    again = trained(model, files, tmp_path / "4", wanted(), start=first)
    weights = [(one / "adaptor.safetensors").read_bytes() for one in (second, alone, again)]
    assert weights[0] != weights[1] and weights[0] == weights[2]
    with pytest.raises(ReprlabError, match=r"its map is .* is wanted; delete the folder"):
        new_prefix(model, SHAPE, wanted(vectors=3), first)
    with pytest.raises(ReprlabError, match=r"its map is "):
        load_prefix(model, first, (2, 6))


def test_captions_say_nothing_of_the_music_in_words(model, files):
    tracks, audio = load_examples([files[0]], files[1], "train")
    tokenizer = open_tokenizer(model)
    examples = PrefixExamples(tokenizer, tracks, audio, wanted(task="caption", inputs="1"))
    assert len({tuple(ids) for ids in examples.prompts}) == 1
    assert tokenizer.decode(examples.targets[0]) == tracks[0]["caption"].strip() + END


def test_passes_over_the_training_tracks_are_counted_in_updates(model, files, tmp_path):
    found = trained(model, files, tmp_path, wanted(epochs=1.5))
    # Six training tracks, two an update.
    assert read_json(found / ABOUT)["steps"] == 4


def test_tracks_of_the_test_split_are_described_each_by_its_own_sound(model, files, tmp_path):
    found = trained(model, files, tmp_path, wanted(steps=1))
    told = texts_of(model, files, found, tmp_path / "d.parquet")
    assert told["track"].to_pylist() == ["t6", "t7"] and told["steps"].to_pylist() == [1, 1]
    tracks, _ = load_examples([files[0]], files[1], "test")
    assert told["target"].to_pylist() == [one["description"] for one in tracks]
    assert all("Music:" not in one and "Music genre: chorale" in one for one in told["prompt"].to_pylist())
    assert texts_of(model, files, found, tmp_path / "l.parquet", limit=1)["track"].to_pylist() == ["t6"]
    network, prompts = load_prefix(model, found, SHAPE), None
    _, audio = load_examples([files[0]], files[1], "test")
    _, prompts = prefix_prompts(open_tokenizer(model), tracks, "1234", told_by(network))
    with torch.inference_mode():
        ids = torch.tensor([prompts[0]])
        heard = [network.language(inputs_embeds=network(ids, torch.from_numpy(one[None]))).logits for one in audio]
    assert not torch.allclose(*heard)
