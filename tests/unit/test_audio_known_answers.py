"""Recognisers whose answers are known: losses by hand, batches against one at a time, splits that differ."""

import io
import itertools
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from reprlab.artifacts.json_files import read_json
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.audio.completeness import bytes_lacking, is_uncounted_mpeg
from reprlab.audio.recognition import (  # fmt: skip
    Recogniser,
    Utterances,
    Vocabulary,
    alignable,
    ctc_loss,
    log_mel,
    subset,
    transcribed,
    utterances,
)
from reprlab.audio.scores import error_counts
from reprlab.audio.settings import RecogniserSettings
from reprlab.audio.training import _Batches, build
from reprlab.data.schema import write_rows
from reprlab.models.build import build_from_config, save_model
from reprlab.stages.train_recogniser import train_recogniser
from reprlab.training.engine import build_optimizer
from reprlab.training.settings import EngineSettings, OptimizerSettings
from test_audio_decoding import content_of
from test_audio_recognition import METHODS, WAVES, WHISPER, recogniser

SPEECH = {
    "train": [("ab", 0.5), ("b a", 0.9), ("ba", 0.7), ("bb a", 1.0)],
    "validation": [("a b a", 1.1), ("b", 0.4), ("ab ab", 0.8)],
    "test": [("bbb", 0.6), ("a a a a", 0.9)],
}


def speech(path: Path) -> Path:
    """Utterances of unlike lengths, texts and counts in each split."""
    rng = np.random.default_rng(0)
    rows = [
        {"id": f"{split}{number}", "group": f"g{number}", "split": split, "text": text, "seconds": seconds,
         "rate": 16000, "kind": "g722", "audio": rng.integers(0, 256, round(8000 * seconds), dtype=np.uint8).tobytes()}
        for split, said in SPEECH.items()
        for number, (text, seconds) in enumerate(said)
    ]  # fmt: skip
    write_rows(path, rows, "speech", {"name": "s"})
    return path


