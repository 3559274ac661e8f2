"""Write captions, lyrics' meaning, types, frames and descriptions of the tracks of one shard."""

from pathlib import Path

from reprlab.music.settings import AnnotationSettings
from reprlab.runtime.cli import run_stage


def annotate_tracks(
    *, tracks: Path, heard: Path, out: Path, cache: Path, shard: int, shards: int, settings: AnnotationSettings,
    model: Path | None = None,
) -> None:  # fmt: skip
    """Write `out`: one row a track.

    Args:
        heard: features of the same shard.
        cache: the folder of downloads, where each answer of an endpoint is kept: after a kill nothing is asked twice.
        model: the packaged model that is served on this machine while the job lasts (backend `local`); its answers are
            not kept.

    Raises:
        ReprlabError: see `music.annotation.Annotator.annotate`.
    """
    from contextlib import nullcontext
    from functools import partial

    from reprlab.inference.served_model import serving
    from reprlab.music.annotated import to_annotate, write_annotations
    from reprlab.music.annotation import Annotator

    found = to_annotate(tracks, [heard], settings, (shard, shards))
    # Each shard may spend its part, so that shards which run side by side need not know of each other.
    budget = None if settings.budget is None else settings.budget / shards
    served = nullcontext if model is None else partial(serving, model)
    Annotator(settings, cache / "answers", budget, served).annotate(found)
    write_annotations(out, found, settings)


if __name__ == "__main__":
    run_stage(annotate_tracks)
