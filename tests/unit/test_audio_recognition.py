"""Recognisers: adapters, subsets, decoding, scores, transfer, and weights out of files of CTranslate2."""

import hashlib
import struct
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reprlab.artifacts.tables import read_tsv
from reprlab.audio.adapters import Adapted, ConvAdapter, FFAdapter, counts, tune
from reprlab.audio.recognition import Recogniser, Vocabulary, ctc_loss, log_mel, subset, utterances
from reprlab.audio.scores import error_counts, score_rows
from reprlab.audio.settings import RecogniserSettings, Tuning
from reprlab.audio.training import save_trained, start_from, trained_tensors
from reprlab.audio.transcripts import TranscriptSettings, normalised
from reprlab.data.schema import write_rows
from reprlab.models.build import build_from_config, save_model
from reprlab.models.ctranslate2 import whisper_encoder
from reprlab.papers.asr_adapters.plan import COUNTS
from reprlab.registry.models import ModelEntry, ScratchOrigin, load_models
from reprlab.results.items import difference_over_items
from reprlab.results.sources import Items
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.train_recogniser import train_recogniser
from reprlab.training.settings import EngineSettings, OptimizerSettings

MODELS = load_models(Path(__file__).parents[2] / "config/models.yaml")
WIDTH = 16
WHISPER = ModelEntry(
    architecture="whisper_encoder",
    config={"d_model": WIDTH, "encoder_layers": 2, "encoder_attention_heads": 2, "encoder_ffn_dim": 24,
            "num_mel_bins": 80},
    source="ours", tie_output=True, origin=ScratchOrigin(kind="scratch"),
)  # fmt: skip
WAVES = ModelEntry(
    architecture="wav2vec2",
    config={"hidden_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24,
            "do_stable_layer_norm": True, "feat_extract_norm": "layer", "conv_bias": True, "layerdrop": 0.0,
            "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4},
    source="ours", tie_output=False, origin=ScratchOrigin(kind="scratch"),
)  # fmt: skip
METHODS = {
    "full": Tuning(method="full"),
    "ff": Tuning(method="ff", inner=4),
    "conv": Tuning(method="conv", inner=None),
    "lora": Tuning(method="lora", inner=2),
    "compacter": Tuning(method="compacter", inner=4, terms=2),
    "parallel": Tuning(method="parallel", inner=4),
    "head": Tuning(method="head"),
}


def recogniser(tuning: Tuning, entry: ModelEntry = WHISPER, seed: int = 0) -> Recogniser:
    encoder = build_from_config(entry, seed=seed)
    torch.manual_seed(seed)
    tune(encoder, tuning)
    return Recogniser(encoder, 4, 2.0)


@pytest.mark.parametrize("method", METHODS)
def test_only_what_a_method_names_changes(method: str) -> None:
    model = recogniser(METHODS[method])
    before = {name: value.detach().clone() for name, value in model.named_parameters()}
    batch = {"inputs": torch.randn(2, 80, 20), "lengths": torch.tensor([20, 16]),
             "targets": torch.tensor([[1, 2], [3, 0]]), "target_lengths": torch.tensor([2, 1])}  # fmt: skip
    optimizer = torch.optim.SGD([one for one in model.parameters() if one.requires_grad], lr=1.0)
    for _ in range(2):
        loss, _ = ctc_loss(model, batch)
        loss.backward()
        optimizer.step()
    changed = {name for name, value in model.named_parameters() if not torch.equal(value, before[name])}
    assert changed <= {name for name, value in model.named_parameters() if value.requires_grad}
    inside = {name for name in changed if not name.startswith("head.")}
    own = {"full": "", "lora": "lora_", "head": "head"}.get(method, "adapter")
    assert all(own in name or "layer_norm" in name for name in inside)
    assert bool(inside) == (method != "head") and (method == "full" or any(own in name for name in changed))
    if method != "full":
        assert not any(name.endswith("fc1.weight") for name in changed)


def test_what_is_in_the_batch_changes_nothing() -> None:
    for entry, inputs in ((WHISPER, torch.randn(2, 80, 40)), (WAVES, torch.randn(2, 8000))):
        model = recogniser(METHODS["conv"], entry).eval()
        length = inputs.shape[-1] // 2
        inputs[1, ..., length:] = 0
        both = model(inputs, torch.tensor([inputs.shape[-1], length]))
        alone = model(inputs[1:, ..., :length], torch.tensor([length]))
        frames = model.frames(length)
        assert alone.shape[1] == frames
        assert torch.allclose(both[1, :frames], alone[0], atol=1e-4)


def test_conv_of_nought_leaves_the_encoder_as_it_is_and_ff_does_not() -> None:
    inputs, lengths = torch.randn(1, 80, 20), torch.tensor([20])
    plain = recogniser(METHODS["head"]).eval()
    for method, same in (("conv", True), ("ff", False)):
        model = recogniser(METHODS[method]).eval()
        model.head.load_state_dict(plain.head.state_dict())
        for module in model.modules():
            if isinstance(module, ConvAdapter):
                torch.nn.init.zeros_(module.second.weight)
                torch.nn.init.zeros_(module.second.bias)
            elif isinstance(module, FFAdapter):
                for parameter in module.inside[-1].parameters():
                    torch.nn.init.zeros_(parameter)
        assert torch.equal(model(inputs, lengths), plain(inputs, lengths)) is same


@pytest.mark.parametrize("tuning", [METHODS["conv"], METHODS["ff"].model_copy(update={"norm": False})])
def test_a_small_initial_scale_leaves_the_encoder_nearly_as_it_was_and_has_a_gradient(tuning: Tuning) -> None:
    # Adapters as drawn add so much to a pretrained encoder that 200 updates at 1e-3 ended in CTC's blank phase.
    def adapter(scale: float) -> torch.nn.Module:
        model = recogniser(tuning.model_copy(update={"initial_scale": scale}))
        return next(one for one in model.modules() if isinstance(one, Adapted)).adapter

    states, drawn, scaled = torch.randn(1, 9, WIDTH), adapter(1.0), adapter(0.01)
    assert torch.allclose(scaled(states) - states, 0.01 * (drawn(states) - states), atol=1e-6)
    scaled(states).square().sum().backward()
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in scaled.parameters())


