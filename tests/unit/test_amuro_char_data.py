"""Data of amuro-char: readers, rows of prompts, labels outside the set, shots that are not scored."""

import json
from collections import Counter
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from data_fixtures import file_set, make_tgz, sources_of, task
from reprlab.data.examples import examples_of
from reprlab.data.readers import scrambled_pairs
from reprlab.data.schema import write_rows
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import Limits, SplitSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.build_completions import build_completions
from reprlab.text.completion_settings import CompletionFile, EvaluationTextSettings, TrainingTextSettings
from reprlab.text.completions import evaluation_rows, read_completions, training_rows

ONE = SplitSettings(train=1.0, validation=0.0, test=0.0)


def bigbench(tmp_path: Path, items: list[dict], **entry: object) -> list[dict]:
    content = json.dumps({"examples": items}).encode()
    archive = make_tgz(tmp_path / "b.tgz", {"t.json": content})
    options = {"member": "t.json", **entry.pop("options")}
    made = task(reader="bigbench_tasks", options=options, labels=[], splits=ONE, **entry)
    return examples_of(made, sources_of(archive, tmp_path / "cache"), Limits())


def test_a_question_is_cut_from_its_context(tmp_path):
    item = {"input": "Jo ate. It was late? Why did Jo eat? ", "target_scores": {"hunger": 1, "fun": 0}}
    two = {"input": "Al slept. Why?", "target_scores": {"a": 1, "b": 1}}
    pattern = r"(?P<context>.*[.!?\"]) +(?P<question>[^.!?]*\?) *$"
    rows = bigbench(tmp_path, [item, two], kind="choice", options={"form": "choice", "pattern": pattern})
    assert [(row["context"], row["question"], row["choices"], row["answer"]) for row in rows] == [
        ("Jo ate. It was late?", "Why did Jo eat?", ["hunger", "fun"], 0)
    ], "an item with two right answers is left out"


def test_an_input_that_does_not_fit_is_named(tmp_path):
    item = {"input": "no question", "target_scores": {"a": 1}}
    with pytest.raises(ReprlabError, match=r"item 0: not an item of the form choice .*does not fit the pattern"):
        bigbench(tmp_path, [item], kind="choice", options={"form": "choice", "pattern": r"(?P<question>.*\?)$"})


def test_paraphrases_stand_against_those_of_others(tmp_path):
    items = [
        {"input": f"Question: q \nAnswer: a \nSentence: Sentence {n}.", "target": [f"Other words {n}."]}
        for n in range(4)
    ]
    made = task(reader="bigbench_tasks", options={"member": "t.json", "form": "paraphrases"}, kind="pair",
                labels=["no", "yes"], splits=ONE)  # fmt: skip
    archive = make_tgz(tmp_path / "b.tgz", {"t.json": json.dumps({"examples": items}).encode()})
    rows = examples_of(made, sources_of(archive, tmp_path / "cache"), Limits())
    for row in rows:
        assert (row["text_a"][-2:] == row["text_b"][-2:]) == (row["label"] == "yes")
    assert Counter(row["label"] for row in rows) == {"yes": 4, "no": 4}


def hub(tmp_path: Path, columns: dict[str, list], kind: str, **options: object) -> list[dict]:
    path = tmp_path / "f.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    files = [{"file": "f.parquet", "split": "train"}]
    made = task(reader="hub_columns", options={"files": files, "form": kind, **options}, kind=kind, labels=[])
    return examples_of(made, file_set({"f.parquet": path.read_bytes()}, tmp_path / "cache"), Limits())


def test_choices_in_each_form_of_the_hub(tmp_path):
    rows = hub(tmp_path, {"c": ["x"], "q": ["why"], "A": ["1"], "B": ["2"], "label": ["2"]}, "choice", context="c",
               question="q", choices=["A", "B"], answer="label", first_place=1)  # fmt: skip
    assert (rows[0]["choices"], rows[0]["answer"]) == (["1", "2"], 1)
    lettered = {"q": ["why"], "choices": [{"text": ["a", "b"], "label": ["A", "B"]}], "key": ["B"]}
    assert hub(tmp_path, lettered, "choice", question="q", choices=["choices"], answer="key")[0]["answer"] == 1
    fixed = {"q": ["why"], "answer": [True]}
    rows = hub(tmp_path, fixed, "choice", question="q", fixed_choices=["no", "yes"], answer="answer")
    assert rows[0]["choices"][rows[0]["answer"]] == "yes"
    rows = hub(tmp_path, {"q": ["why"], "Answer": [["one", "two"]]}, "choice", question="q", choices=["Answer"],
               first_choice_only=True)  # fmt: skip
    assert (rows[0]["choices"], rows[0]["answer"]) == (["one"], 0)


