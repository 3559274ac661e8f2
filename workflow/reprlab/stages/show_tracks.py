"""Show a few tracks: what is heard in them, what a describer reads, the target, and what was written."""

from pathlib import Path

from reprlab.music.settings import ExampleSettings
from reprlab.runtime.cli import run_stage

_PICTURE = "tracks.png"


def show_tracks(
    *, tracks: Path, heard: list[Path], annotations: list[Path], out: Path, settings: ExampleSettings
) -> None:  # fmt: skip
    """Write the folder `out`: `examples.md`, a page, and `tracks.png`, the features of its tracks.

    Raises:
        ReprlabError: unreadable inputs.
    """
    from reprlab.artifacts.tables import read_parquet
    from reprlab.music.annotated import heard_features
    from reprlab.music.examples import chosen_tracks, draw_tracks, page
    from reprlab.music.tracks import read_tracks
    from reprlab.runtime.files import atomic_directory

    known = {row["track"]: row for path in annotations for row in read_parquet(path).to_pylist()}
    written = {name: read_parquet(path).to_pylist() for name, path in settings.described.items()}
    candidates = [known[row["track"]] for row in next(iter(written.values()))]
    names = [row["track"] for row in chosen_tracks(candidates, settings.shown)]
    features = heard_features(heard)
    sounds = {one["track"]: one for one in read_tracks(tracks) if one["track"] in names}
    texts = {name: {row["track"]: row for row in rows} for name, rows in written.items()}
    with atomic_directory(out) as folder:
        draw_tracks([(sounds[name], features[name]) for name in names], folder / _PICTURE)
        text = page([(known[name], features[name], sounds[name]) for name in names], texts, _PICTURE)
        (folder / "examples.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_stage(show_tracks)
