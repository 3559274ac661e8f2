"""Documents with coreference chains as segments of sub-tokens."""

from pathlib import Path

from reprlab.coreference.settings import SegmentSettings
from reprlab.runtime.cli import run_stage


def build_coreference(*, examples: Path, tokenizer: Path, out: Path, settings: SegmentSettings) -> None:
    """Write `out`, JSON lines for each split in the form of Joshi et al. (2019): `train.jsonlines`, …

    Args:
        examples: table of the kind `coreference`.

    Raises:
        ReprlabError: unreadable inputs, or a word has more sub-tokens than a segment.
    """
    from reprlab.coreference.documents import write_documents
    from reprlab.coreference.rows import read_texts
    from reprlab.coreference.segments import chosen_texts, segment_text
    from reprlab.runtime.files import atomic_directory
    from reprlab.text.model_tokenizers import load_tokenizer

    reader = load_tokenizer(tokenizer)
    with atomic_directory(out) as folder:
        for split, texts in chosen_texts(read_texts(examples), settings).items():
            write_documents(folder / f"{split}.jsonlines", (segment_text(text, reader, settings) for text in texts))


if __name__ == "__main__":
    run_stage(build_coreference)
