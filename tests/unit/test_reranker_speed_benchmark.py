"""The benchmark of rerankers with random weights: it writes the rows of the stage, and names what it does not know."""

import pytest
from reprlab.artifacts.tables import read_tsv

from benchmarks import reranker_speed


def test_rows_are_those_of_the_stage(tmp_path, capsys):
    out = tmp_path / "speed.tsv"
    given = ["--device", "cpu", "--scale", "nano", "--models", "opt_nano", "mamba2_nano", "--out", str(out)]
    assert reranker_speed.main(given) == 0
    rows = read_tsv(out)
    assert set(rows["metric"]) == {"training_speed", "scoring_speed", "operator_share"}
    assert rows.groupby("model")["kernels"].unique().str.join(" ").to_dict() == {
        "opt_nano": "none", "mamba2_nano": "chunked"
    }  # fmt: skip
    assert (rows[rows["metric"] != "operator_share"]["value"] > 0).all()
    assert "mamba2_nano: built" in capsys.readouterr().out


def test_an_unknown_model_is_named(tmp_path, capsys):
    with pytest.raises(SystemExit):
        reranker_speed.main(["--scale", "nano", "--models", "gpt", "--out", str(tmp_path / "x.tsv")])
    assert "gpt: not among opt_nano, mamba2_nano" in capsys.readouterr().err
