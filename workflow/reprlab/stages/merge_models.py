"""Merge two models of one architecture."""

from pathlib import Path

from reprlab.models.merging import MergeSettings
from reprlab.runtime.cli import run_stage


def merge_models(*, first: Path, second: Path, out: Path, settings: MergeSettings, base: Path | None = None) -> None:
    """Write the model made of two model folders, and of the one that both were trained from where the way reads it,
    with the tokenizer of the first, as a folder of safetensors."""
    import torch

    from reprlab.models.build import save_model
    from reprlab.models.merging import merged_model
    from reprlab.runtime.files import atomic_directory
    from reprlab.text.tokenizer_folder import copy_tokenizer

    model = merged_model(first, second, settings, base).to(getattr(torch, settings.dtype))
    with atomic_directory(out) as folder:
        save_model(model, folder)
        copy_tokenizer(first, folder)


if __name__ == "__main__":
    run_stage(merge_models)
