"""Rows of stages that score: splits that answer each other's questions wrongly, rows in another order, known models.

Training, validation and test contradict each other in all of these, so that one taken for another shows.
"""

import json

import pandas
import pyarrow
import pytest
import torch
from finetune_fixtures import make_bert, make_examples, make_tokenizer
from reprlab.artifacts.json_files import read_json, write_json
from reprlab.artifacts.tables import read_parquet, read_tsv, write_parquet, write_tsv
from reprlab.evaluation.completion_settings import CompletionBaselines, CompletionScoring
from reprlab.evaluation.prediction_sample import SampleSettings, sample_rows
from reprlab.evaluation.settings import BaselineSettings
from reprlab.models.build import load_model, save_model
from reprlab.music.forms import BREAKDOWN, OVERVIEW
from reprlab.music.settings import DescriptionScoring
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.evaluate_baselines import evaluate_baselines
from reprlab.stages.evaluate_lm import evaluate_lm
from reprlab.stages.evaluate_mask_controls import evaluate_mask_controls
from reprlab.stages.evaluate_merges import evaluate_merges
from reprlab.stages.finetune_model import finetune_model
from reprlab.stages.score_completion_baselines import score_completion_baselines
from reprlab.stages.score_completions import score_completions
from reprlab.stages.score_description_baselines import score_description_baselines
from reprlab.stages.score_descriptions import score_descriptions
from reprlab.stages.score_prompt_baselines import score_prompt_baselines
from reprlab.stages.score_seq2seq import score_seq2seq
from reprlab.stages.select_layer import select_layer
from reprlab.stages.select_learning_rate import select_learning_rate
from reprlab.structure.seq2seq_settings import PairScoring
from reprlab.text.completions import write_completions
from reprlab.text.tokenizer_folder import open_tokenizer
from reprlab.text.vocabulary import Vocabulary
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.merge_settings import MergeEvaluation
from reprlab.training.settings import EvaluationRuns
from transformers import BertConfig, BertForMaskedLM, LlamaConfig, LlamaForCausalLM

A, B, C = 5, 6, 7
LENGTH, BATCH = 8, 4


@pytest.fixture(scope="module")
def language(tmp_path_factory):
    """A tokenizer, decoders that say one token whatever they read, an encoder that does, and texts of one token.

    `a.parquet` trains on B and validates on A and tests on C; `b.parquet` the other way round.
    """
    folder = tmp_path_factory.mktemp("language")
    vocabulary = make_tokenizer(folder / "tokenizer")
    for name, token in {"says_a": A, "says_b": B}.items():
        always(vocabulary, token, folder / name)
    config = BertConfig(
        vocab_size=vocabulary.padded_size, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=8, max_position_embeddings=16, hidden_dropout_prob=0.5, tie_word_embeddings=False,
    )  # fmt: skip
    torch.manual_seed(0)
    encoder = BertForMaskedLM(config)
    with torch.no_grad():
        encoder.cls.predictions.decoder.weight.zero_()
        for bias in (encoder.cls.predictions.bias, encoder.cls.predictions.decoder.bias):
            bias.zero_()
            bias[B] = 8.0
    for name in ("masked/step-00000000", "masked/step-00000002"):
        save_model(encoder, folder / name)
    for name, (train, validation) in {"a": (B, A), "b": (A, B)}.items():
        tokens = {"train": train, "validation": validation, "test": C}
        rows = [(split, token) for split, token in tokens.items() for _ in range(3 * BATCH)]
        columns = {
            "split": [split for split, _ in rows],
            "input_ids": pyarrow.array([[token] * LENGTH for _, token in rows], pyarrow.list_(pyarrow.int32())),
            "token_types": pyarrow.array([[1] * LENGTH for _ in rows], pyarrow.list_(pyarrow.int16())),
        }
        write_parquet(folder / f"{name}.parquet", pyarrow.table(columns))
    return folder