class Fixed(torch.nn.Module):
    """Scores that are given, whatever is heard."""

    def __init__(self, scores: torch.Tensor) -> None:
        super().__init__()
        self.scores = torch.nn.Parameter(scores)

    def frames(self, lengths: torch.Tensor) -> torch.Tensor:
        return lengths

    def forward(self, inputs: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return self.scores.log_softmax(-1)


def test_the_loss_is_that_of_all_alignments_with_the_first_symbol_as_blank() -> None:
    torch.manual_seed(0)
    model = Fixed(2 * torch.randn(3, 4, 3))
    # The third cannot be aligned: two equal symbols need three frames, and it has two.
    batch = {
        "inputs": torch.zeros(3, 4), "lengths": torch.tensor([4, 3, 2]),
        "targets": torch.tensor([[1, 2, 1], [2, 0, 0], [2, 2, 0]]), "target_lengths": torch.tensor([3, 1, 2]),
    }  # fmt: skip
    loss, parts = ctc_loss(model, batch)
    chances = model(None, None).exp().detach().numpy()
    each = []
    for row, (frames, wanted) in enumerate(((4, [1, 2, 1]), (3, [2]))):
        total = sum(
            np.prod([chances[row, place, symbol] for place, symbol in enumerate(path)])
            for path in itertools.product(range(3), repeat=frames)
            if [symbol for symbol, _ in itertools.groupby(path) if symbol != 0] == wanted
        )
        each.append(-np.log(total) / len(wanted))
    assert float(loss.detach()) == pytest.approx((each[0] + each[1] + 0) / 3, rel=1e-5)
    assert [float(parts[name]) for name in ("loss_sum", "count", "tokens")] == pytest.approx(
        [3 * float(loss.detach()), 3, 9]
    )
    assert not parts["loss_sum"].requires_grad and loss.requires_grad


@pytest.mark.parametrize("entry", [WHISPER, WAVES], ids=["whisper", "wav2vec2"])
def test_a_shuffled_batch_is_transcribed_as_each_utterance_alone(entry, tmp_path: Path) -> None:
    path = speech(tmp_path / "speech.parquet")
    # Dropout is on until the texts are written: WAVES has some.
    model = recogniser(METHODS["head"], entry).train()
    torch.nn.init.normal_(model.head.weight, std=2.0)
    vocabulary = Vocabulary(" ab")
    heard = Utterances(utterances(path, "train", model).rows, model).kept([3, 0, 2, 1])
    together = transcribed(heard, vocabulary, 3, "cpu")
    assert together == transcribed(heard, vocabulary, 3, "cpu")
    model.eval()
    for number, text in enumerate(together):
        inputs, lengths = heard.batch([number])
        assert lengths.tolist() == [inputs.shape[-1]]
        with torch.no_grad():
            scores = model(inputs, lengths)[0]
        best = [symbol for symbol, _ in itertools.groupby(scores.argmax(-1).tolist())]
        assert text == " ".join("".join(" ab"[one - 1] for one in best if one).split())
        assert torch.allclose(scores.exp().sum(-1), torch.ones(len(scores)), atol=1e-5)
    assert len(set(together)) == len(together) and heard.texts == ["bb a", "ab", "ba", "b a"]


def test_samples_are_normed_and_spectrograms_peak_where_the_tone_is(tmp_path: Path) -> None:
    given = utterances(speech(tmp_path / "speech.parquet"), "test", recogniser(METHODS["head"], WAVES))
    samples = given.input(0)
    assert abs(samples.mean()) < 1e-5 and samples.std() == pytest.approx(1, rel=1e-4)
    assert samples.shape == (2 * round(8000 * 0.6),)
    times = np.arange(16000) / 16000
    peaks = []
    for hertz in (500, 1000):
        found = log_mel(np.sin(2 * np.pi * hertz * times).astype(np.float32), 80)
        assert found.dtype == np.float32 and found.shape == (80, 100)
        # log10 of the power, at most 8 below its maximum, between -1 and 1 of a scale of 4.
        assert found.max() - found.min() == pytest.approx(2, abs=1e-3)
        peaks.append(int(np.bincount(found[:, 10:90].argmax(0)).argmax()))
    # 80 bands between 0 and 8 kHz on Slaney's scale: linear up to 1 kHz, about 37 Hz each.
    assert peaks[0] in (12, 13) and peaks[1] in (25, 26)


def test_subsets_end_at_the_utterance_that_is_nearer() -> None:
    each = np.full(10, 4.0)
    assert [len(subset(each, seconds / 60, 0)) for seconds in (1, 3, 9, 10, 11, 40)] == [1, 1, 2, 3, 3, 10]
    assert sorted(subset(each, None, 0)) == list(range(10)) != subset(each, None, 0) != subset(each, None, 1)


def test_an_utterance_has_a_frame_for_each_character_and_between_equal_ones(tmp_path: Path) -> None:
    model = recogniser(METHODS["head"])
    rows = [
        {"id": str(number), "group": "", "split": "train", "text": text, "seconds": 0.1, "rate": 16000, "kind": "g722",
         "audio": bytes(range(200)) * 4}
        for number, text in enumerate(("ababa", "ababab", "abbab", "aaa", "aaaa"))
    ]  # fmt: skip
    write_rows(tmp_path / "s.parquet", rows, "speech", {"name": "s"})
    # A tenth of a second is five frames.
    assert alignable(utterances(tmp_path / "s.parquet", "train", model)).texts == ["ababa", "aaa"]


def settings(seed: int = 0, data_seed: int = 0, rate: float = 1e-9, head: float = 1e-8, **more) -> RecogniserSettings:
    engine = EngineSettings(
        steps=2, batch_size=2, seed=seed, optimizer=OptimizerSettings(learning_rate=rate), log_every=1
    )
    return RecogniserSettings(
        tuning=METHODS["ff"], minutes=1.2 / 60, data_seed=data_seed, engine=engine, head_learning_rate=head, **more
    )


def train_to(folder: Path, given: Path, encoder: Path, wanted: RecogniserSettings) -> dict[str, Path]:
    paths = {name: folder / name for name in ("out", "metrics", "curve", "hypotheses")}
    train_recogniser(
        speech=given, model=encoder, work=folder / "work", settings=wanted, fingerprint="f", save_every=1, **paths
    )
    return paths


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoder") / "e"
    save_model(build_from_config(WHISPER, seed=0), folder)
    return folder


def test_each_split_is_scored_by_its_own_texts_and_nothing_else(tmp_path: Path, encoder: Path) -> None:
    """A rate of nothing leaves the drawn head, whose texts the test reads itself."""
    given, wanted = speech(tmp_path / "speech.parquet"), settings(evaluation_utterances=2)
    found = train_to(tmp_path / "one", given, encoder, wanted)
    assert read_json(found["out"] / "vocabulary.json") == {"characters": " ab"}
    model = build(wanted, encoder, 4)
    written = read_parquet(found["hypotheses"]).to_pylist()
    rows = read_tsv(found["metrics"])
    rows["subset"] = rows["subset"].astype(object).fillna("")
    texts: dict[str, list[str]] = {}
    for split in ("validation", "test"):
        own = [row for row in written if row["split"] == split]
        assert [row["id"] for row in own] == [f"{split}0", f"{split}1"]
        assert [row["reference"] for row in own] == [text for text, _ in SPEECH[split][:2]]
        heard = Utterances(utterances(given, split, model).rows, model).kept([0, 1])
        texts[split] = [row["hypothesis"] for row in own]
        assert texts[split] == transcribed(heard, Vocabulary(" ab"), 2, "cpu")
        counts = error_counts([row["reference"] for row in own], texts[split])
        assert {name: [row[name] for row in own] for name in counts} == counts
        scored = rows[(rows["split"] == split) & (rows["name"] == "model") & (rows["subset"] == "")]
        values = scored.set_index("metric")["value"]
        for metric, unit in (("wer", "word"), ("cer", "character")):
            share = 100 * sum(counts[f"{unit}_errors"]) / sum(counts[f"{unit}s"])
            assert values[metric] == pytest.approx(share, rel=1e-6)
    assert texts["validation"] != texts["test"]
    chosen = subset(np.array([seconds for _, seconds in SPEECH["train"]]), wanted.minutes, 0)
    minutes = sum(SPEECH["train"][one][1] for one in chosen) / 60
    assert rows["minutes"].to_numpy() == pytest.approx(minutes) and set(rows["steps"]) == {2}
    curve = read_tsv(found["curve"])
    assert set(curve["split"]) == {"train"} and curve["step"].tolist() == [1, 2]


@pytest.mark.parametrize("accumulation", [1, 2])
def test_each_recording_of_a_batch_has_its_own_transcript(accumulation: int, tmp_path: Path, encoder: Path) -> None:
    wanted = settings()
    wanted = wanted.model_copy(update={"engine": wanted.engine.model_copy(update={"accumulation": accumulation})})
    heard = utterances(speech(tmp_path / "speech.parquet"), "train", build(wanted, encoder, 4))
    vocabulary = Vocabulary.of(heard.texts)
    said = {heard.input(number).shape[-1]: text for number, text in enumerate(heard.texts)}
    batches, seen = _Batches(heard, vocabulary, wanted), []
    for step, part in itertools.product(range(2), range(accumulation)):
        batch = batches(step, part, 0, 1)
        parts = (batch[name] for name in ("lengths", "targets", "target_lengths"))
        for length, symbols, count in zip(*parts, strict=True):
            seen.append(said[int(length)])
            assert symbols[:count].tolist() == vocabulary.encode(seen[-1]) and not symbols[count:].any()
    assert sorted(seen) == sorted(heard.texts)


def test_every_seed_and_rate_moves_what_is_trained(tmp_path: Path, encoder: Path) -> None:
    given = speech(tmp_path / "speech.parquet")
    kinds = {
        "base": settings(rate=1e-3, head=1e-2), "seed": settings(seed=1, rate=1e-3, head=1e-2),
        "data": settings(data_seed=2, rate=1e-3, head=1e-2), "head": settings(rate=1e-3, head=2e-2),
    }  # fmt: skip
    found = {name: train_to(tmp_path / name, given, encoder, one)["out"] for name, one in kinds.items()}
    content = {name: (path / "trained.safetensors").read_bytes() for name, path in found.items()}
    assert len(set(content.values())) == len(kinds)
    model = build(kinds["base"], encoder, 4)
    groups = build_optimizer(model, kinds["base"].engine.optimizer).param_groups
    ten = [one for group in groups if group["factor"] == 10 for one in group["params"]]
    assert {id(one) for one in ten} == {id(one) for one in model.head.parameters()}
    torch.rand(7)
    again = build(kinds["base"], encoder, 4)
    assert all(torch.equal(one, two) for one, two in zip(model.parameters(), again.parameters(), strict=True))


CHUNKED = [("WAV", "PCM_16"), ("RF64", "PCM_16"), ("W64", "PCM_16"), ("AIFF", "PCM_16"), ("AU", "PCM_16"),
           ("CAF", "PCM_16")]  # fmt: skip


@pytest.mark.parametrize("kind", CHUNKED, ids="-".join)
def test_the_bytes_that_are_lacking_are_counted(kind: tuple[str, str]) -> None:
    whole = content_of(kind, seconds=0.1)
    assert bytes_lacking(io.BytesIO(whole)) == 0
    for cut in (1, 10, 1000):
        assert bytes_lacking(io.BytesIO(whole[:-cut])) == cut


def test_what_stands_behind_the_sound_of_caf_may_lack() -> None:
    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">4sq", name, len(content)) + content

    sound = b"caff" + bytes(4) + chunk(b"desc", bytes(32)) + chunk(b"data", bytes(100))
    assert bytes_lacking(io.BytesIO(sound + chunk(b"info", bytes(40))[:-30])) == 0
    assert bytes_lacking(io.BytesIO(sound[:-30])) == 30
    assert bytes_lacking(io.BytesIO(sound[:20] + struct.pack(">4sq", b"data", -1) + bytes(50))) == 0


