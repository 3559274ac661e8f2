"""Train one stage of a describer: the adaptor on captions, or adaptor and LoRA on descriptions."""

from pathlib import Path

from reprlab.music.settings import DescriberTraining
from reprlab.runtime.cli import run_stage


def train_describer(
    *,
    model: Path,
    annotations: list[Path],
    states: Path,
    out: Path,
    metrics: Path,
    work: Path,
    settings: DescriberTraining,
    fingerprint: str,
    start: Path | None = None,
    save_every: int = 100,
    device: str = "cpu",
) -> None:
    """Write `out`, the trained adaptor and LoRA, and `metrics`, the losses.

    Args:
        start: the describer of stage one, whose adaptor is the start.

    Raises:
        ReprlabError: unreadable inputs, or SIGTERM came: the same command goes on.
    """
    from reprlab.music.describer import Examples
    from reprlab.music.training import new_describer, save_describer, train_stage
    from reprlab.text.tokenizer_folder import open_tokenizer

    train_stage(
        lambda tracks, audio: (
            new_describer(model, audio.shape[-1], settings, start),
            Examples(open_tokenizer(model), tracks, audio, settings),
        ),
        save_describer,
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
    run_stage(train_describer)
