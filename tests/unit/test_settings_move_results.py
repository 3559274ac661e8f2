"""Every setting of a stage that trains or scores moves what the stage writes, or is said here not to.

The settings are those of the schema, so that a new one without a change here fails.
"""

import json

import numpy as np
import pandas
import pyarrow
import pytest
import torch
from finetune_fixtures import make_bert, make_examples, make_tokenizer
from moved_settings import moved
from reprlab.artifacts.json_files import write_json
from reprlab.artifacts.tables import read_parquet, read_tsv, write_parquet, write_tsv
from reprlab.evaluation.completion_settings import CompletionBaselines
from reprlab.evaluation.examples import common_labels, load_examples
from reprlab.evaluation.settings import BaselineSettings
from reprlab.geometry.estimation import estimate_dimension
from reprlab.geometry.settings import EstimatorSettings
from reprlab.models.build import load_model, save_model
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.seals import content_digest
from reprlab.stages.evaluate_baselines import evaluate_baselines
from reprlab.stages.evaluate_lm import evaluate_lm
from reprlab.stages.finetune_model import finetune_model
from reprlab.stages.score_completion_baselines import score_completion_baselines
from reprlab.stages.score_seq2seq import score_seq2seq
from reprlab.structure.seq2seq_settings import PairScoring
from reprlab.text.completions import write_completions
from reprlab.text.tokenizer_folder import open_tokenizer
from reprlab.training.completion_settings import CompletionTuningSettings
from reprlab.training.completion_tuning import engine_settings
from reprlab.training.finetuning import finetune_cell, prepare_task
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.finetuning_text import TextToText
from reprlab.training.settings import (
    EngineSettings,
    EvaluationRuns,
    EvaluationSettings,
    OptimizerSettings,
    ScheduleSettings,
)
from safetensors.torch import load_file
from training_samples import tiny_batch, tiny_settings, train_tiny
from transformers import BertConfig, BertForMaskedLM

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("part", ["engine", "optimizer", "schedule"])
def test_settings_of_the_loop(part, tmp_path):
    runs = []

    def made(own):
        given = {"engine": {}, "optimizer": {"learning_rate": 0.05, "weight_decay": 0.1},
                 "schedule": {"name": "linear", "warmup_steps": 2}}  # fmt: skip
        given[part] = {**given[part], **own}
        settings = tiny_settings(**{"optimizer": given["optimizer"], "schedule": given["schedule"], **given["engine"]})
        runs.append(None)
        folder = tmp_path / str(len(runs))
        run, model = train_tiny(folder / "work", folder / "out", settings, dropout=0.2)
        weights = {name: value.numpy().round(12).tobytes() for name, value in model.state_dict().items()}
        books = [{key: value for key, value in row.items() if key != "gradient_norm"} for row in run.metrics]
        return (
            weights,
            json.dumps(books) if part == "engine" else "",
            sorted(p.name for p in (folder / "out").iterdir()),
        )

    schedule = {"name": "linear", "warmup_steps": 2}
    if part == "engine":
        changes = {
            "steps": 13, "ladder": [0, 12], "batch_size": 4, "seed": 1, "log_every": 3,
            "optimizer": {"learning_rate": 0.04}, "schedule": {**schedule, "name": "constant"}, "accumulation": 2,
        }  # fmt: skip
        # This model is of double precision, which no arithmetic of less is used for; see fine-tuning.
        moved(EngineSettings, made, {}, changes, {"dtype": "bfloat16"})
    elif part == "optimizer":
        changes = {
            "learning_rate": 0.04, "weight_decay": 0.2, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-2, "clip_norm": 0.1,
        }  # fmt: skip
        moved(OptimizerSettings, made, {}, changes, {"name": "adamw"})
    else:
        moved(ScheduleSettings, made, {}, {"name": "cosine", "warmup_steps": 3, "horizon_steps": 20}, {})


