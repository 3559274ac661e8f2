"""Two runs side by side: settings, claims, cells and seconds that differ, and nothing else."""

from html.parser import HTMLParser
from pathlib import Path

import pandas
import pytest
from reprlab.artifacts.tables import read_tsv, write_tsv
from reprlab.config.load import load_config
from reprlab.config.resolved import write_settings
from reprlab.reporting.provenance import write_provenance
from reprlab.runs.compare import compare, folder_of, main
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).parents[2]
CLAIM = {
    "id": ["L1", "L2"],
    "claim": ["falls", "rises"],
    "verdict": ["supported", "inconclusive"],
    "estimate": [0.5, 0.1],
}


def write_run(folder, weight, cola, verdict, seconds, model="t5"):
    results = folder / "results" / "depth"
    edits = {"set": f"papers.depth.loss.sentence_weight={weight}"}
    write_settings(load_config(ROOT, {"scale": "nano", "run": folder.name} | edits), folder)
    table = {
        "model": [model, "depth"],
        "step": [8, 8],
        "cola": [cola, 3.0],
        "sst2": [50.0, 60.0],
        "note": [folder.name] * 2,
    }
    tables = {"glue": table, "claims": CLAIM | {"verdict": [verdict, "inconclusive"]}}
    for name, columns in tables.items():
        write_tsv(results / f"{name}.tsv", pandas.DataFrame(columns))
        write_provenance(results / f"{name}.tsv", stage="tabulate_paper", settings={}, inputs=[])
    time = folder / "results" / "benchmarks" / "pretrain_lm" / "a.tsv"
    write_tsv(time, pandas.DataFrame({"s": [seconds], "max_rss": [1.0]}))


@pytest.fixture
def root(tmp_path):
    """A checkout with two runs of its own names."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").touch()
    (tmp_path / "Snakefile").touch()
    write_run(tmp_path / "runs" / "one", 1.5, 12.5, "supported", 30.0)
    write_run(tmp_path / "runs" / "two", 2.5, 14.0, "not supported", 45.0)
    return tmp_path


def test_what_differs_is_said_and_nothing_else(root):
    text = compare(root, ("one", "two"), root / "page.html", root / "cells.tsv")
    assert "papers.depth.loss.sentence_weight  1.5  2.5" in " ".join(text.replace("\n", " ").split("   ")).replace(
        "   ", "  "
    )
    cells = read_tsv(root / "cells.tsv")
    assert cells.to_dict("records") == [
        {"table": "depth/glue", "row": "model=t5", "column": "cola", "one": 12.5, "two": 14.0, "difference": 1.5}
    ]
    assert "not supported" in text and "pretrain_lm" in text and "15" in text


def test_rows_of_one_run_alone_are_counted(root):
    write_run(root / "runs" / "three", 1.5, 12.5, "supported", 30.0, model="t6")
    text = compare(root, ("one", "three"))
    line = next(line for line in text.splitlines() if line.startswith("depth/glue"))
    assert line.split() == ["depth/glue", "1", "1", "1", "3", "0"]
    assert "Cells that differ: none" in text


def test_a_run_with_itself_has_no_difference(root):
    text = compare(root, ("one", "one"))
    assert "Settings that differ: none" in text and "Cells that differ: none" in text


def test_the_page_is_well_formed(root):
    compare(root, ("one", "two"), root / "page.html")
    opened = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag, attrs):
            opened.extend([] if tag in ("meta", "wbr") else [tag])

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Checker().feed((root / "page.html").read_text(encoding="utf-8"))
    assert opened == []


def test_an_unknown_run_and_one_without_settings_are_named(root):
    with pytest.raises(ReprlabError, match=r"tow: there is no such run; did you mean 'two'\?$"):
        folder_of(root, "tow")
    (root / "runs" / "old" / "results").mkdir(parents=True)
    with pytest.raises(ReprlabError, match=r"settings\.yaml: no such file; run any target of old again"):
        folder_of(root, "old")


def test_the_command_ends_with_one_line(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    assert main(["one", "tow"]) == 1
    assert capsys.readouterr().err.startswith("error: tow: there is no such run")
    assert main([]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: give two runs: make compare RUNS=") and "one, two" in said and said.count("\n") == 1
    assert main(["one", "two"]) == 0
    assert "Settings that differ (2)" in capsys.readouterr().out  # the weight, and the run's name
