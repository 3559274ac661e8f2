"""Fine-tuning end to end on tiny models: learning, evaluation modes, exact resume, selection."""

import json

import numpy as np
import pandas
import pytest
import torch
from finetune_fixtures import make_bert, make_examples, make_t5, make_tokenizer, sentiment_rows
from reprlab.artifacts.json_files import read_json
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.evaluation.examples import load_examples
from reprlab.evaluation.settings import BaselineSettings
from reprlab.inference.generation import sorted_batches
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.evaluate_baselines import evaluate_baselines
from reprlab.stages.finetune_model import finetune_model
from reprlab.stages.select_learning_rate import select_learning_rate
from reprlab.training import finetuning
from reprlab.training.finetuning_order import TrainingOrder
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.finetuning_text import TextToText
from transformers import AutoModelForSequenceClassification, AutoTokenizer


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    vocabulary = make_tokenizer(folder / "tokenizer")
    make_t5(folder / "t5", vocabulary)
    make_bert(folder / "bert", vocabulary)
    make_examples(folder / "single.parquet", "single", sentiment_rows(), ["0", "1"])
    return folder


def settings_of(task, steps=60, rates=(3e-3,), **more):
    engine = {"steps": steps, "batch_size": 8, "optimizer": {"learning_rate": 1.0}, "log_every": 10}
    return FinetuneSettings(task=task, engine=engine, learning_rates=list(rates), **more)


def run(folder, out, model, examples, settings, work=None, **options):
    finetune_model(
        models=[folder / model], names=["step-00000001"], tokenizer=folder / "tokenizer", examples=examples,
        out_metrics=out / "metrics.tsv", out_predictions=out / "predictions.parquet", work=work or out / "work",
        settings=settings, fingerprint="x", **options,
    )  # fmt: skip
    return read_tsv(out / "metrics.tsv"), read_parquet(out / "predictions.parquet").to_pandas()


SST2 = TaskSettings(
    kind="text_to_text", template="sst2", metrics=["accuracy", "matthews"], input_length=32, target_length=4
)


def test_text_to_text_learns_separable_data(toy, tmp_path):
    metrics, predictions = run(
        toy, tmp_path, "t5", toy / "single.parquet", settings_of(SST2, splits=["validation", "test"])
    )
    assert metrics["value"].tolist() == [100.0] * 4
    assert metrics[["n", "steps"]].drop_duplicates().to_numpy().tolist() == [[24, 60]]
    assert (metrics["outside_labels"] == 0).all() and (metrics["tokens"] > 0).all()
    assert len(predictions) == 48 and not predictions.duplicated(["split", "id"]).any()
    assert (predictions["label"] == predictions["prediction"]).all()


def test_depth_format_learns_separable_data(toy, tmp_path):
    rows = [
        {"sentences": ["the film was a", "b c", word, "d e"], "label": str(int(word == "good"))}
        for word in ("good", "bad") for _ in range(4)
    ]  # fmt: skip
    examples = make_examples(tmp_path / "e.parquet", "sentences", rows, ["0", "1"])
    task = TaskSettings(
        kind="text_to_text", template="dc_chat", metrics=["accuracy"], input_length=64, depth_format=True
    )
    metrics, _ = run(toy, tmp_path, "t5", examples, settings_of(task))
    assert metrics["value"].tolist() == [100.0]


def test_free_text_is_scored_against_every_target(toy, tmp_path):
    rows = [
        {"source": f"{word} film", "targets": [f"very {word}", "e e e"], "task": "t", "definition": "a b"}
        | {"positive_inputs": ["a", "b"], "positive_outputs": ["c", "d"]}
        for word in ("good", "bad") for _ in range(4)
    ]  # fmt: skip
    examples = make_examples(tmp_path / "e.parquet", "text_to_text", rows)
    task = TaskSettings(
        kind="text_to_text", template="ni", metrics=["rouge_l", "exact_match"], input_length=64,
        eval_modes=["generate", "teacher_forced"],
    )  # fmt: skip
    metrics, predictions = run(toy, tmp_path, "t5", examples, settings_of(task, steps=80))
    assert metrics["value"].tolist() == [100.0] * 4
    assert metrics["eval_mode"].tolist() == ["generate"] * 2 + ["teacher_forced"] * 2
    assert json.loads(predictions["label"][0]) == ["very good", "e e e"]
    assert predictions["prediction"][0] == "very good"


