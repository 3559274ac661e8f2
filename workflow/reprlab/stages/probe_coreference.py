"""Train a coreference head on frozen encoders, once for each seed."""

from pathlib import Path

from reprlab.coreference.settings import CoreferenceTraining
from reprlab.runtime.cli import run_stage


def probe_coreference(
    *,
    documents: Path,
    tokenizer: Path,
    names: list[str],
    states: list[Path] = [],  # noqa: B006 - a command-line default, never changed
    encoders: list[Path] = [],  # noqa: B006
    chosen: list[Path] = [],  # noqa: B006
    out: Path,
    passes: Path,
    work: Path,
    settings: CoreferenceTraining,
    fingerprint: str,
    save_every: int = 200,
    device: str = "cpu",
) -> None:
    """Write `out`, scores of the best pass of each seed, and `passes`, score, loss and weights of the sources by pass.

    Args:
        documents: folder of segmented documents.
        names: the sources, in the order of `states` or `encoders`.
        states: folders of stored states; without any, the encoders run in every step.
        encoders: model folders.
        chosen: layers that a sweep chose, one file a source; they take the place of `settings.layers`.
        work: folder that survives failure: an unfinished seed resumes exactly, finished ones are not trained again.

    Raises:
        ReprlabError: unreadable inputs, or a layer that a source does not have.
    """
    from reprlab.artifacts.json_files import read_json
    from reprlab.coreference.scoring import train_each_seed

    if chosen:
        settings = settings.model_copy(update={"layers": [read_json(path)["layer"] for path in chosen]})
    train_each_seed(
        settings,
        documents,
        tokenizer,
        names,
        encoders=encoders,
        states=states,
        metrics=out,
        passes=passes,
        work=work,
        fingerprint=fingerprint,
        save_every=save_every,
        device=device,
    )


if __name__ == "__main__":
    run_stage(probe_coreference)
