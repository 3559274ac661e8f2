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
    import shutil

    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import quiet_transformers
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.files import atomic_directory, remove_directory
    from reprlab.sentences.held_out import read_pairs
    from reprlab.sentences.triples import TRIPLES, open_triples
    from reprlab.stages.train_encoder import best_rate
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.training.fingerprints import run_fingerprint
    from reprlab.training.ladder import link_or_copy
    from reprlab.training.seeds import finished_run

    quiet_transformers()
    reader, form = load_tokenizer(tokenizer), settings.encoder.form
    data = open_triples(triples)
    pairs = [read_pairs(path, reader, form, split="validation", limit=settings.held_out_limit) for path in held_out]
    columns = ["held_out", *(f"held_out_{path.parent.name}" for path in held_out)]
    files = [triples / TRIPLES, *held_out, *model.glob("*.*"), tokenizer / "tokenizer.json"]
    found: dict[float, list[dict[str, Any]]] = {}
    for rate in settings.learning_rates:
        for seed in settings.seeds:
            own, folder = one_run(settings, data, rate, seed), _folder(work, rate, seed)
            identity = run_fingerprint(fingerprint, own, files)
            rows = finished_run(folder, identity)
            if rows is None:
                about = {"save_every": save_every, "fingerprint": identity, "device": device}
                rows = _trained(model, data, pairs, columns, own, work=folder, **about)
            found.setdefault(rate, []).extend(rows)
    chosen = best_rate(found, len(settings.seeds))
    if chosen is None:
        raise ReprlabError(f"{out.parent.name}: the training diverged with every learning rate; set lower ones")
    with atomic_directory(out) as target:
        for seed in settings.seeds:
            source = _folder(work, chosen, seed) / "model"
            shutil.copytree(source, target / f"seed-{seed}", copy_function=link_or_copy)
    write_rows(metrics, [{**row, "chosen": int(rate == chosen)} for rate, rows in found.items() for row in rows])
    remove_directory(work)


def one_run(settings: PromptTraining, data: Any, rate: float, seed: int) -> PromptTraining:
    """The settings of one learning rate and seed, with the updates of that many passes over the triples."""
    optimizer = settings.engine.optimizer.model_copy(update={"learning_rate": rate})
    engine = settings.engine.model_copy(update={"seed": seed, "optimizer": optimizer})
    if settings.epochs is not None:
        batches = data.rows(engine.batch_size, seed, 0, mixed=settings.mixed)
        engine = engine.model_copy(update={"steps": max(1, round(settings.epochs * len(batches)))})
    return settings.model_copy(update={"engine": engine, "seeds": [seed], "learning_rates": [rate]})


def _folder(work: Path, rate: float, seed: int) -> Path:
    return work / f"{rate!r}" / f"seed-{seed}"


def _trained(
    model: Path, data: Any, pairs: list[Any], columns: list[str], own: PromptTraining, *, work: Path, **about: Any
) -> list[dict[str, Any]]:
    """Train once and keep the best checkpoint, folded, in `work/model`; the rows of its metrics."""
    import math

    from reprlab.models.build import load_model
    from reprlab.sentences.encoder import build_encoder
    from reprlab.sentences.prompt_forms import fold, reparametrise
    from reprlab.sentences.training import train_encoder
    from reprlab.stages.train_encoder import trained_count
    from reprlab.training.seeds import keep_run

    (seed,), (rate,) = own.seeds, own.learning_rates
    encoder = reparametrise(build_encoder(load_model(model), own.encoder, seed), own.form, seed)
    run, scores, best = train_encoder(encoder, data, pairs, own, work=work, **about)
    shared, nothing = (
        {"learning_rate": rate, "seed": seed, "trained": trained_count(encoder)},
        [math.nan] * len(columns),
    )
    # The peak tells runs apart; beside it is the rate of the update on its course.
    rows = [
        {**shared, **row, "learning_rate": rate, "rate": row["learning_rate"]}
        | dict(zip(columns, scores.get(row["step"], nothing), strict=True))
        for row in run.metrics
    ]

    def save(folder: Path) -> None:
        best.keep(folder)
        fold(folder, own.form, own.encoder)

    if scores:
        keep_run(work, about["fingerprint"], rows, save)
    return rows


if __name__ == "__main__":
    run_stage(train_prompt)
