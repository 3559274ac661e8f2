"""Texts to cluster in mteb's form: one row of a Parquet file is a set of texts with their labels."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.data.published_tables import published_table
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Which file; each row has the lists `sentences` and `labels`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    """Path in the repository."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a text, all of the test split; the sets are its subsets.

    Raises:
        ReprlabError: a set has more texts than labels, or fewer.
    """
    path = sources.archive.file(settings.file)
    for number, row in enumerate(published_table(sources.archive, settings.file, ["sentences", "labels"]).to_pylist()):
        texts, labels = row["sentences"], row["labels"]
        if len(texts) != len(labels):
            sources.faulty.leave_out(f"{path}: row {number} has {len(texts)} texts and {len(labels)} labels")
            continue
        for place, (text, label) in enumerate(zip(texts, labels, strict=True)):
            name = f"test-{number}-{place}"
            yield {"id": name, "group": name, "split": "test", "subset": f"{number}", "text": text, "label": str(label)}
