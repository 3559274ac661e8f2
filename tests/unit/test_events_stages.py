"""The stages on events, one behind the other, on tiny models: several seeds, the same bytes each time."""

from pathlib import Path
from typing import Any

import pandas
import pytest
import torch
from event_samples import write_documents
from finetune_fixtures import make_bert, make_t5, make_tokenizer
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.events.documents import load_events
from reprlab.events.pairs import write_candidates
from reprlab.events.rankings import of_seed, rank_at_random
from reprlab.events.settings import PairClassification, Retrieval, RetrieverTraining
from reprlab.papers.event_relations.plan_folds import CLASSIFIED, RETRIEVED
from reprlab.results.items import difference_over_items
from reprlab.results.sources import Items
from reprlab.retrieval.settings import BiEncoderTraining
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.classify_pairs import classify_pairs
from reprlab.stages.rank_partners import rank_partners
from reprlab.stages.train_pair_classifier import train_pair_classifier
from reprlab.stages.train_retriever import train_retriever
from reprlab.training import engine, passes
from reprlab.training.settings import EngineSettings, OptimizerSettings
from safetensors.torch import load_file

ENGINE = EngineSettings(steps=1, batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-3), log_every=2)
SEEDS = [0, 1]


def model_folders(folder: Path) -> dict[str, Path]:
    found = {}
    for name, make in (("discriminative", make_bert), ("generative", make_t5)):
        found[name] = folder / name
        make(found[name], make_tokenizer(found[name]))
    return found


def run_all(
    folder: Path, models: dict[str, Path], kind: str, examples: Path, patience: int | None = None, frozen: int = 0
) -> dict[str, Path]:
    """Every stage; with `frozen` layers each update has one document, whose frozen states are remembered."""
    engine = ENGINE.model_copy(update={"batch_size": 1} if frozen else {})
    out = {name: folder / name for name in ("retriever", "rankings", "models")}
    tables = {name: folder / f"{name}.tsv" for name in ("losses", "recall", "training", "scores")}
    common: dict[str, Any] = {"examples": examples, "fingerprint": "x"}
    training = BiEncoderTraining(engine=engine, epochs=2, head_learning_rate=1e-2, max_length=16, frozen_layers=frozen)
    encoder = models["discriminative"]
    train_retriever(
        **common, work=folder / "work/one", model=encoder, tokenizer=encoder,
        out=out["retriever"], metrics=tables["losses"],
        settings=RetrieverTraining.model_validate({"events": {}, "training": training, "seeds": SEEDS}),
    )  # fmt: skip
    ranking = Retrieval.model_validate({"events": {}, "ks": [1, 2], "seeds": SEEDS, "max_length": 16})
    items = {name: folder / f"{name}.parquet" for name in ("retrieved", "classified")}
    rank_partners(
        examples=examples, out=out["rankings"], metrics=tables["recall"], counts=items["retrieved"], settings=ranking,
        model=out["retriever"],
    )  # fmt: skip
    settings = PairClassification.model_validate(
        {"events": {}, "kind": kind, "labels": ["CAUSE", "ENTAILS"], "k": 2, "engine": engine}
        | {"epochs": 2, "max_length": 48, "seeds": SEEDS, "patience": patience, "frozen_layers": frozen}
    )  # fmt: skip
    train_pair_classifier(
        **common, work=folder / "work/two", rankings=out["rankings"], model=models[kind], tokenizer=models[kind],
        out=out["models"], metrics=tables["training"], settings=settings,
    )  # fmt: skip
    classify_pairs(
        examples=examples, rankings=out["rankings"], models=out["models"], training=tables["training"],
        out=folder / "predictions.parquet", metrics=tables["scores"], counts=items["classified"], settings=settings,
    )  # fmt: skip
    assert not any((folder / "work").iterdir())
    return {
        **tables,
        **items,
        "predictions": folder / "predictions.parquet",
        "ranking": out["rankings"] / "seed-1.parquet",
    }