def test_classification_learns_separable_data(toy, tmp_path):
    task = TaskSettings(kind="classification", metrics=["accuracy"], input_length=16)
    metrics, _ = run(toy, tmp_path, "bert", toy / "single.parquet", settings_of(task, rates=[5e-3]))
    assert metrics["value"].tolist() == [100.0] and metrics["eval_mode"].tolist() == ["argmax"]


def test_regression_learns_an_ordering(toy, tmp_path):
    rows = [{"text_a": f"very {word}", "text_b": "film", "score": score} for word, score in
            (("good", 1.0), ("bad", -1.0), ("a", 0.0), ("b", 0.5)) for _ in range(4)]  # fmt: skip
    examples = make_examples(tmp_path / "e.parquet", "similarity", rows)
    task = TaskSettings(kind="regression", metrics=["pearson", "spearman"], input_length=16)
    metrics, predictions = run(toy, tmp_path, "bert", examples, settings_of(task, steps=120, rates=[5e-3]))
    assert metrics["value"].min() > 95
    assert predictions["prediction"].astype(float).notna().all()


def test_tags_learn_word_classes_and_survive_truncation(toy, tmp_path):
    rows = [
        {"tokens": ["the", "film.good", *["bad"] * (n % 4)], "tags": ["O", "N", *["A"] * (n % 4)]} for n in range(8)
    ]
    examples = make_examples(tmp_path / "e.parquet", "tags", rows, ["O", "N", "A"])
    task = TaskSettings(kind="tags", metrics=["tag_accuracy", "tag_f1"], input_length=16)
    metrics, predictions = run(toy, tmp_path, "bert", examples, settings_of(task, steps=40, rates=[1e-2]))
    assert metrics["value"].tolist() == [100.0, 100.0]
    assert json.loads(predictions["prediction"][3]) == ["O", "N", "A", "A", "A"]
    short = task.model_copy(update={"input_length": 4})
    cut, _ = run(toy, tmp_path / "short", "bert", examples, settings_of(short, steps=2))
    assert cut["n"].tolist() == [8, 8]


def test_generate_and_teacher_forced_differ_on_a_wrong_first_piece(toy, tmp_path):
    """A model that answers by the previous token alone: its first piece is wrong, the forced ones are right."""
    rows = [{"text": "a", "label": "0"}, {"text": "b", "label": "1"}]
    examples = make_examples(tmp_path / "e.parquet", "single", rows, ["0", "1"])
    words = TaskSettings(
        kind="text_to_text", template="x: {text}", label_words=["First sentence", "Second positive"],
        metrics=["accuracy"], input_length=8, target_length=4,
    )  # fmt: skip
    tokenizer = AutoTokenizer.from_pretrained(toy / "tokenizer")
    task = TextToText(words, ("0", "1"), tokenizer, toy / "tokenizer")
    split = task.encode(load_examples(examples, ["train"], {})["train"])
    model = task.load(toy / "t5", 0.0).eval()
    first, sentence, second, positive = tokenizer.convert_tokens_to_ids(["First", "sentence", "Second", "positive"])
    follow = {0: second, first: sentence, second: positive, sentence: 1, positive: 1}

    def next_piece(module, inputs, options, output):
        previous = options["decoder_input_ids"] if options.get("decoder_input_ids") is not None else None
        if previous is None:
            previous = model._shift_right(options["labels"])
        logits = torch.zeros_like(output.logits)
        for place, token in enumerate(previous[:, -logits.shape[1] :].T):
            logits[torch.arange(len(token)), place, torch.tensor([follow.get(int(t), 1) for t in token])] = 1
        output["logits"] = logits
        return output

    model.register_forward_hook(next_piece, with_kwargs=True)
    device = torch.device("cpu")
    assert task.answers(task.predict(model, split, "generate", 2, device)) == ["1", "1"]
    forced = task.answers(task.predict(model, split, "teacher_forced", 2, device))
    assert forced == ["Second sentence", "1"], "first piece of one label, forced rest of the other: outside the labels"


