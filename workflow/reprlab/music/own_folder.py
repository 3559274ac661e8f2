"""What the tracks of one's own are read from: the folder, and what its table names elsewhere."""

from __future__ import annotations

from pathlib import Path

TABLE = "tracks.tsv"


def own_paths(folder: Path) -> list[Path]:
    """The folder of tracks, and the files and folders of frames that its table names outside it; what cannot be read
    is left to the reader, which says so."""
    try:
        rows = [line.split("\t") for line in (folder / TABLE).read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError):
        return [folder]
    columns = [place for place, name in enumerate(rows[0] if rows else []) if name.strip() in ("file", "video")]
    named = {
        folder / row[place].strip() for row in rows[1:] for place in columns if place < len(row) and row[place].strip()
    }
    inside = folder.resolve()
    return [folder, *sorted(path for path in named if not path.resolve().is_relative_to(inside))]
