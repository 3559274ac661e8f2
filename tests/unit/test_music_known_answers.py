"""Describers where the answer is known: losses one by one, rows in any order, stages that start from each other."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch
from finetune_fixtures import make_bert, make_tokenizer
from music_samples import TEMPLATE, annotated, heard, tone, write_example_files
from PIL import Image
from reprlab.artifacts.json_files import read_json
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.music import template
from reprlab.music.accuracy import accuracy_rows, constant_rows, feature_rows, right
from reprlab.music.annotated import to_annotate, write_annotations
from reprlab.music.annotation import Annotator, conversation
from reprlab.music.describer import MUSIC, Examples, asked, prompt_ids, target_loss, write_texts
from reprlab.music.description_scores import description_rows
from reprlab.music.hearing import key_score
from reprlab.music.own_folder import TABLE, own_paths
from reprlab.music.settings import DescriptionScoring
from reprlab.music.tracks import Track, is_still, write_tracks
from reprlab.music.training import ABOUT, load_describer, load_examples, new_describer
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


def test_only_music_has_other_embeddings_than_its_tokens_and_an_end_is_no_text(model):  # noqa: F811
    network, tokenizer = load_describer(model, None, 6), open_tokenizer(model)
    music = torch.randn(1, 2, 6, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        found = network(torch.tensor([[0, MUSIC, 5, MUSIC]]), music)[0]
        table, (one, two) = network.language.get_input_embeddings().weight, network.adaptor(music[0])
    assert torch.equal(found, torch.stack([table[0], one, table[5], two]))
    # A head that writes the end at once.
    head = torch.nn.Linear(table.shape[1], len(table))
    with torch.no_grad():
        head.weight.zero_()
        head.bias.zero_()[tokenizer.eos_token_id] = 9.0
    network.language.set_output_embeddings(head)
    prompt = prompt_ids(tokenizer, *asked(annotated(), "description", "1", blank=False), 2)
    assert write_texts(network, tokenizer, [prompt], music.numpy(), batch_size=1, max_new_tokens=3) == [""]


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
    about = read_json(first / ABOUT)
    assert about["steps"] == 2 and about["tokens"] > 100
    assert (about["width"], about["examples"], about["cut_targets"]) == (6, 6, 0)
    curve = read_tsv(tmp_path / "1/m.tsv")
    assert set(curve["cut_targets"]) == {0}


def test_passes_over_the_training_tracks_are_counted_in_updates(model, files, tmp_path):  # noqa: F811
    wanted = settings(task="caption", inputs="1", adapter=None, epochs=1.5)
    found = trained(model, files, tmp_path, wanted)
    # Six training tracks, two an update.
    assert read_json(found / ABOUT)["steps"] == 4


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


def test_measures_of_a_heard_track_by_hand():
    """Bars of 3 beats at 96 a minute are 1.875 s; heard downbeats are at 0 and 1.8 s, the second within no 70 ms."""
    about = {"kind": "rendered", "genre": "chorale", "split": "train", "tempo": 96.0, "key": "A major", "meter": 3,
             "upbeat": 0.0, "seconds": 3.0}  # fmt: skip
    found = heard()
    assert found["tempo"][0][0] == 96 and found["tempo"][1][0] == 192
    assert right(about, found) == {
        "tempo": 1, "tempo_octave": 1, "tempo_candidate": 1, "key": 1, "key_weighted": 1, "meter": 1, "downbeats": 0.5,
    }  # fmt: skip
    slow = right(about | {"tempo": 48.0, "key": "F# minor", "meter": 6, "upbeat": 1.0}, found)
    assert (slow["tempo"], slow["tempo_octave"], slow["key"], slow["key_weighted"]) == (0, 1, 0, 0.3)
    assert slow["meter"] == 1 and slow["downbeats"] == 0
    # A fifth above the key is half right, the key a fifth above what is heard is not.
    keys = [right(about | {"key": key}, found)["key_weighted"] for key in ("D major", "E major")]
    assert found["key_label"] == "A major" and keys == [0.5, 0]
    # madmom hears three beats or four: 6 and 9 are threes, 2 and 12 are fours.
    for beats, known in ((3, (3, 6, 9)), (4, (2, 4, 12))):
        whole = [right(about | {"meter": one}, found | {"meter": beats})["meter"] for one in (2, 3, 4, 5, 6, 9, 12)]
        assert whole == [float(one in known) for one in (2, 3, 4, 5, 6, 9, 12)]
    # The second candidate alone is right, where the first is neither the tempo nor an octave of it.
    second = right(about | {"tempo": 64.0}, found | {"tempo": [[100.0, 0.9], [64.0, 0.1]]})
    assert (second["tempo"], second["tempo_octave"], second["tempo_candidate"]) == (0, 0, 1)
    nothing = right(about, found | {"tempo": [], "downbeats": [[0.5, 2.0]]})
    assert [nothing[name] for name in ("tempo", "tempo_octave", "tempo_candidate", "downbeats")] == [0] * 4
    assert [key_score("C major", known) for known in ("A minor", "C minor", "F major", "G major", "D major")] == [
        0.3, 0.2, 0.5, 0, 0,
    ]  # fmt: skip
    assert [key_score("A minor", known) for known in ("C major", "F# major", "D minor")] == [0.3, 0, 0.5]


def test_accuracy_is_of_rendered_tracks_and_constants_are_chosen_on_training_ones():
    about = {"kind": "rendered", "genre": "tune", "key": "A major", "meter": 4, "upbeat": 0.0, "seconds": 3.0}
    tempi = [("train", 60.0), ("train", 60.0), ("test", 97.0), ("test", 97.0), ("test", 97.0)]
    tracks = [
        {"track": f"t{place}", **about, "split": split, "tempo": tempo} for place, (split, tempo) in enumerate(tempi)
    ]
    own = {**tracks[0], "track": "own", "kind": "own", "tempo": 0.0, "genre": "song"}
    rows = constant_rows([*tracks, own])
    assert len(rows) == 5 and [row["tempo"] for row in rows] == [1, 1, 0, 0, 0]
    found = accuracy_rows([*rows, {"kind": "own", "genre": "song"}], "best")
    assert {row["genre"] for row in found} == {"all", "tune"} and {row["name"] for row in found} == {"best"}
    tempo = next(row for row in found if row["metric"] == "tempo" and row["genre"] == "all")
    assert tempo["value"] == 40 and tempo["n"] == 5 and 0 < tempo["low"] < 40 < tempo["high"] < 100
    graded = accuracy_rows([row | {"key_weighted": 0.5} for row in rows])
    assert {row["low"] for row in graded if row["metric"] == "key_weighted"} == {""}
    heard_rows = feature_rows([*tracks, own], {one["track"]: heard() for one in [*tracks, own]})
    assert [row["known_bpm"] for row in heard_rows] == [*(tempo for _, tempo in tempi), ""]
    assert [row["tempo"] for row in heard_rows] == [0, 0, 1, 1, 1, ""]


def test_annotations_are_of_the_tracks_of_a_shard(tmp_path):
    tracks = [
        Track(f"t{place}", f"t{place}", "own", "pop", tone(4.0, loudness=0.1 + 0.1 * place)) for place in range(5)
    ]
    write_tracks(
        tmp_path / "tracks.parquet", [(one, "train" if number else "test") for number, one in enumerate(tracks)]
    )
    with (tmp_path / "heard.jsonl").open("w") as handle:
        for place in (3, 0, 4, 1, 2):
            handle.write(json.dumps({"track": f"t{place}", **heard(90.0 + place)}) + "\n")
    shards = [
        to_annotate(tmp_path / "tracks.parquet", [tmp_path / "heard.jsonl"], TEMPLATE, (one, 2)) for one in range(2)
    ]
    assert sorted(one["track"] for shard in shards for one in shard) == [f"t{place}" for place in range(5)]
    assert all(shards) and len(to_annotate(tmp_path / "tracks.parquet", [tmp_path / "heard.jsonl"], TEMPLATE)) == 5
    found = [one for shard in shards for one in shard]
    for one in found:
        assert one["heard"]["tempo"][0][0] == 90 + int(one["track"][1:]) and "samples" not in one
        assert len(one["levels"]) == 2 and one["frame_seconds"] == 2.0
    loud = {one["track"]: one["loudness"] for one in found}
    assert [loud[f"t{place}"] for place in range(5)] == sorted(loud.values())
    Annotator(TEMPLATE, tmp_path / "answers", None, nullcontext).annotate(found)
    write_annotations(tmp_path / "a.parquet", found, TEMPLATE)
    rows = read_parquet(tmp_path / "a.parquet").to_pylist()
    assert [row["track"] for row in rows] == [one["track"] for one in found]
    for row, one in zip(rows, found, strict=True):
        mood = template.mood_of(one, TEMPLATE.seed)
        assert row["genre"] == f"pop, {mood}" and row["lyrics_text"] == one["lyrics_text"] != row["caption"]
        assert json.loads(row["frames"]) == one["frames"] and set(json.loads(row["written_by"]).values()) == {
            "template"
        }
    assert len({template.mood_of({"track": "t"}, seed) for seed in range(8)}) > 2
    chat = TEMPLATE.model_copy(update={"backend": "local"})
    write_annotations(tmp_path / "b.parquet", found, chat)
    assert {row["genre"] for row in read_parquet(tmp_path / "b.parquet").to_pylist()} == {"pop"}


def test_the_order_of_files_in_a_folder_decides_nothing(tmp_path, monkeypatch):
    """The first frame is the first by name: two others that differ from it by less than the tolerance are still."""
    for name, grey in (("0.png", 102), ("1.png", 101), ("2.png", 103)):
        Image.new("L", (64, 64), grey).save(tmp_path / name)
    one = annotated() | {"video": str(tmp_path)}
    plain, listed = Path.glob, []
    for turned in (False, True):
        monkeypatch.setattr(Path, "glob", lambda self, form, t=turned: sorted(plain(self, form), reverse=t))
        listed.append((is_still(tmp_path), conversation("frames", one)))
    assert listed[0] == listed[1] and listed[0][0]


def test_columns_of_an_own_table_that_a_row_lacks_name_no_file(tmp_path):
    (tmp_path / TABLE).write_text("track\tfile\tvideo\na\t/far/a.wav\t/far/a\nb\t/far/b.wav\n")
    assert own_paths(tmp_path)[1:] == [Path("/far/a"), Path("/far/a.wav"), Path("/far/b.wav")]