def test_the_seed_of_the_loop_moves_dropout_and_no_batch(tmp_path):
    """Without dropout the loop has nothing to draw: batches are functions of the caller."""
    found = []
    for seed in (0, 1):
        run, model = train_tiny(tmp_path / f"w{seed}", tmp_path / f"o{seed}", tiny_settings(seed=seed), dropout=0.0)
        found.append((run.metrics, {name: value.numpy().tobytes() for name, value in model.state_dict().items()}))
    assert found[0] == found[1]
    batch_of = tiny_batch(tiny_settings())
    labels = [int((batch_of(step, 0, 0, 1)["labels"] != -100).sum()) for step in range(12)]
    assert [row["tokens"] for row in found[0][0]] == [sum(labels[:step]) for step in (4, 5, 8, 12)]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    vocabulary = make_tokenizer(folder / "tokenizer")
    make_bert(folder / "bert", vocabulary)
    rng = np.random.default_rng(0)
    words = ["good", "bad", "film", "was", "the", "very", "a", "b", "c", "d"]
    rows = [
        {"text": " ".join(rng.choice(words, rng.integers(2, 14))), "label": str(rng.integers(3)), "split": split,
         "task": "st"[n % 2], "subset": ""}
        for split, count in {"train": 24, "validation": 12, "test": 9}.items() for n in range(count)
    ]  # fmt: skip
    make_examples(folder / "e.parquet", "single", rows, ["0", "1", "2"])
    return folder


def test_settings_of_fine_tuning(toy, tmp_path):
    """The table of scores, the predictions and the model that is kept. Settings of other tasks are left out by name."""
    task = {"kind": "classification", "metrics": ["macro_f1"], "input_length": 16}
    base = {
        "engine": {"steps": 3, "batch_size": 8, "optimizer": {"learning_rate": 1.0}}, "learning_rates": [1e-3],
        "keep": True, "resamples": 20,
    }  # fmt: skip
    runs = []

    def made(own, task_own=None):
        runs.append(None)
        folder = tmp_path / str(len(runs))
        settings = FinetuneSettings.model_validate({"task": {**task, **(task_own or {})}, **own})
        finetune_model(
            models=[toy / "bert"], names=["m"], tokenizer=toy / "tokenizer", examples=toy / "e.parquet",
            out_metrics=folder / "m.tsv", out_predictions=folder / "p.parquet", work=folder / "work",
            settings=settings, fingerprint="x",
        )  # fmt: skip
        kept = sorted((folder / "models").iterdir()) if settings.keep else []
        return (
            (folder / "m.tsv").read_bytes(),
            (folder / "p.parquet").read_bytes(),
            [content_digest(one) for one in kept],
        )

    engine = {**base["engine"], "optimizer": {"learning_rate": 0.5}}
    changes = {
        "task": {**task, "input_length": 8}, "engine": {**base["engine"], "seed": 1}, "learning_rates": [1e-4],
        "epochs": 0.5, "group_by_length": True, "dropout": 0.5, "splits": ["test"], "train_limit": 12,
        "train_limit_per_task": 6, "eval_limit": 5, "embedding": {"kind": "partial", "splits": ["train"]},
        "keep": False, "resamples": 2,
    }  # fmt: skip
    first = moved(
        FinetuneSettings,
        lambda own: made({key: value for key, value in own.items() if key != "task"}, own.get("task")),
        base,
        changes,
        {},
    )
    assert made({**base, "engine": engine}) == first, "the rate of the engine is replaced by the sweep's"
    own = {"template": "the {text}", "labels": ["2", "0", "1"], "metrics": ["accuracy"], "input_length": 8}
    for name, value in own.items():
        assert made(base, {name: value}) != first, f"{name} moves nothing"
    others = {
        "label_words", "template_task", "field_order", "target_length", "eval_modes", "depth_format", "mask_padding",
        "tag_pieces",
    }  # fmt: skip
    assert {"kind", *own, *others} == set(TaskSettings.model_fields)
    # The seed orders the rows and draws dropout and the head, and scores the same examples.
    other = made({**base, "engine": {**base["engine"], "seed": 1}})
    assert other[2] != first[2]
    assert made({**base, "engine": {**base["engine"], "dtype": "bfloat16"}})[2] != first[2]


