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
    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.files import remove_directory
    from reprlab.sentences.encoder import build_encoder, size_of
    from reprlab.sentences.held_out import read_pairs
    from reprlab.sentences.layer_losses import with_layers
    from reprlab.sentences.rates import Told, train_at_rates
    from reprlab.sentences.triples import TRIPLES, open_triples
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.training.finetuning_cost import peak_memory

    quiet_transformers()
    if not held_out and len(settings.learning_rates) > 1:
        raise ReprlabError("learning_rates: without held-out pairs nothing chooses among several; give one")
    settings = settings.model_copy(update={"encoder": with_layers(settings.encoder, depths)})
    reader, form = load_tokenizer(tokenizer), settings.encoder.form
    data = open_triples(triples)
    likeness = held_out or []
    pairs = [read_pairs(path, reader, form, split="validation", limit=settings.held_out_limit) for path in likeness]

    def new(seed: int) -> tuple[Any, Told]:
        network = load_model(model)
        uncut = size_of(network)
        encoder = build_encoder(network, settings.encoder, seed)
        sizes = [*size_of(network), *uncut, int(data.texts.ids.lengths.max())]
        return encoder, lambda run: dict(
            zip(_COST, [*sizes, run.throughput[-1]["seconds"], peak_memory(network.device)], strict=True)
        )

    chosen, found = train_at_rates(
        settings,
        new,
        data,
        pairs,
        columns=["held_out", *(f"held_out_{path.parent.name}" for path in likeness)],
        files=[triples / TRIPLES, *likeness, *model.glob("*.*"), tokenizer / "tokenizer.json"],
        out=out,
        work=work,
        fingerprint=fingerprint,
        save_every=save_every,
        device=device,
    )
    costs = {row["seed"]: {name: row[name] for name in ("seed", "trained", *_COST)} for row in found[chosen]}
    write_rows(cost, list(costs.values()))
    rows = [{**row, "chosen": int(rate == chosen)} for rate, rows in found.items() for row in rows]
    if not pairs:
        rows = [{**row, "held_out": math.nan} for row in rows]
    write_rows(metrics, [{name: row[name] for name in row if name not in _COST} for row in rows])
    remove_directory(work)


if __name__ == "__main__":
    run_stage(train_encoder)