def test_a_right_answer_outside_the_choices_raises(tmp_path):
    with pytest.raises(ReprlabError, match="is none of its choices"):
        hub(tmp_path, {"q": ["why"], "A": ["1"], "label": [3]}, "choice", question="q", choices=["A"], answer="label",
            first_place=1)  # fmt: skip


def test_conversations_are_turns(tmp_path):
    messages = [
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"},
         {"role": "assistant", "content": "hello"}, {"role": "user", "content": "more"}],
    ]  # fmt: skip
    assert hub(tmp_path, {"messages": messages}, "chat")[0]["turns"] == ["Be brief.\n\nhi", "hello"]
    with pytest.raises(ReprlabError, match="a message of 'assistant' as turn 1"):
        hub(tmp_path, {"messages": [[{"role": "assistant", "content": "x"}]]}, "chat")


def test_questions_of_squad_keep_the_words_around_the_answer(tmp_path):
    context = " ".join(f"w{n}" for n in range(40))
    answer = {"text": "w20 w21", "answer_start": context.index("w20")}
    paragraph = {"context": context, "qas": [{"question": "Which  one?", "answers": [answer]}]}
    content = {"data": [{"paragraphs": [paragraph]}]}
    archive = make_tgz(tmp_path / "s.tgz", {"s.json": json.dumps(content).encode()})
    made = task(
        reader="squad_questions", options={"member": "s.json", "words": 6}, kind="choice", labels=[], splits=ONE
    )
    (row,) = examples_of(made, sources_of(archive, tmp_path / "cache"), Limits())
    assert (row["context"], row["question"], row["choices"]) == ("w18 w19 w20 w21 w22 w23", "Which one?", ["w20 w21"])


def test_passages_of_squad_are_a_collection(tmp_path):
    """One example a question; five paragraphs or the whole article are one document; articles are groups."""
    paragraphs = [{"context": f"text  {n}", "qas": [{"question": f"Why {n} ?"}] * 2} for n in range(7)]
    content = {
        "data": [{"paragraphs": paragraphs}, {"paragraphs": [{"context": "end", "qas": [{"question": "Who?"}]}]}]
    }
    archive = make_tgz(tmp_path / "s.tgz", {"s.json": json.dumps(content).encode()})

    def read(**options):
        made = task(
            reader="squad_passages", options={"member": "s.json", **options}, kind="ranking", labels=[], splits=ONE
        )
        return examples_of(made, sources_of(archive, tmp_path / "cache"), Limits())

    rows = read()
    assert [row["query_id"] for row in rows] == [*(f"0-{n}-0" for n in range(7)), "1-0-0"]
    assert rows[2]["passage"] == "text 2" and rows[2]["query"] == "Why 2 ?" and rows[2]["passage_id"] == "0-2"
    assert {row["group"] for row in rows} == {"0", "1"} and {row["group"] for row in read(group="document")} == {
        row["passage_id"] for row in rows
    }
    assert sorted({row["passage_id"] for row in read(paragraphs=5)}) == ["0-0", "0-1", "1-0"]
    assert read(paragraphs=5)[5]["passage"] == "text 5 text 6"
    assert {row["passage"] for row in read(paragraphs=0)} == {" ".join(f"text {n}" for n in range(7)), "end"}