def test_predictions_do_not_depend_on_the_batch_size(toy, tmp_path):
    both = SST2.model_copy(update={"eval_modes": ["generate", "teacher_forced"]})
    frames = []
    for size in (1, 5, 64):
        _, predictions = run(toy, tmp_path / str(size), "t5", toy / "single.parquet", settings_of(both, steps=3),
                             inference_batch=size)  # fmt: skip
        frames.append(predictions)
    assert frames[0].equals(frames[1]) and frames[0].equals(frames[2])
    assert len(frames[0]) == 2 * 24


@pytest.mark.parametrize("size", [1, 3, 100])
def test_every_example_is_in_exactly_one_batch(size):
    lengths = np.random.default_rng(0).integers(1, 50, 17)
    batches = list(sorted_batches(lengths, size))
    assert sorted(np.concatenate(batches)) == list(range(17))
    assert [lengths[batch].max() for batch in batches] == sorted(
        (lengths[batch].max() for batch in batches), reverse=True
    )


def test_training_rows_walk_through_whole_passes():
    order = TrainingOrder(10, 4, 7)
    rows = np.concatenate([order.rows(step) for step in range(5)])
    assert sorted(rows[:10]) == sorted(rows[10:]) == list(range(10))
    assert rows[:10].tolist() != rows[10:].tolist()
    assert np.array_equal(TrainingOrder(10, 4, 7).rows(3), rows[12:16])
    assert len(set(TrainingOrder(10, 25, 7).rows(0))) == 10
    assert not np.array_equal(TrainingOrder(10, 4, 8).rows(0), rows[:4])


def test_grouped_batches_have_similar_lengths_and_whole_passes():
    lengths = np.random.default_rng(0).integers(1, 100, 643)
    order = TrainingOrder(643, 8, 7, lengths)
    rows = np.concatenate([order.rows(step) for step in range(643)])
    assert all(sorted(part) == list(range(643)) for part in rows.reshape(8, 643))

    def padded(order):
        return sum(8 * lengths[order.rows(step)].max() for step in range(80))

    assert padded(order) < 0.7 * padded(TrainingOrder(643, 8, 7))
    assert np.array_equal(TrainingOrder(643, 8, 7, lengths).rows(100), rows[800:808])