@pytest.mark.parametrize("entry", [WHISPER, WAVES])
def test_outer_adapters_read_the_residual_sum(entry: ModelEntry) -> None:
    tuning = Tuning(method="conv", inner=None, placement="outer")
    model = recogniser(tuning, entry).eval()
    states = torch.randn(1, 9, WIDTH)
    if entry is WHISPER:
        block = model.encoder.layers[0]
        attention, norm, narrow = block.self_attn, block.self_attn_layer_norm, block.fc2
        after = attention.adapter(states + attention.sublayer(norm(states), attention_mask=None)[0])
        inside = block.activation_fn(block.fc1(block.final_layer_norm(after)))
        expected = narrow.adapter(after + narrow.sublayer(inside))
        found = block(states, attention_mask=None)
    else:
        block = model.encoder.encoder.layers[0]
        attention, ahead = block.attention, block.feed_forward
        after = attention.adapter(states + attention.sublayer(block.layer_norm(states))[0])
        expected = ahead.adapter(after + ahead.sublayer(block.final_layer_norm(after)))
        found = block(states)
    found = found[0] if isinstance(found, tuple) else found
    assert torch.allclose(found, expected, atol=1e-5)
    inner = recogniser(Tuning(method="conv", inner=None), entry).eval()
    inner.load_state_dict(model.state_dict())
    inputs = torch.randn(1, 80, 40) if entry is WHISPER else torch.randn(1, 8000)
    length = torch.tensor([inputs.shape[-1]])
    assert not torch.allclose(model(inputs, length), inner(inputs, length), atol=1e-3)


def test_adapters_stand_in_the_upper_blocks_that_are_asked_for() -> None:
    model = recogniser(Tuning(method="conv", inner=None, blocks=1))
    assert [sum(isinstance(one, Adapted) for one in block.modules()) for block in model.encoder.layers] == [0, 2]
    with pytest.raises(ReprlabError, match=r"tuning\.blocks: 3 blocks"):
        recogniser(Tuning(method="conv", inner=None, blocks=3))


def test_counts_follow_the_formulas() -> None:
    encoder = build_from_config(WHISPER)
    tune(encoder, METHODS["ff"])
    found = counts(encoder, METHODS["ff"], 32)
    assert found["adapters"] == 4 * (2 * 4 * WIDTH + 4 + WIDTH + 2 * WIDTH)
    assert found["norms"] == 5 * 2 * WIDTH
    assert found["trained"] == found["adapters"] + found["norms"] + 32 * (WIDTH + 1)


