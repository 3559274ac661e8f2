"""The benchmark of pair classifiers with random weights: the rows of the stage, and those of an update."""

import pytest
from event_samples import write_documents
from finetune_fixtures import make_tokenizer
from reprlab.artifacts.tables import read_tsv

from benchmarks import event_speed


def test_rows_are_those_of_the_stage_and_of_an_update(tmp_path, capsys):
    make_tokenizer(tmp_path / "reader")
    examples = write_documents(tmp_path / "examples.parquet", {"train": 2, "validation": 1, "test": 2})
    given = ["--device", "cpu", "--scale", "nano", "--classifiers", "roberta", "--layers", "1", "--events", "6"]
    places = ["--examples", str(examples), "--tokenizer", str(tmp_path / "reader"), "--out", str(tmp_path / "x.tsv")]
    assert event_speed.main([*given, *places]) == 0
    rows = read_tsv(tmp_path / "x.tsv")
    update = rows[rows["condition"] == "2, 1 parts"]
    assert update["metric"].tolist() == ["update_seconds", "update_gb"] and (update["value"] > 0).all()
    timed = rows[rows["events"] == 6]
    assert set(timed["condition"]) == {"all pairs", "3", "5"} and set(timed["model"]) == {"bert_events_nano"}
    assert set(timed["metric"]) == {
        "classified_pairs", "seconds", "encode_seconds", "pair_seconds", "apart_seconds", "mention_seconds"
    }  # fmt: skip
    assert "update_seconds" in capsys.readouterr().out


def test_an_unknown_classifier_is_named(tmp_path, capsys):
    with pytest.raises(SystemExit):
        event_speed.main(
            ["--scale", "nano", "--classifiers", "gpt", "--examples", "x", "--tokenizer", "x", "--out", "x"]
        )
    assert "gpt: not among roberta, t5" in capsys.readouterr().err
