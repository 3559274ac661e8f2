"""One set of answers less another over the same documents: known answers, chance, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from event_samples import write_documents
from reprlab.artifacts.tables import read_tsv
from reprlab.evaluation.paired_bootstrap import paired_bootstrap
from reprlab.events.documents import EventDocument, load_events
from reprlab.events.rankings import selected
from reprlab.events.scoring import ROW, write_answers
from reprlab.events.settings import AnswerContrast, EventSelection
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.contrast_answers import contrast_answers

SETTINGS = {"labels": ["CAUSE", "ENTAILS"], "tested": [0], "seeds": [0, 1]}


def share(sums: np.ndarray) -> dict[str, np.ndarray]:
    return {"share": 100 * sums[..., 0] / sums[..., 1]}


def test_known_answers_of_the_paired_bootstrap() -> None:
    rng = np.random.default_rng(0)
    one = np.stack([rng.integers(0, 10, 50), np.full(50, 10)], axis=1)
    same = paired_bootstrap(one, one, share)["share"]
    assert (same.value, same.low, same.high, same.p) == (0, 0, 0, 1)
    # One more right answer in every document: always the same gain, however much documents differ.
    better = paired_bootstrap(one + np.array([1, 0]), one, share)["share"]
    assert (better.value, better.low, better.high) == pytest.approx((10, 10, 10)) and better.p == 2 / 1001
    worse = paired_bootstrap(one, one + np.array([1, 0]), share)["share"]
    assert worse.value == pytest.approx(-10) and worse.p == better.p
    with pytest.raises(ReprlabError, match="no example"):
        paired_bootstrap(one[:0], one[:0], share)


def test_chance_is_called_a_difference_in_one_case_of_twenty() -> None:
    rng, found = np.random.default_rng(1), []
    for _ in range(300):
        hard = rng.beta(2, 2, 40)
        first, second = (np.stack([rng.binomial(20, hard), np.full(40, 20)], axis=1) for _ in range(2))
        found.append(paired_bootstrap(first, second, share, resamples=400)["share"].p)
    # 5 % of 300, and three standard errors above.
    assert 0.01 < np.mean(np.array(found) < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def answers(path: Path, documents: list[EventDocument], right: bool) -> Path:
    """Every relation by its name, or one pair that has none, predicted so."""
    rows = []
    for seed in (0, 1):
        for document in documents:
            pairs = document.relations if right else {(0, 2): "NONE"} if len(document) > 2 else {}
            for (head, tail), label in pairs.items():
                about = {"seed": seed, "document": document.name, "head": head, "tail": tail}
                rows.append(about | {"gold": label, "predicted": label})
    write_answers(path, rows)
    return path


@pytest.mark.parametrize("folds", [0, 2])
def test_all_right_beats_no_relation_by_everything(tmp_path: Path, folds: int) -> None:
    counts = {"train": 6, "validation": 2} | ({} if folds else {"test": 4})
    examples = write_documents(tmp_path / "events.parquet", counts)
    events = EventSelection(folds=folds)
    settings = AnswerContrast.model_validate({**SETTINGS, "events": events, "tested": list(range(max(folds, 1)))})
    documents = load_events(examples)[0]
    tested = [selected(documents, events.model_copy(update={"fold": fold}))["test"] for fold in settings.tested]
    first, second = (
        [answers(tmp_path / f"{name}{n}.parquet", part, name == "right") for n, part in enumerate(tested)]
        for name in ("right", "none")
    )
    contrast_answers(examples=examples, first=first, second=second, out=tmp_path / "out.tsv", settings=settings)
    found = read_tsv(tmp_path / "out.tsv")
    assert tuple(found) == ROW
    found = found.set_index(["seed", "metric"])
    for seed in (0, 1):
        for name in ("precision_gain", "recall_gain", "f1_gain"):
            # A resample may hold nothing but the document without a relation, which no answer gains on.
            assert found.loc[(seed, name), "value"] == 100 and found.loc[(seed, name), "low"] > 50
        assert 2 / 1001 <= found.loc[(seed, "f1_p"), "value"] < 0.01
    assert set(found.n) == {sum(map(len, tested))}
    # Over all pairs: those without a relation are right on either side, whether they were asked about or not.
    every = [one for part in tested for one in part]
    related, pairs = sum(len(one.relations) for one in every), sum(len(one) * (len(one) - 1) // 2 for one in every)
    assert found.loc[(0, "accuracy_gain"), "value"] == pytest.approx(100 * related / pairs) and related < pairs
    with pytest.raises(ReprlabError, match="no answers of seed 7"):
        contrast_answers(
            examples=examples, first=first, second=second, out=tmp_path / "other.tsv",
            settings=settings.model_copy(update={"seeds": [7]}),
        )  # fmt: skip
    other = settings.model_copy(update={"labels": ["CAUSE"]})
    with pytest.raises(ReprlabError, match="with the labels NONE, CAUSE"):
        contrast_answers(examples=examples, first=first, second=second, out=tmp_path / "other.tsv", settings=other)
    assert not (tmp_path / "other.tsv").exists()
