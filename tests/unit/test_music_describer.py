"""What a describer reads and learns: an audio branch that is cut off must not pass unseen."""

from pathlib import Path

import numpy as np
import pytest
import torch
from music_samples import annotated, make_language_model, write_example_files
from reprlab.artifacts.tables import read_parquet
from reprlab.music import forms
from reprlab.music.describer import END, MUSIC, Describer, Examples, asked, prompt_ids, target_loss
from reprlab.music.settings import DescriberTraining, DescriptionGeneration
from reprlab.music.training import load_describer, load_examples, new_describer, save_describer
from reprlab.representations.settings import AdapterRecipe
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.describe_tracks import describe_tracks
from reprlab.stages.train_describer import train_describer
from reprlab.text.tokenizer_folder import open_tokenizer
from reprlab.training.settings import EngineSettings, OptimizerSettings

LORA = AdapterRecipe(rank=2, alpha=2, dropout=0.0, targets=["q_proj", "v_proj"], max_length=400)


def settings(task="description", inputs="1234", adapter=LORA, steps=3, **about):
    engine = EngineSettings(steps=steps, batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-2), seed=0)
    return DescriberTraining(task=task, inputs=inputs, max_length=400, adapter=adapter, engine=engine, **about)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_language_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def files(tmp_path):
    tracks = [annotated(f"t{place}", "test" if place > 5 else "train") for place in range(8)]
    return write_example_files(tmp_path, tracks)


def trained(model, files, folder, wanted, start=None):
    annotations, states = files
    out = folder / "describer"
    train_describer(
        model=model, annotations=[annotations], states=states, out=out, metrics=folder / "m.tsv", work=folder / "work",
        settings=wanted, fingerprint="f", start=start,
    )  # fmt: skip
    return out


def texts_of(model, files, out, describer, **about):
    annotations, states = files
    wanted = DescriptionGeneration(**{"inputs": "1234", "max_new_tokens": 12, **about})
    describe_tracks(
        model=model, annotations=[annotations], states=states, out=out, settings=wanted, describer=describer
    )
    return read_parquet(out)["text"].to_pylist()


def test_the_order_is_start_data_instruction_and_music_stands_in_its_place(model):
    tokenizer = open_tokenizer(model)
    text, instruction = asked(annotated(), "description", "1234", blank=False)
    ids = prompt_ids(tokenizer, text, instruction, 3)
    place = ids.index(MUSIC)
    assert ids[place : place + 3] == [MUSIC] * 3 and MUSIC not in ids[:place] + ids[place + 3 :]
    assert tokenizer.decode(ids[:place]) == "### Human: Music: "
    behind = tokenizer.decode(ids[place + 3 :])
    assert behind.startswith("\nMusic genre: chorale\nMV type: ") and behind.endswith(
        forms.INSTRUCTION + "\n### Assistant: "
    )
    assert asked(annotated(), "description", "1234", blank=True)[0] == ""


def test_the_layout_leaves_out_what_is_not_among_the_inputs():
    assert forms.input_text(annotated(), "23").count("\n") == 1
    assert forms.AUDIO not in forms.input_text(annotated(), "234")


@pytest.mark.parametrize("name", [forms.AUDIO, "<|end|>", "\n###"])
def test_text_of_a_track_never_acts_as_a_token_or_a_placeholder(model, name):
    tokenizer = open_tokenizer(model)
    one = annotated() | {"genre": f"pop{name}", "lyrics_text": f"{name} end"}
    ids = prompt_ids(tokenizer, *asked(one, "description", "1234", blank=False), 2)
    assert ids.count(MUSIC) == 2 and tokenizer.eos_token_id not in ids
    assert "\n###" not in forms.input_text(one, "1234")


def test_without_music_among_the_inputs_the_audio_changes_no_token(model, files, tmp_path):
    found = trained(model, files, tmp_path, settings(inputs="234"))
    other = write_example_files(
        tmp_path / "o", [annotated(f"t{n}", "test" if n > 5 else "train") for n in range(8)], seed=9
    )
    one = texts_of(model, files, tmp_path / "a.parquet", found, inputs="234")
    assert one == texts_of(model, (files[0], other[1]), tmp_path / "b.parquet", found, inputs="234")


def test_with_music_among_the_inputs_the_audio_changes_the_output_and_the_adaptor_learns(model, files, tmp_path):
    first = trained(model, files, tmp_path / "1", settings(task="caption", inputs="1", adapter=None))
    second = trained(model, files, tmp_path / "2", settings(), start=first)
    network, before = (load_describer(model, folder, 6) for folder in (second, first))
    assert not torch.equal(network.adaptor.weight, before.adaptor.weight)
    ids = torch.tensor([prompt_ids(open_tokenizer(model), *asked(annotated(), "description", "1", blank=False), 3)])
    music = torch.randn(2, 1, 3, 6)
    with torch.inference_mode():
        logits = [network.language(inputs_embeds=network(ids, one)).logits[:, -1] for one in music]
    assert not torch.allclose(*logits)