@pytest.mark.parametrize(
    ("model", "tuning", "wanted"),
    [
        ("xls_r_300m", {"method": "ff"}, {"adapters": 25_325_568, "norms": 100_352, "head": 32_800,
                                         "trained": 25_458_720, "backbone": 315_471_520}),
        ("xls_r_1b", {"method": "ff"}, {"adapters": 63_307_776, "norms": 248_320, "head": 40_992,
                                       "trained": 63_597_088, "backbone": 962_538_400}),
        ("mms_1b", {"method": "ff"}, {"adapters": 63_307_776}),
        ("xls_r_2b", {"method": "ff"}, {"adapters": 94_949_376, "norms": 372_480, "head": 61_472,
                                       "trained": 95_383_328, "backbone": 2_159_321_120}),
        ("xls_r_300m", {"method": "ff", "depth": 6}, {"adapters": 37_957_632}),
        ("xls_r_1b", {"method": "ff", "depth": 8}, {"adapters": 101_203_968}),
        ("xls_r_300m", {"method": "conv", "inner": None}, {"adapters": 100_761_600}),
        ("xls_r_2b", {"method": "conv", "inner": None}, {"adapters": 708_157_440}),
    ],
)  # fmt: skip
def test_parameters_and_frames_are_those_of_the_specification(model: str, tuning: dict, wanted: dict) -> None:
    """5.1 and 5.3, on the meta device."""
    method = Tuning.model_validate(tuning)
    with torch.device("meta"):
        recognised = Recogniser(build_from_config(MODELS[model]), 32, 1.0)
        tune(recognised.encoder, method)
    found = counts(recognised.encoder, method, 32)
    assert {name: found[name] for name in wanted} == wanted
    assert [int(recognised.frames(samples)) for samples in (400, 16_000, 160_000, 320)] == [1, 49, 499, 0]


def test_a_low_rank_update_counts_twice() -> None:
    encoder = recogniser(METHODS["lora"]).encoder
    query = encoder.layers[0].self_attn.q_proj
    torch.nn.init.normal_(query.lora_B["default"].weight)
    states = torch.randn(3, WIDTH)
    update = query.lora_B["default"].weight @ query.lora_A["default"].weight
    assert torch.allclose(query(states), query.base_layer(states) + 2 * states @ update.T, atol=1e-5)


def test_transfer_takes_all_but_the_head(tmp_path: Path) -> None:
    source, target = recogniser(METHODS["ff"], seed=1), recogniser(METHODS["ff"], seed=2)
    source.encoder.load_state_dict(target.encoder.state_dict(), strict=False)
    torch.nn.init.ones_(source.encoder.layers[0].self_attn.adapter.inside[0].weight)
    save_trained(source, tmp_path / "a.safetensors")
    head = target.head.weight.clone()
    start_from(target, tmp_path / "a.safetensors")
    assert torch.equal(target.head.weight, head)
    ours, theirs = trained_tensors(target), trained_tensors(source)
    assert all(torch.equal(ours[name], theirs[name]) for name in ours if not name.startswith("head."))
    assert not any(one.requires_grad for one in ours.values())
    with pytest.raises(ReprlabError, match="tuned otherwise"):
        start_from(recogniser(METHODS["conv"]), tmp_path / "a.safetensors")


@pytest.mark.parametrize("method", ["ff", "conv", "lora", "full"])
def test_a_source_language_comes_back_with_what_was_trained_of_it(method: str) -> None:
    # Adapters and norms are all that separates two languages of one encoder; full fine-tuning changes the encoder, so
    # that the source's head alone no longer reads it.
    model = recogniser(METHODS[method]).eval()
    inputs, lengths = torch.randn(1, 80, 20), torch.tensor([20])
    kept = {name: one.clone() for name, one in trained_tensors(model).items()}
    source = model(inputs, lengths)
    with torch.no_grad():
        for one in model.parameters():
            if one.requires_grad:
                one.add_(0.1 * torch.randn_like(one))
    assert not torch.allclose(model(inputs, lengths), source, atol=1e-3)
    back = kept if method != "full" else {name: one for name, one in kept.items() if name.startswith("head.")}
    model.load_state_dict(back, strict=False)
    assert torch.equal(model(inputs, lengths), source) is (method != "full")


