"""VitaminC (in BIG-bench): a passage of Wikipedia and a claim, as three-way inference."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.data.sources import Sources, expected_format, json_items
from reprlab.data.splits import position
from reprlab.registry.dataset_entries import SplitSettings

_LABELS = {"True": "entailment", "False": "contradiction", "Neither": "neutral"}
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_CLAIM = "\nClaim: "


class Settings(BaseModel):
    """Which file, and which articles are another genre."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    member: str
    """The task file in the archive."""
    mismatched_titles: str = "coronavirus|covid"
    """Articles whose title matches this expression (case ignored) are `mismatched`: never trained on."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each claim; text_a is the passage with its article's title, text_b the claim.

    All claims on one article form a group: its passages are revisions of each other and would leak. Mismatched groups
    are halved between validation and test by hash.

    Raises:
        ReprlabError: an item has no claim or not exactly one right answer.
    """
    path = sources.archive.member(settings.member)
    mismatched = re.compile(settings.mismatched_titles, re.IGNORECASE)
    for number, item in enumerate(json_items(path)):
        with expected_format(f"{path}: item {number}", "a passage with a claim and scored answers"):
            passage, found, claim = item["input"].rpartition(_CLAIM)
            title = passage.partition(": ")[0]
            right = [answer for answer, score in item["target_scores"].items() if score == 1]
        if not found or len(right) != 1 or right[0] not in _LABELS:
            sources.faulty.leave_out(f"{path}: item {number}: expected a passage, a claim and one right answer")
            continue
        row = {
            "id": str(number),
            "group": title,
            "text_a": clean(passage),
            "text_b": clean(claim),
            "label": _LABELS[right[0]],
            "subset": "mismatched" if mismatched.search(title) else "matched",
        }
        if row["subset"] == "mismatched":
            row["split"] = "validation" if position(splits.seed, title) < 0.5 else "test"
        yield row


def clean(text: str) -> str:
    """The text without the marks of broken bytes and control characters, with ordinary brackets."""
    for mark, bracket in _BRACKETS.items():
        text = text.replace(mark, bracket)
    kept = (
        " " if character == "\ufffd" or unicodedata.category(character) == "Cc" else character for character in text
    )
    return " ".join("".join(kept).split())
