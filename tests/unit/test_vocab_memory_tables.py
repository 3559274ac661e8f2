"""Tables of the PEMA paper from small counts, its comparison, claims and audit."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas
import pytest
from reprlab.artifacts.tables import write_tsv
from reprlab.models import pema as library
from reprlab.papers.vocab_memory.audit import audit
from reprlab.papers.vocab_memory.audit_artifacts import artifact_check
from reprlab.papers.vocab_memory.audit_tables import implied_tokens
from reprlab.papers.vocab_memory.audit_training import known_answer
from reprlab.papers.vocab_memory.claims import claims
from reprlab.papers.vocab_memory.comparison import compare
from reprlab.papers.vocab_memory.counting_tables import _counts as counts_of
from reprlab.papers.vocab_memory.figures import plot
from reprlab.papers.vocab_memory.layouts import (
    Arm,
    ClaimsLayout,
    CountColumn,
    GlueLayout,
    ModelRow,
    ReductionLayout,
    RuntimeLayout,
    ScoredColumn,
    Timing,
    TrendLayout,
)
from reprlab.papers.vocab_memory.published import CHECKED_ONLY, PUBLISHED
from reprlab.papers.vocab_memory.tables import build_table
from reprlab.reporting.layouts import paths_of
from reprlab.reporting.published import read_published
from reprlab.runtime.errors import ReprlabError
from reprlab.text.token_counts import TokenCounts, load_counts, save_counts

ROOT = Path(__file__).parents[2]
PRINTED = sorted((ROOT / "resources/published/vocab-memory").glob("*.tsv"))
# Vocabulary 10, width 4: an embedding of 40 parameters.
SIZES = "name\tvocabulary\twidth\tembedding\ttotal\tlayers\theads\n"
SIZES += "bert_base_uncased\t10\t4\t40\t200\t2\t2\ndistilbert_base_uncased\t10\t4\t40\t100\t1\t2\n"


def made(table, layout, tmp_path):
    frame = build_table(table, layout.model_dump_json(), list(paths_of(layout)))
    write_tsv(tmp_path / f"{table}.tsv", frame)
    return pandas.read_csv(tmp_path / f"{table}.tsv", sep="\t")


@pytest.fixture
def counted(tmp_path):
    """Three data sets that use 3, 5 and 7 of ten tokens, padding (0) not among the counted."""
    (tmp_path / "sizes.tsv").write_text(SIZES)
    columns = []
    for name, used in (("cola", 2), ("mnli", 6), ("sst2", 4)):
        train, validation = np.zeros(10, np.int64), np.zeros(10, np.int64)
        train[1 : used + 1], validation[used] = 5 * used, 3
        path = tmp_path / f"{name}.safetensors"
        save_counts(TokenCounts({"train": train, "validation": validation}, {"train": 4, "validation": 2}, 0), path)
        columns.append(CountColumn(name=name, data=name.upper(), counts={"minilm_l6": [path]}))
    columns.append(CountColumn(name="wnli", reason="no data"))
    return columns


MODELS = [ModelRow(name=f"{name}_base_uncased", label=label, tokenizer="minilm_l6") for name, label in
          (("distilbert", "DistilBERT"), ("bert", "BERT"))]  # fmt: skip


def reduction(counted, tmp_path, table="table2_reduction", **more):
    values = {"scale": "nano", "models": MODELS, "compared": ["train", "validation"], **more}
    layout = ReductionLayout(
        sizes=tmp_path / "sizes.tsv", columns=counted, splits=[["train"], ["train", "validation"]], **values
    )
    return made(table, layout, tmp_path)


def test_reductions_are_those_of_the_formula(counted, tmp_path):
    frame = reduction(counted, tmp_path).set_index(["model", "kind", "splits"])
    both = "train+validation"
    assert frame.loc[("BERT", "embedding", "train"), ["cola", "mnli", "sst2"]].tolist() == pytest.approx([70, 30, 50])
    assert frame.loc[("BERT", "model", both), "cola"] == pytest.approx(100 * 7 * 4 / 200)
    assert frame.loc[("DistilBERT", "model", both), "cola"] == pytest.approx(100 * 7 * 4 / 100)
    assert frame.loc[("BERT", "embedding", both), "mean"] == pytest.approx(50)
    assert pandas.isna(frame.loc[("BERT", "embedding", both), "wnli"])
    assert "wnli: no data" in frame.loc[("BERT", "embedding", both), "note"]
    assert frame.loc[("BERT", "embedding", both), "n"] == 3 * 6
    assert frame.loc[("BERT", "embedding", both), "data_cola"] == "COLA"


def test_millions_are_rows_times_width(counted, tmp_path):
    frame = reduction(counted, tmp_path, "table3_deberta_sizes", millions=True)
    assert frame["cola"].tolist() == pytest.approx([7 * 4 / 1e6] * 4)


def test_the_trend_counts_no_padding(counted, tmp_path):
    layout = TrendLayout(scale="nano", tokenizers=[MODELS[1]], columns=counted, splits=["train"])
    frame = made("fig2_vocab_trend", layout, tmp_path).set_index("task")
    assert frame["unique"].to_dict() == {"cola": 2, "mnli": 6, "sst2": 4}
    assert frame.loc["cola", "tokens"] == 20 and frame.loc["cola", "share"] == pytest.approx(20)
    plot("fig2_vocab_trend", [tmp_path / "fig2_vocab_trend.tsv"], [], "nano", [tmp_path / "f.png", tmp_path / "f.svg"])
    assert (tmp_path / "f.png").stat().st_size > 1000


def scores(path, values):
    rows = [
        {"name": name, "learning_rate": 1e-4, "split": "validation", "subset": "", "metric": "accuracy", "value": value,
         "low": value - 2, "high": value + 2, "n": 50, "steps": 3, "tokens": 90}
        for name, value in values.items()
    ]  # fmt: skip
    write_tsv(path, pandas.DataFrame(rows))
    return path


def arms(tmp_path, gap=0.0):
    values = {"s1": 70.0, "s2": 74.0}
    return [
        Arm(model="minilm_l6", task="sst2", pema=pema, seeds=[1, 2], metrics=scores(
            tmp_path / f"{pema}.tsv", {name: value + (gap if pema else 0) for name, value in values.items()}))
        for pema in (False, True)
    ]  # fmt: skip


def test_scores_are_means_over_seeds_beside_baselines(tmp_path):
    baselines = scores(tmp_path / "b.tsv", {"majority": 50.0, "tfidf": 60.0})
    columns = [
        ScoredColumn(name="cola", reason="no data"),
        ScoredColumn(name="sst2", data="S", metric="accuracy", task="sst2", baselines=baselines),
    ]
    layout = GlueLayout(scale="nano", columns=columns, arms=arms(tmp_path))
    frame = made("table10_glue", layout, tmp_path)
    assert frame["model"].tolist() == ["majority", "tfidf", "MiniLM-L6", "MiniLM-L6"]
    assert frame["pema"].fillna("").tolist() == ["", "", "no", "yes"]
    assert frame["sst2"].tolist() == [50, 60, 72, 72] and frame["sd"].iloc[-1] == pytest.approx(8**0.5)
    assert frame["learned_sst2"].iloc[-1] == "learned" and frame["seeds"].iloc[-1] == 2
    assert "cola: no data" in frame["note"].iloc[-1]


@pytest.mark.parametrize(
    ("majority", "verdict"), [(60.0, "learned"), (70.0, "learned with 1 of 2 seeds"), (73.0, "not learned")]
)
def test_a_verdict_says_how_many_seeds_learned(tmp_path, majority, verdict):
    baselines = scores(tmp_path / "b.tsv", {"majority": majority})
    column = ScoredColumn(name="sst2", data="S", metric="accuracy", task="sst2", baselines=baselines)
    frame = made("table10_glue", GlueLayout(scale="nano", columns=[column], arms=arms(tmp_path)), tmp_path)
    assert frame["learned_sst2"].iloc[-1] == verdict


def timings(tmp_path):
    found = []
    for seed in (1, 2):
        for pema in (True, False):
            path = tmp_path / f"t{seed}{pema}.tsv"
            row = {"vocabulary": 10, "used": 4 if pema else 10, "width": 4, "parameters": 1, "examples": 8, "steps": 3,
                   "moments": 2 * (100 - (24 if pema else 0)), "tokens": 9, "pema_seconds": 0.02 * seed * pema,
                   "train_seconds": 2.0, "peak_bytes": 9e6 if pema else 11e6, "device": "cpu"}  # fmt: skip
            write_tsv(path, pandas.DataFrame([row]))
            found.append(Timing(model="minilm_l6", task="sst2", seed=seed, pema=pema, measured=path))
    return found


def test_time_and_memory_by_task(tmp_path):
    layout = RuntimeLayout(scale="nano", columns={"sst2": "S"}, timings=timings(tmp_path))
    row = made("table9_runtime", layout, tmp_path).iloc[0]
    assert row["pema_s"] == pytest.approx(0.03) and row["percent"] == pytest.approx(1.5)
    assert (row["peak_mb"], row["peak_whole_mb"]) == (9, 11)
    assert row["moments_whole"] - row["moments"] == 2 * (row["vocabulary"] - row["used"]) * row["width"]


NOT_TESTABLE = "not testable at this scale"


def claimed(counted, tmp_path, gap=0.0, **more):
    """The claims by id, from tables that `more` changes."""
    reduction(counted, tmp_path, **more)
    reduction(counted, tmp_path, "table3_deberta_sizes", millions=True, **more)
    empty = [CountColumn(name=name, reason="no data") for name in ("en", "all")]
    reduction(empty, tmp_path, "table4_xnli", mean=False)
    made(
        "fig2_vocab_trend",
        TrendLayout(scale="nano", tokenizers=[MODELS[1]], columns=counted, splits=["train"]),
        tmp_path,
    )
    made("table9_runtime", RuntimeLayout(scale="nano", columns={"sst2": "S"}, timings=timings(tmp_path)), tmp_path)
    layout = ClaimsLayout(
        scale="nano", compared="train+validation", arms=arms(tmp_path, gap), metrics={"sst2": "accuracy"},
        trend=tmp_path / "fig2_vocab_trend.tsv", reduction=tmp_path / "table2_reduction.tsv",
        family=tmp_path / "table3_deberta_sizes.tsv", xnli=tmp_path / "table4_xnli.tsv",
        runtime=tmp_path / "table9_runtime.tsv",
    )  # fmt: skip
    return {row.id: row for row in claims(layout.model_dump_json(), list(paths_of(layout)))}


@pytest.mark.parametrize(("gap", "verdict"), [(0.0, "supported"), (-3.0, "not supported")])
def test_claims_follow_from_the_tables(counted, tmp_path, gap, verdict):
    rows = claimed(counted, tmp_path, gap)
    assert rows["9"].verdict == verdict and rows["9"].units == 2
    assert rows["3"].verdict == rows["8"].verdict == NOT_TESTABLE
    assert rows["2"].estimate > 0 and rows["1"].estimate == pytest.approx(1)


def test_what_follows_from_one_tokenizer_is_reported_and_not_judged(counted, tmp_path):
    rows = claimed(counted, tmp_path)
    assert [rows[id].verdict for id in "567"] == [NOT_TESTABLE] * 3
    assert all("one tokenizer (minilm_l6) counts for both" in rows[id].note for id in "567")
    # 100 and 200 parameters in all: the gap is half of the smaller model's reduction.
    assert (rows["5"].estimate, rows["6"].estimate) == (0, pytest.approx(4 * (7 + 3 + 5) / 3 / 2))


@pytest.mark.parametrize(("more", "verdict"), [(0, "supported"), (2, "not supported")])
def test_models_with_tokenizers_of_their_own_are_judged(counted, tmp_path, more, verdict):
    for column in counted[:3]:
        other = np.zeros(10, np.int64)
        other[1 : int((load_counts(column.counts["minilm_l6"][0]).counts["train"] > 0).sum()) + 1 + more] = 3
        path = tmp_path / f"{column.name}-other.safetensors"
        save_counts(TokenCounts({"train": other, "validation": other}, {"train": 4, "validation": 2}, 0), path)
        column.counts["other"] = [path]
    models = [MODELS[0].model_copy(update={"tokenizer": "other"}), MODELS[1]]
    rows = claimed(counted, tmp_path, models=models)
    assert rows["5"].verdict == verdict and rows["6"].verdict in ("supported", "inconclusive")
    assert rows["5"].estimate == pytest.approx(-10 * more) and rows["7"].verdict != NOT_TESTABLE


def test_every_printed_cell_is_compared_once(counted, tmp_path):
    reduction(counted, tmp_path)
    frame = compare([tmp_path / "table2_reduction.tsv"], PRINTED, "nano")
    printed = read_published(PRINTED, PUBLISHED)
    cells = sum(int((printed[name][list(table.values)] != "").to_numpy().sum()) for name, table in PUBLISHED.items())
    assert len(frame) == cells and (frame["ours"].astype(bool) | frame["note"].astype(bool)).all()
    found = frame[(frame["row"].str.contains("model=BERT kind=embedding")) & (frame["column"] == "cola")].iloc[0]
    assert (found["published"], found["ours"]) == ("80.1", "70.0")


def cell(tables, table, row, column, scale="nano"):
    frame = compare(tables, PRINTED, scale)
    chosen = (frame["table"] == table) & frame["row"].str.contains(row) & (frame["column"] == column)
    (found,) = frame[chosen].to_dict("records")
    return found


def test_the_union_that_config_compares_stands_beside_the_printed_cells(counted, tmp_path):
    train, both = np.zeros(10, np.int64), np.zeros(10, np.int64)
    train[1:3], both[1:6] = 1, 1
    save_counts(TokenCounts({"train": train, "validation": both}, {"train": 4, "validation": 2}, 0),
                tmp_path / "cola.safetensors")  # fmt: skip
    counts_of.cache_clear()
    for compared, ours in ((["train"], "70.0"), (["train", "validation"], "40.0")):
        reduction(counted, tmp_path, compared=compared)
        found = cell([tmp_path / "table2_reduction.tsv"], "table2_reduction", "model=BERT kind=embedding", "cola")
        assert found["ours"] == ours and f"splits {'+'.join(compared)};" in found["note"]
        assert "used tokens: train 3, train+validation 6" in found["note"] and "as printed" not in found["note"]


def test_at_paper_scale_each_union_is_told_to_be_the_printed_one_or_not(counted, tmp_path):
    reduction(counted, tmp_path, scale="paper")
    table = tmp_path / "table2_reduction.tsv"
    frame = pandas.read_csv(table, sep="\t")
    chosen = (frame["model"] == "BERT") & (frame["kind"] == "embedding")
    frame.loc[chosen & (frame["splits"] == "train"), ["cola", "used_cola"]] = [80.149, 6_059]
    frame.loc[chosen & (frame["splits"] != "train"), ["cola", "used_cola"]] = [80.04, 6_092]
    write_tsv(table, frame)
    note = cell([table], "table2_reduction", "model=BERT kind=embedding", "cola", "paper")["note"]
    assert "used tokens: train 6,059 (as printed), train+validation 6,092 (not as printed)" in note


def test_the_timed_row_names_model_and_steps(tmp_path):
    layout = RuntimeLayout(scale="nano", columns={"sst2": "S"}, timings=timings(tmp_path))
    frame = made("table9_runtime", layout, tmp_path)
    assert list(frame)[:3] == ["task", "model", "steps"] and frame["steps"].tolist() == [3]
    found = cell([tmp_path / "table9_runtime.tsv"], "table9_runtime", "task=sst2", "percent")
    assert "MiniLM-L6, 3 steps" in found["note"]


def test_the_known_answers_are_those_of_the_library(monkeypatch):
    assert {row.verdict for row in known_answer()} == {"agrees"}
    assert [row.verdict for row in known_answer(selected=(1, 3))] == ["differs"] * 4
    assert [row.verdict for row in known_answer(start=2.0)] == ["differs"] * 4
    real = library._set_weight
    monkeypatch.setattr(library, "_set_weight", lambda embedding, weight: real(embedding, weight.flip(0)))
    found = {row.id: row.verdict for row in known_answer()}
    assert found["5.11a"] == found["5.11d"] == "differs"
    monkeypatch.undo()
    monkeypatch.setattr(library, "merged_matrix", lambda partial, vocabulary, original: original)
    assert {row.id for row in known_answer() if row.verdict == "differs"} == {"5.11b", "5.11d"}


def test_the_known_answer_of_folders_is_that_of_the_library(monkeypatch):
    assert [row.verdict for row in artifact_check()] == ["agrees"]
    (other,) = artifact_check(words="green red")
    assert (other.verdict, other.recomputed) == ("differs", "[1.0, 2.0, 3.0], then [5.0, 6.0, 7.0, 4.0]")
    assert [row.verdict for row in artifact_check(start=2.0)] == ["differs"]
    monkeypatch.setattr(library, "merged_matrix", lambda partial, vocabulary, original: original)
    (broken,) = artifact_check()
    assert (broken.verdict, broken.recomputed) == ("differs", "[1.0, 2.0, 4.0], then [1.0, 2.0, 3.0, 4.0]")


def test_the_audit_has_every_numbered_check_and_its_findings():
    rows = {row.id: row for row in audit(PRINTED, ROOT / "config/models.yaml")}
    numbers = {id.rstrip("abcdefghijklmnopqrstuvwxyz") for id in rows}
    assert {f"5.{number}" for number in range(1, 14)} <= numbers
    differing = {id for id, row in rows.items() if row.verdict == "differs"}
    assert differing == {"5.2b", "5.9d", "5.13a", "5.13b", "5.13c", "5.13d"}
    assert rows["5.2b"].recomputed == "0 cells" and rows["5.2c"].recomputed == "18 cells"
    assert implied_tokens(Decimal("80.1"), 30_522) == (6_059, 6_089)


def test_the_published_tables_are_whole():
    tables = read_published(PRINTED, PUBLISHED | CHECKED_ONLY)
    assert {path.stem for path in PRINTED} == set(tables)
    assert len(tables["table2_reduction"]) == len(tables["table10_glue"]) == 18
    assert all((frame["source"] != "").all() for frame in tables.values())


def test_unknown_tables_and_undeclared_files_are_refused(counted, tmp_path):
    with pytest.raises(ReprlabError, match="no such table"):
        build_table("table99", "{}", [])
    layout = TrendLayout(scale="nano", tokenizers=[MODELS[1]], columns=counted, splits=["train"])
    with pytest.raises(ReprlabError, match="not among the inputs"):
        build_table("fig2_vocab_trend", layout.model_dump_json(), [])
