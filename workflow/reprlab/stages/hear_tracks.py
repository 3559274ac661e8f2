"""Extract tempo, key, downbeats and chords of the tracks of one shard by madmom."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def hear_tracks(*, tracks: Path, out: Path, cache: Path, shard: int, shards: int) -> None:
    """Write `out`: one JSON object a line with `track` and its features.

    Args:
        cache: the folder of downloads, where the features of each track are kept: after a kill none is made again.

    Raises:
        ReprlabError: unreadable inputs, or madmom is not installed.
    """
    import json

    from reprlab.music.hearing import hear
    from reprlab.music.tracks import read_tracks
    from reprlab.runtime.files import write_text

    rows = [
        {"track": one["track"], **hear(one["samples"], cache / "music")}
        for one in read_tracks(tracks, shard=(shard, shards))
    ]
    write_text(out, "".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    run_stage(hear_tracks)