def test_scrambled_pairs_have_the_same_words(tmp_path):
    sentences = [f"This number {n} is a very plain and ordinary sentence about things here." for n in range(80)]
    path = tmp_path / "sentences.parquet"
    rows = [{"document": f"d{n % 8}", "passage": n, "sentences": [text]} for n, text in enumerate(sentences)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    settings = scrambled_pairs.Settings(swaps=2, pairs=60)
    found = list(scrambled_pairs.read(Sources({}, [path]), settings, SplitSettings()))
    assert len(found) == 60
    assert 15 < sum(row["label"] == "yes" for row in found) < 45
    for row in found:
        first, second = row["text_a"].split(), row["text_b"].split()
        assert len(second) == len(first) - 1 and not Counter(second) - Counter(first)
        kept = iter(first)
        assert all(word in kept for word in second) == (row["label"] == "yes"), "yes leaves a word out, in order"
        assert (second[0], second[-1]) == (first[0], first[-1])
    assert found == list(scrambled_pairs.read(Sources({}, [path]), settings, SplitSettings()))


@pytest.mark.parametrize("sentences", [None, ["A sentence.", None]])
def test_sentences_that_are_missing_are_named(tmp_path, sentences):
    path = tmp_path / "sentences.parquet"
    kept = {"document": "d0", "passage": 0, "sentences": ["Another sentence."]}
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([kept, {**kept, "sentences": sentences}]), path)
    with pytest.raises(ReprlabError, match=r"sentences.parquet: a value is missing"):
        list(scrambled_pairs.read(Sources({}, [path]), scrambled_pairs.Settings(), SplitSettings()))


# --- prompts --------------------------------------------------------------------------------------------------------


def pair(number: int, label: str, split: str = "validation", subset: str = "") -> dict:
    texts = {"text_a": f"a {number}", "text_b": f"b {number}"}
    return {"id": str(number), "group": str(number), "split": split, "label": label, "subset": subset} | texts


def evaluated(**more: object) -> EvaluationTextSettings:
    base = {"template": "nli", "kind": "classification", "formats": ["default", "io"], "splits": ["validation"]}
    return EvaluationTextSettings.model_validate({**base, **more})


def test_a_label_outside_the_set_raises():
    with pytest.raises(ReprlabError, match=r"row 0 has the label 'not_entailment', expected one of entailment"):
        evaluation_rows([pair(0, "not_entailment")], "pair", evaluated(), "rte")
    (row, _) = evaluation_rows(
        [pair(0, "not_entailment")], "pair", evaluated(words={"not_entailment": "neutral"}), "rte"
    )
    assert row["completion"] == "neutral", "RTE among three labels, as upstream"


def test_unlabelled_similarities_raise():
    """QQP and STS-B were scored on rows whose label is -1 (spec 8): that must not pass for 'no'."""
    row = {"id": "0", "split": "validation", "text_a": "a", "text_b": "b", "score": -1.0}
    settings = evaluated(template="paraphrase", threshold=3.5, formats=["default"])
    with pytest.raises(ReprlabError, match=r"the score -1.0, expected 0 to 5"):
        evaluation_rows([row], "similarity", settings, "stsb")
    scores = [("yes", 3.6), ("no", 3.5), ("no", 0.0), ("yes", 5.0)]
    for word, score in scores:
        assert evaluation_rows([{**row, "score": score}], "similarity", settings, "stsb")[0]["completion"] == word


def test_unlabelled_gold_as_no_shows_what_the_original_measured():
    """A model that always says no then has a score of 1, whatever the labels are."""
    rows = [pair(number, "yes") for number in range(5)]
    found = evaluation_rows(rows, "pair", evaluated(template="paraphrase", gold_as_no=True), "qqp")
    assert {row["completion"] for row in found} == {"no"}


def test_inputs_are_cut_after_whole_words():
    rows = [pair(0, "neutral") | {"text_a": "one  two three", "text_b": "four"}]
    whole, cut = (evaluation_rows(rows, "pair", evaluated(input_words=words), "x")[0]["prompt"] for words in (None, 2))
    assert "one  two three" in whole
    assert "one two" in cut and "three" not in cut and "four" in cut


def test_shots_come_from_the_training_split_and_are_the_same_in_all_formats():
    rows = [pair(n, "neutral") for n in range(6)] + [pair(n, "entailment", "train") for n in range(10, 20)]
    found = evaluation_rows(rows, "pair", evaluated(shots=3), "mnli")
    shots = {
        form: [row["id"] for row in found if row["fmt"] == form and row["role"] == "shot"] for form in ("default", "io")
    }
    assert shots["default"] == shots["io"] and len(shots["io"]) == 3
    assert all(int(name) >= 10 for name in shots["io"])
    assert sum(row["role"] == "test" for row in found) == 12


