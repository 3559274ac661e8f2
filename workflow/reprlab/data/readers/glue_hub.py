"""GLUE, XNLI and others with a label or a score a row from the Parquet files of the hub (paper scale)."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.published_tables import published_table
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import SplitFile, SplitSettings


class File(SplitFile):
    """One Parquet file."""

    subset: str = ""
    """matched or mismatched (MNLI)."""


class Settings(BaseModel):
    """Files and columns of the task."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: list[File] = Field(min_length=1)
    """The files; GLUE's test files have no labels and are not read."""
    texts: list[str] = Field(min_length=1, max_length=2)
    """Columns with the text: one, or premise and hypothesis."""
    label: str = "label"
    """Column with the number of the label, or with the score."""
    label_names: list[str] = []
    """Name of each label number of the repository; empty where the label is a score (STS-B)."""
    hub_names: list[str] = []
    """Names of the same numbers in the hub's files, where the entry has others."""
    numbered: bool = True
    """Whether the rows have GLUE's column `idx`; without it (XNLI) rows are numbered as they come."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a row, in the published splits.

    Raises:
        ReprlabError: a file lacks a column or has other labels, or a label number is outside `label_names`.
    """
    names = ["text"] if len(settings.texts) == 1 else ["text_a", "text_b"]
    for source in settings.files:
        path = sources.archive.file(source.file)
        columns = [*settings.texts, settings.label, *(["idx"] if settings.numbered else [])]
        labels = {settings.label: settings.hub_names or settings.label_names}
        table = published_table(sources.archive, source.file, columns, labels)
        for number, row in enumerate(table.to_pylist()):
            name = "-".join(part for part in (source.split, source.subset, str(row.get("idx", number))) if part)
            texts = {name: row[column] for name, column in zip(names, settings.texts, strict=True)}
            about = {"id": name, "group": name, "split": source.split, **texts}
            if not settings.label_names:
                yield {**about, "score": float(row[settings.label])}
                continue
            label = row[settings.label]
            if not isinstance(label, int) or not 0 <= label < len(settings.label_names):
                last = len(settings.label_names) - 1
                sources.faulty.leave_out(f"{path}: row {number}: the label {label} is outside 0 to {last}")
                continue
            yield {**about, "subset": source.subset, "label": settings.label_names[label]}
