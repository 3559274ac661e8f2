"""Tracks with what is heard in them, ready to be annotated, and the table of annotations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reprlab.artifacts.tables import write_parquet
from reprlab.data.json_lines import json_lines
from reprlab.music.annotation import STEPS, levels_of
from reprlab.music.settings import AnnotationSettings
from reprlab.music.template import genre_tags
from reprlab.music.tracks import read_tracks


def heard_features(paths: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Features of tracks by their name, from files of one JSON object a line."""
    return {row["track"]: row for path in paths for _, row in json_lines(path)}


def to_annotate(
    tracks: Path, heard: Sequence[Path], settings: AnnotationSettings, shard: tuple[int, int] = (0, 1)
) -> list[dict[str, Any]]:
    """Tracks of a shard with `heard`, `loudness` and `levels` (dB, of each frame); their audio is left out."""
    known, found = heard_features(heard), read_tracks(tracks, shard=shard)
    for one in found:
        one["loudness"], one["levels"] = levels_of(one.pop("samples"), settings.frame_seconds)
        one["heard"], one["frame_seconds"] = known[one["track"]], settings.frame_seconds
    return found


def write_annotations(path: Path, tracks: Sequence[dict[str, Any]], settings: AnnotationSettings) -> None:
    """One row a track: its split, its tags and texts, and who wrote each text.

    The template's mood is a tag beside the genre, since its lyrics say the same one.
    """
    import pyarrow

    rows = []
    for one in tracks:
        texts = {
            ("lyrics_text" if step == "lyrics" else step): one["lyrics_text" if step == "lyrics" else step]
            for step in STEPS
        }
        tags = genre_tags(one, settings.seed) if settings.backend == "template" else one["genre"]
        about = {
            "track": one["track"],
            "piece": one["piece"],
            "kind": one["kind"],
            "split": one["split"],
            "genre": tags,
        }
        rows.append(
            {**about, **texts, "frames": json.dumps(one["frames"]), "written_by": json.dumps(one["written_by"])}
        )
    names = (
        "track",
        "piece",
        "kind",
        "split",
        "genre",
        "caption",
        "lyrics_text",
        "unified",
        "type",
        "frames",
        "description",
    )
    schema = pyarrow.schema([(name, pyarrow.string()) for name in (*names, "written_by")])
    write_parquet(path, pyarrow.Table.from_pylist(rows, schema))