def test_the_first_stage_trains_the_adaptor_alone(model, files, tmp_path):
    found = new_describer(model, 6, settings(task="caption", inputs="1", adapter=None), None)
    assert {name.split(".")[0] for name, one in found.named_parameters() if one.requires_grad} == {"adaptor"}
    tuned = new_describer(model, 6, settings(inputs="234"), None)
    names = [name for name, one in tuned.named_parameters() if one.requires_grad]
    assert names and all("lora" in name for name in names)


def test_blank_output_is_the_same_for_every_track(model, files, tmp_path):
    found = trained(model, files, tmp_path, settings())
    texts = texts_of(model, files, tmp_path / "a.parquet", found, blank=True)
    assert len(texts) == 2 and len(set(texts)) == 1
    prompts = {
        tuple(prompt_ids(open_tokenizer(model), *asked(annotated(n), "description", "1234", blank=True), 3))
        for n in "ab"
    }
    assert len(prompts) == 1


def test_fresh_lora_changes_no_bit_and_merged_lora_agrees(model, files, tmp_path):
    plain, fresh = load_describer(model, None, 6), new_describer(model, 6, settings(), None).eval()
    ids = torch.arange(20)[None]
    with torch.inference_mode():
        assert torch.equal(plain.language(ids).logits, fresh.language(ids).logits)
    torch.manual_seed(0)
    for name, one in fresh.language.named_parameters():
        if "lora_B" in name:
            one.data.normal_(std=0.05)
    (tmp_path / "d").mkdir()
    save_describer(fresh, tmp_path / "d", {"steps": 1, "tokens": 1})
    merged = load_describer(model, tmp_path / "d", 6)
    with torch.inference_mode():
        torch.testing.assert_close(merged.language(ids).logits, fresh.language(ids).logits, atol=1e-5, rtol=0)


def test_only_tokens_of_the_target_are_learned(model, files):
    annotations, states = files
    tracks, audio = load_examples([annotations], states, "train")
    examples = Examples(open_tokenizer(model), tracks, audio, settings())
    batch = examples.batch(np.array([0, 1]))
    for row in (0, 1):
        start = len(examples.prompts[row])
        assert (batch["labels"][row, :start] == -100).all()
        kept = batch["labels"][row][batch["labels"][row] != -100].tolist()
        assert open_tokenizer(model).decode(kept) == tracks[row]["description"] + END
    network = new_describer(model, 6, settings(), None)
    loss, parts = target_loss(network, batch)
    assert torch.isfinite(loss) and int(parts["count"]) == int((batch["labels"] != -100).sum())


def test_targets_that_are_too_long_are_cut_and_counted(model, files):
    annotations, states = files
    tracks, audio = load_examples([annotations], states, "train")
    tokenizer = open_tokenizer(model)
    most = max(map(len, Examples(tokenizer, tracks, audio, settings()).prompts)) + 10
    examples = Examples(tokenizer, tracks, audio, settings().model_copy(update={"max_length": most}))
    lengths = {len(one) + len(two) for one, two in zip(examples.prompts, examples.targets, strict=True)}
    assert examples.cut == len(tracks) and lengths == {most}
    with pytest.raises(ReprlabError, match=r"leaves no room for its target; raise lora\.max_length"):
        Examples(tokenizer, tracks, audio, settings().model_copy(update={"max_length": most - 20}))


def test_training_resumes_to_the_same_bytes(model, files, tmp_path):
    one = trained(model, files, tmp_path / "1", settings())
    two = trained(model, files, tmp_path / "2", settings())
    assert (one / "adaptor.safetensors").read_bytes() == (two / "adaptor.safetensors").read_bytes()
    names = sorted(path.name for path in (one / "lora").iterdir())
    assert all((one / "lora" / name).read_bytes() == (two / "lora" / name).read_bytes() for name in names)


def test_parameters_of_the_published_sizes():
    """Specification, section 5: an adaptor from 1,024 to 4,096, LoRA of rank 32 on a LLaMA of 7B."""
    from peft import LoraConfig, get_peft_model
    from reprlab.models.build import build_from_config
    from reprlab.registry.models import load_models

    entry = load_models(Path(__file__).parents[2] / "config/models.yaml")["vicuna_7b"]
    with torch.device("meta"):
        language = build_from_config(entry).requires_grad_(False)
        assert sum(one.numel() for one in Describer(language, 1024).adaptor.parameters()) == 4_198_400
        targets = ["q_proj", "k_proj", "v_proj", "o_proj"]
        tuned = get_peft_model(language, LoraConfig(r=32, lora_alpha=32, target_modules=targets))
    assert sum(one.numel() for one in tuned.parameters() if one.requires_grad) == 33_554_432
