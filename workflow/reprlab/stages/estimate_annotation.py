"""Estimate what annotating a set of tracks would cost, without asking anything."""

from pathlib import Path

from reprlab.music.settings import AnnotationSettings
from reprlab.runtime.cli import run_stage


def estimate_annotation(*, tracks: Path, heard: list[Path], out: Path, settings: AnnotationSettings) -> None:
    """Write `out`: requests, tokens and dollars of each step and of all, if each is answered at the first attempt.

    Raises:
        ReprlabError: unreadable inputs.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.music.annotated import to_annotate
    from reprlab.music.annotation import Spent, estimated_steps

    steps = estimated_steps(to_annotate(tracks, heard, settings), settings)
    parts = steps.values()
    total = Spent(
        *(sum(getattr(one, name) for one in parts) for name in ("requests", "prompt_tokens", "answer_tokens"))
    )
    rows = [
        {"step": step, **vars(one), "dollars": round(one.dollars(settings), 6)}
        for step, one in {**steps, "all": total}.items()
    ]
    write_rows(out, rows)


if __name__ == "__main__":
    run_stage(estimate_annotation)
