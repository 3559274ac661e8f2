"""The printed values of DEPTH, and the audit that is computed from them."""

import socket
from decimal import Decimal
from pathlib import Path

import pytest
from reprlab.artifacts.tables import read_tsv
from reprlab.papers.depth.audit import audit
from reprlab.papers.depth.comparison import PRINTED
from reprlab.reporting.published import read_published
from reprlab.results.comparison import declarations
from reprlab.runtime.errors import ReprlabError

FOLDER = Path(__file__).parents[2] / "resources" / "published" / "depth"
FILES = sorted(path for path in FOLDER.glob("*.tsv") if path.stem != "label_counts")
MODELS = Path(__file__).parents[2] / "config" / "models.yaml"
COUNTS = FOLDER / "label_counts.tsv"

DECLARED = declarations(PRINTED)

# Printed cells: rows times columns of the paper's tables; CONPONO prints no number of tokens.
CELLS = {
    "table1": 11 * 2,
    "table2_scale": 11 * 5 - 1,
    "glue": (23 + 18) * 4,
    "discoeval": (21 + 16) * 5,
    "ni": 21 + 16,
    "error_types_sp": 12 * 5,
    "error_types_dc": 8 * 3,
    "statements": 17,
}


@pytest.fixture(scope="module")
def tables():
    return read_published(FILES, DECLARED)


@pytest.fixture(scope="module")
def rows():
    return {row.id: row for row in audit([*FILES, COUNTS], MODELS)}


@pytest.mark.parametrize("name", CELLS)
def test_every_printed_cell_is_there(tables, name):
    values = tables[name][list(DECLARED[name].values)]
    assert int((values != "").sum().sum()) == CELLS[name]


def test_values_are_numbers(tables):
    for name, frame in tables.items():
        for column in DECLARED[name].values:
            for value in frame[column]:
                assert value == "" or Decimal(value) >= 0


def test_table_8_prints_wiki_before_chat(tables):
    row = tables["discoeval"].query("init == 'cpt' and model == 't5' and step == '2000'").iloc[0]
    assert (row["dc_chat"], row["dc_wiki"]) == ("71.44", "92.09")


def test_label_counts_are_the_whole_validation_sets():
    totals = read_tsv(COUNTS).groupby("task")["count"].sum().to_dict()
    assert totals == {"sp_arxiv": 4000, "sp_wiki": 4000, "sp_rocstory": 4000, "dc_chat": 1834, "dc_wiki": 4000}


def test_a_missing_table_is_named():
    with pytest.raises(ReprlabError, match=r"glue\.tsv"):
        audit([path for path in FILES if path.stem != "glue"], MODELS)


def test_a_repeated_row_is_named(tmp_path):
    text = (FOLDER / "table1.tsv").read_text()
    broken = tmp_path / "table1.tsv"
    broken.write_text(text + text.splitlines()[-1] + "\n")
    with pytest.raises(ReprlabError, match="model=DEPTH-CPT"):
        read_published([broken, *(path for path in FILES if path.stem != "table1")], DECLARED)


@pytest.mark.parametrize("number", range(1, 13))
def test_every_numbered_check_appears(rows, number):
    assert any(id.rstrip("abcdefghijklmnopqrstuvwxyz") == f"5.{number}" for id in rows)


@pytest.mark.parametrize(
    ("id", "printed", "recomputed", "verdict"),
    [
        ("5.1d", "63.31", "63.31", "agrees"),
        ("5.1e", "59.48", "59.49", "differs"),
        ("5.2c", "at most 512 (context length)", "535.2", "differs"),
        ("5.2g", "at most 512 (context length)", "293.0", "agrees"),
        ("5.10b", "1.976e-05", "1.976e-05", "agrees"),
        ("5.12b", "20.9", "20.9", "agrees"),
        ("8.1", "2k, 8k, 16k", "8k, 16k", "differs"),
        ("8.8", "23% and 7%", "40% and 11%", "differs"),
    ],
)
def test_known_rows(rows, id, printed, recomputed, verdict):
    row = rows[id]
    assert (row.printed, row.recomputed, row.verdict) == (printed, recomputed, verdict)


def test_the_audit_is_recomputed_not_copied(tmp_path):
    changed = tmp_path / "discoeval.tsv"
    changed.write_text((FOLDER / "discoeval.tsv").read_text().replace("50.98", "51.98"))
    rows = {row.id: row for row in audit([changed, COUNTS, *(p for p in FILES if p.stem != "discoeval")], MODELS)}
    assert rows["5.1c"].recomputed == "41.25"
    assert rows["5.1c"].verdict == "differs"


def test_the_audit_opens_no_network(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("the audit opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    assert audit([*FILES, COUNTS], MODELS)