@given(st.lists(st.floats(0.4, 6), min_size=30, max_size=60), st.integers(0, 5))
def test_subsets_are_nested_and_of_the_asked_duration(seconds: list[float], seed: int) -> None:
    each = np.array(seconds)
    short, long = (subset(each, minutes, seed) for minutes in (each.sum() / 240, each.sum() / 120))
    assert long[: len(short)] == short
    assert abs(each[long].sum() - each.sum() / 2) <= 3.0
    with pytest.raises(ReprlabError, match="minutes are asked for"):
        subset(each, each.sum() / 60 + 1, seed)


def test_greedy_decoding_merges_then_drops_blanks() -> None:
    vocabulary = Vocabulary.of(["ab"])
    assert vocabulary.characters == " ab"
    assert vocabulary.collapse([3, 3, 0, 3, 1, 1, 0, 1, 2, 2]) == "bb a"
    assert vocabulary.collapse([0, 1, 0]) == ""


def test_rates_are_of_sums_and_may_pass_a_hundred() -> None:
    found = error_counts(["a b c", "d"], ["a c", "e"])
    assert (sum(found["word_errors"]), sum(found["words"])) == (2, 4)
    rows = {row["metric"]: row["value"] for row in score_rows(["a", "b"], ["", "b c d e"])}
    assert (rows["wer"], rows["empty"]) == (200, 50)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[tono simple]", ""),
        ("( beep ).", ""),
        ("[!] punto esclamativo", "punto esclamativo"),
        ("Spiacente, [quello] non è", "spiacente quello non è"),
        ("Pour (emphase)", "pour"),
        ("press 1", ""),
        ("l’appel d'ici", "l'appel d'ici"),
        ("at [@] Дефис", ""),
        ("Ċava għal", "ċava għal"),
    ],
)
def test_transcripts_are_what_is_said(text: str, expected: str) -> None:
    assert normalised(text, TranscriptSettings()) == expected


def test_alphabets_and_accents_are_options() -> None:
    assert normalised("Дефис. [-]", TranscriptSettings(alphabet="CYRILLIC")) == "дефис"
    assert normalised("Trés último", TranscriptSettings(fold_accents=True)) == "tres ultimo"
    assert normalised("বাংলা ভাষা", TranscriptSettings(alphabet="BENGALI")) == "বাংলা ভাষা"


def stored(variables: dict[str, np.ndarray]) -> bytes:
    def text(value: str) -> bytes:
        return struct.pack("<H", len(value) + 1) + value.encode() + b"\0"

    parts = [struct.pack("<I", 6), text("WhisperSpec"), struct.pack("<II", 3, len(variables))]
    for name, value in variables.items():
        half = value.astype("<f2")
        parts += [text(name), struct.pack("<B", half.ndim), struct.pack(f"<{half.ndim}I", *half.shape)]
        parts += [struct.pack("<BI", 4, half.nbytes), half.tobytes()]
    return b"".join([*parts, struct.pack("<I", 0)])


def as_stored(encoder: torch.nn.Module) -> dict[str, np.ndarray]:
    """The variables of an encoder as CTranslate2 names and stacks them."""
    state = {name: value.numpy() for name, value in encoder.state_dict().items()}
    found = {"encoder/position_encodings/encodings": state["embed_positions.weight"]}
    norms = {"weight": "gamma", "bias": "beta"}
    for name, value in state.items():
        first, _, part = name.rpartition(".")
        if first in ("conv1", "conv2"):
            found[f"encoder/{first}/{part}"] = value
        elif first == "layer_norm":
            found[f"encoder/layer_norm/{norms[part]}"] = value
    places = {"self_attn.out_proj": "self_attention/linear_1", "fc1": "ffn/linear_0", "fc2": "ffn/linear_1"}
    normed = {"self_attn_layer_norm": "self_attention/layer_norm", "final_layer_norm": "ffn/layer_norm"}
    for number in range(2):
        ours, theirs = f"layers.{number}.", f"encoder/layer_{number}/"
        for part in ("weight", "bias"):
            found |= {f"{theirs}{to}/{part}": state[f"{ours}{name}.{part}"] for name, to in places.items()}
            found |= {f"{theirs}{to}/{norms[part]}": state[f"{ours}{name}.{part}"] for name, to in normed.items()}
            missing = np.zeros(WIDTH, np.float32)
            stacked = [state.get(f"{ours}self_attn.{one}_proj.{part}", missing) for one in "qkv"]
            found[f"{theirs}self_attention/linear_0/{part}"] = np.concatenate(stacked)
    return found


