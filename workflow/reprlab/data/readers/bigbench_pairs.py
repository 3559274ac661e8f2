"""BIG-bench minimal pairs (one good and one bad ending of the same sentence) as acceptability judgements."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources, expected_format, json_items
from reprlab.data.splits import normalised
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import get_logger


class Settings(BaseModel):
    """Which task files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    members: list[str] = Field(min_length=1)
    """Task files in the archive."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """Two examples for each pair. All pairs with the same beginning form a group, so no pair is torn apart.

    Raises:
        ReprlabError: an item does not have exactly one right ending.
    """
    for member in settings.members:
        path = sources.archive.member(member)
        stem = path.stem
        for number, item in enumerate(json_items(path)):
            with sources.row(), expected_format(f"{path}: item {number}", "a sentence with endings and their scores"):
                scores = item["target_scores"]
                if len(scores) == 1:
                    # The two endings were equal, so that one key is left: not a pair (one item of linzen2016_english).
                    get_logger().warning("%s: item %d has one ending only and was left out", path.name, number)
                    continue
                if sorted(set(scores.values())) != [0, 1] or sum(scores.values()) != 1:
                    raise ReprlabError(f"{path}: item {number}: expected one right ending and at least one wrong one")
                for place, (ending, score) in enumerate(scores.items()):
                    yield {
                        "id": f"{stem}-{number}-{place}",
                        "group": normalised(item["input"]),
                        "text": " ".join(f"{item['input']} {ending}".split()),
                        "label": "acceptable" if score else "unacceptable",
                    }
