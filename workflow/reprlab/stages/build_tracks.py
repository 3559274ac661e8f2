"""Render scores, cut recordings, and keep the tracks of a set with what is known of them."""

from pathlib import Path

from reprlab.music.settings import TrackSettings
from reprlab.runtime.cli import run_stage


def build_tracks(
    *,
    receipts: list[Path] = [],  # noqa: B006 - a command-line default, never changed
    cache: Path,
    registry: Path | None = None,
    out: Path,
    settings: TrackSettings,
) -> None:
    """Write `out`: one row a track, with its audio at 44.1 kHz.

    Raises:
        ReprlabError: an archive is missing, too few scores can be rendered, a file is not audio, or the audio extra is
            not installed.
    """
    from itertools import chain

    from reprlab.data.sources import open_sources
    from reprlab.music.tracks import own_tracks, recorded_tracks, rendered_tracks, with_splits, write_tracks

    opened = open_sources(list(settings.archives.values()), receipts, [], cache, registry).archives
    archives = {role: opened[name] for role, name in settings.archives.items()}
    parts = []
    if settings.scores:
        parts.append(rendered_tracks(archives["scores"], archives["font"].member(settings.font), settings))
    if settings.recordings:
        parts.append(recorded_tracks(archives["recordings"], settings))
    if settings.folder:
        parts.append(own_tracks(Path(settings.folder), settings))
    write_tracks(out, with_splits(chain.from_iterable(parts), settings))


if __name__ == "__main__":
    run_stage(build_tracks)