def always(vocabulary: Vocabulary, token: int, folder) -> None:
    """A decoder of one layer whose blocks add nothing: every state is the same, and so is the answer."""
    config = LlamaConfig(
        vocab_size=vocabulary.padded_size, hidden_size=8, intermediate_size=8, num_hidden_layers=1,
        num_attention_heads=1, max_position_embeddings=16, tie_word_embeddings=False,
    )  # fmt: skip
    torch.manual_seed(0)
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        model.model.embed_tokens.weight.fill_(1.0)
        model.model.layers[0].self_attn.o_proj.weight.zero_()
        model.model.layers[0].mlp.down_proj.weight.zero_()
        model.lm_head.weight.zero_()
        model.lm_head.weight[token] = 1.0
    save_model(model, folder)


def lm_settings(objective="causal_lm", **more):
    values = {"objective": objective, "input_length": LENGTH, "target_length": LENGTH, "batches": 2}
    return {**values, "batch_size": BATCH, **more}


def shares(table, *names):
    found = table.groupby(list(names), sort=False)[["correct", "total"]].sum()
    return (found["correct"] / found["total"]).to_dict()


def test_held_out_losses_are_those_of_their_split_and_step(language, tmp_path):
    ladder = tmp_path / "ladder"
    for step, name in ((0, "says_a"), (3, "says_b")):
        (ladder / f"step-{step:08d}").parent.mkdir(exist_ok=True)
        (ladder / f"step-{step:08d}").symlink_to(language / name)
    write_json(ladder / "run.json", {"diverged_at": None})
    runs = [
        {"name": f"{corpus} {split}", "ladder": ladder, "steps": [0, 3], "tokens": language / f"{corpus}.parquet",
         "settings": lm_settings(split=split)}
        for corpus in "ab" for split in ("train", "validation", "test")
    ]  # fmt: skip
    evaluate_lm(
        runs=EvaluationRuns.model_validate({"runs": runs}), tokenizer=language / "tokenizer", out=tmp_path / "o.tsv"
    )
    table = read_tsv(tmp_path / "o.tsv")
    right = {key for key, share in shares(table, "run", "step").items() if share == 1}
    assert right == {("a validation", 0), ("a train", 3), ("b train", 0), ("b validation", 3)}
    assert {share for key, share in shares(table, "run", "step").items() if key not in right} == {0}
    assert (table.groupby(["run", "step"]).size() == 2).all() and set(table["tokens"]) == {BATCH * LENGTH}
    assert set(table["total"]) == {BATCH * (LENGTH - 1)}, "the first token has none before it"
    write_json(ladder / "run.json", {"diverged_at": 2})
    evaluate_lm(
        runs=EvaluationRuns.model_validate({"runs": runs}), tokenizer=language / "tokenizer", out=tmp_path / "o.tsv"
    )
    assert set(read_tsv(tmp_path / "o.tsv")["step"]) == {0}, "steps behind the divergence are left out"


