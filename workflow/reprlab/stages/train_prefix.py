"""Train one stage of a linear prefix: a map of music to vectors in front of a frozen language model's text."""

from pathlib import Path

from reprlab.music.prefix_settings import PrefixTraining
from reprlab.runtime.cli import run_stage


def train_prefix(
    *,
    model: Path,
    annotations: list[Path],
    states: Path,
    out: Path,
    metrics: Path,
    work: Path,
    settings: PrefixTraining,
    fingerprint: str,
    start: Path | None = None,
    save_every: int = 100,
    device: str = "cpu",
) -> None:
    """Write `out`, the trained map, and `metrics`, the losses.

    Args:
        start: the prefix of stage one, whose map is the start.

    Raises:
        ReprlabError: unreadable inputs, a start of another shape, or SIGTERM came: the same command goes on.
    """
    from reprlab.music.linear_prefix import PrefixExamples, new_prefix, save_prefix
    from reprlab.music.training import train_stage
    from reprlab.text.tokenizer_folder import open_tokenizer

    train_stage(
        lambda tracks, audio: (
            new_prefix(model, (audio.shape[1], audio.shape[2]), settings, start),
            PrefixExamples(open_tokenizer(model), tracks, audio, settings),
        ),
        save_prefix,
        model=model,
        annotations=annotations,
        states=states,
        start=start,
        settings=settings,
        fingerprint=fingerprint,
        out=out,
        metrics=metrics,
        work=work,
        save_every=save_every,
        device=device,
    )


if __name__ == "__main__":
    run_stage(train_prefix)
