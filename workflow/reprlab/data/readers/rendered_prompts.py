"""Prompts that were released as rendered, with their own splits: the data sets of the paper on intrinsic dimension."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.data.sources import Sources, read_json_member
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

_SPLITS = ("train", "validation")


class Settings(BaseModel):
    """Which file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    """A JSON object of lists `train` and `validation` of {input, output}."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each prompt, in the order of the file, in its own splits; `text` is the prompt without line end.

    Raises:
        ReprlabError: the file is not in the format.
    """
    path = sources.archive.file(settings.file)
    content = read_json_member(path)
    for split in _SPLITS:
        try:
            for number, item in enumerate(content[split]):
                name = f"{split}-{number}"
                yield {
                    "id": name,
                    "group": name,
                    "split": split,
                    "text": item["input"],
                    "label": item["output"],
                }
        except (KeyError, TypeError) as error:
            raise ReprlabError(f"{path}: not a file of released prompts ({error!r})") from None