def test_points_between_two_models_go_from_the_first_to_the_second(language, tmp_path):
    given = {
        "models": {"b": language / "says_b", "a": language / "says_a"}, "scored": ["b", "a"],
        "first": "a", "second": "b", "base": "b", "dtype": "float32", "swept": ["of a"],
        "sweeps": {"sweep": {"method": "slerp", "over": "fraction", "values": [0.0, 0.25, 0.75, 1.0]},
                   "added": {"method": "task_arithmetic", "options": {"weights": [1, 0]}, "over": "scale",
                             "values": [0.0, 1.0]}},
        "texts": {"of b": language / "b.parquet", "of a": language / "a.parquet"}, "evaluation": lm_settings(),
    }  # fmt: skip
    evaluate_merges(
        runs=MergeEvaluation.model_validate(given), tokenizer=language / "tokenizer", out=tmp_path / "o.tsv"
    )
    table = read_tsv(tmp_path / "o.tsv")
    own = shares(table[table["t"].isna()], "model", "corpus")
    assert own == {("b", "of b"): 1, ("b", "of a"): 0, ("a", "of b"): 0, ("a", "of a"): 1}
    swept = table[table["t"].notna()]
    assert set(swept["corpus"]) == {"of a"} and set(swept["model"]) == {"sweep", "added"}
    assert shares(swept[swept["model"] == "added"], "t") == {0: 0, 1: 1}, "from the base to the first model"
    swept = swept[swept["model"] == "sweep"]
    assert shares(swept, "t") == {0: 1, 0.25: 1, 0.75: 0, 1: 0}
    means = swept.groupby("t")["loss_sum"].sum()
    assert means.is_monotonic_increasing and means.nunique() == 4
    whole = table[table["model"] == "a"].set_index("corpus").loc["of a", "loss_sum"]
    assert swept[swept["t"] == 0]["loss_sum"].tolist() == pytest.approx(whole.tolist())
    sizes = table.groupby("model")["parameters"].unique().map(list)
    counted = sum(one.numel() for one in load_model(language / "says_a").parameters())
    assert sizes.to_dict() == {name: [counted] for name in ("b", "a", "sweep", "added")}
    alone = MergeEvaluation.model_validate({**given, "scored": ["a"]})
    evaluate_merges(runs=alone, tokenizer=language / "tokenizer", out=tmp_path / "o.tsv")
    assert set(read_tsv(tmp_path / "o.tsv")["model"]) == {"a", "sweep", "added"}, "a model may be merged and not scored"
    packed = MergeEvaluation.model_validate({**given, "evaluation": lm_settings(input_length=2 * LENGTH, batches=1)})
    evaluate_merges(runs=packed, tokenizer=language / "tokenizer", out=tmp_path / "o.tsv")
    assert set(read_tsv(tmp_path / "o.tsv")["tokens"]) == {BATCH * 2 * LENGTH}, "texts are packed to the input's length"


def test_controls_of_masked_models_are_fitted_on_training_and_scored_on_validation(language, tmp_path):
    """Text `a` trains on B and validates on A: what is fitted to B is always wrong, and sure of it."""
    found = {}
    for corpus in "ab":
        settings = lm_settings("masked_lm", objective_settings={"mask_probability": 0.5})
        run = {"name": "m", "ladder": language / "masked", "steps": [2], "tokens": language / f"{corpus}.parquet"}
        evaluate_mask_controls(
            runs=EvaluationRuns.model_validate({"runs": [{**run, "settings": settings}]}),
            tokenizer=language / "tokenizer", out=tmp_path / "o.tsv", fit_batches=3,
        )  # fmt: skip
        table = read_tsv(tmp_path / "o.tsv")
        found[corpus] = table.groupby("control")[["hidden_correct", "hidden", "loss_sum", "count"]].sum()
        assert table.groupby("control")["step"].first().to_dict() == {"unigram": 0, "as trained": 2, "bias refitted": 2}
        assert found[corpus]["hidden"].nunique() == 1 and found[corpus]["hidden"].min() > 10
    right = {corpus: (one["hidden_correct"] / one["hidden"]).to_dict() for corpus, one in found.items()}
    assert right["a"] == {"unigram": 0, "as trained": 0, "bias refitted": 0}
    assert right["b"] == {"unigram": 0, "as trained": 1, "bias refitted": 0}
    wrong = found["b"]["loss_sum"] / found["b"]["count"]
    assert wrong["bias refitted"] > 3 > 1 > wrong["as trained"]


def labelled(word, label, split, count, subset=""):
    return [{"text": f"{word} {place}", "label": label, "split": split, "subset": subset} for place in range(count)]


