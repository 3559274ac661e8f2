"""Seconds over growing documents, and the pairs that retrieval corrects."""

from pathlib import Path
from typing import Any

import pyarrow
import pytest
import torch
from event_samples import document, write_documents
from finetune_fixtures import make_bert, make_tokenizer
from reprlab.artifacts.tables import read_tsv, write_parquet
from reprlab.events.classification import open_classifier
from reprlab.events.settings import ALL_PAIRS, AnswerComparison, PairClassification, PairTiming
from reprlab.events.timing import joined_document, timing_rows
from reprlab.inference.call_seconds import call_seconds
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.compare_answers import compare_answers
from reprlab.stages.time_pairs import time_pairs
from reprlab.training.settings import EngineSettings, OptimizerSettings

ENGINE = EngineSettings(steps=1, batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-3))


def test_joined_documents_keep_triggers_and_relations() -> None:
    parts = [document("a", size=4), document("b", size=6)]
    found = joined_document(parts, 7)
    assert len(found) == 7 and [found.trigger(n) for n in range(7)] == [
        *(parts[0].trigger(n) for n in range(4)), *(parts[1].trigger(n) for n in range(3)),
    ]  # fmt: skip
    # 0-1, 1-2, 2-3 of the first, 0-1 and 1-2 of the second, whose 2-3 lies beyond the last event.
    assert sorted(found.relations) == [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6)]
    assert len(found.tokens) == 3 + 4 + 5 + 3 + 3 + 4 + 5 and found.sentence_starts == (0, 3, 7, 12, 15, 18, 22)
    with pytest.raises(ReprlabError, match="have 10 events, too few for 11"):
        joined_document(parts, 11)


@pytest.fixture
def classification(tmp_path: Path) -> PairClassification:
    settings: dict[str, Any] = {"events": {}, "kind": "discriminative", "labels": ["CAUSE", "ENTAILS"], "k": 2}
    found = PairClassification.model_validate({**settings, "engine": ENGINE, "epochs": 1, "max_length": 48})
    make_bert(tmp_path / "bert", make_tokenizer(tmp_path / "bert"))
    open_classifier(tmp_path / "bert", found).save(tmp_path / "models/seed-0")
    return found


def test_fewer_partners_leave_fewer_pairs(classification: PairClassification, tmp_path: Path) -> None:
    settings = PairTiming(classification=classification, sizes=[4, 12], ks=[2, 11], repeats=1)
    examples = write_documents(tmp_path / "events.parquet", {"train": 1, "validation": 1, "test": 3})
    time_pairs(examples=examples, models=tmp_path / "models", out=tmp_path / "out.tsv", settings=settings)
    wide = read_tsv(tmp_path / "out.tsv").pivot_table(
        index=["events", "condition"], columns="metric", values="value", sort=False
    )
    assert (wide[["seconds", "encode_seconds", "pair_seconds", "apart_seconds", "mention_seconds"]] > 0).all(axis=None)
    pairs = wide.classified_pairs
    assert pairs[4, ALL_PAIRS] == 6 and pairs[12, ALL_PAIRS] == 66 == pairs[12, "11"]
    # Two partners for each of twelve events: at least one pair for each two namings, at most one for each.
    assert 12 <= pairs[12, "2"] <= 24


def test_a_gpu_is_waited_for_and_no_other_device(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: calls.append("wait"))
    assert len(call_seconds(lambda: calls.append("work"), torch.device("cpu"), repeats=1, warmups=1)) == 1
    assert calls == ["work", "work"]
    calls.clear()
    call_seconds(lambda: calls.append("work"), torch.device("cuda"), repeats=1, warmups=1)
    assert calls == ["wait", "work", "wait"] * 2


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_parts_are_timed_in_the_classifiers_own_precision(
    dtype: str, classification: PairClassification, tmp_path: Path
) -> None:
    engine = classification.engine.model_copy(update={"dtype": dtype})
    settings = PairTiming(
        classification=classification.model_copy(update={"engine": engine}), sizes=[4], ks=[2], repeats=1
    )
    classifier = open_classifier(tmp_path / "models/seed-0", settings.classification, trained=True)
    seen: set[torch.dtype] = set()
    layer = classifier.model.encoder.encoder.layer[0].attention.self.query
    layer.register_forward_hook(lambda _, given, found: seen.add(found.dtype))
    documents = [document("a", size=4)]
    timing_rows(classifier, documents, settings, device="cpu", batch_size=2)
    assert seen == {getattr(torch, dtype)}


def test_the_case_study_has_what_retrieval_corrects(tmp_path: Path) -> None:
    examples = write_documents(tmp_path / "events.parquet", {"train": 1, "validation": 1, "test": 1})
    schema = pyarrow.schema([("seed", "int64"), ("document", "string"), ("head", "int32"), ("tail", "int32"),
                             ("gold", "string"), ("predicted", "string")])  # fmt: skip

    def write(name: str, rows: list[tuple[int, int, int, str, str]]) -> Path:
        names = [field.name for field in schema if field.name != "document"]
        found = [{"document": "test0", **dict(zip(names, row, strict=True))} for row in rows]
        write_parquet(tmp_path / name, pyarrow.Table.from_pylist(found, schema=schema))
        return tmp_path / name

    before = write("before.parquet", [
        (0, 0, 1, "ENTAILS", "NONE"),  # corrected by the classifier
        (0, 0, 2, "NONE", "CAUSE"),  # corrected because it is not retrieved
        (0, 0, 3, "NONE", "NONE"),  # right in both
        (0, 1, 2, "CAUSE", "NONE"),  # wrong in both: not retrieved
        (1, 1, 3, "NONE", "CAUSE"),  # of another seed
    ])  # fmt: skip
    after = write("after.parquet", [(0, 0, 1, "ENTAILS", "ENTAILS"), (0, 0, 3, "NONE", "NONE")])
    common = {"examples": examples, "before": before, "after": after, "out": tmp_path / "study.tsv"}
    compare_answers(**common, settings=AnswerComparison(scale="nano"))
    found = read_tsv(tmp_path / "study.tsv")
    assert found[["head", "tail", "retrieved"]].to_numpy().tolist() == [[0, 1, "yes"], [0, 2, "no"]]
    assert found.predicted_all_pairs.tolist() == ["NONE", "CAUSE"] and set(found.scale) == {"nano"}
    assert found.head_text[0] == "the <m> good </m> ."
    # Of the other seed nothing was retrieved.
    compare_answers(**common, settings=AnswerComparison(scale="nano", seed=1))
    assert read_tsv(tmp_path / "study.tsv")[["head", "tail", "retrieved"]].to_numpy().tolist() == [[1, 3, "no"]]
    compare_answers(**common, settings=AnswerComparison(scale="nano", pairs=1))
    assert len(read_tsv(tmp_path / "study.tsv")) == 1
