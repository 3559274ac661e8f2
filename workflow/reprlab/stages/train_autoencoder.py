"""Train a sparse autoencoder on the inner states of a language model."""

from pathlib import Path

from reprlab.features.settings import AutoencoderSettings
from reprlab.runtime.cli import run_stage


def train_autoencoder(
    *,
    model: Path,
    tokens: Path,
    out: Path,
    metrics: Path,
    throughput: Path,
    work: Path,
    settings: AutoencoderSettings,
    fingerprint: str,
    save_every: int = 500,
    device: str = "cpu",
) -> None:
    """Write the autoencoder's folder, the metrics of its training (the same each time) and the throughput (not).

    Resume points lie in `work` until the outputs are in place: after a kill, the same command goes on and ends with the
    same bytes.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.features.training import train_on_blocks
    from reprlab.models.build import load_model
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.files import atomic_directory, remove_directory
    from reprlab.text.token_store import TokenStore
    from reprlab.training.fingerprints import run_fingerprint

    identity = run_fingerprint(fingerprint, settings, [tokens, model / "config.json", *model.glob("*.safetensors")])
    store = TokenStore.open(tokens, "train", packing=settings.block)
    found, run = train_on_blocks(
        load_model(model), store, settings, work=work, save_every=save_every, fingerprint=identity, device=device
    )
    if run.diverged_at is not None:
        raise ReprlabError(f"{out}: the training diverged at update {run.diverged_at}; lower its learning rate")
    if not run.is_main:
        return
    write_rows(metrics, run.metrics)
    write_rows(throughput, run.throughput)
    with atomic_directory(out) as folder:
        found.save(folder)
    remove_directory(work)


if __name__ == "__main__":
    run_stage(train_autoencoder)
