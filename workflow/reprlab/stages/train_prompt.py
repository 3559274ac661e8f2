"""Train a soft prompt in another form than its vectors, beside the plain one of `train_encoder`."""

from pathlib import Path
from typing import Any

from reprlab.runtime.cli import run_stage
from reprlab.sentences.prompt_forms import PromptTraining


def train_prompt(
    *,
    model: Path,
    tokenizer: Path,
    triples: Path,
    held_out: list[Path],
    out: Path,
    metrics: Path,
    work: Path,
    settings: PromptTraining,
    fingerprint: str,
    save_every: int = 100,
    device: str = "cpu",
) -> None:
    """Write `out`, a folder for each seed with the vectors that the form gives, an encoder with a plain prompt, and
    `metrics`, losses and held-out scores by step, with how many numbers are trained.

    It is a stage of its own, so that plain encoders are not trained anew where a form is edited.

    Args:
        model: folder of the decoder, which is not changed.
        triples: folder of tokenised triples. held_out: examples of the kind `similarity`, whose validation split is
            read: they choose the learning rate and the checkpoint.
        work: folder that survives failure: an unfinished run resumes exactly, finished ones are not trained again.

    Raises:
        ReprlabError: unreadable inputs, or a run diverged with every learning rate.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.runtime.files import remove_directory
    from reprlab.sentences.encoder import build_encoder
    from reprlab.sentences.held_out import read_pairs
    from reprlab.sentences.prompt_forms import fold, reparametrise
    from reprlab.sentences.rates import Told, train_at_rates
    from reprlab.sentences.triples import TRIPLES, open_triples
    from reprlab.text.model_tokenizers import load_tokenizer

    quiet_transformers()
    reader, form = load_tokenizer(tokenizer), settings.encoder.form

    def new(seed: int) -> tuple[Any, Told]:
        encoder = build_encoder(load_model(model), settings.encoder, seed)
        return reparametrise(encoder, settings.form, seed), lambda run: {}

    chosen, found = train_at_rates(
        settings,
        new,
        open_triples(triples),
        [read_pairs(path, reader, form, split="validation", limit=settings.held_out_limit) for path in held_out],
        columns=["held_out", *(f"held_out_{path.parent.name}" for path in held_out)],
        files=[triples / TRIPLES, *held_out, *model.glob("*.*"), tokenizer / "tokenizer.json"],
        out=out,
        work=work,
        fingerprint=fingerprint,
        save_every=save_every,
        device=device,
        finish=lambda folder: fold(folder, settings.form, settings.encoder),
    )
    write_rows(metrics, [{**row, "chosen": int(rate == chosen)} for rate, rows in found.items() for row in rows])
    remove_directory(work)


if __name__ == "__main__":
    run_stage(train_prompt)
