"""Relations with a direction: the label of a reversed one, both orders of a pair, and a corpus of such."""

import shutil
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from reprlab.config.load import load_config
from reprlab.data.event_rows import Mention, event_row
from reprlab.evaluation.relation_scores import related_scores
from reprlab.events.documents import EventDocument, event_document
from reprlab.events.pairs import LabelledPairs, Ranking, inference_pairs, known_pairs, training_pairs
from reprlab.events.scoring import confusions
from reprlab.events.settings import PairClassification
from reprlab.papers.event_relations.plan import add_jobs
from reprlab.planning.plan import Plan
from reprlab.scaffold.blocks import Texts, blocks_of
from reprlab.training.settings import EngineSettings, OptimizerSettings

ROOT = Path(__file__).parents[2]
PAGE = "docs/event-corpora.md"
CAUSE, ENTAILS = 1, 2
ENGINE = EngineSettings(steps=1, batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-2))
# Each of four mentions names one other, so that of six pairs {0, 1}, {1, 2} and {2, 3} are kept.
RANKING = Ranking(np.array([[1, 2, 3], [2, 0, 3], [1, 3, 0], [2, 1, 0]]), np.zeros((4, 4)))
KEPT = {(0, 1), (1, 2), (2, 3)}


def document(relations: dict[tuple[int, int], str], size: int = 4) -> EventDocument:
    mentions = [Mention(f"m{n}", (n,)) for n in range(size)]
    named = [(f"m{head}", f"m{tail}", label) for (head, tail), label in relations.items()]
    row = event_row("d", "g", [[f"w{n}" for n in range(size)]], mentions, named, "x")
    return event_document({**row, "split": "train"})


def settings(**changes: object) -> PairClassification:
    base = {"events": {"directed": True}, "kind": "discriminative", "labels": ["CAUSE", "ENTAILS"], "k": 1}
    return PairClassification.model_validate({**base, "engine": ENGINE, "epochs": 1, **changes})


def labels(found: LabelledPairs) -> dict[tuple[int, int], int]:
    return {
        (head, tail): label for (head, tail), label in zip(found.pairs.tolist(), found.labels.tolist(), strict=True)
    }


@pytest.mark.parametrize(
    ("relations", "label"),
    [
        ({(2, 0): "CAUSE"}, CAUSE),
        ({(0, 2): "ENTAILS", (2, 0): "CAUSE"}, ENTAILS),
        ({(2, 0): "CAUSE", (0, 2): "ENTAILS"}, ENTAILS),
    ],
    ids=["reversed alone", "forward first", "reversed first"],
)
def test_a_pair_without_direction_has_the_label_of_either_and_the_forward_one_of_both(
    relations: dict[tuple[int, int], str], label: int
) -> None:
    found = labels(known_pairs(document(relations), settings(events={})))
    assert found == {pair: label if pair == (0, 2) else 0 for pair in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]}


def test_with_direction_a_reversed_relation_is_that_of_its_own_order_alone() -> None:
    found = labels(known_pairs(document({(2, 0): "CAUSE"}), settings()))
    assert found == {pair: CAUSE if pair == (2, 0) else 0 for pair in permutations(range(4), 2)}


def test_both_orders_of_a_retrieved_pair_are_classified() -> None:
    found = inference_pairs(document({(0, 1): "CAUSE"}), RANKING, settings())
    assert labels(found).keys() == KEPT | {(tail, head) for head, tail in KEPT}
    assert len(found.labels) == 2 * len(KEPT)


def test_the_other_order_of_a_retrieved_relation_is_a_hard_negative() -> None:
    one = document({(1, 0): "CAUSE", (3, 0): "ENTAILS"})
    found = labels(training_pairs(one, RANKING, settings(), np.random.default_rng(0)))
    # 3 and 0 do not find one another: their relation is trained on, its other order is not.
    assert found == {
        (1, 0): CAUSE, (3, 0): ENTAILS, (0, 1): 0, (1, 2): 0, (2, 1): 0, (2, 3): 0, (3, 2): 0,
    }  # fmt: skip


def test_a_relation_named_in_the_wrong_direction_is_a_false_positive_and_a_false_negative() -> None:
    one = document({(0, 1): "CAUSE", (2, 1): "CAUSE", (3, 2): "ENTAILS", (0, 3): "ENTAILS"})
    known = known_pairs(one, settings())
    predicted = known.labels.copy()
    places = [known.pairs.tolist().index(pair) for pair in ([0, 1], [1, 0])]
    predicted[places] = predicted[places[::-1]]
    table = confusions(one, known, predicted, settings())[0]
    assert table.sum() == 4 * 3
    assert (table[0, CAUSE], table[CAUSE, 0], np.trace(table[1:, 1:])) == (1, 1, 3)
    found = related_scores(table)
    assert found["precision"] == found["recall"] == pytest.approx(75.0)


def test_the_corpora_with_direction_are_entered_as_the_documentation_says(tmp_path: Path) -> None:
    """Its blocks go into a copy of config/; the plan then has every stage of both corpora, with both orders."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    texts = Texts(tmp_path)
    for block in blocks_of(ROOT, "Corpora with a direction", PAGE):
        texts.apply(block)
    assert set(texts.write()) == {"config/datasets.yaml", "mine.yaml"}
    config = load_config(ROOT, {"scale": "paper"}, [tmp_path / "mine.yaml"], home=tmp_path)
    plan = Plan()
    add_jobs(plan, config)
    relations = {"maven_ere": "cause", "richer_events": "before/causes"}
    for name, label in relations.items():
        assert label in config.datasets.tasks[name].labels
        assert name in plan.jobs["build_examples"]
        for stage in ("train_retriever", "rank_partners", "train_pair_classifier", "classify_pairs"):
            jobs = {key: job for key, job in plan.jobs[stage].items() if f"/{name}/" in key}
            assert jobs and all(".fold0" in key for key in jobs), (stage, name)
            for job in jobs.values():
                assert '"directed": true' in job.settings["settings"] and '"folds": 0' in job.settings["settings"]
                assert "classif" not in stage or f'"{label}"' in job.settings["settings"]
