"""Rows of the tables of event relations as the paper's scale plans them: those of the specification, section 4."""

import json
from pathlib import Path
from typing import Any

import pandas
import pytest
from reprlab.config.load import load_config
from reprlab.events.settings import ALL, CANDIDATES, RELATED
from reprlab.papers.event_relations.plan import add_jobs
from reprlab.papers.event_relations.results import ALL_SCORES, RESULTS, SCORES
from reprlab.planning.plan import Plan
from reprlab.results.frame import frame_of
from reprlab.results.schema import FIXED

ROOT = Path(__file__).parents[2]
TUNED = ("roberta_ft", "sbert_ft")
RETRIEVERS = ("none", "random", "roberta", "roberta_ft", "sbert", "sbert_ft")
CLASSIFIERS = ("roberta", "t5")
REGIME_2 = {ALL, CANDIDATES}
CONTRASTS = {
    RELATED: ("precision_gain", "recall_gain", "f1_gain", "f1_p"),
    ALL: ("accuracy_gain", "weighted_f1_gain", "weighted_f1_p"),
}


@pytest.fixture(scope="module")
def sources() -> list[dict[str, Any]]:
    """Factors of every file of scores that the plan of the paper's scale has."""
    plan = Plan()
    add_jobs(plan, load_config(ROOT, {"scale": "paper"}))
    entries = json.loads(plan.jobs["gather_results"]["event-relations"].settings["settings"])["entries"]
    return [entry["factors"] for entry in entries if "path" in entry]


@pytest.fixture(scope="module")
def made(sources: list[dict[str, Any]]) -> dict[str, pandas.DataFrame]:
    """The tables over a value in each cell that a stage writes into such files."""
    rows = []
    for factors in sources:
        for split, subset, metric in cells(factors):
            value = 1.0 if split == "test" else 2.0
            about = {"seed": 0, "split": split, "subset": subset, "metric": metric, "value": value, "scale": "paper"}
            rows.append({**about, **factors})
    table = pandas.DataFrame(rows).reindex(columns=[*RESULTS.factors, *FIXED])
    frame = frame_of(table, RESULTS.settings("paper", [], {"k": 5, "ks": [3, 5, 7, 10]}))
    return {
        name: RESULTS.table(name).make(frame)
        for name in ("table1", "table2", "table3", "table4", "table5", "validation", "significance")
    }


def cells(factors: dict[str, Any]) -> list[tuple[str, str, str]]:
    if factors["part"] == "timing":
        return []
    if factors["part"] == "contrast":
        return [("test", subset, metric) for subset, metrics in CONTRASTS.items() for metric in metrics]
    if factors["classifier"] == "none":
        return [("test", "", "retrieval_recall")]
    regimes = {RELATED: SCORES, ALL: ALL_SCORES, CANDIDATES: ALL_SCORES}
    return [
        (split, subset, metric)
        for split in ("validation", "test")
        for subset, metrics in regimes.items()
        for metric in metrics
    ]


def of(table: pandas.DataFrame, *columns: str, **where: object) -> set[tuple[Any, ...]]:
    for name, value in where.items():
        table = table[table[name] == value]
    return set(table[list(columns)].itertuples(index=False, name=None))


def test_table_1_has_each_classifier_behind_each_retriever_under_both_denominators(made) -> None:
    found = of(made["table1"], "retriever", "classifier", "k", "subset")
    assert found == {(one, two, 5, subset) for one in RETRIEVERS for two in CLASSIFIERS for subset in REGIME_2}
    assert {"accuracy", "weighted_f1"} <= set(made["table1"]) and "f1" not in made["table1"]
    assert set(made["table1"].folds) == {5}


def test_table_2_has_the_scores_over_the_relations_of_the_same_conditions(made) -> None:
    assert of(made["table2"], "retriever", "classifier") == {(one, two) for one in RETRIEVERS for two in CLASSIFIERS}
    assert {"precision", "recall", "f1"} <= set(made["table2"]) and "accuracy" not in made["table2"]


def test_table_3_has_two_retrievers_by_three_encodings(made) -> None:
    found = of(made["table3"], "retriever", "encoding", classifier="t5")
    assert found == {(one, two) for one in TUNED for two in ("trigger", "wrapped", "graph")}
    assert of(made["table3"], "encoding", classifier="roberta") == {("wrapped",)}, "T5 is the classifier of this table"


def test_table_4_has_four_numbers_of_partners_and_no_retriever(made) -> None:
    found = of(made["table4"], "retriever", "k", classifier="t5")
    assert found == {("sbert_ft", 3), ("sbert_ft", 5), ("sbert_ft", 7), ("sbert_ft", 10), ("none", 5)}


def test_table_5_has_chains_behind_both_retrievers_and_not_behind_a_random_one(made) -> None:
    found = of(made["table5"], "retriever", "chains", classifier="t5")
    assert found == {("random", "no"), *((one, two) for one in TUNED for two in ("no", "yes"))}


def test_significance_holds_the_best_retriever_against_each_other_one(made) -> None:
    found = of(made["significance"], "less", "classifier", "subset", "metric")
    others = [one for one in RETRIEVERS if one != "sbert_ft"]
    names = [(subset, metric) for subset, metrics in CONTRASTS.items() for metric in metrics]
    assert found == {(one, two, *name) for one in others for two in CLASSIFIERS for name in names}


def test_validation_has_every_condition_and_nothing_of_the_test_split(made) -> None:
    found = of(made["validation"], "retriever", "encoding", "chains", "k", classifier="t5")
    main = {(one, "wrapped", "no", 5) for one in RETRIEVERS}
    sweep = {("sbert_ft", "wrapped", "no", k) for k in (3, 7, 10)}
    further = {(one, *two, 5) for one in TUNED for two in (("trigger", "no"), ("graph", "no"), ("wrapped", "yes"))}
    assert found == main | sweep | further
    assert of(made["validation"], "retriever", "encoding", "chains", "k", classifier="roberta") == main
    assert set(made["validation"].f1) == {2.0} and "accuracy" not in made["validation"]