def test_without_a_training_split_shots_are_not_scored():
    rows = [pair(number, "neutral", "train") for number in range(10)]
    found = evaluation_rows(rows, "pair", evaluated(shots=4, splits=["train"], formats=["default"]), "gpt3nli")
    roles = {role: {row["id"] for row in found if row["role"] == role} for role in ("shot", "test")}
    assert (len(roles["shot"]), len(roles["test"])) == (4, 6)
    assert not roles["shot"] & roles["test"]


def test_eval_head_scores_its_own_shots_as_upstream():
    rows = [pair(number, "neutral") for number in range(10)]
    found = evaluation_rows(rows, "pair", evaluated(shots=4, shots_source="eval_head", formats=["default"]), "x")
    assert [row["role"] for row in found] == ["test"] * 10


def test_training_and_held_out_rows_are_apart_and_chat_has_turns():
    rows = [pair(number, "neutral", "train") for number in range(20)] + [pair(99, "neutral")]
    settings = TrainingTextSettings(template="nli", rows=10, held_out=5, chat=True)
    found = training_rows(rows, "pair", settings, "mnli")
    assert [row["role"] for row in found] == ["train"] * 10 + ["held_out"] * 5
    assert len({row["id"] for row in found}) == 15 and "99" not in {row["id"] for row in found}
    assert found[0]["turns"] == [found[0]["prompt"].strip(), "neutral"]
    with pytest.raises(ReprlabError, match="lower rows or held_out"):
        training_rows(rows, "pair", settings.model_copy(update={"rows": 16}), "mnli")
    shared = settings.model_copy(update={"rows": None, "share": 0.5})
    assert sum(row["role"] == "train" for row in training_rows(rows, "pair", shared, "tulu")) == 5


def test_the_stage_writes_the_rows_of_each_data_set_with_its_own_prompts(tmp_path):
    """Labels of another data set, or prompts of another part, would show in every row."""
    for name, label, first in (("one", "entailment", 0), ("two", "neutral", 100)):
        rows = [pair(first + n, label, split) for split in ("train", "validation") for n in range(8)]
        rows = [{**row, "id": f"{name}-{row['split']}-{row['id']}"} for row in rows]
        write_rows(
            tmp_path / f"{name}.parquet", rows, "pair",
            {"kind": "pair", "title": name.title(), "labels": ["entailment", "neutral", "contradiction"]},
        )  # fmt: skip
    parts = [
        {"examples": tmp_path / f"{name}.parquet",
         "settings": {"template": "nli", "rows": rows, "held_out": 2, "seed": seed}}
        for name, rows, seed in (("one", 5, 1), ("two", 3, 2))
    ]  # fmt: skip
    build_completions(settings=CompletionFile.model_validate({"training": parts}), out=tmp_path / "t.parquet")
    found, about = read_completions(tmp_path / "t.parquet")
    assert about == {"title": "One + Two", "template": "", "kind": "training"}
    assert [(row["id"].split("-")[0], row["role"], row["completion"]) for row in found] == [
        *[("one", "train", "entailment")] * 5, *[("one", "held_out", "entailment")] * 2,
        *[("two", "train", "neutral")] * 3, *[("two", "held_out", "neutral")] * 2,
    ]  # fmt: skip
    assert all("-train-" in row["id"] for row in found) and len({row["id"] for row in found}) == 12
    scored = {"template": "nli", "kind": "classification", "formats": ["io"], "splits": ["validation"], "shots": 2}
    build_completions(
        settings=CompletionFile.model_validate(
            {"evaluation": {"examples": tmp_path / "two.parquet", "settings": scored}}
        ),
        out=tmp_path / "e.parquet",
    )  # fmt: skip
    found, about = read_completions(tmp_path / "e.parquet")
    assert about == {"title": "Two", "template": "nli", "kind": "classification"}
    asked = [row for row in found if row["role"] == "test"]
    assert len(asked) == 8 and all(row["id"].startswith("two-validation-") for row in asked)
    assert {row["fmt"] for row in found} == {"io"} and sum(row["role"] == "shot" for row in found) == 2


def test_a_file_is_for_training_or_for_evaluation():
    with pytest.raises(ValueError, match="either training or evaluation"):
        CompletionFile()