def test_a_split_is_predicted_and_scored_as_if_it_were_alone(toy, tmp_path):
    """Twelve rows of one and nine of the other, each with the labels and predictions of its own, without dropout.

    Weights are twenty times as large, so that what is read decides what is answered. The head is drawn by the seed: at
    a rate of next to nothing it stays so.
    """
    model = load_model(toy / "bert")
    with torch.no_grad():
        for name, one in model.named_parameters():
            if one.dim() > 1 and "pooler" not in name:
                one.mul_(20)
    save_model(model, tmp_path / "bert")
    task = {"kind": "classification", "metrics": ["accuracy"], "input_length": 16}
    engine = {"steps": 2, "batch_size": 8, "optimizer": {"learning_rate": 1.0}}
    base = {"task": task, "engine": engine, "dropout": 0.5, "learning_rates": [1e-9]}
    found, heads, orders = {}, [], []
    for splits in (["validation", "test"], ["test"], ["validation"]):
        folder = tmp_path / "-".join(splits)
        finetune_model(
            models=[tmp_path / "bert"], names=["m"], tokenizer=toy / "tokenizer", examples=toy / "e.parquet",
            out_metrics=folder / "m.tsv", out_predictions=folder / "p.parquet", work=folder / "work",
            settings=FinetuneSettings.model_validate({**base, "splits": splits}),
            fingerprint="x",
        )  # fmt: skip
        found[folder.name] = [read_tsv(folder / "m.tsv"), read_parquet(folder / "p.parquet").to_pandas()]
    # What is no resume point is left where it is.
    (tmp_path / "cell-0").mkdir()
    (tmp_path / "cell-0/resume-note").touch()
    for seed in (0, 0, 5):
        settings = FinetuneSettings.model_validate({**base, "engine": {**base["engine"], "seed": seed}, "keep": True})
        prepared = prepare_task(toy / "e.parquet", toy / "tokenizer", settings)
        own = prepared.task.batch
        orders.append([])
        prepared.task.batch = lambda data, rows, own=own: orders[-1].append(rows.tolist()) or own(data, rows)
        finetune_cell(
            prepared, settings, tmp_path / "bert", "m", 1e-9, work=tmp_path / f"cell-{len(heads)}", save_every=9,
            fingerprint="x", device="cpu", evaluation_batch=8,
        )  # fmt: skip
        heads.append(load_file(tmp_path / f"cell-{len(heads)}/model/model.safetensors")["classifier.weight"])
    assert torch.equal(heads[0], heads[1]) and (heads[0] - heads[2]).abs().max() > 1e-3
    assert orders[0] == orders[1] and all(one != other for one, other in zip(orders[0][:2], orders[2], strict=False))
    examples = load_examples(toy / "e.parquet", ["validation", "test"], {})
    for split, n in (("validation", 12), ("test", 9)):
        (scores, answers), alone = found["validation-test"], found[split]
        assert scores[scores["split"] == split].reset_index(drop=True).equals(alone[0])
        own = answers[answers["split"] == split].reset_index(drop=True)
        assert own.equals(alone[1]) and len(own) == n and set(alone[0]["n"]) == {n}
        assert own["label"].tolist() == examples[split].columns["label"]
        right = 100 * (own["label"] == own["prediction"]).mean()
        assert alone[0]["value"].tolist() == [pytest.approx(right)] and own["prediction"].nunique() > 1


def test_settings_of_baselines_and_what_their_seed_moves(toy, tmp_path):
    base = {"metrics": ["accuracy"], "resamples": 30, "baselines": ["random", "tfidf"]}

    def made(own):
        evaluate_baselines(
            examples=toy / "e.parquet", out=tmp_path / "b.tsv", settings=BaselineSettings.model_validate(own)
        )
        return (tmp_path / "b.tsv").read_bytes()

    changes = {
        "metrics": ["macro_f1"], "baselines": ["tfidf"], "splits": ["test"], "train_limit": 6, "eval_limit": 5,
        "seed": 1,
    }  # fmt: skip
    # The interval of an accuracy is exact, and needs no resamples.
    moved(BaselineSettings, made, base, changes, {"resamples": 40})
    macro = {**base, "metrics": ["macro_f1"], "baselines": ["majority"]}
    values = []
    for own in (macro, {**macro, "seed": 1}, {**macro, "resamples": 40}):
        made(own)
        values.append(read_tsv(tmp_path / "b.tsv"))
    for other in values[1:]:
        assert other["value"].equals(values[0]["value"])
        assert not other[["low", "high"]].equals(values[0][["low", "high"]])