def test_baselines_are_fitted_on_training_and_scored_on_each_split(tmp_path):
    rows = [*labelled("good", "1", "train", 6), *labelled("bad", "0", "train", 4)]
    rows += [*labelled("good", "0", "validation", 3), *labelled("bad", "1", "validation", 1)]
    rows += [*labelled("bad", "0", "test", 5), *labelled("good", "1", "test", 4)]
    examples = make_examples(tmp_path / "e.parquet", "single", rows, ["0", "1"])
    settings = BaselineSettings(
        metrics=["accuracy"], baselines=["majority", "tfidf"], splits=["test", "validation"], resamples=50
    )
    evaluate_baselines(examples=examples, out=tmp_path / "b.tsv", settings=settings)
    table = read_tsv(tmp_path / "b.tsv")
    found = table.set_index(["name", "split"])["value"].to_dict()
    assert found["majority", "validation"] == 25 and found["majority", "test"] == pytest.approx(400 / 9)
    assert found["tfidf", "validation"] == 0 and found["tfidf", "test"] == 100
    assert table.set_index("split")["n"].to_dict() == {"validation": 4, "test": 9}
    assert not table[["learning_rate", "steps", "tokens", "diverged"]].any(axis=None), "nothing is trained"
    texts = [{"source": f"{split} {n}", "targets": [target], "task": "t", "split": split}
             for split, answers in {"train": "xxy", "validation": "yz", "test": "xxxz"}.items()
             for n, target in enumerate(answers)]  # fmt: skip
    examples = make_examples(tmp_path / "t.parquet", "text_to_text", texts)
    asked = BaselineSettings(metrics=["exact_match"], baselines=["majority"], splits=["validation", "test"])
    evaluate_baselines(examples=examples, out=tmp_path / "t.tsv", settings=asked)
    table = read_tsv(tmp_path / "t.tsv").set_index("split")
    assert table["value"].to_dict() == {"validation": 0, "test": 75}, "x is the commonest answer of training"
    assert table["seen"].to_dict() == {"validation": 1, "test": 3}


def test_baselines_of_prompts_are_fitted_on_the_first_and_score_the_second(tmp_path):
    def prompts(name, rows):
        columns = {"id": [str(n) for n in range(len(rows))], "prompt": [one[0] for one in rows]}
        write_parquet(tmp_path / name, pyarrow.table({**columns, "label": [one[1] for one in rows]}))
        return tmp_path / name

    training = prompts("t.parquet", [("good film", "1")] * 3 + [("bad film", "0")] * 2)
    asked = prompts("p.parquet", [("bad film", "0")] * 3 + [("good film", "1")])
    score_prompt_baselines(training=training, prompts=asked, out=tmp_path / "o.tsv")
    table = read_tsv(tmp_path / "o.tsv").set_index("name")
    assert table["value"].to_dict() == {"majority": 25, "tfidf": 100, "char_tfidf": 100}
    assert set(table["n"]) == {4} and (table["low"] <= table["value"]).all()


def completion(name, role, prompt, answer, fmt="default", choices=()):
    about = {"id": name, "role": role, "fmt": fmt, "prompt": prompt, "turns": [], "choices": list(choices)}
    return {**about, "completion": answer, "answer": choices.index(answer) if choices else None}


def test_baselines_of_completions_are_fitted_on_training_prompts_alone(tmp_path):
    """Most of the training prompts say yes, most of those held out no, and so do the solved examples."""
    trained = [completion(f"t{n}", "train", "is it good", "yes") for n in range(3)]
    trained += [completion("u", "train", "is it bad", "no"), completion("e", "train", "is it bad", "")]
    trained += [completion(f"h{n}", "held_out", "is it good", "no") for n in range(9)]
    asked = [completion(f"s{n}", "shot", "is it good", "no") for n in range(2)]
    asked += [completion(f"q{n}", "test", "is it good", "yes") for n in range(3)]
    asked += [completion(f"r{n}", "test", "is it bad", "no") for n in range(2)]
    asked += [completion(f"o{n}", "test", "is it bad", "no", fmt="instruct") for n in range(50)]
    write_completions(tmp_path / "t.parquet", trained, {"kind": "classification"})
    write_completions(tmp_path / "p.parquet", asked, {"kind": "classification"})
    one = {"prompts": tmp_path / "p.parquet"}
    sets = {"trained": {**one, "training": tmp_path / "t.parquet"}, "shots": one}
    settings = CompletionBaselines.model_validate({"sets": sets, "bootstrap": 20, "seed": 0})
    score_completion_baselines(out=tmp_path / "o.tsv", settings=settings)
    table = read_tsv(tmp_path / "o.tsv")
    found = table.set_index(["eval", "name"])["value"].to_dict()
    assert found["trained", "majority"] == 60 and found["shots", "majority"] == 40
    assert found["trained", "tfidf"] == 100 and set(table["n"]) == {5}
    choices = [
        completion("s", "shot", "x", "b", choices=("a", "b")),
        completion("q", "test", "x", "b", choices=("aaa", "b")),
    ]
    write_completions(tmp_path / "c.parquet", choices, {"kind": "choice"})
    settings = CompletionBaselines.model_validate(
        {"sets": {"c": {"prompts": tmp_path / "c.parquet"}}, "bootstrap": 2, "seed": 0}
    )
    score_completion_baselines(out=tmp_path / "c.tsv", settings=settings)
    found = read_tsv(tmp_path / "c.tsv").set_index("name")["value"].to_dict()
    assert found["majority"] == 100 and found["longest"] == 0


