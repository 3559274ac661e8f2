"""Remove the block of layers of a decoder that changes texts least, and repair what is left."""

from pathlib import Path
from typing import Any

from reprlab.runtime.cli import run_stage
from reprlab.sentences.block_pruning import PruningSettings


def prune_block(
    *,
    model: Path,
    tokenizer: Path,
    triples: Path,
    out: Path,
    blocks: Path,
    settings: PruningSettings,
    depths: Path | None = None,
    device: str = "cpu",
    inference_batch: int = 64,
) -> None:
    """Write `out`, a model folder of fewer layers with its tokenizer, and `blocks`: of each block that could go, the
    layers in front of it, those in it, the mean cosine distance from its input to its output, and whether it went.

    Args:
        model: folder of the decoder, which is not changed.
        triples: folder of tokenised triples, whose texts choose the block and fit the map.
        depths: losses by layer, where the settings name one of the depths that they choose.
        inference_batch: texts in a forward pass; it does not change the result.

    Raises:
        ReprlabError: unreadable inputs, or a decoder that cannot be cut or repaired.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model, quiet_transformers, save_model
    from reprlab.runtime.files import atomic_directory
    from reprlab.sentences.block_pruning import drawn_texts
    from reprlab.sentences.block_pruning import prune_block as prune
    from reprlab.sentences.layer_losses import with_layers
    from reprlab.sentences.settings import EncoderSettings
    from reprlab.sentences.triples import open_triples
    from reprlab.text.tokenizer_folder import copy_tokenizer
    from reprlab.training.processes import choose_device

    quiet_transformers()
    asked = EncoderSettings(method="none", pooling="last", layers=settings.layers)
    kept = int(with_layers(asked, depths).layers or 0)
    network: Any = load_model(model)
    whole = network.config.num_hidden_layers
    texts = drawn_texts(open_triples(triples).texts, settings.texts, settings.seed)
    removed = prune(network.to(choose_device(device)), texts, settings, kept, inference_batch)
    with atomic_directory(out) as folder:
        save_model(network.cpu(), folder)
        copy_tokenizer(tokenizer, folder)
    write_rows(
        blocks,
        [
            {
                "first": first,
                "removed": whole - kept,
                "distance": float(distance),
                "chosen": int(first == removed.first),
            }
            for first, distance in enumerate(removed.distances, start=1)
        ],
    )


if __name__ == "__main__":
    run_stage(prune_block)