def test_weights_come_out_of_the_pieces_of_a_file(tmp_path: Path) -> None:
    encoder = build_from_config(WHISPER, seed=3)
    content = stored(as_stored(encoder))
    pieces = [tmp_path / "one", tmp_path / "two"]
    for piece, part in zip(pieces, (content[:5000], content[5000:]), strict=True):
        piece.write_bytes(part)
    found = whisper_encoder(WHISPER, pieces).state_dict()
    for name, value in encoder.state_dict().items():
        assert torch.allclose(found[name], value, atol=2e-3), name
    with pytest.raises(ReprlabError, match="not a model of CTranslate2"):
        whisper_encoder(WHISPER, pieces[:1])
    three = WHISPER.model_copy(update={"config": {**WHISPER.config, "encoder_layers": 3}})
    with pytest.raises(ReprlabError, match="lacks 'encoder/layer_2"):
        whisper_encoder(three, pieces)


def speech(path: Path, lengths: dict[str, float] | None = None) -> Path:
    """Four utterances a split, of a second or of the seconds that `lengths` says by their ids."""
    rng = np.random.default_rng(0)
    rows = [
        {"id": f"{split}{number}", "group": f"g{number}", "split": split, "text": text,
         "seconds": (lengths or {}).get(f"{split}{number}", 1.0), "rate": 16000, "kind": "g722",
         "audio": rng.integers(0, 256, 8000, dtype=np.uint8).tobytes()}
        for split in ("train", "validation", "test")
        for number, text in enumerate(("ab a", "b", "a b", "ba"))
    ]  # fmt: skip
    write_rows(path, rows, "speech", {"name": "s"})
    return path


def train_to(folder: Path, given: Path, encoder: Path, **more: object) -> dict[str, str]:
    engine = EngineSettings(steps=4, batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-3), log_every=1)
    settings = RecogniserSettings(
        tuning=METHODS["conv"], minutes=0.05, data_seed=0, engine=engine, head_learning_rate=1e-2
    )
    names = {"metrics": "m.tsv", "curve": "c.tsv", "hypotheses": "h.parquet"}
    train_recogniser(
        speech=given, model=encoder, out=folder / "trained", work=folder / "work", settings=settings, fingerprint="f",
        save_every=1, **{name: folder / file for name, file in names.items()}, **more,
    )  # fmt: skip
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_utterances_add_up_to_the_rates(tmp_path: Path) -> None:
    """As claims read them, which refuse what does not."""
    save_model(build_from_config(WHISPER, seed=0), tmp_path / "encoder")
    train_to(tmp_path / "one", speech(tmp_path / "speech.parquet"), tmp_path / "encoder")
    items = Items(path=tmp_path / "one/h.parquet", item="id", counts=COUNTS).model_dump_json()
    rows = read_tsv(tmp_path / "one/m.tsv").assign(items=items, source="m.tsv")
    rows["subset"] = rows["subset"].astype(object).fillna("")
    rows = rows[rows["metric"].isin(list(COUNTS)) & (rows["name"] == "model") & (rows["subset"] == "")]
    assert len(rows) >= len(COUNTS)
    for place in range(len(rows)):
        gap = difference_over_items([rows.iloc[[place]]] * 2, (1, -1), "utterance")
        assert gap is not None and (gap.low, gap.high, gap.n) == (0, 0, rows.iloc[place]["n"])


def test_a_resumed_training_ends_with_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = speech(tmp_path / "speech.parquet")
    save_model(build_from_config(WHISPER, seed=0), tmp_path / "encoder")
    whole = train_to(tmp_path / "whole", given, tmp_path / "encoder")
    calls = []

    def dies(*args: object) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return ctc_loss(*args)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr("reprlab.audio.training.ctc_loss", dies)
        with pytest.raises(KeyboardInterrupt):
            train_to(tmp_path / "resumed", given, tmp_path / "encoder")
    assert list((tmp_path / "resumed/work").glob("resume-*"))
    assert train_to(tmp_path / "resumed", given, tmp_path / "encoder") == whole


def test_log_mel_has_an_even_number_of_steps() -> None:
    found = log_mel(np.random.default_rng(0).normal(size=16100).astype(np.float32), 80)
    assert found.shape == (80, 102)


LONGER = {"whisper": (60, 120), "wav2vec2": (1500, 4000)}


