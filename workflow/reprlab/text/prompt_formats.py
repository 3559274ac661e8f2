"""Prompts of summaries, questions, inference, paraphrase and choices (Amuro & Char, table 5; strings of its code)."""

from __future__ import annotations

from collections.abc import Sequence

from reprlab.runtime.errors import ReprlabError
from reprlab.text.completion_settings import Format, Spacing, Template

LABELS: dict[str, tuple[str, ...]] = {
    "nli": ("entailment", "neutral", "contradiction"),
    "paraphrase": ("no", "yes"),
}
"""Label words of the classification templates."""

# The line end and the space after it are the original's; `clean` has the line end alone.
_FORMATS: dict[tuple[str, str], str] = {
    ("summary", "default"): "### Input: {document}\n ### Summary: ",
    ("summary", "instruct"): "Please read the following text: {document} Provide a summary: ",
    ("summary", "io"): "{document}",
    ("question", "default"): "### Input: {context}\n ### Answer: {answer}\n ### Question: ",
    ("question", "instruct"): "Given the context: {context} And the answer: {answer}Generate a suitable question: ",
    ("question", "io"): "{context}{parts}",
    ("nli", "default"): "### Input_1: {first}\n ### Input_2: {second}\n ### Inference: ",
    ("nli", "instruct"): "Consider the following texts: Text 1: {first} Text 2: {second} The relation is ",
    ("nli", "io"): "{first} {second}",
    ("paraphrase", "default"): "### Input_1: {first}\n ### Input_2: {second}\n ### Paraphrase Classification: ",
    ("paraphrase", "instruct"): (
        "Let\N{RIGHT SINGLE QUOTATION MARK}s compare the two sentences: Sentence_1: {first} Sentence_2: {second} "
        "Are they paraphrasing?: "
    ),
    ("paraphrase", "io"): "{first} {second}",
}


def render(template: Template, form: Format, fields: dict[str, str], spacing: Spacing = "upstream") -> str:
    """The prompt of one example.

    Args:
        fields: `document` of a summary; `context`, `answer` and `parts` of a question (see `answer_fields`); `first`
            and `second` of a pair; `context` and `question` of a choice.
        spacing: upstream keeps the spaces of the released code, clean sets each field on a line of its own.

    Raises:
        ReprlabError: choices have the default format alone.
    """
    if template == "choice":
        if form != "default":
            raise ReprlabError(f"format {form}: questions with choices have the format default alone")
        parts = [fields["context"], f"Question: {fields['question']}\nAnswer:" if fields["question"] else ""]
        return "\n".join(part for part in parts if part)
    text = _FORMATS[template, form]
    if spacing == "clean":
        text = text.replace("\n ", "\n").replace("{answer}Generate", "{answer} Generate")
    # Not str.format on a growing text: a document may hold braces.
    return text.format(**fields)


def answer_fields(choices: Sequence[str], spacing: Spacing = "upstream") -> dict[str, str]:
    """`answer` and `parts` of a question's prompt.

    Several choices are named by letters, and the right one is not pointed out; upstream, no space stands before the
    last of them. A single choice is the answer itself.
    """
    if len(choices) == 1:
        return {"answer": choices[0], "parts": f" {choices[0]}" if spacing == "clean" else choices[0]}
    named = [f"Answer {letter}: {choice}" for letter, choice in zip("ABCDEFGHIJKL", choices, strict=False)]
    gap = " " if spacing == "clean" else ""
    parts = "".join(f"{gap}{choice}" for choice in choices)
    return {"answer": f"{' '.join(named[:-1])}{gap}{named[-1]}", "parts": parts}


def joined(prompt: str, completion: str) -> str:
    """Prompt and completion, with a space between them only where neither brings one (spec 2.1)."""
    gap = "" if prompt[-1:].isspace() or completion[:1].isspace() or not prompt else " "
    return f"{prompt}{gap}{completion}"


def label_in_text(template: str, text: str) -> str:
    """The label that a free answer names, looked for in the original's order; empty where it names none."""
    order = {"nli": ("contradiction", "neutral", "entailment"), "paraphrase": ("no", "yes")}[template]
    return next((label for label in order if label in text), "")
