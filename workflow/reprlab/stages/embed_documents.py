"""States of a frozen encoder for segmented documents."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def embed_documents(*, documents: Path, encoder: Path, tokenizer: Path, out: Path, layers: list[int]) -> None:
    """Write `out`, an array for each split and each of `layers` (0 is the embedding layer), without dropout.

    Args:
        documents: folder of segmented documents.

    Raises:
        ReprlabError: unreadable inputs, or the encoder has fewer layers.
    """
    from reprlab.coreference.states import SPLITS, documents_of, write_states
    from reprlab.runtime.files import atomic_directory
    from reprlab.text.model_tokenizers import load_tokenizer

    read = {split: documents_of(documents, split) for split in SPLITS}
    with atomic_directory(out) as folder:
        write_states(encoder, load_tokenizer(tokenizer), read, layers, folder)


if __name__ == "__main__":
    run_stage(embed_documents)
