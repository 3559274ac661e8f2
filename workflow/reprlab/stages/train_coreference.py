"""Train an encoder and a coreference head together, once for each seed."""

from pathlib import Path

from reprlab.coreference.settings import CoreferenceTraining
from reprlab.runtime.cli import run_stage


def train_coreference(
    *,
    documents: Path,
    encoder: Path,
    tokenizer: Path,
    out: Path,
    metrics: Path,
    passes: Path,
    work: Path,
    settings: CoreferenceTraining,
    fingerprint: str,
    save_every: int = 200,
    device: str = "cpu",
) -> None:
    """Write `out`, a folder for each seed with the encoder of the best pass, and its scores as `probe_coreference`.

    Args:
        documents: folder of segmented documents.
        encoder: model folder to start from.
        work: folder that survives failure: an unfinished seed resumes exactly, finished ones are not trained again.

    Raises:
        ReprlabError: unreadable inputs.
    """
    from reprlab.coreference.scoring import train_each_seed

    train_each_seed(
        settings,
        documents,
        tokenizer,
        ["encoder"],
        encoders=[encoder],
        out=out,
        metrics=metrics,
        passes=passes,
        work=work,
        fingerprint=fingerprint,
        save_every=save_every,
        device=device,
    )


if __name__ == "__main__":
    run_stage(train_coreference)
