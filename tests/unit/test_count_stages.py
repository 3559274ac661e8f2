"""Stages that only count: entities of tagged sentences, and what tunings and encoders train, without weights."""

from pathlib import Path

import pytest
from reprlab.artifacts.tables import read_tsv
from reprlab.audio.settings import CountedTunings
from reprlab.data.schema import write_rows
from reprlab.registry.models import ModelEntry
from reprlab.sentences.sizes import SizedEncoders
from reprlab.stages.count_encoders import count_encoders
from reprlab.stages.count_entities import count_entities
from reprlab.stages.count_tunings import count_tunings
from test_audio_recognition import WAVES, WHISPER, WIDTH

LLAMA = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 64,
}  # fmt: skip


def test_entities_are_counted_in_the_sentences_of_each_split(tmp_path: Path) -> None:
    said = [("train", ["B-X", "I-X", "O", "B-X"]), ("validation", ["O"]), ("train", ["O", "B-Y"]), ("train", ["O"]),
            ("validation", ["B-X"])]  # fmt: skip
    rows = [
        {
            "id": str(number),
            "group": str(number),
            "split": split,
            "subset": "",
            "tags": tags,
            "tokens": ["w"] * len(tags),
        }
        for number, (split, tags) in enumerate(said)
    ]
    write_rows(tmp_path / "t.parquet", rows, "tags", {"kind": "tags", "title": "T", "labels": ["X", "Y"]})
    count_entities(examples=tmp_path / "t.parquet", out=tmp_path / "c.tsv")
    found = read_tsv(tmp_path / "c.tsv")
    assert found.to_dict("records") == [
        {"split": "train", "metric": "entities", "value": 3, "n": 3},
        {"split": "validation", "metric": "entities", "value": 1, "n": 2},
    ]


def test_each_tuning_is_counted_on_its_own_model(tmp_path: Path) -> None:
    tunings = [("waves", "thin", {"method": "ff", "inner": 4}), ("whisper", "thin", {"method": "ff", "inner": 4}),
               ("whisper", "thick", {"method": "ff", "inner": 6}), ("whisper", "head", {"method": "head"})]  # fmt: skip
    settings = CountedTunings.model_validate({
        "entries": {"whisper": WHISPER, "waves": WAVES}, "symbols": 32,
        "tunings": [{"model": model, "name": name, "tuning": tuning} for model, name, tuning in tunings],
    })  # fmt: skip
    count_tunings(settings=settings, out=tmp_path / "c.tsv")
    found = read_tsv(tmp_path / "c.tsv").set_index(["model", "method", "metric"])["value"]
    assert len(found) == 4 * 5
    # Two adapters a block, each of two layers with their biases and a norm; two blocks and one.
    for model, name, inner, adapters in (
        ("waves", "thin", 4, 2),
        ("whisper", "thin", 4, 4),
        ("whisper", "thick", 6, 4),
    ):
        assert found[model, name, "adapters"] == adapters * (2 * WIDTH * inner + inner + WIDTH + 2 * WIDTH)
    assert found["whisper", "head", "adapters"] == found["whisper", "head", "norms"] == 0
    assert found["whisper", "head", "trained"] == found["whisper", "head", "head"] == 32 * (WIDTH + 1)


@pytest.mark.parametrize("rows", [None, 100, "published"])
def test_encoders_are_counted_with_the_rows_of_their_tokenizer(rows: int | str | None, tmp_path: Path) -> None:
    """A published tokenizer, which weights that are drawn anew may have, leaves them to the model's entry."""
    entry = ModelEntry.model_validate({
        "architecture": "llama", "config": LLAMA, "source": "test", "tie_output": True, "origin": {"kind": "scratch"},
    })  # fmt: skip
    low = {"method": "lora", "adapter": {"rank": 2, "alpha": 4, "targets": ["q_proj"]}, "pooling": "last"}
    encoders = {
        "lora 2": low, "full 1": {"method": "full", "pooling": "mean"},
        "prompt 5": {"method": "prompt", "vectors": 5, "pooling": "last", "position": "append"},
    }  # fmt: skip
    tokenizer = None
    if rows == "published":
        rows, tokenizer = None, tmp_path / "tokenizer"
        tokenizer.mkdir()
        (tokenizer / "tokenizer.json").write_text("{}", encoding="utf-8")
    elif isinstance(rows, int):
        from reprlab.text.vocabulary import Vocabulary

        tokenizer = tmp_path / "tokenizer"
        tokenizer.mkdir()
        Vocabulary(rows).save(tokenizer)
        rows = Vocabulary(rows).padded_size
    count_encoders(
        settings=SizedEncoders.model_validate({"entry": entry, "encoders": encoders}), out=tmp_path / "c.tsv",
        tokenizer=tokenizer,
    )  # fmt: skip
    found = read_tsv(tmp_path / "c.tsv").set_index("method")
    # A block: queries and outputs, keys and values of half the heads, the gated MLP, two norms; one norm behind them.
    block = 2 * 32 * 32 + 2 * 16 * 32 + 3 * 48 * 32 + 2 * 32
    whole = 3 * block + 32 + 32 * (rows or 64)
    assert found["size"].to_dict() == {"lora": 2, "full": 1, "prompt": 5}
    assert found["trained"].to_dict() == {"lora": 3 * 2 * (32 + 32), "full": whole, "prompt": 5 * 32}
    assert found.loc["full", "total"] == whole and found.loc["lora", "total"] == whole + 384
    assert found["share"].to_numpy() == pytest.approx((100 * found["trained"] / found["total"]).to_numpy())
