"""Text-to-text prompts and label words (spec 2.6): pure functions on the columns of an example table.

A template is a name from `TEMPLATES` or a format string with named columns, such as `"sst2: sentence: {text}"`. It
gives for each example a list of segments, whose concatenation is the prompt. A segment, one field with the words before
it, is what the DEPTH format marks as one sentence.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from reprlab.runtime.errors import ReprlabError
from reprlab.text.natural_instructions import DEFAULT_EXAMPLES, instruction_prompt

if TYPE_CHECKING:
    import numpy as np

FieldOrder = Literal["right", "upstream"]
Columns = Mapping[str, Sequence[Any]]
COLUMNS = {
    "single": ("text",),
    "pair": ("text_a", "text_b"),
    "similarity": ("text_a", "text_b"),
    "sentences": ("sentences",),
    "text_to_text": ("source", "task", "definition"),
    "span_qa": ("question", "context"),
    "ranking": ("query", "passage"),
}
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


@dataclass(frozen=True)
class Template:
    """A named template: the kind of examples that it takes, its text by field order, and its label words by label."""

    kind: str
    right: str = ""
    upstream: str = ""
    words: tuple[str, ...] = ()
    task: str = ""


_PLACES = tuple(f"{word.capitalize()} sentence" for word in ORDINALS[:5])
_COHERENCE = ("Incoherent", "Coherent")

TEMPLATES = {
    "cola": Template("single", "cola: sentence: {text}", words=("unacceptable", "acceptable")),
    "sst2": Template("single", "sst2: sentence: {text}", words=("negative", "positive")),
    # Upstream puts the premise under "hypothesis" and the hypothesis under "premise"; T5's own prompt is the right one.
    "mnli": Template(
        "pair",
        "mnli hypothesis: {text_b} premise: {text_a}",
        "mnli hypothesis: {text_a} premise: {text_b}",
        ("entailment", "neutral", "contradiction"),
    ),
    "discoeval": Template("sentences"),
    "sp_arxiv": Template("sentences", words=_PLACES, task="SParxiv"),
    "sp_wiki": Template("sentences", words=_PLACES, task="SPwiki"),
    "sp_rocstory": Template("sentences", words=_PLACES, task="SProcstory"),
    "dc_chat": Template("sentences", words=_COHERENCE, task="DCchat"),
    "dc_wiki": Template("sentences", words=_COHERENCE, task="DCwiki"),
    "ni": Template("text_to_text"),
}


def label_words(template: str, labels: Sequence[str], given: Sequence[str] = ()) -> dict[str, str]:
    """The target text of each label, in their order: `given`, else the template's words, else the labels themselves.

    Raises:
        ReprlabError: there are more or fewer words than labels, or two labels share one.
    """
    named = TEMPLATES[template].words if template in TEMPLATES else ()
    words = list(given or named or labels) if labels else []
    # A data set that already spells its labels out may list them in any order.
    if not given and set(words) == set(labels):
        words = list(labels)
    if len(words) != len(labels) or len(set(words)) != len(words):
        raise ReprlabError(
            f"label_words of template {template!r}: {len(labels)} labels ({', '.join(labels)}) need as many different "
            f"words, got {', '.join(words)}; set label_words"
        )
    return dict(zip(labels, words, strict=True))


def render(
    template: str,
    kind: str,
    columns: Columns,
    *,
    task: str = "",
    field_order: FieldOrder = "right",
    fits: Callable[[list[str]], np.ndarray] | None = None,
) -> list[list[str]]:
    """Prompts of all examples, each as a list of segments.

    Args:
        template: a name from `TEMPLATES` or a format string with the columns of `kind`.
        columns: the table's columns by name.
        task: the DiscoEval task named in the prompt (`SParxiv`, `DCchat`, ...).
        fits: which of the given prompts are short enough; NI prompts drop positive examples until they are.

    Raises:
        ReprlabError: unknown template or column, or a template for another kind of examples.
    """
    named = TEMPLATES.get(template)
    if named is None:
        text = _checked(template, kind)
    elif named.kind != kind:
        raise ReprlabError(f"template {template!r} takes {named.kind} examples, but the data are {kind} examples")
    elif named.kind == "sentences":
        shown = task or named.task
        if not shown:
            raise ReprlabError(f"template {template!r}: the setting template_task (such as SParxiv) is missing")
        return [discoeval_segments(shown, sentences) for sentences in columns["sentences"]]
    elif template == "ni":
        return [[prompt] for prompt in _instruction_prompts(columns, fits)]
    else:
        text = named.upstream if field_order == "upstream" and named.upstream else named.right
    missing = [name for name in _fields(text) if name not in columns]
    if missing:
        raise ReprlabError(f"template {template!r}: the examples have no column {missing[0]!r}")
    used = {name: [_flat(value) for value in columns[name]] for name in _fields(text)}
    parts = _field_parts(text)
    rows = len(next(iter(columns.values())))
    return [
        [part.format(**{name: values[row] for name, values in used.items()}) for part in parts] for row in range(rows)
    ]


def discoeval_segments(task: str, sentences: Sequence[str]) -> list[str]:
    """`{task}: first_sentence: {s1}<TAB>second_sentence: {s2}...`, one segment per sentence."""
    named = [f"{ORDINALS[place]}_sentence: {sentence}" for place, sentence in enumerate(sentences)]
    return [f"{task}: {named[0]}", *(f"\t{part}" for part in named[1:])]


def _instruction_prompts(columns: Columns, fits: Callable[[list[str]], np.ndarray] | None) -> list[str]:
    rows = len(columns["source"])
    absent: list[Any] = [None] * rows
    definitions, inputs, outputs = (
        columns.get(name, absent) for name in ("definition", "positive_inputs", "positive_outputs")
    )

    def prompts(chosen: Sequence[int], examples: int) -> list[str]:
        return [
            instruction_prompt(columns["source"][row], definitions[row], inputs[row], outputs[row], examples)
            for row in chosen
        ]

    found = prompts(range(rows), DEFAULT_EXAMPLES)
    if fits is None:
        return found
    for examples in range(DEFAULT_EXAMPLES - 1, -1, -1):
        long = [row for row, short in enumerate(fits(found)) if not short]
        for row, prompt in zip(long, prompts(long, examples), strict=True):
            found[row] = prompt
    return found


def _field_parts(text: str) -> list[str]:
    """The template cut behind each field, so that each field is a segment with the words before it."""
    parts, words = [], ""
    for literal, name, form, conversion in string.Formatter().parse(text):
        words += literal.replace("{", "{{").replace("}", "}}")
        if name is not None:
            options = (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
            parts.append(f"{words}{{{name}{options}}}")
            words = ""
    return [*parts[:-1], parts[-1] + words]


def _fields(text: str) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]


def _checked(template: str, kind: str) -> str:
    try:
        used = _fields(template)
    except ValueError as error:
        raise ReprlabError(f"template {template!r}: not a format string ({error})") from None
    if not used:
        raise ReprlabError(
            f"template {template!r}: neither a known name ({', '.join(TEMPLATES)}) nor a text with a column in braces"
        )
    allowed = COLUMNS.get(kind, ())
    for name in used:
        if name not in allowed:
            raise ReprlabError(
                f"template {template!r}: {kind} examples have no column {name!r}, only {', '.join(allowed)}"
            )
    return template


def _flat(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else " ".join(value)
