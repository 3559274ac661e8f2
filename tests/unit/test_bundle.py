"""`make bundle`: one archive with the report and the papers' results, the same bytes for the same results."""

import zipfile

import pandas
import pytest
from reprlab.artifacts.tables import write_tsv
from reprlab.reporting.bundle import main
from reprlab.reporting.provenance import write_provenance


@pytest.fixture
def run(tmp_path):
    results = tmp_path / "run" / "results"
    for folder in ("depth/figures", "shared/scores", "work"):
        (results / folder).mkdir(parents=True)
    write_tsv(results / "depth/glue.tsv", pandas.DataFrame({"model": ["t5"], "cola": [1.0]}))
    write_provenance(results / "depth/glue.tsv", stage="tabulate_paper", settings={}, inputs=[])
    for name in ("report.html", "settings.yaml", "depth/figures/a.svg", "shared/scores/s.tsv", "work/w", ".lock"):
        (results / name).write_text(name)
    return results.parent


def test_the_archive_has_what_a_reader_asks_for_in_the_same_bytes(run, tmp_path, capsys):
    assert main([str(run), "--out", str(tmp_path / "a.zip")]) == 0
    assert main([str(run), "--out", str(tmp_path / "b.zip")]) == 0
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert [name.removeprefix("results/") for name in archive.namelist()] == [
            "depth/figures/a.svg", "depth/glue.provenance.json", "depth/glue.tsv", "report.html", "settings.yaml",
        ]  # fmt: skip
        assert archive.read("results/report.html") == b"report.html"
    assert "5 files" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (lambda run: (run / "results/report.html").unlink(), "has no report.html; `make report`"),
        (
            lambda run: (run / "results/depth/glue.tsv").write_text("model\tcola\nt5\t9\n"),
            "glue.tsv: is not the result",
        ),
    ],
)
def test_what_is_incomplete_or_edited_is_not_packed(run, tmp_path, capsys, fault, told):
    fault(run)
    assert main([str(run), "--out", str(tmp_path / "a.zip")]) != 0
    assert told in capsys.readouterr().err
    assert not (tmp_path / "a.zip").exists()
