"""Likeness of the states of some encoders to those of another one, and what they say of chains by themselves."""

from pathlib import Path

from reprlab.coreference.settings import SimilaritySettings
from reprlab.runtime.cli import run_stage


def measure_similarity(
    *,
    documents: Path,
    encoders: list[Path],
    names: list[str],
    reference: Path,
    tokenizer: Path,
    out: Path,
    settings: SimilaritySettings,
) -> None:
    """Write `out`: for each encoder and document that is drawn, the mean cosine over tokens and the evidence of chains.

    Args:
        documents: folder of segmented documents; those of the validation split are drawn from.
        names: the encoders, in their order.
        reference: the encoder that they are compared with.

    Raises:
        ReprlabError: unreadable inputs.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.coreference.states import documents_of, similarity_rows
    from reprlab.text.model_tokenizers import load_tokenizer

    found = documents_of(documents, "validation")
    folders = dict(zip(names, encoders, strict=True))
    write_rows(out, similarity_rows(folders, reference, load_tokenizer(tokenizer), found, settings))


if __name__ == "__main__":
    run_stage(measure_similarity)
