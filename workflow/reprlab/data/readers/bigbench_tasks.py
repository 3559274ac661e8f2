"""Tasks of BIG-bench as texts with outputs, pairs with labels, or questions with choices."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from reprlab.data.readers.vitaminc import clean
from reprlab.data.sources import Sources, expected_format, json_items
from reprlab.data.splits import position
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Which file, and what its inputs look like."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    member: str
    """The task file in the archive."""
    form: Literal["text_to_text", "pair", "choice", "paraphrases"]
    """Kind of the examples; paraphrases: pairs out of sentences with their paraphrases."""
    pattern: str = ""
    """Expression that takes an input apart by named groups: a and b of a pair, context and question of a choice."""
    label_names: dict[str, str] = {}
    """pair: name of an answer's label, where it is another."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example an item, grouped by the text that several items may share; paraphrases: two examples an item.

    Items with more than one right answer are left out.

    Raises:
        ReprlabError: an item is not in the format.
    """
    path = sources.archive.member(settings.member)
    items = json_items(path)
    form: dict[str, Callable[[Any, Settings], dict[str, Any]]] = {
        "text_to_text": _text, "pair": _pair, "choice": _choice,
    }  # fmt: skip
    if settings.form == "paraphrases":
        with expected_format(str(path), "sentences with paraphrases"):
            yield from _paraphrases(items, splits.seed)
        return
    for number, item in enumerate(items):
        with expected_format(f"{path}: item {number}", f"an item of the form {settings.form}"):
            scores = item["target_scores"].values() if settings.form != "text_to_text" else ()
            found = None if sum(score == 1 for score in scores) > 1 else form[settings.form](item, settings)
        if found is not None:
            yield {"id": str(number), **found}


def _text(item: Any, settings: Settings) -> dict[str, Any]:
    target = item["target"]
    source = clean(item["input"])
    targets = [clean(text) for text in (target if isinstance(target, list) else [target])]
    return {"group": source, "source": source, "targets": targets, "task": settings.form}


def _pair(item: Any, settings: Settings) -> dict[str, Any]:
    parts = _parts(item, settings)
    answer = _right(item["target_scores"])
    label = settings.label_names.get(answer, answer)
    return {"group": parts["a"], "text_a": parts["a"], "text_b": parts["b"], "label": label}


def _choice(item: Any, settings: Settings) -> dict[str, Any]:
    parts = _parts(item, settings) if settings.pattern else {"question": clean(item["input"])}
    choices = list(item["target_scores"])
    context = parts.get("context") or ""
    return {
        "group": context or parts["question"],
        "context": context,
        "question": parts["question"],
        "choices": [clean(choice) for choice in choices],
        "answer": choices.index(_right(item["target_scores"])),
    }


def _parts(item: Any, settings: Settings) -> dict[str, str]:
    match = re.match(settings.pattern, item["input"], re.DOTALL)
    if match is None:
        raise ValueError(f"the input {item['input'][:80]!r} does not fit the pattern")
    return {name: clean(text or "") for name, text in match.groupdict().items()}


def _right(scores: dict[str, float]) -> str:
    right = [answer for answer, score in scores.items() if score == 1]
    if len(right) != 1:
        raise ValueError(f"{len(right)} right answers among {list(scores)}")
    return right[0]


def _paraphrases(items: list[Any], seed: int) -> Iterator[dict[str, Any]]:
    """Yes: a sentence and one of its paraphrases; no: the sentence and a paraphrase of another, drawn by hash."""
    found = []
    for item in items:
        sentence = clean(item["input"].rpartition("Sentence: ")[2])
        targets = [clean(target) for target in item["target"]]
        found.append((sentence, targets))
    for number, (sentence, targets) in enumerate(found):
        one = targets[int(position(seed, f"paraphrase {number}") * len(targets))]
        step = 1 + int(position(seed, f"other {number}") * (len(found) - 1))
        other = found[(number + step) % len(found)][1][0]
        about = {"group": sentence, "text_a": sentence}
        yield {"id": f"{number}-yes", **about, "text_b": one, "label": "yes"}
        yield {"id": f"{number}-no", **about, "text_b": other, "label": "no"}