def test_a_last_page_of_ogg_is_whole_and_marked() -> None:
    whole = content_of(("OGG", "VORBIS"), seconds=0.3)
    last = whole.rindex(b"OggS")
    assert bytes_lacking(io.BytesIO(whole)) == 0
    assert bytes_lacking(io.BytesIO(whole[:-7])) == 7
    assert [bytes_lacking(io.BytesIO(whole[:end])) for end in (last, last + 20)] == [1, 1]
    assert bytes_lacking(io.BytesIO(b"OggS" + bytes(8))) == 1


# Version, bits of the rate and of the bitrate, padding, and the bytes of the frame: ISO 11172-3 and 13818-3. Of each
# bitrate in kbit/s a frame at 48, 24 and 8 kHz: 24, 24 and 72 ms.
FIRST = [*range(32, 65, 8), *range(80, 129, 16), *range(160, 257, 32), 320]
OTHERS = [*range(8, 65, 8), *range(80, 161, 16)]
FRAMES = [(3, 0, 9, 0, 417), (3, 0, 9, 1, 418), (3, 2, 1, 0, 144), (2, 0, 8, 0, 208), (2, 2, 1, 0, 36),
          (0, 0, 1, 0, 52), (0, 1, 8, 1, 385),
          *((3, 1, place, 0, 3 * rate) for place, rate in enumerate(FIRST, 1)),
          *((2, 1, place, 1, 3 * rate + 1) for place, rate in enumerate(OTHERS, 1)),
          *((0, 2, place, 0, 9 * rate) for place, rate in enumerate(OTHERS, 1))]  # fmt: skip