def test_answers_are_scored_by_task_and_split_beside_baselines_of_training_pairs(tmp_path):
    rows = [
        ("pos", "test", "a b", "NN VB", "NN VB"), ("chunking", "test", "a", "B-NP", "O"),
        ("pos", "validation", "a b", "VB NN", "NN VB"), ("pos", "test", "b", "VB", "NN"),
    ]  # fmt: skip
    names = ("task", "split", "source", "target", "prediction")
    columns = {"id": [str(n) for n in range(len(rows))], **dict(zip(names, zip(*rows, strict=True), strict=True))}
    write_parquet(tmp_path / "a.parquet", pyarrow.table({name: list(column) for name, column in columns.items()}))
    pairs = [("pos", "train", "a b", "NN VB"), ("pos", "train", "b", "VB")]
    pairs += [("pos", split, "a b b b", "VB NN NN NN") for split in ("test", "validation") for _ in range(5)]
    table = {name: [one[place] for one in pairs] for place, name in enumerate(("task", "split", "source"))}
    write_parquet(tmp_path / "p.parquet", pyarrow.table({**table, "targets": [[one[3]] for one in pairs]}))
    steps = pandas.DataFrame({"step": [2, 4, 8], "tokens": [20, 40, 80]})
    write_tsv(tmp_path / "t.tsv", steps)
    score_seq2seq(
        answers=tmp_path / "a.parquet", out=tmp_path / "o.tsv", settings=PairScoring(resamples=20, step=4),
        training=tmp_path / "t.tsv", seen=tmp_path / "p.parquet",
    )  # fmt: skip
    found = read_tsv(tmp_path / "o.tsv")
    assert found["task"].drop_duplicates().tolist() == ["pos", "chunking"], "in the order of the answers"
    recall = found[found["metric"] == "recall"].set_index(["task", "split", "name"])["value"].to_dict()
    assert recall["pos", "test", "model"] == pytest.approx(200 / 3)
    assert recall["pos", "validation", "model"] == 0 and recall["chunking", "test", "model"] == 0
    assert recall["pos", "test", "word_majority"] == 100 and recall["pos", "validation", "word_majority"] == 0
    assert ("chunking", "test", "word_majority") not in recall, "no pair of training is of this task"
    assert found.groupby("name")[["steps", "tokens"]].max().loc["model"].tolist() == [4, 40]
    assert found.groupby("name")["tokens"].max()["word_majority"] == 0
    assert found[found["task"] == "pos"].groupby("split")["n"].first().to_dict() == {"test": 2, "validation": 1}
    score_seq2seq(
        answers=tmp_path / "a.parquet", out=tmp_path / "o.tsv", settings=PairScoring(resamples=20),
        training=tmp_path / "t.tsv",
    )  # fmt: skip
    assert set(read_tsv(tmp_path / "o.tsv")["tokens"]) == {80}, "of the last step where none is named"


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    vocabulary = make_tokenizer(folder)
    return make_bert(folder, vocabulary)


def annotations(folder, tracks):
    rows = [
        {"track": name, "split": split, "genre": genre, "type": "Song", "lyrics_text": "", "description": text,
         "frames": json.dumps([""] * frames)}
        for name, split, genre, text, frames in tracks
    ]  # fmt: skip
    write_parquet(folder / "annotations.parquet", pyarrow.Table.from_pylist(rows))
    return [folder / "annotations.parquet"]


