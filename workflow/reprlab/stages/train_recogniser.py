"""Tune a speech encoder with a CTC head, and score what it writes."""

from pathlib import Path

from reprlab.audio.settings import RecogniserSettings
from reprlab.runtime.cli import run_stage


def train_recogniser(
    *,
    speech: Path,
    model: Path,
    source: Path | None = None,
    out: Path,
    metrics: Path,
    curve: Path,
    hypotheses: Path,
    work: Path,
    settings: RecogniserSettings,
    fingerprint: str,
    save_every: int = 50,
    device: str = "cpu",
) -> None:
    """Write `out`, the trained tensors and the vocabulary; scores of the held-out splits, losses by step, transcripts.

    Args:
        speech: a set of recordings with transcripts.
        source: trained tensors of another language, tuned alike: all but its head is the start.
        work: folder that survives failure: an unfinished training resumes exactly.

    Raises:
        ReprlabError: unreadable inputs, too few minutes, or a source that was tuned otherwise.
    """
    from reprlab.audio.training import train_one
    from reprlab.runtime.files import remove_directory

    train_one(
        settings, speech, model, source, out=out, metrics=metrics, curve=curve, hypotheses=hypotheses, work=work,
        fingerprint=fingerprint, save_every=save_every, device=device,
    )  # fmt: skip
    remove_directory(work)


if __name__ == "__main__":
    run_stage(train_recogniser)
