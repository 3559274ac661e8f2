"""What `make new` refuses."""

import shutil
from pathlib import Path

import pytest
from reprlab.scaffold import __main__ as scaffold

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--paper", "depth"], "config/papers/depth.yaml exists already"),
        (["--paper", "My_Paper"], "'My_Paper' is no name for it: words of small letters"),
        (["--paper", "../x"], "is no name for it"),
        (["--model", "t5_mini"], "has a model t5_mini already"),
        (["--model", "mine", "--like", "t5_minii"], "no such entry in config/models.yaml; did you mean 't5_mini'"),
        (["--task", "cola_2", "--file", "nowhere.tsv"], "FILE=nowhere.tsv: no such file"),
    ],
)
def test_it_is_said_in_one_line_and_nothing_is_written(tmp_path, monkeypatch, capsys, arguments, message):
    for name in ("config", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    monkeypatch.setattr(scaffold, "checkout_root", lambda: tmp_path)
    assert scaffold.main(arguments) == 1
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1
    assert before == sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