@pytest.mark.parametrize("kind", ["discriminative", "generative"])
def test_from_documents_to_scores(kind: str, tmp_path: Path) -> None:
    models, examples = model_folders(tmp_path), write_documents(tmp_path / "events.parquet")
    found = run_all(tmp_path / "one", models, kind, examples)
    again = run_all(tmp_path / "two", models, kind, examples)
    for name, path in found.items():
        assert path.read_bytes() == again[name].read_bytes(), f"{name} is not the same again"
    for part in ("retriever", "models"):
        weights = [next((tmp_path / "one" / part / f"seed-{seed}").rglob("model.safetensors")) for seed in SEEDS]
        assert len({path.read_bytes() for path in weights}) == len(SEEDS), f"{part}: seeds train the same"
    scores: pandas.DataFrame = read_tsv(found["scores"])
    recall = read_tsv(found["recall"])
    assert set(scores.seed) == set(recall.seed) == set(SEEDS)
    assert set(scores.name) == {"model", "majority relation", "no relation", "pair of words"} and set(recall.name) == {
        "model"
    }
    assert set(scores.subset) == {"related", "all pairs", "retrieved or related"} and (scores.steps > 0).all()
    wide = recall[recall.split == "test"].pivot_table(index=["seed", "k"], columns="metric", values="value")
    assert set(scores.split) == {"validation", "test"}, "settings are chosen on the one, tables made of the other"
    assert (wide.retrieval_recall <= wide.recall_ceiling).all() and (wide.candidates < wide.all_pairs).all()
    predictions = read_parquet(found["predictions"]).to_pandas()
    assert (
        set(predictions.gold) <= {"NONE", "CAUSE", "ENTAILS"}
        and not predictions.duplicated(["seed", "document", "head", "tail"]).any()
    )


def test_documents_add_up_to_the_scores(tmp_path: Path) -> None:
    """As `reprlab.results.items` reads them, which refuses what does not."""
    models, examples = model_folders(tmp_path), write_documents(tmp_path / "events.parquet")
    found = run_all(tmp_path / "one", models, "discriminative", examples)
    for table, name, counts in (("recall", "retrieved", RETRIEVED), ("scores", "classified", CLASSIFIED)):
        items = Items(path=found[name], item="document", counts=counts).model_dump_json()
        rows = read_tsv(found[table]).assign(items=items, source=table)
        rows["subset"] = rows["subset"].astype(object).fillna("")
        rows = rows[rows.metric.isin(list(counts)) & rows.subset.isin(["", "related"]) & (rows["name"] == "model")]
        for place in range(len(rows)):
            # Of a score less itself.
            gap = difference_over_items([rows.iloc[[place]]] * 2, (1, -1), "document")
            assert gap is not None and (gap.value, gap.low, gap.high) == (0, 0, 0)
        assert len(rows) == len(SEEDS) * len(counts) * {"recall": 2 * 3, "scores": 2}[table]


def test_random_order_needs_no_model(tmp_path: Path) -> None:
    examples = write_documents(tmp_path / "events.parquet", {"train": 1, "validation": 1, "test": 60})
    settings = Retrieval.model_validate({"events": {}, "pooling": "random", "ks": [1], "seeds": [0, 1, 2]})
    made = {"metrics": tmp_path / "m.tsv", "counts": tmp_path / "counts.parquet"}
    rank_partners(examples=examples, out=tmp_path / "out", **made, settings=settings)
    rows = read_tsv(tmp_path / "m.tsv")
    found = rows[(rows.split == "test") & (rows.metric == "retrieval_recall")].value.mean()
    # A pair is kept if either of its ends names the other: 1 - (1 - 1 / (n - 1))^2, over documents of 4 to 7 mentions.
    wanted = [1 - (1 - 1 / (4 + n % 4 - 1)) ** 2 for n in range(60) for _ in range(4 + n % 4 - 1)]
    assert found == pytest.approx(100 * sum(wanted) / len(wanted), abs=4)
    assert len({(tmp_path / f"out/seed-{seed}.parquet").read_bytes() for seed in settings.seeds}) == 3
    with pytest.raises(ReprlabError, match="pooling mean needs a model"):
        rank_partners(
            examples=examples,
            out=tmp_path / "x",
            metrics=tmp_path / "x.tsv",
            counts=tmp_path / "x.parquet",
            settings=settings.model_copy(update={"pooling": "mean"}),
        )
    with pytest.raises(ReprlabError, match="nothing of seed 7"):
        of_seed(tmp_path / "out", 7, ".parquet")


