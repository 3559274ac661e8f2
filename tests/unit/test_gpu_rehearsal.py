"""The rehearsal of published steps, on the CPU and small."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from reprlab.text.vocabulary import Vocabulary

PATH = Path(__file__).resolve().parents[2] / "benchmarks/gpu_rehearsal.py"
SMALL = ["--device", "cpu", "--model", "t5_mini", "--layers", "1", "--batch", "2", "--length", "96", "--steps", "2"]


@pytest.fixture(scope="module")
def rehearsal():
    specification = importlib.util.spec_from_file_location("gpu_rehearsal", PATH)
    module = importlib.util.module_from_spec(specification)
    sys.modules["gpu_rehearsal"] = module
    specification.loader.exec_module(module)
    return module


def test_rows_of_depth_are_in_its_format(rehearsal) -> None:
    vocabulary = Vocabulary(32_000)
    options = rehearsal.arguments(["--batch", "3", "--length", "512"])
    ids, types, lengths = rehearsal.text(options, vocabulary, marked=True)
    assert ids.shape == types.shape == (3, 512) and lengths.tolist() == [512] * 3
    for row, numbers in zip(ids, types, strict=True):
        assert row[0] == vocabulary.eosen_id and row[-1] == 1 and row[-2] == vocabulary.eosen_id
        sentences = row[vocabulary.is_sentence(row)]
        assert len(np.unique(sentences)) == len(sentences) == numbers.max() == 20
        assert numbers[0] == 1 and (np.diff(numbers) >= 0).all()
        # A sentence token is the first of its number, but for the leading EOSEN.
        assert all(numbers[place] != numbers[place - 2] for place in np.flatnonzero(vocabulary.is_sentence(row))[1:])


def test_it_runs_small_on_a_cpu(rehearsal, capsys, tmp_path: Path) -> None:
    out = tmp_path / "rehearsal.tsv"
    assert rehearsal.main([*SMALL, "--matrix", "128", "--out", str(out)]) == 0
    lines = out.read_text().splitlines()
    assert lines[0].split("\t") == rehearsal.COLUMNS
    rows = [dict(zip(rehearsal.COLUMNS, line.split("\t"), strict=True)) for line in lines[1:]]
    assert [row["what"] for row in rows] == ["t5", "depth", "depth with t5's masks"]
    assert rows[1]["encoder_tokens"] == rows[2]["encoder_tokens"], "the same batch under other masks"
    assert all(float(row["tokens_per_second"]) > 0 and float(row["flops_share"]) > 0 for row in rows)
    assert [row["masks_share"] != "" for row in rows] == [False, True, False]
    assert "TFLOP/s" in capsys.readouterr().out


def test_masks_that_cost_too_much_fail_on_a_gpu(rehearsal, monkeypatch, capsys) -> None:
    rows = [dict.fromkeys(rehearsal.COLUMNS, 1.0) for _ in range(3)]
    rows[1]["masks_share"] = 0.2
    monkeypatch.setattr(rehearsal, "rehearse", lambda options: (rows, 1e12))
    monkeypatch.setattr(rehearsal.torch.cuda, "get_device_name", lambda: "a GPU")
    assert rehearsal.main(["--device", "cuda"]) == 1
    assert "20%" in capsys.readouterr().err
    rows[1]["masks_share"] = 0.1
    assert rehearsal.main(["--device", "cuda"]) == 0
