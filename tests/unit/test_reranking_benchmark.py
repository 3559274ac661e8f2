"""The benchmark beside sentence-transformers: it comes to its end and writes its table, or says which scores differ."""

import pytest
from reprlab.artifacts.tables import read_tsv

from benchmarks import reranking

GIVEN = ["--model", "m", "--examples", "e", "--max-length", "8", "--batch", "2", "--lengths", "8", "--repeats", "1"]


def scored(monkeypatch, other):
    """Two implementations with one score each; the scans are the true ones."""
    runs = {"reprlab": lambda: [0.5], "sentence-transformers": lambda: [other]}
    monkeypatch.setattr(reranking, "pair_scoring", lambda *_: (1, runs))


def test_the_table_has_pairs_and_scans_of_both(tmp_path, monkeypatch):
    scored(monkeypatch, 0.5)
    out = tmp_path / "reranking.tsv"
    examples = tmp_path / "examples.parquet"
    examples.write_bytes(b"pairs")
    reranking.main([*GIVEN, "--examples", str(examples), "--out", str(out)])
    rows = read_tsv(out)
    steps = rows[rows["what"].str.contains("step")]
    assert sorted(zip(steps["what"].str.split().str[0], steps["implementation"], strict=True)) == [
        ("mamba", "reprlab"), ("mamba", "transformers"), ("mamba2", "reprlab"), ("mamba2", "transformers"),
    ]  # fmt: skip
    assert len(rows) == len(steps) + 4 and set(steps["items"]) == {64 * 8}


def test_scores_that_differ_end_it(monkeypatch):
    scored(monkeypatch, 0.7)
    with pytest.raises(SystemExit, match=r"at most 8 tokens, batch 2: two scores differ by 0\.2"):
        reranking.main(GIVEN)