@pytest.mark.parametrize("entry", [WHISPER, WAVES], ids=["whisper", "wav2vec2"])
@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("placement", ["inner", "outer"])
def test_no_kernel_sees_what_stands_behind_an_utterance(entry: ModelEntry, kernel: int, placement: str) -> None:
    """Layers before a convolution give padding values of their own, which a wider kernel would carry into speech."""
    model = recogniser(Tuning(method="conv", inner=8, kernel=kernel, placement=placement), entry).eval()
    front, (short, long) = (() if model.reads_waves else (80,)), LONGER["wav2vec2" if model.reads_waves else "whisper"]
    torch.manual_seed(1)
    one, other = torch.randn(*front, short), torch.randn(*front, long)
    with torch.no_grad():
        alone = model(one[None], torch.tensor([short]))
        pair = torch.stack([torch.nn.functional.pad(one, (0, long - short)), other])
        both = model(pair, torch.tensor([short, long]))
    frames = int(model.frames(short))
    assert float((alone[0, :frames] - both[0, :frames]).abs().max()) < 1e-5


def test_what_cannot_be_the_same_in_every_batch_is_refused_by_name() -> None:
    grouped = WAVES.model_copy(update={"config": {**WAVES.config, "feat_extract_norm": "group"}})
    with pytest.raises(ReprlabError, match=r"feature_extractor\..* is a GroupNorm.*feat_extract_norm: layer"):
        recogniser(METHODS["head"], grouped)
    with pytest.raises(ValueError, match="kernel: 4 is even"):
        Tuning(method="conv", kernel=4)
    with pytest.raises(ReprlabError, match="2 is even"):
        ConvAdapter(WIDTH, 4, kernel=2)


@pytest.mark.parametrize("split", ["validation", "test"])
@pytest.mark.parametrize(("seconds", "said"), [(33.0, "33.0 s of speech, Whisper reads 30 s"), (0.0, "make no frame")])
def test_what_is_only_scored_is_checked_before_the_first_update(
    split: str, seconds: float, said: str, tmp_path: Path
) -> None:
    given = speech(tmp_path / "speech.parquet", {f"{split}2": seconds})
    save_model(build_from_config(WHISPER, seed=0), tmp_path / "encoder")
    with pytest.raises(ReprlabError, match=rf"{split}2: .*{said}.*longest or shortest"):
        train_to(tmp_path / "one", given, tmp_path / "encoder")
    assert not list((tmp_path / "one").rglob("resume-*"))


@pytest.mark.parametrize(("entry", "seconds", "fits"), [(WHISPER, 0.001, True), (WAVES, 0.0249, False),
                                                        (WAVES, 0.025, True)])  # fmt: skip
def test_the_shortest_speech_that_makes_a_frame_is_enough(
    entry: ModelEntry, seconds: float, fits: bool, tmp_path: Path
) -> None:
    """Spectrograms are filled up to a whole frame; 400 samples are the first frame of wav2vec 2.0."""
    heard = utterances(speech(tmp_path / "s.parquet", {"test2": seconds}), "test", recogniser(METHODS["head"], entry))
    with nullcontext() if fits else pytest.raises(ReprlabError, match="make no frame"):
        heard.require_lengths()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes <COMMA> we do <PERIOD>", "yes we do"),
        ("{laugh} no {breath}", "no"),
        ("no ++laugh++ ++yes++", "no yes"),
        ("#laugh no %um &=coughs", "no um"),
        ("rock#music ++unk++", ""),
        ("we went <unk> home", ""),
        ("we went [inaudible] home", ""),
        ("<noise> hello", "hello"),
        ("well [laughter] then", "well then"),
        ("well *coughs* then *sigh*", "well then"),
        ("press [one] or *two*", "press one or two"),
        ("<MUSIC>", ""),
        ("[MUSIC PLAYING] yes", "yes"),
        ("a < b", "a b"),
    ],
)
def test_tags_of_transcribers_are_no_words(text: str, expected: str) -> None:
    assert normalised(text, TranscriptSettings()) == expected


def test_words_where_nothing_was_said_are_errors() -> None:
    """One reference of two words, and an empty one for which three are written: three errors in two words."""
    rows = {row["metric"]: row for row in score_rows(["a b", ""], ["a b", "x y z"])}
    assert rows["wer"]["value"] == pytest.approx(150) and rows["wer"]["n"] == 2
    assert {row["metric"]: row for row in score_rows(["a b", ""], ["a b", ""])}["wer"]["value"] == 0
