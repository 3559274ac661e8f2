"""The stage that shows corrupted examples, from its command line."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow
import pytest
from reprlab.artifacts.tables import read_tsv, write_parquet
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.preview_corruption import PreviewSettings, preview_corruption
from reprlab.stages.tokenize_corpus import tokenize_corpus
from reprlab.text.token_settings import TokenStorageSettings
from text_fixtures import prose


def stage(name: str, **options: object) -> None:
    """Run a stage from its command line."""
    arguments = [part for option, value in options.items() for part in (f"--{option}", str(value))]
    subprocess.run([sys.executable, "-m", f"reprlab.stages.{name}", *arguments], check=True)


@pytest.fixture(scope="module")
def work(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("preview")
    rows = []
    for i, text in enumerate(prose(120, seed=4)):
        sentences = [s.strip(" .") + "." for s in text.replace("\n", " ").replace("Mr.", "Mister").split(". ")]
        rows.append({"split": "validation" if i % 5 == 4 else "train", "sentences": sentences})
    write_parquet(folder / "sentences.parquet", pyarrow.Table.from_pylist(rows))
    sentences, tokenizer = folder / "sentences.parquet", folder / "tokenizer"
    stage("train_tokenizer", sentences=sentences, out=tokenizer, settings='{"pieces": 110}')
    wanted = TokenStorageSettings(format="depth", max_length=128)
    target = folder / "depth.parquet"
    stage("tokenize_corpus", sentences=sentences, tokenizer=tokenizer, out=target, settings=wanted.model_dump_json())
    plain = wanted.model_copy(update={"format": "t5"})
    tokenize_corpus(sentences=sentences, tokenizer=tokenizer, out=folder / "t5.parquet", settings=plain)
    return folder


def test_command_line(work) -> None:
    wanted = {"objective": "depth", "examples": 3, "input_length": 128, "target_length": 128}
    stage(
        "preview_corruption",
        tokens=work / "depth.parquet",
        tokenizer=work / "tokenizer",
        out=work / "depth.tsv",
        settings=json.dumps(wanted),
    )
    table = read_tsv(work / "depth.tsv", text=True)
    assert table["example"].tolist() == ["0", "0", "1", "1", "2", "2"]
    assert table["shuffled"].tolist() == ["false", "true"] * 3
    for _, pair in table.groupby("example"):
        plain, mixed = pair.to_dict("records")
        assert plain["labels"] == mixed["labels"]
        assert plain["original"].startswith("<eosen><sent_")
        assert sorted(plain["encoder_input"].split("<eosen>")) == sorted(mixed["encoder_input"].split("<eosen>"))


def test_t5_and_errors(work) -> None:
    arguments = {"tokens": work / "t5.parquet", "tokenizer": work / "tokenizer", "out": work / "t5.tsv"}
    preview_corruption(**arguments, settings=PreviewSettings(objective="t5", examples=2, input_length=128))
    table = read_tsv(work / "t5.tsv", text=True)
    assert len(table) == 2
    assert table["labels"].str.startswith("<extra_id_0>").all()
    assert table["original"].str.endswith("</s>").all()
    with pytest.raises(ReprlabError, match=r"objective_settings\.mask_probability"):
        preview_corruption(
            **arguments, settings=PreviewSettings(objective="t5", objective_settings={"mask_probability": 2})
        )
    with pytest.raises(ReprlabError, match="no module"):
        preview_corruption(**arguments, settings=PreviewSettings(objective="bert"))
