"""Train a decoder as a sentence encoder: each learning rate with each seed; the rate is chosen on held-out pairs."""

import math
from pathlib import Path
from typing import Any

from reprlab.runtime.cli import run_stage
from reprlab.sentences.settings import ContrastiveTraining

# Measured, or of the model alone: not among the metrics, which are the same bytes on every machine.
_COST = ("layers", "parameters", "of_layers", "of_parameters", "longest", "seconds", "peak_memory")


def train_encoder(
    *,
    model: Path,
    tokenizer: Path,
    triples: Path,
    out: Path,
    metrics: Path,
    cost: Path,
    work: Path,
    settings: ContrastiveTraining,
    fingerprint: str,
    held_out: list[Path] | None = None,
    depths: Path | None = None,
    save_every: int = 100,
    device: str = "cpu",
) -> None:
    """Write `out`, a folder for each seed with what was trained, `metrics`, losses and held-out scores by step
    (their mean, and that of each set), and `cost`: of each seed the layers and parameters that are kept, tokens of the
    longest text as it is read, seconds of the updates, peak memory in bytes.

    Args:
        model: folder of the decoder, which is not changed.
        triples: folder of tokenised triples. held_out: examples of the kind `similarity`, whose validation split is
            read. Without any the last update is kept, and one learning rate is to be given.
        depths: losses by layer, where the settings name one of the two depths that they choose.
        work: folder that survives failure: an unfinished run resumes exactly, finished ones are not trained again.

    Raises:
        ReprlabError: unreadable inputs, several learning rates and no pairs that choose one, or a run diverged with
            every learning rate.
    """
    import functools
    import shutil

    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.files import atomic_directory, remove_directory
    from reprlab.sentences.encoder import build_encoder, size_of
    from reprlab.sentences.held_out import read_pairs
    from reprlab.sentences.layer_losses import with_layers
    from reprlab.sentences.training import train_encoder as train_one
    from reprlab.sentences.triples import TRIPLES, open_triples
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.training.finetuning_cost import peak_memory
    from reprlab.training.fingerprints import run_fingerprint
    from reprlab.training.ladder import link_or_copy
    from reprlab.training.seeds import finished_run, keep_run

    quiet_transformers()
    if not held_out and len(settings.learning_rates) > 1:
        raise ReprlabError("learning_rates: without held-out pairs nothing chooses among several; give one")
    settings = settings.model_copy(update={"encoder": with_layers(settings.encoder, depths)})
    reader, form = load_tokenizer(tokenizer), settings.encoder.form
    data = open_triples(triples)
    likeness = held_out or []
    pairs = [read_pairs(path, reader, form, split="validation", limit=settings.held_out_limit) for path in likeness]
    columns = ["held_out", *(f"held_out_{path.parent.name}" for path in likeness)]
    files = [triples / TRIPLES, *likeness, *model.glob("*.*"), tokenizer / "tokenizer.json"]
    found: dict[float, list[dict[str, Any]]] = {}
    for rate in settings.learning_rates:
        for seed in settings.seeds:
            folder = _folder(work, rate, seed)
            optimizer = settings.engine.optimizer.model_copy(update={"learning_rate": rate})
            engine = settings.engine.model_copy(update={"seed": seed, "optimizer": optimizer})
            if settings.epochs is not None:
                batches = data.rows(engine.batch_size, seed, 0, mixed=settings.mixed)
                engine = engine.model_copy(update={"steps": max(1, round(settings.epochs * len(batches)))})
            own = settings.model_copy(update={"engine": engine, "seeds": [seed], "learning_rates": [rate]})
            identity = run_fingerprint(fingerprint, own, files)
            rows = finished_run(folder, identity)
            if rows is None:
                network = load_model(model)
                uncut = size_of(network)
                encoder = build_encoder(network, settings.encoder, seed)
                run, scores, best = train_one(
                    encoder,
                    data,
                    pairs,
                    own,
                    work=folder,
                    save_every=save_every,
                    fingerprint=identity,
                    device=device,
                )
                about = {"learning_rate": rate, "seed": seed, "trained": trained_count(encoder)}
                sizes = [*size_of(network), *uncut, int(data.texts.ids.lengths.max())]
                spent = [*sizes, run.throughput[-1]["seconds"], peak_memory(network.device)]
                about |= dict(zip(_COST, spent, strict=True))
                # The peak tells runs apart; beside it is the rate of the update on its course.
                nothing = [math.nan] * len(columns)
                rows = [
                    {**about, **row, "learning_rate": rate, "rate": row["learning_rate"]}
                    | dict(zip(columns, scores.get(row["step"], nothing), strict=True))
                    for row in run.metrics
                ]
                if scores:
                    keep_run(folder, identity, rows, functools.partial(best.keep))
            found.setdefault(rate, []).extend(rows)
    chosen = best_rate(found, len(settings.seeds))
    if chosen is None:
        raise ReprlabError(f"{out.parent.name}: the training diverged with every learning rate; set lower ones")
    with atomic_directory(out) as target:
        for seed in settings.seeds:
            source = _folder(work, chosen, seed) / "model"
            shutil.copytree(source, target / f"seed-{seed}", copy_function=link_or_copy)
    costs = {row["seed"]: {name: row[name] for name in ("seed", "trained", *_COST)} for row in found[chosen]}
    write_rows(cost, list(costs.values()))
    rows = [{**row, "chosen": int(rate == chosen)} for rate, rows in found.items() for row in rows]
    if not pairs:
        rows = [{**row, "held_out": math.nan} for row in rows]
    write_rows(metrics, [{name: row[name] for name in row if name not in _COST} for row in rows])
    remove_directory(work)


def _folder(work: Path, rate: float, seed: int) -> Path:
    """Where a run lies: all digits of its rate, so that none takes another's place."""
    return work / f"{rate!r}" / f"seed-{seed}"


def trained_count(encoder: Any) -> int:
    """Numbers that are trained."""
    from reprlab.sentences.encoder import trained_weights

    return sum(value.numel() for value in trained_weights(encoder).values())


def best_rate(found: dict[float, list[dict[str, Any]]], seeds: int) -> float | None:
    """The rate with the highest mean over seeds of the best held-out score; of equal ones the first."""
    means: dict[float, float] = {}
    for rate, rows in found.items():
        best: dict[int, float] = {}
        for row in rows:
            if not math.isnan(row["held_out"]):
                best[row["seed"]] = max(row["held_out"], best.get(row["seed"], -1.0))
        if len(best) == seeds:
            means[rate] = sum(best.values()) / seeds
    return max(means, key=lambda rate: means[rate]) if means else None


if __name__ == "__main__":
    run_stage(train_encoder)
