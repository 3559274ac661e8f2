"""What `make new` refuses."""

import shutil
from pathlib import Path

import pytest
from reprlab.scaffold import __main__ as scaffold
from reprlab.settings.yaml_text import read_yaml

ROOT = Path(__file__).parents[2]
FILES = {
    "two.tsv": "good\tfine\n",
    "header.tsv": "ID\tLabel\tText\n1\tgood\tfine\n",
    "texts.tsv": "".join(f"{number}\ttext {number}\tgood\n" for number in range(101)),
    "empty.tsv": "\n",
}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--paper", "depth"], "config/papers/depth.yaml exists already"),
        (["--paper", "My_Paper"], "'My_Paper' is not a name for it: words of small letters"),
        (["--paper", "../x"], "is not a name for it"),
        (["--model", "t5_mini"], "has a model t5_mini already"),
        (["--model", "mine", "--like", "t5_minii"], "no such entry in config/models.yaml; did you mean 't5_mini'"),
        (["--task", "cola_2", "--file", "nowhere.tsv"], "FILE=nowhere.tsv: no such file"),
        (["--task", "mine", "--file", "two.tsv"], "two.tsv: line 1 has 2 cells, expected 3: id, label and text"),
        (["--task", "mine", "--file", "header.tsv"], "header.tsv: line 1 is a header (id, label, text); remove it"),
        (["--task", "mine", "--file", "texts.tsv"], "texts.tsv: column 2 has 101 different labels"),
        (["--task", "mine", "--file", "empty.tsv"], "empty.tsv: has no line of id, label and text"),
    ],
)
def test_it_is_said_in_one_line_and_nothing_is_written(tmp_path, monkeypatch, capsys, arguments, message):
    for name in ("config", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    monkeypatch.setattr(scaffold, "checkout_root", lambda: tmp_path)
    assert scaffold.main(arguments) == 1
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1
    assert before == sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))


def test_a_task_has_the_labels_of_its_file_and_a_next_command_that_plans_it(tmp_path, monkeypatch, capsys):
    for name in ("config", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "reviews.tsv").write_text("1\tup\tfine\n2\tdown\tpoor\n", encoding="utf-8")
    monkeypatch.setattr(scaffold, "checkout_root", lambda: tmp_path)
    assert scaffold.main(["--task", "mine", "--file", str(tmp_path / "reviews.tsv")]) == 0
    tasks = read_yaml(tmp_path / "config/datasets.yaml", name="datasets").values["tasks"]
    assert tasks["mine"]["labels"] == ["down", "up"]
    # No paper of the config uses it yet, so the command that builds it says which column it fills.
    made, edit = capsys.readouterr().out.strip().rpartition("make ")[2].split(" SET=")
    assert made == "results/shared/tasks/mine/examples.parquet"
    path = ["papers", "depth", "finetuning", "tasks", "sst2", "dataset"]
    assert edit == f"{'.'.join(path)}=mine"