def test_nothing_is_learned_from_test_documents(tmp_path: Path) -> None:
    """Neither their relations nor negatives retrieved in them: without them, retriever and classifier are the same."""
    model = model_folders(tmp_path)["discriminative"]
    made = {}
    for name, test in (("few", 1), ("more", 4)):
        folder = tmp_path / name
        examples = write_documents(folder / "events.parquet", {"train": 4, "validation": 1, "test": test})
        documents = [one for one in load_events(examples)[0] if one.split != "test" or name == "more"]
        write_candidates(folder / "rankings/seed-0.parquet", rank_at_random(documents, 0))
        common: dict[str, Any] = {"examples": examples, "model": model, "tokenizer": model, "fingerprint": "x"}
        training = BiEncoderTraining(engine=ENGINE, epochs=1, head_learning_rate=1e-2, max_length=16)
        train_retriever(
            **common, work=folder / "work/one", out=folder / "retriever", metrics=folder / "one.tsv",
            settings=RetrieverTraining.model_validate({"events": {}, "training": training}),
        )  # fmt: skip
        train_pair_classifier(
            **common, work=folder / "work/two", out=folder / "classifier", metrics=folder / "two.tsv",
            rankings=folder / "rankings",
            settings=PairClassification.model_validate(
                {"events": {}, "kind": "discriminative", "labels": ["CAUSE", "ENTAILS"], "k": 2, "engine": ENGINE}
                | {"epochs": 1, "max_length": 48, "patience": 1}
            ),
        )  # fmt: skip
        made[name] = [
            (folder / stage / "seed-0/model.safetensors").read_bytes() for stage in ("retriever", "classifier")
        ]
    assert made["few"] == made["more"]


@pytest.mark.parametrize("frozen", [0, 1])
@pytest.mark.parametrize(("stage", "patience"), [("train_retriever", None), ("train_pair_classifier", 1)])
def test_a_killed_job_goes_on_with_the_seed_that_was_not_finished(stage, patience, frozen, tmp_path, monkeypatch):
    models, examples = model_folders(tmp_path), write_documents(tmp_path / "events.parquet")
    whole = run_all(tmp_path / "whole", models, "discriminative", examples, patience, frozen)
    start = load_file(models["discriminative"] / "model.safetensors")
    for part in ("retriever", "models"):
        for seed in SEEDS:
            trained = load_file(next((tmp_path / "whole" / part / f"seed-{seed}").rglob("model.safetensors")))
            still = {name for name, value in start.items() if name in trained and torch.equal(trained[name], value)}
            assert any(".layer.0." in name for name in still) == bool(frozen), f"{part} {seed}"
            assert not any(".layer.1." in name and name.endswith("weight") for name in still)
    engine_train, seeds = engine.train, []
    # The second seed of the stage; with patience each of a classifier's two passes is a call.
    dies_at = {"train_retriever": 2, "train_pair_classifier": 5}[stage]

    def until_the_machine_goes_down(model, batch_of, loss_of, settings, **rest):
        seeds.append(settings.seed)
        if len(seeds) == dies_at:
            # In its second step; a resume point is written after each.
            return engine_train(model, stop_after(batch_of, 1), loss_of, settings, **{**rest, "save_every": 1})
        return engine_train(model, batch_of, loss_of, settings, **rest)

    monkeypatch.setattr(passes, "train", until_the_machine_goes_down)
    with pytest.raises(KeyboardInterrupt):
        run_all(tmp_path / "killed", models, "discriminative", examples, patience, frozen)
    before = len(seeds)
    found = run_all(tmp_path / "killed", models, "discriminative", examples, patience, frozen)
    wanted = {"train_retriever": [1, 0, 1], "train_pair_classifier": [0, 1, 1, 1]}[stage]
    assert seeds[before:] == wanted, "what was finished before is not trained again"
    for name, path in found.items():
        assert path.read_bytes() == whole[name].read_bytes(), f"{name} is another after a kill"


def stop_after(batch_of, steps):
    def dying(step, *rest):
        if step == steps:
            raise KeyboardInterrupt
        return batch_of(step, *rest)

    return dying
