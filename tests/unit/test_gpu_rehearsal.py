"""The rehearsal of published steps, on the CPU and small."""

from pathlib import Path

import numpy as np
import pytest
from reprlab.text.vocabulary import Vocabulary

from benchmarks.gpu_rehearsal import __main__ as rehearsal
from benchmarks.gpu_rehearsal import encoders
from benchmarks.gpu_rehearsal.encoder_decoders import text

SMALL = [
    *("--device", "cpu", "--seq2seq", "t5_mini", "--tuned", "olmo_nano", "--adapted", "llama_nano"),
    *("--layers", "1", "--batch", "2", "--length", "96", "--steps", "2", "--matrix", "128"),
]


def test_rows_of_depth_are_in_its_format() -> None:
    vocabulary = Vocabulary(32_000)
    ids, types, lengths = text(3, 512, vocabulary, marked=True)
    assert ids.shape == types.shape == (3, 512) and lengths.tolist() == [512] * 3
    for row, numbers in zip(ids, types, strict=True):
        assert row[0] == vocabulary.eosen_id and row[-1] == 1 and row[-2] == vocabulary.eosen_id
        sentences = row[vocabulary.is_sentence(row)]
        assert len(np.unique(sentences)) == len(sentences) == numbers.max() == 20
        assert numbers[0] == 1 and (np.diff(numbers) >= 0).all()
        # A sentence token is the first of its number, but for the leading EOSEN.
        assert all(numbers[place] != numbers[place - 2] for place in np.flatnonzero(vocabulary.is_sentence(row))[1:])


@pytest.mark.release
def test_it_runs_small_on_a_cpu(capsys, tmp_path: Path) -> None:
    out = tmp_path / "rehearsal.tsv"
    assert rehearsal.main([*SMALL, "--out", str(out)]) == 0
    lines = out.read_text().splitlines()
    assert lines[0].split("\t") == rehearsal.COLUMNS
    rows = {
        row["what"]: row for row in (dict(zip(rehearsal.COLUMNS, line.split("\t"), strict=True)) for line in lines[1:])
    }
    assert list(rows) == [
        "t5 step",
        "depth step",
        "depth step with t5's masks",
        "fine-tuning step",
        "adapter step",
        "hidden states",
        *encoders.JOBS,
    ]
    same = ("encoder_tokens", "decoder_tokens")
    assert all(rows["depth step"][name] == rows["depth step with t5's masks"][name] for name in same)
    assert all(float(row["tokens_per_second"]) > 0 and float(row["flops_share"]) > 0 for row in rows.values())
    assert [what for what, row in rows.items() if row["masks_share"]] == ["depth step"]
    # Adapters beside frozen weights, which the states are collected without.
    assert int(rows["adapter step"]["parameters"]) > int(rows["hidden states"]["parameters"])
    assert rows["hidden states"]["decoder_tokens"] == "0", "no output layer"
    # A text of an encoder's training is as long as its job reads it, or as the longest here; a step has triples.
    assert [int(rows[what]["encoder_tokens"]) for what in encoders.JOBS] == [32, 32, 96, 96]
    assert {int(rows[what]["batch"]) for what in encoders.JOBS} == {6}
    assert "TFLOP/s" in capsys.readouterr().out


def test_what_does_not_fit_is_a_row_without_numbers_and_ends_nothing(monkeypatch, tmp_path: Path) -> None:
    def too_large(what, options, decoder, settings, length):
        if settings.encoder.method == "lora":
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes")
        return {"what": what, "model": decoder.name, "tera_flops": 1.0}

    monkeypatch.setattr(encoders, "_updating", too_large)
    out = tmp_path / "rehearsal.tsv"
    assert rehearsal.main([*SMALL, "--parts", "encoders", "--out", str(out)]) == 0
    lines = [line.split("\t") for line in out.read_text().splitlines()]
    assert [line[0] for line in lines[1:]] == [
        "soft prompt step", *(f"{what}: out of memory" for what in list(encoders.JOBS)[1:])
    ]  # fmt: skip
    assert set(lines[2][2:]) == {""}


def test_masks_that_cost_too_much_fail_on_a_gpu(monkeypatch, capsys) -> None:
    rows = [dict.fromkeys(rehearsal.COLUMNS, 1.0) | {"masks_share": None} for _ in range(3)]
    rows[1]["masks_share"] = 0.2
    monkeypatch.setattr(rehearsal, "rehearse", lambda options: (rows, 1e12))
    monkeypatch.setattr(rehearsal.torch.cuda, "get_device_name", lambda: "a GPU")
    assert rehearsal.main(["--device", "cuda"]) == 1
    assert "20%" in capsys.readouterr().err
    rows[1]["masks_share"] = 0.1
    assert rehearsal.main(["--device", "cuda"]) == 0