@pytest.mark.parametrize(("version", "rate", "bitrate", "padding", "size"), FRAMES)
def test_frames_of_mpeg_have_the_sizes_of_the_standard(version, rate, bitrate, padding, size) -> None:
    header = bytes([0xFF, 0xE3 | version << 3, bitrate << 4 | rate << 2 | padding << 1, 0])
    frame = header + bytes(size - 4)
    tag = b"ID3\x03\x00\x00\x00\x00\x01\x02" + bytes(130)
    for start in (b"", tag):
        assert bytes_lacking(io.BytesIO(start + 2 * frame)) == 0
        assert bytes_lacking(io.BytesIO(start + frame + frame[:-5])) == 5
        assert is_uncounted_mpeg(io.BytesIO(start + frame))
        assert not is_uncounted_mpeg(io.BytesIO(start + header + b"Xing" + frame[8:]))


@pytest.mark.parametrize("header", [b"\xff\xe3", b"\xff\xeb\x10\x00", b"\xff\xfb\x00\x00", b"\xff\xfb\xf0\x00",
                                    b"\xff\xfb\x9c\x00", b"\xfe\xfb\x90\x00", b"\xff\xfd\x90\x00"])  # fmt: skip
def test_what_is_no_frame_of_mpeg_is_none(header: bytes) -> None:
    assert not is_uncounted_mpeg(io.BytesIO(header)) and bytes_lacking(io.BytesIO(header)) == 0


def test_frames_of_both_encoders_are_counted() -> None:
    assert recogniser(METHODS["head"]).frames(101) == 50
    model: Recogniser = recogniser(METHODS["head"], WAVES)
    assert [int(model.frames(samples)) for samples in (399, 400, 719, 720)] == [0, 1, 1, 2]
