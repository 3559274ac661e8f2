"""The printed values of DEPTH, and the audit that is computed from them."""

import socket
from decimal import Decimal
from pathlib import Path

import pytest
from reprlab.artifacts.tables import read_tsv
from reprlab.papers.depth.results import RESULTS
from reprlab.reporting.audit_records import audit
from reprlab.reporting.published import read_published
from reprlab.results.comparison import declarations
from reprlab.runtime.errors import ReprlabError

FOLDER = Path(__file__).parents[2] / "resources" / "published" / "depth"
FILES = sorted(path for path in FOLDER.glob("*.tsv") if path.stem != "label_counts")
MODELS = Path(__file__).parents[2] / "config" / "models.yaml"
COUNTS = FOLDER / "label_counts.tsv"
RECORDS = FOLDER / "audit.yaml"

DECLARED = declarations(RESULTS.printed)

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
    return {row.id: row for row in audit("depth", [*FILES, COUNTS, RECORDS], MODELS)}


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
    assert totals == {
        "sp_arxiv": 4000,
        "sp_wiki": 4000,
        "sp_rocstory": 4000,
        "dc_chat": 1834,
        "dc_wiki": 4000,
        "sst2": 872,
    }


def test_a_missing_table_is_named():
    with pytest.raises(ReprlabError, match=r"glue\.tsv"):
        audit("depth", [*(path for path in FILES if path.stem != "glue"), RECORDS], MODELS)


def test_a_repeated_row_is_named(tmp_path):
    text = (FOLDER / "table1.tsv").read_text()
    broken = tmp_path / "table1.tsv"
    broken.write_text(text + text.splitlines()[-1] + "\n")
    with pytest.raises(ReprlabError, match="model=DEPTH-CPT"):
        read_published([broken, *(path for path in FILES if path.stem != "table1")], DECLARED)


def test_the_best_constant_predictors():
    """5.12 of the specification, percent."""
    counts = read_tsv(COUNTS).groupby("task")["count"]
    best = (100 * counts.max() / counts.sum()).round(2).to_dict()
    assert best == {
        "sp_arxiv": 20.25, "sp_wiki": 20.9, "sp_rocstory": 20.45, "dc_chat": 50.0, "dc_wiki": 50.0, "sst2": 50.92,
    }  # fmt: skip


# The others are known answers of the library: tests/unit/test_objectives_*.py, test_training_schedules.py.
@pytest.mark.parametrize("number", (1, 2, 3, 9, 11))
def test_every_numbered_check_appears(rows, number):
    assert any(id.rstrip("abcdefghijklmnopqrstuvwxyz") == f"5.{number}" for id in rows)


@pytest.mark.parametrize(
    ("id", "printed", "recomputed", "verdict"),
    [
        ("5.1d", "63.31", "63.3050", "agrees"),
        ("5.1e", "59.48", "59.4867", "differs"),
        ("5.2c", "at most 512", "535.2", "differs"),
        ("5.2g", "at most 512", "293.0", "agrees"),
        ("5.9", "0.3 to 0.4 (appendix B)", "0.378", "agrees"),
        ("8.1", "2k, 8k, 16k", "8k, 16k", "differs"),
        ("8.8", "23% and 7%", "40% and 11%", "differs"),
    ],
)
def test_known_rows(rows, id, printed, recomputed, verdict):
    row = rows[id]
    assert (row.printed, row.recomputed, row.verdict) == (printed, recomputed, verdict)


@pytest.mark.parametrize(
    ("id", "record", "name", "old", "new"),
    [
        ("5.1c", "5.1", "discoeval.tsv", "50.98", "51.98"),
        ("5.2m", "5.2k", "statements.tsv", "token_ratio_to_t5_base\t20", "token_ratio_to_t5_base\t30"),
        ("5.3", "5.3", "facts.tsv", "millions\t220", "millions\t250"),
        ("5.9", "5.9", "statements.tsv", "depth\t\tsentence_loss_min\t0.3", "depth\t\tsentence_loss_min\t0.4"),
        ("5.11a", "5.11", "statements.tsv", "benchmark\t120", "benchmark\t190"),
        ("8.5", "8.5", "audit.yaml", "cola at 128k", "sst2 at 128k"),
        ("8.6", "8.6", "ni.tsv", "cpt\tdepth\t128000\t", "cpt\tdepth\t128000\t9"),
        ("8.11", "8.11", "error_types_sp.tsv", "0.57\t0.07", "0.57\t0.08"),
    ],
)  # fmt: skip
def test_a_row_follows_its_inputs(tmp_path, id, record, name, old, new):
    """One of each kind: a printed table, a statement or a known answer changed."""
    files = [*FILES, COUNTS, RECORDS]
    text = (FOLDER / name).read_text()
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new))
    changed = [path for path in files if path.name != name] + [tmp_path / name]
    found = [{row.id: row.verdict for row in audit("depth", each, MODELS, record)}[id] for each in (files, changed)]
    assert sorted(found) == ["agrees", "differs"]


def test_the_audit_opens_no_network(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("the audit opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    assert audit("depth", [*FILES, COUNTS, RECORDS], MODELS)