def test_settings_of_held_out_losses(tmp_path):
    vocabulary = make_tokenizer(tmp_path / "tokenizer")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=vocabulary.padded_size, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=8, max_position_embeddings=32, initializer_range=0.5,
    )  # fmt: skip
    save_model(BertForMaskedLM(config), tmp_path / "ladder" / "step-00000001")
    write_json(tmp_path / "ladder" / "run.json", {"diverged_at": None})
    rng = np.random.default_rng(0)
    rows = [rng.integers(3, 20, rng.integers(4, 14)).tolist() for _ in range(120)]
    columns = {
        "split": [("train", "validation", "test")[n % 3] for n in range(120)],
        "input_ids": pyarrow.array(rows, pyarrow.list_(pyarrow.int32())),
        "token_types": pyarrow.array([[1] * len(row) for row in rows], pyarrow.list_(pyarrow.int16())),
    }
    write_parquet(tmp_path / "t.parquet", pyarrow.table(columns))
    base = {"objective": "masked_lm", "input_length": 12, "target_length": 12, "batches": 3, "batch_size": 4}

    def made(own):
        run = {"name": "r", "ladder": tmp_path / "ladder", "steps": [1], "tokens": tmp_path / "t.parquet"}
        runs = EvaluationRuns.model_validate({"runs": [{**run, "settings": own}]})
        evaluate_lm(runs=runs, tokenizer=tmp_path / "tokenizer", out=tmp_path / "o.tsv")
        return (tmp_path / "o.tsv").read_bytes()

    changes = {
        "objective": "masked_concepts", "objective_settings": {"mask_probability": 0.3}, "input_length": 8,
        "packing": True, "split": "test", "batches": 2, "batch_size": 5, "seed": 1, "dtype": "bfloat16",
    }  # fmt: skip
    # What an encoder predicts is a part of its input.
    moved(EvaluationSettings, made, base, changes, {"target_length": 8})


def test_settings_of_scores_of_pairs_and_completions(tmp_path):
    rows = [("NN VB", "NN VB"), ("NN", "VB"), ("VB NN NN", "VB NN VB"), ("VB", "VB")]
    columns = {name: ["x"] * 4 for name in ("id", "source")} | {"task": ["pos"] * 4, "split": ["test"] * 4}
    columns |= {"target": [one[0] for one in rows], "prediction": [one[1] for one in rows]}
    write_parquet(tmp_path / "a.parquet", pyarrow.table(columns))
    write_tsv(tmp_path / "t.tsv", pandas.DataFrame({"step": [1, 2], "tokens": [10, 20]}))

    def scored(own):
        score_seq2seq(
            answers=tmp_path / "a.parquet", out=tmp_path / "o.tsv", settings=PairScoring.model_validate(own),
            training=tmp_path / "t.tsv",
        )  # fmt: skip
        return (tmp_path / "o.tsv").read_bytes()

    moved(PairScoring, scored, {"resamples": 20}, {"step": 1, "resamples": 30, "seed": 1}, {})
    asked = [
        {"id": str(n), "role": "test" if n else "shot", "fmt": "default", "prompt": f"a {n}", "turns": [],
         "choices": [], "completion": "film " * (n % 3 + 1), "answer": None}
        for n in range(8)
    ]  # fmt: skip
    for name, count in (("p", 8), ("q", 6)):
        write_completions(tmp_path / f"{name}.parquet", asked[:count], {"kind": "generation"})

    def answered(own):
        score_completion_baselines(out=tmp_path / "c.tsv", settings=CompletionBaselines.model_validate(own))
        return (tmp_path / "c.tsv").read_bytes()

    base = {"sets": {"e": {"prompts": tmp_path / "p.parquet"}}, "bootstrap": 20, "seed": 0}
    changes = {"sets": {"e": {"prompts": tmp_path / "q.parquet"}}, "bootstrap": 30, "seed": 1}
    moved(CompletionBaselines, answered, base, changes, {})


def test_the_loop_of_completions_has_what_its_settings_say():
    given = {
        "accumulation": 2, "warmup_ratio": 0.25, "weight_decay": 0.3, "clip_norm": 0.7, "dtype": "bfloat16", "seed": 9,
        "learning_rates": [1e-5], "epochs": 3, "batch_size": 4, "max_length": 32,
    }  # fmt: skip
    assert set(given) == set(CompletionTuningSettings.model_fields)
    engine = engine_settings(CompletionTuningSettings.model_validate(given), 2e-4, 42)
    assert (engine.steps, engine.batch_size, engine.accumulation, engine.seed) == (31, 4, 2, 9)
    assert (engine.dtype, engine.schedule.name, engine.schedule.warmup_steps) == ("bfloat16", "linear", 7)
    optimizer = engine.optimizer
    assert (optimizer.learning_rate, optimizer.weight_decay, optimizer.clip_norm) == (2e-4, 0.3, 0.7)
    odd = engine_settings(CompletionTuningSettings.model_validate({**given, "batch_size": 5}), 2e-4, 1)
    assert (odd.steps, odd.accumulation, odd.schedule.warmup_steps) == (1, 1, 0)


