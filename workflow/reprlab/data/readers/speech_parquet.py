"""Recordings with transcripts as Parquet, as the hub gives data sets of speech."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.audio.decoding import decode, embedded_sound
from reprlab.audio.transcripts import TranscriptSettings, normalised
from reprlab.data.published_tables import published_table
from reprlab.data.sources import Sources, expected_format
from reprlab.registry.dataset_entries import Split, SplitSettings


class Settings(BaseModel):
    """Which files, and which recordings are read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: dict[Split | str, list[str]] = Field(min_length=1)
    """Files of each split; under an empty name those whose column `split` says it."""
    longest: float = Field(default=36.0, gt=0)
    """Seconds of the longest recording."""
    text: TranscriptSettings = TranscriptSettings()
    """How transcripts are written."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a row; the group is the first part of the file's name, as `clean`.

    Raises:
        ReprlabError: a file lacks a column, or a recording is damaged or silent.
    """
    for split, names in settings.files.items():
        for name in names:
            path = sources.archive.file(name)
            yield from _rows(path, split, name, sources, settings)


def _rows(path: Path, split: str, name: str, sources: Sources, settings: Settings) -> Iterator[dict[str, Any]]:
    columns = ["audio", "text", *([] if split else ["split"])]
    for number, row in enumerate(published_table(sources.archive, name, columns).to_pylist()):
        place = f"{path}: row {number}"
        with sources.row(), expected_format(place, "a recording with its text"):
            text = normalised(row["text"], settings.text)
            content, kind = embedded_sound(row["audio"], place)
            sound = decode(content, place, kind)
            if text and sound.seconds <= settings.longest:
                sound.require_content()
                yield {
                    "id": f"{name}-{number}",
                    "group": name.partition("/")[0],
                    "split": split or row["split"],
                    "text": text,
                    "seconds": sound.seconds,
                    "rate": sound.rate,
                    "kind": kind,
                    "audio": content,
                }
