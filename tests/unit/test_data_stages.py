"""The three stages from their command lines, on archives made by hand."""

import json
from pathlib import Path

import pyarrow.parquet
import pytest
from data_fixtures import corpus, make_zip, opened, task
from reprlab.data.schema import check_row, read_rows, schema_of
from reprlab.registry.dataset_entries import Limits
from reprlab.runtime.cli import run_stage
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.build_documents import build_documents
from reprlab.stages.build_examples import build_examples
from reprlab.stages.fetch_archive import fetch_archive


def run(stage: object, *arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        run_stage(stage, [str(argument) for argument in arguments])  # type: ignore[arg-type]
    return int(ended.value.code or 0)


def registry_of(archive: Path, folder: Path) -> Path:
    import hashlib

    content = archive.read_bytes()
    path = folder / "datasets.yaml"
    path.write_text(
        f"""archives:
  sample:
    version: "1"
    origins: ["local:{archive}"]
    files: [{{file: {archive.name}, sha256: {hashlib.sha256(content).hexdigest()}, bytes: {len(content)}}}]
    members: [lines.txt]
    licence: CC0
    homepage: none
    purpose: test
corpora: {{}}
tasks: {{}}
"""
    )
    return path


def test_from_download_to_documents_twice_the_same_bytes(tmp_path: Path) -> None:
    lines = "\n".join(f"text number {number}" for number in range(60))
    archive = make_zip(tmp_path / "a.zip", {"lines.txt": lines.encode()})
    registry = registry_of(archive, tmp_path)
    outputs = []
    for turn in ("one", "two"):
        cache, receipt, out = tmp_path / turn, tmp_path / f"{turn}.json", tmp_path / f"{turn}.parquet"
        assert (
            run(fetch_archive, "--archive", "sample", "--registry", registry, "--cache", cache, "--receipt", receipt)
            == 0
        )
        arguments = ["--entry", corpus().model_dump_json(), "--receipts", receipt, "--cache", cache, "--out", out]
        assert run(build_documents, *arguments) == 0
        outputs.append((receipt.read_bytes(), out.read_bytes()))
    assert outputs[0] == outputs[1]
    assert "one" not in outputs[0][0].decode()
    table, metadata = read_rows(tmp_path / "one.parquet", "documents")
    assert table.num_rows == 60 and metadata == {"licence": "CC0", "name": "toy", "title": "Toy"}


def test_an_unknown_archive_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    registry = registry_of(make_zip(tmp_path / "a.zip", {"lines.txt": b"x"}), tmp_path)
    receipt = tmp_path / "receipt.json"
    assert (
        run(fetch_archive, "--archive", "sampel", "--registry", registry, "--cache", tmp_path, "--receipt", receipt)
        == 1
    )
    assert "did you mean 'sample'?" in capsys.readouterr().err
    assert not receipt.exists()


def test_examples_with_limits(tmp_path: Path) -> None:
    ratings = "\n".join(f"{number}\t{(-1) ** number}\ttext {number}" for number in range(100))
    opened(make_zip(tmp_path / "a.zip", {"ratings.txt": ratings.encode()}), tmp_path)
    out = tmp_path / "examples.parquet"
    build_examples(
        entry=task(), receipts=[tmp_path / "a.zip.json"], cache=tmp_path, out=out, limits=Limits(train=7, test=2)
    )
    table, metadata = read_rows(out, "single")
    assert table.column("split").to_pylist().count("train") == 7 == metadata["sizes"]["train"]
    assert metadata["limits"] == {"train": 7, "validation": None, "test": 2} and metadata["role"] == "sst2"
    assert json.loads(pyarrow.parquet.read_schema(out).metadata[b"reprlab"]) == metadata


def test_a_missing_receipt_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReprlabError, match="sample: no receipt of this archive"):
        build_examples(entry=task(), cache=tmp_path, out=tmp_path / "x.parquet")


ROW = {"id": "1", "group": "1", "split": "train", "text": "a", "label": "x", "subset": ""}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"split": "dev"}, "split 'dev'"),
        ({"label": "z"}, "label 'z' is outside"),
        ({"text": None}, "column 'text' has no value"),
        ({"text": 3}, "column 'text' holds a int"),
        ({"extra": 1}, "unknown column 'extra'"),
    ],
)
def test_a_bad_row_is_named(change: dict[str, object], message: str) -> None:
    check_row(ROW, "single", ["x", "y"], "toy: example 4")
    with pytest.raises(ReprlabError, match=f"toy: example 4: {message}"):
        check_row({**ROW, **change}, "single", ["x", "y"], "toy: example 4")


def test_tags_and_tokens_are_as_many() -> None:
    row = {"id": "1", "group": "1", "split": "train", "tokens": ["a", "b"], "tags": ["O"]}
    with pytest.raises(ReprlabError, match="2 tokens but 1 tags"):
        check_row(row, "tags", ["O", "B"], "toy")


def test_schema_of_another_kind_is_refused(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(schema_of("pair").empty_table(), tmp_path / "x.parquet")
    with pytest.raises(ReprlabError, match="not those of single"):
        read_rows(tmp_path / "x.parquet", "single")