@pytest.mark.parametrize("kind", ["two_nn", "two_nn_ml", "levina_bickel", "gride"])
def test_settings_of_estimators_of_dimension(kind):
    points = torch.tensor(np.random.default_rng(0).random((120, 4)))
    points[:6] = points[6:12].clone()
    changes = {
        "discard": 0.2, "neighbours": 40, "unbiased": True, "combine": "harmonic", "ranks": (2, 4),
        "duplicates": "upstream",
    }  # fmt: skip
    own = {
        "two_nn": {"discard"}, "two_nn_ml": set(), "gride": {"ranks"},
        "levina_bickel": {"neighbours", "unbiased", "combine"},
    }[kind] | {"duplicates"}  # fmt: skip

    def made(given):
        (found,) = estimate_dimension(points, [EstimatorSettings(name="e", kind=kind, **given)])
        return round(found.value, 9), found.spread == found.spread and round(found.spread, 9), found.n_used

    first = made({})
    assert {*changes, "kind", "name"} == set(EstimatorSettings.model_fields)
    for name, value in changes.items():
        assert (made({name: value}) != first) == (name in own), name


def test_settings_of_text_to_text_are_in_the_ids_of_its_batches(tmp_path):
    """What a model reads and is to write, of tables whose columns the templates take."""
    make_tokenizer(tmp_path / "tokenizer")
    tokenizer = open_tokenizer(tmp_path / "tokenizer")
    sentences = [{"sentences": ["the film", "was good", "b c", "d", "e"], "label": "0"},
                 {"sentences": ["a", "b", "c", "d", "e"], "label": "1"}]  # fmt: skip
    pairs = [{"text_a": "good film", "text_b": "bad", "label": "0"}, {"text_a": "a b", "text_b": "c", "label": "1"}]
    tables = {
        "sentences": make_examples(tmp_path / "s.parquet", "sentences", sentences, ["0", "1"]),
        "pair": make_examples(tmp_path / "p.parquet", "pair", pairs, ["0", "1"]),
    }
    words = {"label_words": ["First", "Second"]}

    def made(kind, own):
        base = {"kind": "text_to_text", "metrics": ["accuracy"], "input_length": 48, "target_length": 4, **words}
        base |= {"template_task": "SParxiv"}
        settings = TaskSettings.model_validate({**base, **own})
        table = load_examples(tables[kind], ["train"], {})["train"]
        task = TextToText(settings, common_labels({"train": table}, settings.labels), tokenizer, tmp_path / "tokenizer")
        batch = task.batch(task.encode(table), np.array([1, 0]))
        return {name: value.tolist() for name, value in batch.items()}

    first = made("sentences", {"template": "discoeval"})
    assert made("sentences", {"template": "discoeval"}) == first
    changes = {
        "template_task": "sst2", "label_words": ["Second", "First"], "labels": ["1", "0"], "input_length": 12,
        "depth_format": True,
    }  # fmt: skip
    for name, value in changes.items():
        assert made("sentences", {"template": "discoeval", name: value}) != first, f"{name} moves nothing"
    deep = made("sentences", {"template": "discoeval", "depth_format": True})
    padded = made("sentences", {"template": "discoeval", "depth_format": True, "mask_padding": False})
    assert {len(row) for row in padded["ids"]} == {48}
    for name in ("ids", "types"):
        short, long = deep[name][0], padded[name][0]
        assert long[: len(short)] == short and not any(long[len(short) :]), "padding has no id and no sentence"
    assert {sum(kind == 0 for kind in row) > 0 for row in deep["types"]} == {True, False}, "one row is padded"
    assert [sum(kind > 0 for kind in row) for row in deep["types"]] == [sum(row) for row in deep["mask"]]
    right = made("pair", {"template": "mnli", "field_order": "right"})
    assert made("pair", {"template": "mnli", "field_order": "upstream"}) != right
    longer = {"label_words": ["First sentence", "Second sentence"]}
    assert {len(row) for row in made("pair", {"template": "mnli", **longer})["labels"]} == {3}
    with pytest.raises(ReprlabError, match="target_length"):
        made("pair", {"template": "mnli", "target_length": 2, **longer})
