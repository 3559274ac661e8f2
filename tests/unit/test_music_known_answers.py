"""Describers where the answer is known: losses one by one, rows in any order, stages that start from each other."""

import json

import numpy as np
import pytest
import torch
from finetune_fixtures import make_bert, make_tokenizer
from music_samples import annotated, write_example_files
from reprlab.artifacts.json_files import read_json
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.music.describer import Examples, asked, prompt_ids, target_loss, write_texts
from reprlab.music.description_scores import description_rows
from reprlab.music.settings import DescriptionScoring
from reprlab.music.training import effort, load_describer, load_examples, new_describer
from reprlab.text.tokenizer_folder import open_tokenizer
from test_music_describer import files, model, settings, texts_of, trained  # noqa: F401 (fixtures)


def loud(network):
    """Weights ten times as large: what is read decides what is written."""
    with torch.no_grad():
        for one in network.parameters():
            if one.dim() > 1:
                one.mul_(10)
    return network


def test_the_loss_of_a_batch_is_that_of_its_rows_alone(model, files):  # noqa: F811
    """Each token of a target is predicted at the position before it, from the states of its own track."""
    tracks, audio = load_examples([files[0]], files[1], "train")
    assert [one["track"] for one in tracks] == [f"t{place}" for place in range(6)]
    examples = Examples(open_tokenizer(model), tracks, audio, settings(inputs="1"))
    network = loud(new_describer(model, 6, settings(inputs="1"), None).eval())
    total, count = 0.0, 0
    with torch.no_grad():
        for row in (3, 0, 5):
            one = examples.batch(np.array([row]))
            scores = network.language(inputs_embeds=network(one["ids"], one["music"])).logits[0].float().log_softmax(-1)
            start, wanted = len(examples.prompts[row]), examples.targets[row]
            assert one["ids"].shape == (1, start + len(wanted)) and one["ids"][0, start:].tolist() == wanted
            assert torch.equal(one["music"][0], torch.from_numpy(audio[row]))
            total -= sum(float(scores[start - 1 + place, token]) for place, token in enumerate(wanted))
            count += len(wanted)
        batch = examples.batch(np.array([3, 0, 5]))
        loss, parts = target_loss(network, batch)
    assert int(parts["count"]) == count and int(parts["tokens"]) == int((batch["ids"] != 0).sum())
    assert float(parts["loss_sum"]) == pytest.approx(total, rel=1e-4)
    assert float(loss) == pytest.approx(total / count, rel=1e-4)
    shuffled = batch | {"music": batch["music"].flip(0)}
    assert float(target_loss(network, shuffled)[0].detach()) != pytest.approx(float(loss), rel=1e-4)
    step = examples(0, 0, 0, 1)
    assert step["ids"].shape[0] == 2 and not torch.equal(step["music"], examples(1, 0, 0, 1)["music"])


def test_texts_of_a_shuffled_batch_are_those_of_each_prompt_alone(model):  # noqa: F811
    network, tokenizer = loud(load_describer(model, None, 6)), open_tokenizer(model)
    inputs = ("1234", "1", "123", "12", "1")
    prompts = [
        prompt_ids(tokenizer, *asked(annotated(str(n)), "description", one, blank=False), 3)
        for n, one in enumerate(inputs)
    ]
    music = np.random.default_rng(0).normal(size=(len(inputs), 3, 6)).astype(np.float32)
    more = {"batch_size": 2, "max_new_tokens": 6}
    together = write_texts(network, tokenizer, prompts, music, **more)
    assert together == write_texts(network, tokenizer, prompts, music, **more)
    for number, prompt in enumerate(prompts):
        assert write_texts(network, tokenizer, [prompt], music[[number]], **more) == [together[number]]
    assert len(set(together)) > 2
    hot = [write_texts(network, tokenizer, prompts, music, temperature=5.0, seed=seed, **more) for seed in (0, 0, 1)]
    assert hot[0] == hot[1] != hot[2]