def test_resume_gives_the_same_bytes(toy, tmp_path, monkeypatch):
    settings = settings_of(SST2, steps=20, rates=[3e-3, 1e-3])
    run(toy, tmp_path / "whole", "t5", toy / "single.parquet", settings)
    real, calls = TextToText.loss, []

    def dies(self, model, batch):
        calls.append(1)
        if len(calls) == 33:
            raise KeyboardInterrupt
        return real(self, model, batch)

    monkeypatch.setattr(TextToText, "loss", dies)
    with pytest.raises(KeyboardInterrupt):
        run(toy, tmp_path / "killed", "t5", toy / "single.parquet", settings, save_every=5)
    before = len(calls)
    run(toy, tmp_path / "killed", "t5", toy / "single.parquet", settings, save_every=5)
    assert len(calls) - before == 10, "the first cell is kept and the second goes on from step 10"
    for name in ("metrics.tsv", "predictions.parquet"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes()


def test_finished_cells_serve_a_longer_sweep_but_no_other_settings(toy, tmp_path, monkeypatch):
    work, real, calls = tmp_path / "work", TextToText.loss, []
    monkeypatch.setattr(TextToText, "loss", lambda self, model, batch: (calls.append(1), real(self, model, batch))[1])

    def steps(settings):
        calls.clear()
        run(toy, tmp_path, "t5", toy / "single.parquet", settings, work=work)
        return len(calls)

    assert steps(settings_of(SST2, steps=4)) == 4
    assert steps(settings_of(SST2, steps=4)) == 0
    assert steps(settings_of(SST2, steps=4, rates=[3e-3, 1e-3])) == 4
    assert steps(settings_of(SST2, steps=4, train_limit=8)) == 4


def test_epochs_replace_steps(toy, tmp_path):
    metrics, _ = run(toy, tmp_path, "t5", toy / "single.parquet", settings_of(SST2, epochs=1.5))
    assert metrics["steps"].unique().tolist() == [5]


def test_model_of_another_tokenizer_is_refused(toy, tmp_path):
    from reprlab.text.vocabulary import Vocabulary

    make_t5(tmp_path / "small", Vocabulary(3))
    with pytest.raises(ReprlabError, match="another tokenizer"):
        run(toy, tmp_path, tmp_path / "small", toy / "single.parquet", settings_of(SST2))
    with pytest.raises(ReprlabError, match="encoder-decoder"):
        run(toy, tmp_path, "bert", toy / "single.parquet", settings_of(SST2))


def write_metrics(path, rows):
    columns = ["name", "learning_rate", "split", "subset", "metric", "value", "eval_mode"]
    pandas.DataFrame(rows, columns=columns).to_csv(path, sep="\t", index=False)
    return path


def test_selection_takes_the_best_and_the_smaller_rate_of_a_tie(tmp_path):
    one = write_metrics(tmp_path / "a.tsv", [
        ("s1", 1e-3, "validation", "", "accuracy", 70, "generate"),
        ("s1", 1e-4, "validation", "", "accuracy", 70, "generate"),
        ("s1", 1e-5, "validation", "m", "accuracy", 99, "generate"),
        ("s1", 1e-5, "test", "", "accuracy", 99, "generate"),
        ("s1", 1e-5, "validation", "", "f1", 99, "generate"),
        ("s1", 1e-5, "validation", "", "accuracy", 99, "teacher_forced"),
    ])  # fmt: skip
    two = write_metrics(tmp_path / "b.tsv", [
        ("s1", 1e-5, "validation", "", "accuracy", 60, "generate"),
        ("s2", 1e-5, "validation", "", "accuracy", float("nan"), "generate"),
        ("s2", 1e-3, "validation", "", "accuracy", 10, "generate"),
    ])  # fmt: skip
    select_learning_rate(metrics=[one, two], out=tmp_path / "best.json", collected=tmp_path / "all.tsv")
    assert len(read_tsv(tmp_path / "all.tsv")) == 9
    found = read_json(tmp_path / "best.json")
    assert found["best"] == {
        "s1": {"learning_rate": 1e-4, "value": 70.0},
        "s2": {"learning_rate": 1e-3, "value": 10.0},
    }
    assert (found["metric"], found["split"], found["eval_mode"]) == ("accuracy", "validation", "generate")
    with pytest.raises(ReprlabError, match="no row of metric 'rouge_l'"):
        select_learning_rate(metrics=[one], out=tmp_path / "none.json", metric="rouge_l")


def test_baselines_known_answers(toy, tmp_path):
    rows = [{"text": "a good film", "label": "1"}] * 5 + [{"text": "a bad film", "label": "0"}] * 3
    examples = make_examples(tmp_path / "e.parquet", "single", rows, ["0", "1"])
    chosen = BaselineSettings(metrics=["accuracy", "matthews"], baselines=["majority", "tfidf", "random"])
    evaluate_baselines(examples=examples, out=tmp_path / "b.tsv", settings=chosen)
    found = read_tsv(tmp_path / "b.tsv").set_index(["name", "metric"])["value"]
    assert found["majority", "accuracy"] == 62.5 and found["majority", "matthews"] == 0
    assert found["tfidf", "accuracy"] == 100
    first = (tmp_path / "b.tsv").read_bytes()
    evaluate_baselines(examples=examples, out=tmp_path / "b.tsv", settings=chosen)
    assert (tmp_path / "b.tsv").read_bytes() == first


def test_texts_without_a_word_give_tfidf_nothing_to_count(tmp_path):
    """Scikit-learn ends in a ValueError of an empty vocabulary."""
    rows = [{"text": "!", "label": "1"}] * 3 + [{"text": "?", "label": "0"}] * 2
    chosen = BaselineSettings(metrics=["accuracy"], baselines=["majority", "tfidf"])
    evaluate_baselines(
        examples=make_examples(tmp_path / "e.parquet", "single", rows, ["0", "1"]),
        out=tmp_path / "b.tsv",
        settings=chosen,
    )
    found = read_tsv(tmp_path / "b.tsv").set_index("name")["value"]
    assert found["tfidf"] == found["majority"] == 60
    pairs = [{"text_a": "a b", "text_b": "!", "label": label} for label in ("1", "1", "0")]
    table = make_examples(tmp_path / "p.parquet", "pair", pairs, ["0", "1"])
    evaluate_baselines(examples=table, out=tmp_path / "p.tsv", settings=chosen)
    alike = [{"text_a": "!", "text_b": "?", "score": float(score)} for score in range(4)]
    scored = BaselineSettings(metrics=["spearman"], baselines=["tfidf"])
    evaluate_baselines(
        examples=make_examples(tmp_path / "s.parquet", "similarity", alike, []), out=tmp_path / "s.tsv", settings=scored
    )


def test_baselines_of_other_kinds(tmp_path):
    texts = make_examples(tmp_path / "t.parquet", "text_to_text", [
        {"source": "yes", "targets": ["yes"], "task": "t"}, {"source": "no", "targets": ["yes", "no"], "task": "t"},
        {"source": "a b", "targets": ["c"], "task": "t"},
    ])  # fmt: skip
    chosen = BaselineSettings(metrics=["exact_match"], baselines=["majority", "copy"])
    evaluate_baselines(examples=texts, out=tmp_path / "t.tsv", settings=chosen)
    assert read_tsv(tmp_path / "t.tsv")["value"].round(3).tolist() == [66.667, 66.667]
    tags = make_examples(tmp_path / "g.parquet", "tags", [
        {"tokens": ["x", "y"], "tags": ["O", "N"]}, {"tokens": ["x"], "tags": ["O"]},
    ], ["O", "N"])  # fmt: skip
    chosen = BaselineSettings(metrics=["tag_accuracy"], baselines=["majority", "word_majority"])
    evaluate_baselines(examples=tags, out=tmp_path / "g.tsv", settings=chosen)
    assert read_tsv(tmp_path / "g.tsv")["value"].round(3).tolist() == [66.667, 100.0]
    for metric, message in (("accuracy", "needs labels"), ("tag_f1", "not for tags examples")):
        with pytest.raises(ReprlabError, match=message):
            evaluate_baselines(examples=tags, out=tmp_path / "x.tsv", settings=BaselineSettings(metrics=[metric]))


def test_settings_from_json_refuse_typos():
    task = {"kind": "text_to_text", "metrics": ["accuracy"], "input_length": 16}
    assert TaskSettings.model_validate_json(json.dumps(task)).eval_modes == ["generate"]
    for wrong in ({"metric": "x"}, {"depth_format": True, "kind": "tags"}, {"mask_padding": False}):
        with pytest.raises(ValueError):
            TaskSettings.model_validate({**task, **wrong})


def test_kept_models_change_no_score_and_say_what_the_rows_say(toy, tmp_path):
    task = TaskSettings(kind="classification", metrics=["accuracy"], input_length=16)
    plain, kept = (settings_of(task, steps=12, rates=(1e-3, 3e-3), keep=keep) for keep in (False, True))
    examples, out, models = toy / "single.parquet", tmp_path, tmp_path / "models"
    run(toy, out, "bert", examples, plain)
    written = (out / "metrics.tsv").read_bytes()
    assert not models.exists()
    _, predictions = run(toy, out, "bert", examples, kept)
    assert (out / "metrics.tsv").read_bytes() == written
    assert sorted(path.name for path in models.iterdir()) == ["step-00000001.lr-0.001", "step-00000001.lr-0.003"]
    model = AutoModelForSequenceClassification.from_pretrained(models / "step-00000001.lr-0.003").eval()
    tokenizer = AutoTokenizer.from_pretrained(models / "step-00000001.lr-0.003")
    texts = {row["id"]: row["text"] for row in read_parquet(examples).to_pylist()}
    rows = predictions[predictions["learning_rate"] == 3e-3]
    inputs = tokenizer([texts[number] for number in rows["id"]], padding=True, return_tensors="pt")
    with torch.inference_mode():
        found = model(inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits.argmax(-1)
    assert [model.config.id2label[number] for number in found.tolist()] == rows["prediction"].tolist()


def test_models_that_are_no_longer_kept_go_and_nothing_is_trained_again(toy, tmp_path, monkeypatch):
    task = TaskSettings(kind="classification", metrics=["accuracy"], input_length=16)
    run(toy, tmp_path, "bert", toy / "single.parquet", settings_of(task, steps=4, keep=True))
    assert (tmp_path / "models").is_dir()
    monkeypatch.setattr(finetuning, "train", None)
    run(toy, tmp_path, "bert", toy / "single.parquet", settings_of(task, steps=4, keep=True))
    assert (tmp_path / "models").is_dir()
    run(toy, tmp_path, "bert", toy / "single.parquet", settings_of(task, steps=4))
    assert not (tmp_path / "models").exists()