def form(frames, word):
    items = "\n".join(f"{n}. **{word}**: the film was very {word} ." for n in range(1, frames + 1))
    return f"{OVERVIEW}\n{word} film\n\n{BREAKDOWN}\n{items}"


def test_descriptions_are_held_against_their_own_tracks(bert, tmp_path):
    """The table of descriptions is in another order than the annotations, whose tracks have frames of their own."""
    tracks = {"x": ("good", 1), "y": ("bad", 2), "z": ("coherent", 3)}
    known = annotations(tmp_path, [(name, "test", word, form(n, word), n) for name, (word, n) in tracks.items()])
    order = ["z", "x", "y"]
    texts = [form(tracks[name][1], tracks[name][0]) for name in order]
    columns = {"track": order, "target": texts, "text": [*texts[:2], ""], "steps": [7] * 3, "tokens": [70] * 3}
    write_parquet(tmp_path / "d.parquet", pyarrow.table(columns))
    settings = DescriptionScoring(resamples=20, max_length=64)
    score_descriptions(
        descriptions=tmp_path / "d.parquet", annotations=known, model=bert, out=tmp_path / "o.tsv", settings=settings
    )
    table = read_tsv(tmp_path / "o.tsv").set_index("metric")
    found = table["value"].to_dict()
    assert found["well_formed"] == pytest.approx(200 / 3) and found["empty"] == pytest.approx(100 / 3)
    assert found["rouge_f1"] == pytest.approx(200 / 3) and found["bert_f1"] == pytest.approx(200 / 3, abs=1e-3)
    assert set(table["steps"]) == {7} and set(table["tokens"]) == {70} and set(table["split"]) == {"test"}


def test_baselines_of_descriptions_write_what_training_tracks_have(bert, tmp_path):
    tracks = [
        ("c", "train", "good", form(2, "good"), 2), ("d", "train", "bad", form(1, "bad"), 1),
        ("a", "test", "bad", form(1, "bad"), 1), ("b", "test", "good", form(2, "good"), 2),
        ("e", "test", "third", form(3, "third"), 3), ("v", "validation", "third", form(3, "third"), 3),
    ]  # fmt: skip
    known = annotations(tmp_path, tracks)
    values = {}
    for limit in (2, None):
        score_description_baselines(
            annotations=known, model=bert, out=tmp_path / "o.tsv", limit=limit,
            settings=DescriptionScoring(resamples=20, max_length=64),
        )  # fmt: skip
        table = read_tsv(tmp_path / "o.tsv")
        values[limit] = table.set_index(["name", "metric"])["value"].to_dict()
        assert set(table["seen"]) == {2} and set(table["n"]) == {limit or 3}
    assert values[2]["nearest", "rouge_f1"] == 100 and values[2]["nearest", "well_formed"] == 100
    assert values[None]["nearest", "rouge_f1"] < 100, "a track of the validation split answers nothing"
    # The first track of the test split is bad, and the first of training good.
    assert values[2]["another track's", "rouge_f1"] < 70


def test_the_upper_of_two_best_layers_by_means_over_seeds(tmp_path):
    paths = []
    for layer, values in {3: [10, 50], 1: [40, 20], 2: [0, 59]}.items():
        rows = [{"metric": "f1", "value": value} for value in values] + [{"metric": "recall", "value": 100 - layer}]
        write_tsv(tmp_path / f"{layer}.tsv", pandas.DataFrame(rows))
        paths.append(tmp_path / f"{layer}.tsv")
    select_layer(metrics=paths, layers=[3, 1, 2], metric="f1", out=tmp_path / "o.json")
    assert read_json(tmp_path / "o.json") == {"layer": 3, "f1": {"3": 30.0, "1": 30.0, "2": 29.5}}
    with pytest.raises(ReprlabError, match="has no bleu"):
        select_layer(metrics=paths, layers=[3, 1, 2], metric="bleu", out=tmp_path / "n.json")


