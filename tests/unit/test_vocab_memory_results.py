"""Tables of the PEMA paper from small counts, its comparison, claims and audit."""

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas
import pytest
from reprlab.artifacts.tables import read_tsv
from reprlab.config.load import load_config
from reprlab.papers.vocab_memory import audit as module
from reprlab.papers.vocab_memory.audit_tables import implied_tokens
from reprlab.papers.vocab_memory.plan import add_jobs
from reprlab.papers.vocab_memory.results import RESULTS
from reprlab.planning.plan import Plan
from reprlab.reporting.audit_records import audit
from reprlab.reporting.published import read_published
from reprlab.results.claims import claims_table
from reprlab.results.comparison import compare, declarations
from reprlab.results.digits import write_table
from reprlab.results.drawing import draw_figure
from reprlab.results.frame import frame_of
from reprlab.results.schema import FIXED
from reprlab.stages.unite_counts import unite_counts
from reprlab.text.token_counts import TokenCounts, save_counts
from reprlab.text.vocabulary_use import UseSettings

ROOT = Path(__file__).parents[2]
PRINTED = sorted((ROOT / "resources/published/vocab-memory").glob("*.tsv"))
RECORDS = ROOT / "resources/published/vocab-memory/audit.yaml"
MODELS_FILE = ROOT / "config/models.yaml"
BOTH = "train+validation"
OPTIONS = {"compared": BOTH, "weight_decay": 0.0}
# Vocabulary 10, width 4: an embedding of 40 parameters.
MODELS = {"DistilBERT": ("distilbert_base_uncased", 100), "BERT": ("bert_base_uncased", 200)}
USED = {"cola": 3, "mnli": 7, "sst2": 5}