def test_stage_two_goes_on_from_stage_one_and_seeds_draw_the_adaptor(model, files, tmp_path):  # noqa: F811
    first = trained(model, files, tmp_path / "1", settings(task="caption", inputs="1", adapter=None, steps=2))
    start = new_describer(model, 6, settings(), first)
    kept = load_describer(model, first, 6)
    assert torch.equal(start.adaptor.weight, kept.adaptor.weight) and not kept.training
    assert torch.equal(start.adaptor.bias, kept.adaptor.bias)
    drawn = [load_describer(model, None, 6, seed).adaptor.weight for seed in (0, 0, 1)]
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[1], drawn[2])
    other = settings()
    other = other.model_copy(update={"engine": other.engine.model_copy(update={"seed": 5})})
    fresh = [new_describer(model, 6, one, None) for one in (settings(), other)]
    assert not torch.equal(fresh[0].adaptor.weight, fresh[1].adaptor.weight)
    lora = [next(one for name, one in net.named_parameters() if "lora_A" in name) for net in fresh]
    assert not torch.equal(*lora)
    assert effort(None) == {"steps": 0, "tokens": 0}
    about = read_json(first / "describer.json")
    assert effort(first) == {"steps": 2, "tokens": about["tokens"]} and about["tokens"] > 100
    assert (about["width"], about["examples"], about["cut_targets"]) == (6, 6, 0)
    curve = read_tsv(tmp_path / "1/m.tsv")
    assert set(curve["cut_targets"]) == {0}


def test_passes_over_the_training_tracks_are_counted_in_updates(model, files, tmp_path):  # noqa: F811
    wanted = settings(task="caption", inputs="1", adapter=None, epochs=1.5)
    found = trained(model, files, tmp_path, wanted)
    # Six training tracks, two an update.
    assert effort(found)["steps"] == 4


def test_the_tracks_of_the_test_split_are_described_each_by_its_own_sound(model, files, tmp_path):  # noqa: F811
    describer = trained(model, files, tmp_path, settings(task="caption", inputs="1", adapter=None, steps=1))
    network, tokenizer = load_describer(model, describer, 6), open_tokenizer(model)
    tracks, audio = load_examples([files[0]], files[1], "test")
    texts_of(model, files, tmp_path / "a.parquet", describer, inputs="14")
    rows = read_parquet(tmp_path / "a.parquet").to_pylist()
    assert [row["track"] for row in rows] == ["t6", "t7"]
    for row, one, states in zip(rows, tracks, audio, strict=True):
        pair = asked(one, "description", "14", blank=False)
        alone = write_texts(
            network, tokenizer, [prompt_ids(tokenizer, *pair, 3)], states[None], batch_size=1, max_new_tokens=12
        )
        assert (row["text"], row["target"], row["prompt"]) == (alone[0], one["description"], pair[0])
        assert row["steps"] == 1
    hot = {}
    for seed in (0, 1):
        about = {"inputs": "14", "temperature": 3.0, "seed": seed}
        hot[seed] = texts_of(model, files, tmp_path / "h.parquet", describer, **about)
    assert hot[0] != hot[1]
    assert len(texts_of(model, files, tmp_path / "l.parquet", describer, limit=1)) == 1


def test_states_go_to_the_track_of_their_name(model, tmp_path):  # noqa: F811
    tracks = [annotated(name, "train") for name in ("b", "c", "a")]
    annotations, states = write_example_files(tmp_path, tracks)
    found, audio = load_examples([annotations], states, "train")
    assert [one["track"] for one in found] == ["a", "b", "c"]
    by_name = {row["track"]: row["states"] for row in read_parquet(states).to_pylist()}
    for one, own in zip(found, audio, strict=True):
        assert np.array_equal(own, np.array(by_name[one["track"]], dtype=np.float32))


def test_shares_of_well_formed_and_empty_texts(tmp_path):
    whole = annotated()
    texts = [whole["description"], "", "no heading", whole["description"], "one"]
    frames = json.dumps([-1.0] * len(whole["levels"]))
    encoder = make_bert(tmp_path / "model", make_tokenizer(tmp_path / "tokenizer"))
    wanted = DescriptionScoring(max_length=64, resamples=20)
    found = description_rows(["a b"] * 5, texts, [{"frames": frames}] * 5, encoder, wanted)
    rows = {row["metric"]: row for row in found}
    assert len(rows) == len(found) == 10
    assert rows["well_formed"]["value"] == 40 and rows["empty"]["value"] == 20 and rows["empty"]["n"] == 5