def test_a_classifier_learns_from_training_and_its_rows_are_those_of_each_split(tmp_path):
    """Validation calls good what training calls bad, and test agrees with training, in another order of rows."""
    vocabulary = make_tokenizer(tmp_path / "tokenizer")
    make_bert(tmp_path / "bert", vocabulary)
    rows = []
    for place in range(6):
        for word, label in (("good", "1"), ("bad", "0")):
            other = str(1 - int(label))
            filler = "very " * (place % 3)
            rows.append({"text": f"{filler}{word} film", "label": label, "split": "train"})
            rows.append({"text": f"{word} {filler}film", "label": other, "split": "validation"})
            rows.insert(0, {"text": f"film {filler}{word}", "label": label, "split": "test"})
    examples = make_examples(tmp_path / "e.parquet", "single", rows, ["0", "1"])
    task = TaskSettings(kind="classification", metrics=["accuracy"], input_length=16)
    engine = {"steps": 40, "batch_size": 8, "optimizer": {"learning_rate": 1.0}}
    settings = FinetuneSettings(task=task, engine=engine, learning_rates=[1e-9, 5e-3], splits=["validation", "test"])

    def run(folder, **options):
        finetune_model(
            models=[tmp_path / "bert"], names=["m"], tokenizer=tmp_path / "tokenizer", examples=examples,
            out_metrics=folder / "m.tsv", out_predictions=folder / "p.parquet", work=folder / "work",
            settings=settings, fingerprint="x", **options,
        )  # fmt: skip
        return read_tsv(folder / "m.tsv"), read_parquet(folder / "p.parquet").to_pandas()

    metrics, predictions = run(tmp_path / "one")
    found = metrics.set_index(["learning_rate", "split"])["value"].to_dict()
    assert found[5e-3, "validation"] == 0 and found[5e-3, "test"] == 100
    assert found[1e-9, "test"] < 100, "a rate of nearly nothing learns nothing"
    known = {f"{n}-{row['split']}": row for n, row in enumerate(rows)}
    for row in predictions.to_dict("records"):
        assert (row["label"], row["split"]) == (known[row["id"]]["label"], known[row["id"]]["split"])
        if row["learning_rate"] == 5e-3:
            assert row["prediction"] == str(int("good" in known[row["id"]]["text"]))
    for size in (1, 5):
        again, same = run(tmp_path / str(size), inference_batch=size)
        assert again["value"].equals(metrics["value"]) and same["prediction"].equals(predictions["prediction"])
    select_learning_rate(metrics=[tmp_path / "one" / "m.tsv"], out=tmp_path / "best.json")
    assert read_json(tmp_path / "best.json")["best"]["m"]["learning_rate"] == 1e-9, "validation decides, and not test"


