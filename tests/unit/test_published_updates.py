"""Updates of published sizes that a rehearsal times, on the CPU and small; and where there is no GPU."""

import functools
from pathlib import Path

import numpy as np
import pytest
import torch
from reprlab.artifacts.tsv import read_lines
from reprlab.config.load import load_config
from reprlab.preflight import rehearse
from reprlab.preflight.updates import encoders, timing
from reprlab.preflight.updates.encoder_decoders import text
from reprlab.preflight.updates.measuring import Sizes, Update
from reprlab.text.vocabulary import Vocabulary

ROOT = Path(__file__).resolve().parents[2]
SMALL = Sizes("cpu", "t5_mini", "olmo_nano", "llama_nano", layers=1, batch=2, length=96, steps=2, matrix=128)


@functools.cache
def published(*papers: str):
    return load_config(ROOT, {"scale": "paper"}, targets=list(papers))


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
def test_they_run_small_on_a_cpu() -> None:
    found, _ = timing.timed_rows(published(*timing.PAPERS), list(timing.PAPERS), SMALL)
    rows = {row["what"]: row for row in found}
    decoders = ("fine-tuning step", "adapter step", "hidden states")
    encoder = (*encoders.PROMPTED, *encoders.PRUNED)
    assert list(rows) == ["t5 step", "depth step", "depth step with t5's masks", *decoders, *encoder]
    same = ("encoder_tokens", "decoder_tokens")
    assert all(rows["depth step"][name] == rows["depth step with t5's masks"][name] for name in same)
    assert all(row["tokens_per_second"] > 0 and row["flops_share"] > 0 for row in found)
    assert [what for what, row in rows.items() if row["masks_share"] is not None] == ["depth step"]
    # Adapters beside frozen weights, which the states are collected without.
    assert rows["adapter step"]["parameters"] > rows["hidden states"]["parameters"]
    assert rows["hidden states"]["decoder_tokens"] == 0, "no output layer"
    # A text of an encoder's training is as long as its job reads it, or as the longest here; a step has triples.
    assert [rows[what]["encoder_tokens"] for what in encoder] == [32, 32, 96, 96]
    assert {rows[what]["batch"] for what in encoder} == {6}


def two_updates(sizes, config):
    def too_large():
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes")

    yield Update("a step", "small", lambda: {"what": "a step", "milliseconds": 2.0, "tera_flops": 1.0})
    yield Update("another", "large", too_large)


def test_what_does_not_fit_is_a_row_without_numbers_and_ends_nothing(monkeypatch) -> None:
    monkeypatch.setattr(timing, "PAPERS", {"depth": two_updates})
    rows, _ = timing.timed_rows(published("depth"), ["depth", "vocab-memory"], SMALL)
    assert [(row["paper"], row["what"], row["model"], row["milliseconds"]) for row in rows] == [
        ("depth", "a step", "small", 2.0), ("depth", "another: out of memory", "large", None)
    ]  # fmt: skip


def test_a_rehearsal_times_them_where_a_gpu_is_and_says_so_where_there_is_none(monkeypatch, tmp_path, capsys) -> None:
    assert rehearse.time_updates(ROOT, "depth", {}, tmp_path) == 0
    assert capsys.readouterr().out == "no GPU here: updates of published sizes are not timed\n"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")
    assert rehearse.time_updates(ROOT, "vocab-memory", {}, tmp_path) == 0
    assert capsys.readouterr().out.startswith("no update of vocab-memory is timed; those of depth, ")
    assert not list(tmp_path.iterdir())

    row = {**dict.fromkeys(timing.COLUMNS), "paper": "depth", "what": "depth step", "milliseconds": 234.56}
    for share, status in ((0.1, 0), (0.2, 1)):
        asked = []
        found = [row, {**row, "masks_share": share}], 5e14
        monkeypatch.setattr(timing, "timed_rows", lambda *given, asked=asked, found=found: asked.append(given) or found)
        assert rehearse.time_updates(ROOT, "depth", {}, tmp_path) == status
        ((config, papers, sizes),) = asked
        assert (config.scale, papers, sizes) == ("paper", ["depth"], Sizes()), "the published sizes"
        header, *written = read_lines(tmp_path / "depth_updates.tsv")
        assert [dict(zip(header, line, strict=True))["masks_share"] for line in written] == ["", str(share)]
        said = capsys.readouterr()
        assert "a GPU: 500 TFLOP/s" in said.out and "234.6" in said.out
        assert bool(said.err) == bool(status) and (not status or "masks cost 20% of its step" in said.err)
