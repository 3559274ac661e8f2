"""TACRED: the relation of two entities of a sentence, marked in it, as text to classify."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources, expected_format, parse_json, read_text
from reprlab.registry.dataset_entries import Split, SplitSettings


class Settings(BaseModel):
    """Which files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: dict[Split, str] = Field(min_length=1)
    """File of each split."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a pair of entities; the group is the document.

    The entities stand between marks without their types, which follow at the end of the text (the authors' form).

    Raises:
        ReprlabError: a file is not in the form.
    """
    for split, name in settings.files.items():
        path = sources.archive.file(name)
        with expected_format(str(path), "a list of sentences with two entities"):
            for row in parse_json(read_text(path), str(path)):
                spans = {"SUBJ": (row["subj_start"], row["subj_end"]), "OBJ": (row["obj_start"], row["obj_end"])}
                types = f"[SUBJ={row['subj_type']}] [OBJ={row['obj_type']}]"
                yield {
                    "id": row["id"],
                    "group": row["docid"],
                    "split": split,
                    "text": f"{marked(row['token'], spans)} {types}",
                    "label": row["relation"],
                }


def marked(tokens: list[str], spans: dict[str, tuple[int, int]]) -> str:
    """The tokens with marks around some spans, of which the last token is given."""
    words = list(tokens)
    for name, (first, last) in spans.items():
        words[first] = f"[{name}] {words[first]}"
        words[last] = f"{words[last]} [/{name}]"
    return " ".join(words)
