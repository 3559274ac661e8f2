"""Questions with the passage that they were asked about, from files in SQuAD's form: a collection to be searched."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources, expected_format, json_items
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Which file, and what a document is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    member: str
    """The file in the archive."""
    paragraphs: int = Field(default=1, ge=0)
    """Consecutive paragraphs of an article that make a document; 0: the whole article."""
    group: Literal["article", "document"] = "article"
    """What is never torn apart by a split; `document` where a file has one article."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a question, with the one document that is relevant; ids are those of article, document and question.

    Raises:
        ReprlabError: the file is not in SQuAD's form.
    """
    path = sources.archive.member(settings.member)
    for place, article in enumerate(json_items(path, "data")):
        with expected_format(f"{path}: article {place}", "paragraphs with questions"):
            paragraphs = article["paragraphs"]
            size = settings.paragraphs or len(paragraphs)
            for number, start in enumerate(range(0, len(paragraphs), size)):
                part = paragraphs[start : start + size]
                text = " ".join(" ".join(paragraph["context"].split()) for paragraph in part)
                document = f"{place}-{number}"
                asked = [question["question"] for paragraph in part for question in paragraph["qas"]]
                for count, question in enumerate(dict.fromkeys(" ".join(one.split()) for one in asked)):
                    yield {
                        "id": f"{document}-{count}",
                        "group": f"{place}" if settings.group == "article" else document,
                        "query_id": f"{document}-{count}",
                        "query": question,
                        "passage_id": document,
                        "passage": text,
                        "relevance": 1,
                    }