def sizes(table, own="minilm_l6"):
    """Sizes of two models; the first has the tokenizer `own`."""
    rows = []
    for label, (entry, total) in MODELS.items():
        about = {"table": table, "model": label, "entry": entry, "tokenizer": own if total == 100 else "minilm_l6"}
        values = {"vocabulary": 10, "width": 4, "embedding": 40, "total": total, "layers": total // 100, "heads": 2}
        rows += [{**about, "metric": metric, "value": value} for metric, value in values.items()]
    return rows


def used(table, tokenizer="minilm_l6", more=0):
    """Used tokens of three data sets with both unions, and a column without data."""
    rows = []
    for column, count in USED.items():
        about = {"table": table, "tokenizer": tokenizer, "column": column, "data": column.upper(), "metric": "used"}
        for splits, n in (("train", 4), (BOTH, 6)):
            rows.append({**about, "splits": splits, "value": count + more, "n": n, "tokens": 10 * count})
    return [*rows, {"table": table, "column": "wnli", "reason": "no data"}]


def trend(model="BERT", vocabulary=10, factor=1):
    rows = []
    for column, count in USED.items():
        about = {"table": "fig2_vocab_trend", "model": model, "column": column, "splits": BOTH, "data": column.upper()}
        about |= {"tokens": 10 * count**2, "n": 6}
        rows += [{**about, "metric": "unique", "value": factor * count}]
        rows += [{**about, "metric": "vocabulary", "value": vocabulary}]
    return rows


def scores(gap=0.0, majority=50.0, above_trivial="above", tasks=("sst2",)):
    """Baselines, and two seeds with and without PEMA."""
    rows = [{"table": "table10_glue", "column": "cola", "reason": "no data"}]
    for task in tasks:
        about = {"table": "table10_glue", "column": task, "metric": "accuracy", "split": "validation", "data": "S"}
        for name, value in (("majority", majority), ("tfidf", 60.0)):
            rows.append({**about, "model": name, "value": value, "n": 50, "steps": 0, "tokens": 0})
        about |= {
            "model": "MiniLM-L6",
            "entry": "minilm_l6",
            "n": 50,
            "steps": 3,
            "tokens": 90,
            "above_trivial": above_trivial,
        }
        for pema in ("no", "yes"):
            for seed, value in ((1, 70.0), (2, 74.0)):
                shown = value + (gap if pema == "yes" else 0)
                rows.append({**about, "pema": pema, "seed": seed, "value": shown})
    return rows


def timed(tasks=("sst2",)):
    rows = []
    for task in tasks:
        for seed in (1, 2):
            for pema in ("yes", "no"):
                about = {"table": "table9_runtime", "column": task, "model": "MiniLM-L6", "entry": "minilm_l6"}
                about |= {"pema": pema, "seed": seed, "steps": 3, "tokens": 9, "device": "cpu", "data": "S"}
                on = pema == "yes"
                values = {"vocabulary": 10, "used": 4 if on else 10, "width": 4, "examples": 8}
                values |= {"moments": 2 * (100 - 24 * on), "pema_seconds": 0.02 * seed * on, "train_seconds": 2.0}
                values |= {"peak_bytes": 9e6 if on else 11e6}
                rows += [{**about, "metric": metric, "value": value} for metric, value in values.items()]
    return rows


def all_rows(gap=0.0, own="minilm_l6", more=0):
    rows = [*trend(), *scores(gap), *timed(), {"table": "table4_xnli", "column": "all", "reason": "no data"}]
    for table in ("table2_reduction", "table3_deberta_sizes"):
        rows += [*used(table), *sizes(table, own)]
        if own != "minilm_l6":
            rows += used(table, own, more)[:-1]
    return rows


def frame(rows, scale="nano", **options):
    table = pandas.DataFrame(rows).reindex(columns=[*RESULTS.factors, *FIXED]).assign(scale=scale)
    return frame_of(table, RESULTS.settings(scale, [], OPTIONS | options))


def made(name, rows, tmp_path, **more):
    """A table as it stands in its file."""
    path = tmp_path / f"{name}.tsv"
    write_table(path, RESULTS.table(name).make(frame(rows, **more)))
    return read_tsv(path)


def test_reductions_are_those_of_the_formula(tmp_path):
    rows = [*used("table2_reduction"), *sizes("table2_reduction")]
    table = made("table2_reduction", rows, tmp_path)
    assert list(table)[:9] == ["model", "kind", "splits", "entry", "cola", "mnli", "sst2", "wnli", "mean"]
    assert table["model"].tolist() == ["DistilBERT", "BERT"] * 4
    assert table["kind"].tolist() == ["embedding", "embedding", "model", "model"] * 2
    found = table.set_index(["model", "kind", "splits"])
    assert found.loc[("BERT", "embedding", "train"), ["cola", "mnli", "sst2"]].tolist() == pytest.approx([70, 30, 50])
    assert found.loc[("BERT", "model", BOTH), "cola"] == pytest.approx(100 * 7 * 4 / 200)
    assert found.loc[("DistilBERT", "model", BOTH), "cola"] == pytest.approx(100 * 7 * 4 / 100)
    row = found.loc[("BERT", "embedding", BOTH)]
    assert row["mean"] == pytest.approx(50) and pandas.isna(row["wnli"])
    assert "wnli: no data" in row["note"] and "mean: of 3 columns" in row["note"]
    assert (row["n"], row["tokens"], row["data_cola"], row["used_cola"]) == (18, 150, "COLA", 3)
    assert found["compared"].tolist() == ["no"] * 4 + ["yes"] * 4


def test_millions_are_rows_times_width(tmp_path):
    rows = [*used("table3_deberta_sizes"), *sizes("table3_deberta_sizes")]
    table = made("table3_deberta_sizes", rows, tmp_path)
    assert table["cola"].tolist() == pytest.approx([7 * 4 / 1e6] * 4) and "kind" not in table


def test_sizes_are_whole_numbers(tmp_path):
    table = made("table5_models", sizes("table5_models"), tmp_path)
    assert list(table)[:5] == ["model", "vocabulary", "embedding", "total", "share"]
    assert table.iloc[1][["model", "vocabulary", "embedding", "total", "share"]].tolist() == ["BERT", 10, 40, 200, 20]
    table = made("table6_deberta", sizes("table6_deberta"), tmp_path)
    assert table[["layers", "heads", "width"]].to_numpy().tolist() == [[1, 2, 4], [2, 2, 4]]


def test_the_trend_is_drawn_from_its_table(tmp_path):
    table = made("fig2_vocab_trend", trend(), tmp_path).set_index("task")
    assert table["unique"].to_dict() == USED and table.loc["cola", "tokens"] == 90
    assert table.loc["cola", "share"] == pytest.approx(30)
    made("table9_runtime", timed(), tmp_path)
    for figure, name in (("fig2_vocab_trend", "fig2_vocab_trend"), ("fig_memory", "table9_runtime")):
        draw_figure(RESULTS, figure, tmp_path / f"{name}.tsv", PRINTED, "nano", [tmp_path / f"{figure}.png"])
        assert (tmp_path / f"{figure}.png").stat().st_size > 1000


def test_counts_are_put_together_by_splits_and_data_sets(tmp_path):
    """Padding (0) is used where rows are padded, and is not a token of the text."""
    first, second = np.zeros(10, np.int64), np.zeros(10, np.int64)
    first[1:3], second[2:6] = 5, 1
    for name, counts in (("a", first), ("b", second)):
        save_counts(
            TokenCounts({"train": counts, "validation": first}, {"train": 4, "validation": 2}, 0), tmp_path / name
        )
    counts = {"minilm_l6": {"cola": [tmp_path / "a"], "both": [tmp_path / "a", tmp_path / "b"]}}
    unite_counts(
        settings=UseSettings(counts=counts, splits=[["train"], ["train", "validation", "test"], []]), out=tmp_path / "u"
    )
    found = read_tsv(tmp_path / "u").fillna({"splits": ""}).set_index(["column", "splits", "metric"])
    assert found.loc[("cola", "train", "unique"), ["value", "n", "tokens"]].tolist() == [2, 4, 10]
    assert found.loc[("both", "train", "unique"), ["value", "n", "tokens"]].tolist() == [5, 8, 14]
    assert found.loc[("both", "train", "used"), "value"] == 6
    assert found.loc[("both", "train", "vocabulary"), "value"] == 10
    every = found.loc[("both", "", "unique"), ["value", "n", "tokens"]].tolist()
    assert (
        every
        == found.loc[("both", "train+validation+test", "unique"), ["value", "n", "tokens"]].tolist()
        == [5, 12, 34]
    )


def test_unseen_tokens_are_texts_whatever_they_look_like(tmp_path):
    about = {
        "table": "table1_unseen_tokens",
        "model": "GPT-2",
        "tokenizer": "gpt2",
        "data": "Corpus",
        "tokens": 9,
        "n": 3,
    }
    rows = [{**about, "metric": "id", "token": repr(token), "value": id} for id, token in ((7, "007"), (9, "NA"))]
    rows += [{**about, "metric": "unseen", "value": 5}, {**about, "metric": "vocabulary", "value": 10}]
    table = made("table1_unseen_tokens", rows, tmp_path)
    assert table["id"].tolist() == [7, 9] and set(table["unseen_tokens"]) == {5}
    text = (tmp_path / "table1_unseen_tokens.tsv").read_text().splitlines()
    assert [line.split("\t")[1] for line in text[1:]] == ["007", "NA"]


def test_scores_are_means_over_seeds_beside_baselines(tmp_path):
    table = made("table10_glue", scores(), tmp_path)
    assert table["model"].tolist() == ["majority", "tfidf", "MiniLM-L6", "MiniLM-L6"]
    assert table["pema"].fillna("").tolist() == ["", "", "no", "yes"]
    assert table["sst2"].tolist() == [50, 60, 72, 72] and table["sd"].iloc[-1] == pytest.approx(8**0.5, abs=1e-5)
    assert table["above_trivial_sst2"].iloc[-1] == "above" and table["seeds"].iloc[-1] == 2
    assert "cola: no data" in table["note"].iloc[-1]


def test_mnlis_mismatched_part_stands_beside_the_mean(tmp_path):
    other = [row | {"value": 10.0} for row in scores(tasks=("mnli_mm",))[1:]]
    table = made("table10_glue", [*scores(tasks=("mnli", "sst2")), *other], tmp_path)
    assert table["mnli_mm"].tolist() == [10] * 4 and table["mean"].tolist() == [50, 60, 72, 72]
    alone = made("table10_glue", scores(tasks=("mnli", "sst2")), tmp_path)
    assert table[["n", "steps", "tokens"]].equals(alone[["n", "steps", "tokens"]])
    assert table["mnli"].tolist() == [50, 60, 72, 72] and table["data_mnli_mm"].tolist() == ["S"] * 4


def test_the_timed_row_names_model_and_steps(tmp_path):
    table = made("table9_runtime", timed(), tmp_path)
    assert list(table)[:3] == ["task", "model", "steps"] and table["steps"].tolist() == [3]
    row = table.iloc[0]
    assert row["pema_s"] == pytest.approx(0.03) and row["percent"] == pytest.approx(1.5)
    assert (row["peak_mb"], row["peak_whole_mb"]) == (9, 11)
    assert row["moments_whole"] - row["moments"] == 2 * (row["vocabulary"] - row["used"]) * row["width"]
    found = cell(frame(timed()), "table9_runtime", "task=sst2", "percent")
    assert found["ours"] == "1.5" and "MiniLM-L6, 3 steps" in found["note"]


@pytest.mark.parametrize("table", [one.name for one in RESULTS.tables])
def test_a_table_that_nothing_feeds_is_one_line_and_is_drawn(table, tmp_path):
    found = made(table, [{"table": table, "column": "cola", "reason": "no data"}], tmp_path)
    assert found["note"].tolist() == ["no data"] and found["scale"].tolist() == ["nano"]
    for figure in (one.name for one in RESULTS.figures if one.table == table):
        draw_figure(RESULTS, figure, tmp_path / f"{table}.tsv", PRINTED, "nano", [tmp_path / "empty.svg"])
        assert "no data" in (tmp_path / "empty.svg").read_text()


NOT_TESTABLE = "not testable at this scale"


def claimed(scale="nano", weight_decay=0.0, rows=None, **more):
    """The claims by id."""
    found = frame(all_rows(**more) if rows is None else rows, scale, weight_decay=weight_decay)
    table = claims_table(RESULTS.claims, found, RESULTS.unjudged)
    return {row["id"]: row for row in table.to_dict("records")}


@pytest.mark.parametrize(("gap", "verdict"), [(0.0, "supported"), (-3.0, "not supported")])
def test_claims_follow_from_the_frame(gap, verdict):
    rows = claimed(gap=gap)
    assert rows["9"]["verdict"] == verdict and rows["9"]["units"] == 2 and "computed, no sample" in rows["9"]["note"]
    assert rows["3"]["verdict"] == rows["8"]["verdict"] == NOT_TESTABLE
    assert rows["1"]["estimate"] == pytest.approx(1) and rows["2"]["estimate"] == pytest.approx(0.5)
    assert rows["11"]["verdict"] == "supported" and rows["12"]["estimate"] == pytest.approx(2)
    assert rows["10"]["estimate"] == pytest.approx(1.5)


def test_few_data_sets_decide_nothing():
    rows = claimed()
    assert [rows[id]["verdict"] for id in ("1", "2", "4", "10", "12")] == ["inconclusive"] * 5
    assert "points: 3 (data set), 5 are needed" in rows["1"]["note"]
    assert "one vocabulary" in rows["4"]["note"]


def test_scores_with_weight_decay_are_a_sample_of_tasks():
    rows = [*scores(tasks=("sst2", "rte", "cola"))]
    assert claimed(rows=rows)["9"]["verdict"] == "supported"
    row = claimed(rows=rows, weight_decay=0.1)["9"]
    assert (row["verdict"], row["unit"], row["units"]) == ("inconclusive", "task", 3) and "computed" not in row["note"]


def test_rivals_are_held_against_pema_on_the_same_task_and_seed():
    rows = scores(tasks=("sst2", "cola", "mnli"))
    for place, row in enumerate([row for row in rows if row.get("pema") == "yes"]):
        # 3 points, or a seventh of a point apart from that: each task and seed has its own.
        rows.append({**row, "pema": "trimmed", "value": row["value"] - 3 + place / 7})
        if row["seed"] == 1:
            rows.append({**row, "pema": "factorised", "value": row["value"] + 8})
    # What PEMA has of another model is beside nothing.
    rows += [{**row, "entry": "bert_base_uncased", "value": 0} for row in rows if row.get("pema") == "yes"]
    found = claimed(rows=rows)
    assert float(found["13"]["estimate"]) == pytest.approx(-3 + 2.5 / 7)
    assert float(found["14"]["estimate"]) == pytest.approx(8)
    assert "no data" in claimed()["13"]["note"]


@pytest.mark.parametrize("scale", ["paper", "small", "mini", "nano"])
def test_rivals_have_the_settings_of_pema_but_for_the_embedding(scale):
    config, plan = load_config(ROOT, {"scale": scale}), Plan()
    add_jobs(plan, config)
    rivals = config.papers["vocab-memory"].neighbours
    expected = {
        "trimmed": {"kind": "trimmed", "splits": ["train"]},
        "factorised": {"kind": "factorised", "rank": rivals.factorised.rank},
    }
    tried = 0
    for stage in ("finetune_model", "measure_finetuning"):
        jobs = plan.jobs[stage]
        for key, job in jobs.items():
            front, arm = key.rsplit("/", 1)[0], key.rsplit("/", 1)[1].split(".")[0]
            if arm not in expected:
                continue
            assert front.split("/")[0].removeprefix("vocab_memory_") in rivals.models
            pema = jobs[key.replace(f"/{arm}.", "/pema.")]
            one, other = (json.loads(each.settings["settings"]) for each in (job, pema))
            assert one.pop("embedding") == expected[arm] != other.pop("embedding")
            assert one == other and job.inputs == pema.inputs
            tried += 1
    assert tried


def test_a_larger_vocabulary_is_compared_on_the_same_data():
    row = claimed(rows=[*trend(), *trend("GPT-2", vocabulary=100, factor=2)])["4"]
    # Unused: 70, 30 and 50 % of 10 tokens, 94, 86 and 90 % of 100.
    assert row["estimate"] == pytest.approx((24 + 56 + 40) / 3) and "GPT-2 less BERT" in row["note"]


def test_what_nothing_feeds_is_said():
    rows = claimed(rows=[{"table": "table9_runtime", "column": "cola", "reason": "not timed"}])
    assert {row["verdict"] for row in rows.values()} == {"inconclusive", NOT_TESTABLE}
    assert all(row["note"] for row in rows.values()) and rows["12"]["note"].startswith("not timed")


def test_what_follows_from_one_tokenizer_is_reported_and_not_judged():
    rows = claimed()
    assert [rows[id]["verdict"] for id in "567"] == [NOT_TESTABLE] * 3
    assert all("one tokenizer (minilm_l6) counts for both" in rows[id]["note"] for id in "567")
    # 100 and 200 parameters in all: the gap is half of the smaller model's reduction.
    assert (rows["5"]["estimate"], rows["6"]["estimate"]) == (0, pytest.approx(4 * (7 + 3 + 5) / 3 / 2))


@pytest.mark.parametrize("more", [0, 2])
def test_models_with_tokenizers_of_their_own_are_judged(more):
    rows = claimed(own="other", more=more)
    # Equal gaps on three data sets have no spread to judge by; those of the model have.
    assert rows["5"]["verdict"] == "inconclusive" and "no spread" in rows["5"]["note"]
    assert rows["6"]["verdict"] in ("supported", "inconclusive")
    assert rows["5"]["estimate"] == pytest.approx(-10 * more) and rows["7"]["verdict"] != NOT_TESTABLE


def test_paper_scale_counts_tasks_and_multilingual_models():
    rows = [row | ({"model": "RoBERTa"} if row.get("entry") == "bert_base_uncased" else {}) for row in all_rows()]
    for number, tokenizer in enumerate(("a", "b", "c")):
        about = {"table": "table4_xnli", "tokenizer": tokenizer}
        rows += [about | {"model": tokenizer, "entry": tokenizer, "metric": metric, "value": value}
                 for metric, value in (("vocabulary", 10), ("width", 4), ("total", 50))]  # fmt: skip
        rows.append(about | {"column": "all", "splits": BOTH, "metric": "used", "value": 2 + number})
    found = claimed("paper", rows=[row for row in rows if row.get("reason") != "no data"])
    assert (found["3"]["estimate"], found["3"]["verdict"], found["3"]["units"]) == (1, "not supported", 9)
    assert found["8"]["estimate"] == pytest.approx(100 * 7 * 4 / 50) and found["8"]["verdict"] == "supported"


def compared(found):
    published = read_published(PRINTED, declarations(RESULTS.printed))
    return compare(RESULTS.own(found), published, RESULTS.printed)


def cell(found, table, row, column):
    rows = compared(found)
    chosen = (rows["table"] == table) & rows["row"].str.contains(row) & (rows["column"] == column)
    (one,) = rows[chosen].to_dict("records")
    return one


def test_every_printed_cell_is_compared_once():
    rows = compared(frame(all_rows()))
    printed = read_published(PRINTED, declarations(RESULTS.printed))
    cells = sum(int((printed[name][list(one.values)] != "").to_numpy().sum()) for name, one in RESULTS.printed.items())
    assert len(rows) == cells and (rows["ours"].astype(bool) | rows["note"].astype(bool)).all()
    found = rows[(rows["row"].str.contains("model=BERT kind=embedding")) & (rows["column"] == "cola")].iloc[0]
    assert (found["published"], found["ours"]) == ("80.1", "70.0")
    none = rows[(rows["row"].str.contains("model=BERT kind=embedding")) & (rows["column"] == "wnli")].iloc[0]
    assert (none["ours"], none["note"]) == ("", "no data")


def test_the_union_that_config_compares_stands_beside_the_printed_cells():
    rows = [*used("table2_reduction"), *sizes("table2_reduction")]
    rows = [row | ({"value": 6} if row.get("splits") == BOTH and row["column"] == "cola" else {}) for row in rows]
    for union, ours in (("train", "70.0"), (BOTH, "40.0")):
        found = cell(frame(rows, compared=union), "table2_reduction", "model=BERT kind=embedding", "cola")
        assert found["ours"] == ours and f"splits {union};" in found["note"]
        assert "used tokens: train 3, train+validation 6" in found["note"] and "as printed" not in found["note"]


def test_at_paper_scale_each_union_is_told_to_be_the_printed_one_or_not():
    values = {"vocabulary": 30_522, "width": 768, "total": 109_483_778}
    about = {"table": "table2_reduction", "tokenizer": "bert_base_uncased"}
    rows = [{**about, "model": "BERT", "entry": "bert_base_uncased", "metric": metric, "value": value}
            for metric, value in values.items()]  # fmt: skip
    rows += [{**about, "column": "cola", "splits": splits, "metric": "used", "value": value}
             for splits, value in (("train", 6_059), (BOTH, 6_092))]  # fmt: skip
    note = cell(frame(rows, "paper"), "table2_reduction", "model=BERT kind=embedding", "cola")["note"]
    assert "used tokens: train 6,059 (as printed), train+validation 6,092 (not as printed)" in note


def audited(id, files=(*PRINTED, RECORDS)):
    """The rows of one record."""
    return audit("vocab-memory", list(files), MODELS_FILE, id)


def verdicts(id):
    return [row.verdict for row in audited(id)]


@pytest.mark.parametrize(
    ("id", "name", "old", "new"),
    [
        ("5.1", "table5_models.tsv", "DistilBERT\t28996", "DistilBERT\t28997"),
        ("5.4b", "table3_deberta_sizes.tsv", "Small\t93.4", "Small\t93.5"),
        ("5.4b", "table3_deberta_sizes.tsv", "48.5\t35.6", "48.5\t35.7"),
        ("5.4b", "table2_reduction.tsv", "94.3\t47.3", "94.3\t47.5"),
        ("5.4b", "table10_glue.tsv", "49.3\t75.2", "49.3\t75.4"),
        ("5.7a", "statements.tsv", "below_half\t6", "below_half\t5"),
        ("5.8", "table7_splits.tsv", "10657", "10658"),
        ("5.8", "table9_runtime.tsv", "0.9\t0.2", "0.9\t0.9"),
        ("6.1", "statements.tsv", "debertav3\t72.4", "debertav3\t72.5"),
        ("6.6", "audit.yaml", 'largest data set", printed: qqp', 'largest data set", printed: mnli'),
        ("6.6", "audit.yaml", 'for BERT", printed: qqp', 'for BERT", printed: mnli'),
    ],
)
def test_an_agreeing_row_differs_when_its_input_does(tmp_path, id, name, old, new):
    files = {path.name: path for path in (*PRINTED, RECORDS)}
    text = files[name].read_text()
    assert old in text and set(verdicts(id)) == {"agrees"}
    (tmp_path / name).write_text(text.replace(old, new))
    found = audited(id, files={**files, name: tmp_path / name}.values())
    assert [row.verdict for row in found].count("differs") == 1


def test_the_audit_has_every_numbered_check_and_its_findings():
    rows = {row.id: row for row in audit("vocab-memory", [*PRINTED, RECORDS], MODELS_FILE)}
    numbers = {id.rstrip("abcdefghijklmnopqrstuvwxyz") for id in rows}
    # The others are known answers of the library: tests/unit/test_models_pema.py, test_finetune_pema.py.
    assert {f"5.{number}" for number in (*range(1, 9), 13)} <= numbers
    differing = {id for id, row in rows.items() if row.verdict == "differs"}
    assert differing == {"5.2b", "5.13a", "5.13b", "5.13c", "5.13d"}
    assert rows["5.2b"].recomputed == "0 of 18 cells" and rows["5.2c"].recomputed == "18 of 18 cells"
    assert implied_tokens(Decimal("80.1"), 30_522) == (6_059, 6_089)


def test_the_published_tables_are_whole():
    tables = read_published(PRINTED, module.TABLES)
    assert {path.stem for path in PRINTED} == set(tables)
    assert len(tables["table2_reduction"]) == len(tables["table10_glue"]) == 18
    assert all((frame["source"] != "").all() for frame in tables.values())


@pytest.mark.parametrize("scale", ["paper", "small", "mini", "nano"])
def test_every_table_is_made_of_its_own_files(scale):
    plan = Plan()
    add_jobs(plan, load_config(ROOT, {"scale": scale}))
    jobs = {
        name: plan.job("tabulate_paper", f"vocab-memory/{name}").inputs["inputs"]
        for name in RESULTS.printed
        if name.startswith("table") and name != "table7_splits"
    }
    shared = "results/shared"
    assert jobs["table5_models"] == jobs["table6_deberta"] == [f"{shared}/model_sizes/vocab_memory.tsv"]
    assert f"{shared}/vocabulary_use/vocab_memory_glue.tsv" in jobs["table2_reduction"]
    assert (f"{shared}/vocabulary_use/vocab_memory_xnli.tsv" in jobs["table4_xnli"]) == (scale == "paper")
    assert all("/measured/" in path for path in jobs["table9_runtime"])
    trained = json.loads(plan.job("tabulate_paper", "vocab-memory/table10_glue").settings["gather"])["entries"]
    runs = [entry for entry in trained if "seed" in entry.get("factors", {})]
    assert runs and all(entry["baselines"][0]["name"] == "majority" for entry in runs)
    every = set(plan.job("gather_results", "vocab-memory").inputs["inputs"])
    assert set().union(*jobs.values()) <= every
