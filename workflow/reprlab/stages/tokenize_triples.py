"""Tokenise triples once for all encoders that are trained on them or measured by them."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.sentences.settings import TripleTexts


def tokenize_triples(*, triples: list[Path], tokenizer: Path, out: Path, settings: TripleTexts) -> None:
    """Write `out`, a folder of arrays that are mapped into memory when they are read.

    Args:
        triples: examples of the kind `choice`, of which a split is read.

    Raises:
        ReprlabError: unreadable inputs, or an example without a wrong choice.
    """
    from reprlab.models.build import quiet_transformers
    from reprlab.runtime.files import atomic_directory
    from reprlab.sentences.triples import write_triples
    from reprlab.text.model_tokenizers import load_tokenizer

    quiet_transformers()
    reader = load_tokenizer(tokenizer)
    with atomic_directory(out) as folder:
        write_triples(folder, triples, reader, settings)


if __name__ == "__main__":
    run_stage(tokenize_triples)
