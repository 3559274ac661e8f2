"""The audit of amuro-char: its findings, and that a changed input makes each row differ."""

from pathlib import Path

import pytest
from reprlab.papers.amuro_char import audit_changes
from reprlab.reporting.audit import AGREES, DIFFERS, NOT_CHECKABLE
from reprlab.reporting.audit_records import audit
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).parents[2]
PRINTED = sorted((ROOT / "resources/published/amuro-char").glob("*.*"))
SETTINGS = ROOT / "config/papers/amuro-char.yaml"


def audited(record="", files=(*PRINTED, SETTINGS)):
    """The rows of all records or of one by their ids."""
    return {row.id: row for row in audit("amuro-char", list(files), ROOT / "config/models.yaml", record)}


@pytest.fixture(scope="module")
def rows():
    return audited()


@pytest.fixture
def edited(tmp_path):
    """The rows of a record after one passage of one file was replaced."""

    def rows_of(record, name, old, new):
        files = {path.name: path for path in (*PRINTED, SETTINGS)}
        text = files[name].read_text()
        assert text.count(old) == 1, f"{name} has {text.count(old)} times {old!r}"
        files[name] = tmp_path / name
        files[name].write_text(text.replace(old, new))
        return audited(record, files.values())

    return rows_of


def test_every_numbered_check_and_its_findings(rows):
    numbers = {id.rstrip("abcdefghijklmnopqrstuvwxyz") for id in rows}
    # The others are known answers of the library: tests/unit/test_amuro_char_completions.py, test_amuro_char_data.py.
    assert {*(f"5.{number}" for number in (1, 2, 3, 4, 6, 11)), *(f"8.{number}" for number in range(1, 10))} <= numbers
    differing = {id for id, row in rows.items() if row.verdict == DIFFERS}
    assert differing == {"5.1i", "5.2a", "5.2e", "5.11b", "6.1a", "6.2", "8.4", "8.5", "8.6", "8.7"}
    unknown = {id: row for id, row in rows.items() if row.verdict == NOT_CHECKABLE}
    assert set(unknown) == {"5.2f", "5.2g", "5.2h", "5.4f", "8.1", "8.2", "8.3", "8.8", "8.9"}
    assert all(row.note.startswith("missing: ") and not row.recomputed for row in unknown.values())
    assert [rows[f"5.1{letter}"].verdict for letter in "abcdefgh"] == [AGREES] * 8
    assert (rows["5.2a"].recomputed, rows["5.2b"].recomputed) == ("-61.471", "0.304")
    assert rows["5.2a"].note.endswith("cut, not rounded")
    assert "424000" in rows["5.2e"].what and rows["5.2e"].recomputed == "-79.3"
    assert rows["5.4a"].recomputed == "0.327" and rows["5.4b"].recomputed == "0.558"
    assert rows["5.3a"].recomputed == "1,176,764,416 103,022,592"
    assert (rows["5.6g"].printed, rows["5.6g"].recomputed) == ("1100", "1067.1") and "33 fewer" in rows["5.6g"].note
    assert rows["8.4"].printed == "mnli 11, paws 12, xsum 12, socialiqa 12"
    assert rows["8.7"].recomputed == "9 of 10; not OLMo-2" and "exchanged: OLMo-2" in rows["8.7"].note


UNEVALUATED = "  boolq: {kind: choice, template: choice, dataset: boolq, splits: [validation]}"


@pytest.mark.parametrize(
    ("id", "record", "name", "old", "new"),
    [
        ("5.1c", "5.1", "table6_perf_diff.tsv", "0.004\t0.286", "0.004\t0.287"),
        ("5.2b", "5.2a", "statements.tsv", "olmo1b\t0.3\t", "olmo1b\t0.4\t"),
        ("5.3b", "5.3", "models.tsv", "525336576", "525336577"),
        ("5.4a", "5.4a", "label_counts.tsv", "contradiction\t3213", "contradiction\t3313"),
        ("5.6a", "5.6", "table4_gpu_hours.tsv", "training\t12", "training\t13"),
        ("5.6f", "5.6", "statements.tsv", "total\t\t1067", "total\t\t1068"),
        ("5.6g", "5.6", "statements.tsv", "total_section_3\t\t1100", "total_section_3\t\t1200"),
        ("5.6g", "5.6", "statements.tsv", "instruction_tuning\t\t370", "instruction_tuning\t\t470"),
        ("5.11a", "5.11", "checkpoint_list.tsv", "69\t342000", "69\t343000"),
        ("6.3", "6.2", "statements.tsv", "until\tolmo1b\t424000", "until\tolmo1b\t1000"),
        ("6.4", "", "statements.tsv", "datasets\t\t18", "datasets\t\t17"),
        ("6.4", "", "amuro-char.yaml", UNEVALUATED, UNEVALUATED.replace("dataset: boolq", "dataset: null")),
    ],
)  # fmt: skip
def test_an_agreeing_row_differs_when_its_input_does(rows, edited, id, record, name, old, new):
    assert rows[id].verdict == AGREES
    assert edited(record or id, name, old, new)[id].verdict == DIFFERS


@pytest.mark.parametrize(
    ("id", "name", "old", "new"),
    [
        ("8.5", "released_performance.tsv", "0.9052\t0.7321\t0.8781", "0.9052\t0.8700\t0.8781"),
        ("8.6", "statements.tsv", "batch_size_appendix_b\tllama3_8b\t8", "batch_size_appendix_b\tllama3_8b\t16"),
        ("8.7", "table2_models.tsv", "OLMo-2\t4T, 5T\t7B, 13B", "OLMo-2\t7B, 13B\t4T, 5T"),
    ],
)
def test_a_differing_row_agrees_when_its_input_does(rows, edited, id, name, old, new, record=""):
    assert rows[id].verdict == DIFFERS
    assert edited(record or id, name, old, new)[id].verdict == AGREES


def test_another_model_with_fewer_tokens_than_parameters_is_named(edited):
    found = edited("8.7", "table2_models.tsv", "Bloom\t176B\t366B", "Bloom\t176B\t366M")["8.7"]
    assert found.recomputed == "8 of 10; not OLMo-2, Bloom"


def test_equation_1_counts_the_sets_of_the_settings(edited):
    found = edited("8.4", "amuro-char.yaml", "out_of_domain: [sciq_qg, tweetqa]", "out_of_domain: [sciq_qg]")["8.4"]
    assert found.printed == "mnli 10, paws 11, xsum 11, socialiqa 11"


def test_equation_1_agrees_where_the_mean_has_all_its_sets(monkeypatch):
    """A mean over the classification sets of both classification tasks leaves out the training set alone."""
    from reprlab.papers.amuro_char.names import CLASS_TO_GEN, Pair

    sets = ("mnli_matched", "mnli_mismatched", "rte", "gpt3nli", "paws", "qqp", "stsb")
    listed = {CLASS_TO_GEN: [Pair(eval, train) for train, own in (("mnli", sets[:2]), ("paws", sets[4:5]))
                             for eval in sets if eval not in own]}  # fmt: skip
    monkeypatch.setattr(audit_changes, "mrc_pairs", lambda groups: listed)
    assert audited("8.4")["8.4"].verdict == AGREES


def test_settings_are_asked_for():
    with pytest.raises(ReprlabError, match=r"amuro-char\.yaml: the published settings were not given"):
        audited(files=PRINTED)
