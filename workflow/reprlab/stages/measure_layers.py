"""The contrastive loss of an untrained decoder, cut at each of its layers."""

from pathlib import Path
from typing import Any

from reprlab.runtime.cli import run_stage
from reprlab.sentences.settings import LayerLosses


def measure_layers(*, model: Path, triples: Path, out: Path, settings: LayerLosses, device: str = "cpu") -> None:
    """Write `out`: the loss of each batch of triples at each depth, in nats, and what it can depend on: triples of a
    batch, temperature.

    Args:
        model: folder of the decoder. triples: folder of tokenised triples, which are sampled.

    Raises:
        ReprlabError: unreadable inputs, too few triples, or a decoder that cannot be cut.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.sentences.layer_losses import layer_losses
    from reprlab.sentences.triples import open_triples
    from reprlab.training.processes import choose_device

    quiet_transformers()
    data = open_triples(triples)
    network: Any = load_model(model)
    losses = layer_losses(network.to(choose_device(device)), data, settings)
    given = {"triples": settings.batch_size, "temperature": settings.temperature}
    write_rows(
        out,
        [
            {"layer": layer + 1, "batch": batch, "loss": float(loss), **given}
            for batch, row in enumerate(losses)
            for layer, loss in enumerate(row)
        ],
    )


if __name__ == "__main__":
    run_stage(measure_layers)
