"""Sets of the hub through `datasets`: the part that is read is what is fetched; and what is written opens with it."""

import gzip
import json
from pathlib import Path

import datasets
import pytest
from data_fixtures import entry_for
from reprlab.config.load import load_config
from reprlab.data.downloads import obtain
from reprlab.data.readers.c4_hub import Settings, part
from reprlab.data.schema import write_rows
from reprlab.planning.paper_plans import make_plan
from reprlab.registry.dataset_entries import ArchiveFile
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).parents[2]
PINNED = "1" * 40
FILES = [ArchiveFile(file=f"c4-train.{number}.json.gz", revision=PINNED) for number in range(4)]
FILES.append(ArchiveFile(file="c4-validation.0.json.gz", revision=PINNED))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [None, None, None, None, 20_000]),
        ({"train_shards": 1}, [None, 20_000]),
        ({"train_shards": 9, "validation_documents": None}, [None] * 5),
        ({"train_documents": 7, "shard_documents": 5, "validation_documents": 3}, [None, 2, 3]),
        ({"train_documents": 10, "shard_documents": 5, "validation_documents": 3}, [None, None, 3]),
        ({"train_documents": 7, "shard_documents": 5, "train_shards": 1, "validation_documents": 3}, [None, 3]),
    ],
)
def test_no_more_of_c4_is_fetched_than_is_read(settings, expected) -> None:
    assert [file.rows for file in part(FILES, Settings(**settings))] == expected


def test_the_setting_for_shards_reaches_the_download() -> None:
    config = load_config(ROOT, {"scale": "paper", "set": "papers.depth.data.shards=2"})
    wanted = json.loads(make_plan(config).jobs["fetch_archive"]["c4_en"].settings["wanted"])["files"]
    assert [(file["file"], file["rows"]) for file in wanted] == [
        ("en/c4-train.00000-of-01024.json.gz", None),
        ("en/c4-train.00001-of-01024.json.gz", None),
        ("en/c4-validation.00000-of-00008.json.gz", 20_000),
    ]


def documents(folder: Path, count: int) -> Path:
    path = folder / "c4-train.0.json.gz"
    lines = [
        {"text": f"text {n}\r\n\u2028\x85é", "timestamp": "2019-04-25T12:57:54Z", "url": "u"} for n in range(count)
    ]
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    return path


def test_the_first_rows_are_kept_as_they_are(tmp_path: Path) -> None:
    path = documents(tmp_path, 50)
    entry = entry_for(path, [])
    file = FILES[0].model_copy(update={"rows": 3})
    kept = [obtain(entry, file, tmp_path / name).path for name in ("one", "two")]
    rows = [json.loads(line) for line in kept[0].read_text(encoding="utf-8").split("\n")[:-1]]
    assert [row["text"] for row in rows] == [f"text {n}\r\n\u2028\x85é" for n in range(3)]
    assert kept[0].read_bytes() == kept[1].read_bytes()
    assert sorted(name.name for name in kept[0].parent.iterdir()) == [".lock", kept[0].name, "contents.json"]
    more = obtain(entry, FILES[0].model_copy(update={"rows": 90}), tmp_path / "one").path
    assert more != kept[0] and len(more.read_text(encoding="utf-8").split("\n")) == 51


def test_rows_of_the_hub_are_streamed_at_the_pinned_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    load_dataset = datasets.load_dataset

    def local(source: str, **options):
        asked.append((source, options.pop("data_files"), options.pop("revision")))
        assert options["streaming"]
        return load_dataset("json", data_files=str(documents(tmp_path, 9)), **options)

    monkeypatch.setattr(datasets, "load_dataset", local)
    entry = entry_for(documents(tmp_path, 9), [], [f"hub:allenai/c4@{PINNED}"])
    assert len(obtain(entry, FILES[0].model_copy(update={"rows": 4}), tmp_path / "c").path.read_text().split("\n")) == 5
    assert asked == [("allenai/c4", "c4-train.0.json.gz", PINNED)]


@pytest.mark.parametrize("origin", ["npm:sample@1.0.0", "local:{folder}/none.json", "local:{folder}/list.tar.gz"])
def test_rows_that_cannot_be_had_are_one_line(tmp_path: Path, origin: str) -> None:
    (tmp_path / "list.tar.gz").write_bytes(b"x")
    entry = entry_for(documents(tmp_path, 1), [], [origin.format(folder=tmp_path)])
    with pytest.raises(ReprlabError, match=r"could not be fetched: .*(first rows|no such file|files only)"):
        obtain(entry, FILES[0].model_copy(update={"rows": 4}), tmp_path / "cache")


def test_rows_and_a_digest_of_the_whole_are_refused() -> None:
    with pytest.raises(ValueError, match="rows are taken from a file at a revision"):
        ArchiveFile(file="a", sha256="0" * 64, bytes=1, rows=2)


def test_what_is_written_opens_with_datasets(tmp_path: Path) -> None:
    """Documents, labelled examples, and a table with lists."""
    rows = [{"id": f"d{n}", "text": "Ein Satz.\r\n\tNoch einer.", "source": "s", "split": "train"} for n in range(3)]
    write_rows(tmp_path / "documents.parquet", rows, "documents", {"name": "toy", "title": "Toy", "licence": "CC0"})
    found = datasets.load_dataset(
        "parquet", data_files=str(tmp_path / "documents.parquet"), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert found.to_list() == rows
    examples = [
        {"id": "a", "group": "a", "split": "train", "subset": "", "text": "good", "label": "positive"},
        {"id": "b", "group": "b", "split": "test", "subset": "", "text": "bad", "label": "negative"},
    ]
    write_rows(tmp_path / "examples.parquet", examples, "single", {"name": "toy", "labels": ["negative", "positive"]})
    found = datasets.load_dataset("parquet", data_files=str(tmp_path / "examples.parquet"), split="train[:1]",
                                  cache_dir=str(tmp_path / "cache"))  # fmt: skip
    assert found.to_list() == examples[:1]
