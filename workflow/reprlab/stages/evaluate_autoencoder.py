"""Quality of a sparse autoencoder on held-out text."""

from pathlib import Path
from typing import Any

from reprlab.features.settings import QualitySettings
from reprlab.runtime.cli import run_stage


def evaluate_autoencoder(
    *, model: Path, autoencoder: Path, tokens: Path, out: Path, densities: Path, settings: QualitySettings,
    device: str = "cpu",
) -> None:  # fmt: skip
    """Write the quality as metric and value, and the density of each feature as Parquet (feature, density)."""
    import numpy as np
    import pyarrow

    from reprlab.artifacts.tables import write_parquet
    from reprlab.artifacts.tsv import write_rows
    from reprlab.features.autoencoder import SparseAutoencoder
    from reprlab.features.quality import measure_quality
    from reprlab.features.training import block_batches
    from reprlab.models.build import load_model
    from reprlab.text.token_store import TokenStore
    from reprlab.training.processes import choose_device

    store = TokenStore.open(tokens, "validation", packing=settings.block)
    rows = np.random.Generator(np.random.Philox(key=settings.seed)).permutation(len(store))[: settings.blocks]
    place = choose_device(device)
    opened: Any = load_model(model)
    opened.to(place)
    coder = SparseAutoencoder.load(autoencoder).to(place)
    batches = list(block_batches(store, np.sort(rows), settings.batch_blocks))
    found = measure_quality(opened, settings.layer, batches, coder.encode, coder.decode)
    write_rows(out, [{"metric": name, "value": value, "n": found.tokens} for name, value in found.values().items()])
    density = found.density()
    write_parquet(densities, pyarrow.table({"feature": np.arange(len(density)), "density": density}))


if __name__ == "__main__":
    run_stage(evaluate_autoencoder)
