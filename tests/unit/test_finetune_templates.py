"""Prompts and label words against the spec's texts."""

import numpy as np
import pytest
from reprlab.runtime.errors import ReprlabError
from reprlab.text.templates import label_words, render


def test_glue_prompts():
    assert render("cola", "single", {"text": ["Hi."]}) == [["cola: sentence: Hi."]]
    assert render("sst2", "single", {"text": ["Fun {x}"]}) == [["sst2: sentence: Fun {x}"]]
    pair = {"text_a": ["P"], "text_b": ["H"]}
    assert "".join(render("mnli", "pair", pair)[0]) == "mnli hypothesis: H premise: P"
    assert "".join(render("mnli", "pair", pair, field_order="upstream")[0]) == "mnli hypothesis: P premise: H"


def test_a_field_is_a_segment():
    assert render("mnli", "pair", {"text_a": ["P"], "text_b": ["H"]}) == [["mnli hypothesis: H", " premise: P"]]
    assert render("a {text} b", "single", {"text": ["x"]}) == [["a x b"]]
    assert render("{{}} {text_a}: {text_b!r} {{", "pair", {"text_a": ["x"], "text_b": ["y"]}) == [["{} x", ": 'y' {"]]


def test_discoeval_prompt():
    segments = render("sp_arxiv", "sentences", {"sentences": [["A .", "B .", "C ."]]})[0]
    assert "".join(segments) == "SParxiv: first_sentence: A .\tsecond_sentence: B .\tthird_sentence: C ."
    assert len(segments) == 3
    own = render("discoeval", "sentences", {"sentences": [["A ."]]}, task="SPmine")
    assert own == [["SPmine: first_sentence: A ."]]
    with pytest.raises(ReprlabError, match="template_task"):
        render("discoeval", "sentences", {"sentences": [["A ."]]})


def test_natural_instructions_prompt():
    columns = {
        "source": ["What"],
        "definition": ["Answer it"],
        "positive_inputs": [["one", "two?", "three"]],
        "positive_outputs": [["1", "2", "3"]],
    }
    head = "Definition: Answer it.\n\n"
    first = " Positive Example 1 -\nInput: one.\n Output: 1.\n\n"
    second = " Positive Example 2 -\nInput: two?\n Output: 2.\n\n"
    tail = "Now complete the following example -\nInput: What.\nOutput: "
    assert render("ni", "text_to_text", columns) == [[head + first + second + tail]]

    def fits(limit):
        return lambda prompts: np.array([len(prompt) <= limit for prompt in prompts])

    assert render("ni", "text_to_text", columns, fits=fits(len(head + first + tail))) == [[head + first + tail]]
    assert render("ni", "text_to_text", columns, fits=fits(5)) == [[head + tail]]


def test_label_words():
    assert label_words("sst2", ["0", "1"]) == {"0": "negative", "1": "positive"}
    assert label_words("sst2", ["positive", "negative"]) == {"positive": "positive", "negative": "negative"}
    assert label_words("sp_wiki", list("01234"))["4"] == "Fifth sentence"
    assert label_words("dc_chat", ["0", "1"]) == {"0": "Incoherent", "1": "Coherent"}
    assert label_words("mnli", ["0", "1", "2"], ["yes", "maybe", "no"]) == {"0": "yes", "1": "maybe", "2": "no"}
    assert label_words("x: {text}", ["a", "b"]) == {"a": "a", "b": "b"}
    with pytest.raises(ReprlabError, match="3 labels"):
        label_words("sst2", ["0", "1", "2"])
    with pytest.raises(ReprlabError, match="different words"):
        label_words("sst2", ["0", "1"], ["x", "x"])


@pytest.mark.parametrize(
    ("template", "kind", "message"),
    [
        ("sst2: {sentence}", "single", "no column 'sentence'"),
        ("no column", "single", "neither a known name"),
        ("broken {text", "single", "not a format string"),
        ("mnli", "single", "takes pair examples"),
    ],
)
def test_bad_templates(template, kind, message):
    with pytest.raises(ReprlabError, match=message):
        render(template, kind, {"text": ["a"]})
