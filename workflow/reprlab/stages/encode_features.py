"""Features of a model on the common sample of tokens."""

from pathlib import Path
from typing import Any

from reprlab.features.settings import EncodingSettings
from reprlab.runtime.cli import run_stage


def encode_features(
    *, model: Path, sample: Path, out: Path, settings: EncodingSettings, autoencoder: Path | None = None,
    like: Path | None = None, device: str = "cpu",
) -> None:  # fmt: skip
    """Write the activation of every feature at every position as a sparse matrix, of the model as it is.

    Without an autoencoder the features are the neurons of the layer themselves, or, with `drawn_seed`, those of a
    random dictionary of the number and density of the features in the folder `like`.
    """
    from reprlab.features.autoencoder import SparseAutoencoder
    from reprlab.features.sample import TokenSample
    from reprlab.features.sparse import SparseFeatures, random_features, sample_features
    from reprlab.models.build import load_model
    from reprlab.runtime.files import atomic_directory
    from reprlab.training.processes import choose_device

    place = choose_device(device)
    opened: Any = load_model(model)
    opened.to(place)
    drawn, tokens = settings.drawn_seed, TokenSample.load(sample)
    coder = None if autoencoder is None else SparseAutoencoder.load(autoencoder).to(place)
    if drawn is not None and like is not None:
        found = random_features(opened, settings.layer, tokens, SparseFeatures.load(like), drawn, settings.batch_blocks)
    else:
        encode = (lambda states: states) if coder is None else coder.encode
        found = sample_features(opened, settings.layer, tokens, encode, settings.batch_blocks)
    with atomic_directory(out) as folder:
        found.save(folder)


if __name__ == "__main__":
    run_stage(encode_features)