def test_sampled_predictions_are_those_of_the_chosen_rate_split_and_mode_beside_their_own_texts(tmp_path):
    """The same ids are predicted otherwise by another model, rate and mode, and other ids are of another split."""
    examples = make_examples(
        tmp_path / "e.parquet",
        "single",
        [{"text": f"text {n}", "label": str(n % 2), "split": split} for n, split in enumerate(["validation"] * 6)],
        ["0", "1"],
    )
    rows = []
    for name, rate, mode in (("m", 1e-3, "generate"), ("m", 1e-4, "generate"), ("o", 1e-3, "generate")):
        right = (name, rate) == ("m", 1e-3)
        for n in reversed(range(6)):
            answer = str(n % 2) if right and n else "what"
            about = {"name": name, "learning_rate": rate, "subset": "", "label": str(n % 2)}
            rows.append(
                {**about, "split": "validation", "id": f"{n}-validation", "prediction": answer, "eval_mode": mode}
            )
            rows.append({**about, "split": "validation", "id": f"{n}-validation", "prediction": "?", "eval_mode": "x"})
        rows.append({**about, "split": "test", "id": "t", "prediction": "?", "eval_mode": mode})
    write_parquet(tmp_path / "p.parquet", pyarrow.Table.from_pylist(rows))
    write_tsv(tmp_path / "m.tsv", pandas.DataFrame({"name": ["o", "m"], "steps": [1, 9], "tokens": [10, 90]}))
    write_json(tmp_path / "s.json", {"best": {"m": {"learning_rate": 1e-3}, "o": {"learning_rate": 1e-4}}})
    model = {"about": {"task": "toy"}, "name": "m", "metrics": tmp_path / "m.tsv", "labels": ["0", "1"]}
    model |= {"predictions": [tmp_path / "p.parquet"], "selection": tmp_path / "s.json", "examples": examples}
    found = {}
    for seed, count in ((0, 6), (0, 3), (1, 3)):
        settings = SampleSettings.model_validate({"scale": "nano", "models": [model], "examples": count, "seed": seed})
        table = sample_rows(settings)
        found[seed, count] = table["id"].tolist()
        for row in table.to_dict("records"):
            n = int(row["id"].split("-")[0])
            assert row["text"] == f"text {n}" and row["label"] == str(n % 2)
            assert (row["prediction"], row["correct"], row["outside_label"]) == (
                (str(n % 2), "yes", "no") if n else ("what", "no", "yes")
            )
            assert (row["n"], row["steps"], row["tokens"]) == (6, 9, 90) and row["outside_share"] == pytest.approx(
                1 / 6
            )
    assert len(found[0, 6]) == 6 and len(found[0, 3]) == 3 and found[0, 3] != found[1, 3]


def test_choices_of_known_likelihoods_are_answered_row_by_row(language, tmp_path):
    """A decoder that says `good` nearly always, and all other words alike: of sums, means over tokens and over
    characters each takes another choice."""
    word = open_tokenizer(language / "tokenizer").convert_tokens_to_ids("good")
    always(Vocabulary.load(language / "tokenizer"), word, tmp_path / "model")
    # The choices, and what is taken by sums, by tokens and by characters.
    rows = [
        (("bad", "good"), "111"), (("good", "bad", "a"), "000"), (("good good bad", "b"), "100"),
        (("b", "film"), "001"), (("a", "b", "good"), "222"), (("film", "b", "bad"), "000"),
    ]  # fmt: skip
    asked = [
        completion(f"r{n}", "test", "the film was", choices[0], choices=choices) for n, (choices, _) in enumerate(rows)
    ]
    for row, (_, taken) in zip(asked, rows, strict=True):
        row["answer"] = int(taken[0])
    write_completions(tmp_path / "c.parquet", asked, {"kind": "choice", "template": "choice", "title": "T"})
    norms = ["none", "tokens", "characters"]
    settings = CompletionScoring.model_validate({
        "family": "f", "train": "base", "models": [{"name": "m", "step": 3}], "max_length": 32, "max_new_tokens": 2,
        "prompts": dict.fromkeys(norms, tmp_path / "c.parquet"), "normalisation": {one: one for one in norms},
        "cells": [{"eval": one, "shots": 0, "method": "loglikelihood"} for one in norms],
        "free_tokens": 2, "beams": 1, "bootstrap": 20, "seed": 0, "dtype": "float32",
    })  # fmt: skip
    for batch in (1, 32):
        score_completions(
            models=[tmp_path / "model"], tokenizer=language / "tokenizer", out=tmp_path / "s.tsv",
            predictions=tmp_path / "p.parquet", settings=settings, inference_batch=batch,
        )  # fmt: skip
        said = read_parquet(tmp_path / "p.parquet").to_pandas()
        for place, norm in enumerate(norms):
            part = said[said["eval"] == norm]
            assert part["id"].tolist() == [row["id"] for row in asked]
            assert part["prediction"].tolist() == [taken[place] for _, taken in rows], norm
            assert part["gold"].tolist() == [taken[0] for _, taken in rows]
        table = read_tsv(tmp_path / "s.tsv")
        assert set(table["majority"]) == {50} and set(table["n"]) == {6}, "three of six have the first choice"
        values = table.set_index("eval")["value"].to_dict()
        assert values == pytest.approx({"none": 100, "tokens": 500 / 6, "characters": 400 / 6})
