"""Tracks as a table: audio at 44.1 kHz with what is known of it, from scores, recordings, or a folder of one's own."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.artifacts.tables import read_parquet, write_parquet
from reprlab.audio.decoding import decode, read_sound
from reprlab.data.text_files import one_of, tab_table
from reprlab.music.rendering import SoundFont
from reprlab.music.scores import ScoreError, read_score
from reprlab.music.settings import RATE, TrackSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import get_logger

if TYPE_CHECKING:
    from reprlab.data.archives import Archive

_SILENT = 1e-4
_OWN = ("track", "file", "genre", "lyrics", "split")
# Splits of a track; one of none is drawn.
_SPLITS = ("train", "test", "")
_COLUMNS: dict[str, str] = {
    "track": "string", "piece": "string", "kind": "string", "split": "string", "genre": "string", "lyrics": "string",
    "key": "string", "meter": "int32", "tempo": "float64", "upbeat": "float64", "programme": "int32",
    "seconds": "float64", "audio": "binary", "video": "string",
}  # fmt: skip


@dataclass(frozen=True)
class Track:
    """A clip: mono samples in -1 to 1, and what is known of it; `key` is "", numbers are 0 where it is not."""

    track: str
    piece: str
    """What must not be torn apart: clips of one piece are of one split."""
    kind: str
    """rendered, recorded or own."""
    genre: str
    samples: np.ndarray
    key: str = ""
    meter: int = 0
    tempo: float = 0.0
    upbeat: float = 0.0
    """Beats before the first whole bar."""
    programme: int = -1
    lyrics: str = ""
    split: str = ""
    video: str = ""
    """Folder of the frames of its video."""


def rendered_tracks(scores: Archive, font: Path, settings: TrackSettings) -> Iterator[Track]:
    """Rendered clips; scores without a key, of one bar, or shorter than a clip are passed over."""
    rng = np.random.default_rng(settings.seed)
    player = SoundFont(font)
    for kind in settings.scores:
        paths = scores.members(kind.members)
        found = 0
        for place in rng.permutation(len(paths)).tolist():
            path = paths[place]
            tempo, programme = (
                float(rng.integers(settings.tempo[0], settings.tempo[1])),
                int(rng.choice(settings.programmes)),
            )
            try:
                score = read_score(path, settings.seconds * tempo / 60)
            except ScoreError as error:
                get_logger().info("%s: %s; passed over", path.name, error)
                continue
            samples = player.render(score, tempo, programme, settings.seconds)
            name = f"{path.parent.name}_{path.stem}".lower().replace(".", "_").replace("-", "_")
            about: dict[str, Any] = {"key": score.key, "meter": score.meter, "tempo": tempo * score.beat}
            yield Track(name, name, "rendered", kind.genre, samples, programme=programme, upbeat=score.upbeat, **about)
            found += 1
            if found == kind.tracks:
                break
        if found < kind.tracks:
            raise ReprlabError(
                f"{kind.members}: {found} scores can be rendered, {kind.tracks} are wanted; ask for fewer"
            )


def recorded_tracks(recordings: Archive, settings: TrackSettings) -> Iterator[Track]:
    """Clips of recorded pieces, as many of each, evenly spaced."""
    size = int(settings.seconds * RATE)
    for kind in settings.recordings:
        paths = recordings.members(kind.members)
        each = math.ceil(kind.tracks / len(paths))
        left = kind.tracks
        for path in paths:
            samples = read_sound(path, rate=RATE)
            clips = min(each, left, len(samples) // size)
            starts = np.linspace(0, len(samples) - size, clips).astype(int)
            name = path.stem.lower().replace("-", "_")
            for place, start in enumerate(starts.tolist()):
                clip = samples[start : start + size]
                if np.abs(clip).max() >= _SILENT:
                    yield Track(f"{name}_{place:02d}", name, "recorded", kind.genre, clip)
            left -= clips


def own_tracks(folder: Path, settings: TrackSettings) -> Iterator[Track]:
    """Clips of a folder: `tracks.tsv` with track, file, genre, lyrics, split; if wanted, `video` (a folder of frames).

    A track whose frames are all alike is a still picture and is left out, as the paper does.

    Raises:
        ReprlabError: the table lacks a column, a row is not as its header says or names another split than `train`,
            `test` or none, or a file is not audio.
    """
    table = folder / "tracks.tsv"
    size = int(settings.seconds * RATE)
    # All rows are checked before the first sound is read.
    rows = list(tab_table(table, _OWN))
    for number, row in rows:
        one_of(row["split"], _SPLITS, f"{table}: line {number}: the split")
        if empty := [name for name in ("track", "file") if not row[name].strip()]:
            raise ReprlabError(f"{table}: line {number} has no {empty[0]}")
    for _, row in rows:
        samples = read_sound(folder / row["file"], rate=RATE)[:size]
        if len(samples) < size:
            get_logger().warning("%s: shorter than %g s; left out", row["file"], settings.seconds)
            continue
        if np.abs(samples).max() < _SILENT:
            get_logger().warning("%s: its first %g s are silent; left out", row["file"], settings.seconds)
            continue
        frames = str(folder / row["video"]) if row.get("video") else ""
        if frames and is_still(Path(frames)):
            get_logger().info("%s: its video is one still picture; left out", row["track"])
            continue
        about: dict[str, Any] = {"lyrics": row["lyrics"], "split": row["split"], "video": frames}
        yield Track(row["track"], row["track"], "own", row["genre"], samples, **about)


def is_still(folder: Path, tolerance: float = 2.0) -> bool:
    """Whether the frames of a video differ by less than `tolerance` of 255 grey levels in the mean.

    Raises:
        ReprlabError: there is no frame.
    """
    from PIL import Image

    paths = sorted(folder.glob("*.jpg")) + sorted(folder.glob("*.png"))
    if not paths:
        raise ReprlabError(f"{folder}: holds no frame (*.jpg, *.png); leave `video` of the track empty")
    frames = [np.asarray(Image.open(path).convert("L").resize((64, 64)), dtype=np.float64) for path in paths]
    return all(np.abs(one - frames[0]).mean() < tolerance for one in frames[1:])


def with_splits(tracks: Iterable[Track], settings: TrackSettings) -> Iterator[tuple[Track, str]]:
    """Tracks with their split: that of the source, or one drawn piece by piece within each genre."""
    found = list(tracks)
    rng = np.random.default_rng([settings.seed, 1])
    tested: set[str] = set()
    for genre in dict.fromkeys(one.genre for one in found):
        pieces = list(dict.fromkeys(one.piece for one in found if one.genre == genre))
        wanted = max(1, round(settings.test_share * len(pieces))) if len(pieces) > 1 else 0
        tested.update(np.array(pieces)[rng.permutation(len(pieces))[:wanted]].tolist())
    if settings.limit is not None:
        kept = np.sort(rng.permutation(len(found))[: settings.limit])
        found = [found[place] for place in kept.tolist()]
    for one in found:
        yield one, one.split or ("test" if one.piece in tested else "train")


def write_tracks(path: Path, tracks: Iterable[tuple[Track, str]]) -> None:
    """A table with one row a track; the audio is FLAC of 16 bits.

    Raises:
        ReprlabError: two tracks have one name.
    """
    import pyarrow
    import soundfile

    rows: list[dict[str, Any]] = []
    for one, split in tracks:
        packed = io.BytesIO()
        soundfile.write(packed, one.samples, RATE, format="FLAC", subtype="PCM_16")
        about = {name: getattr(one, name) for name in _COLUMNS if hasattr(one, name)}
        rows.append({**about, "split": split, "seconds": len(one.samples) / RATE, "audio": packed.getvalue()})
    names = [row["track"] for row in rows]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ReprlabError(f"{path}: two tracks are called {twice[0]}; rename one")
    schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in _COLUMNS.items()])
    write_parquet(path, pyarrow.Table.from_pylist(rows, schema))


def read_tracks(path: Path, *, audio: bool = True, shard: tuple[int, int] = (0, 1)) -> list[dict[str, Any]]:
    """Rows of the table, those of one shard (its number, and how many there are); `samples` holds the audio.

    Raises:
        ReprlabError: the file is damaged.
    """
    columns = [name for name in _COLUMNS if audio or name != "audio"]
    rows = read_parquet(path, columns).to_pylist()[shard[0] :: shard[1]]
    if audio:
        for row in rows:
            row["samples"] = decode(row.pop("audio"), row["track"]).require_rate(RATE).samples[:, 0]
    return rows
