"""Count what sentence encoders train, without weights and without the network."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.sentences.sizes import SizedEncoders


def count_encoders(*, settings: SizedEncoders, out: Path, tokenizer: Path | None = None) -> None:
    """Write one row per encoder: trained numbers, those of decoder and trained together, and the share in percent.

    Args:
        tokenizer: folder whose padded vocabulary a model has that is drawn at random.
    """
    import pandas

    from reprlab.artifacts.tables import write_tsv
    from reprlab.sentences.sizes import encoder_size
    from reprlab.text.tokenizer_folder import vocabulary_file
    from reprlab.text.vocabulary import FILE, Vocabulary

    # A published tokenizer has another layout; the entry says how many rows it needs.
    ours = tokenizer is not None and vocabulary_file(tokenizer).name == FILE
    rows = Vocabulary.load(tokenizer).padded_size if tokenizer is not None and ours else None
    found = []
    for name, encoder in settings.encoders.items():
        method, _, size = name.partition(" ")
        sizes = encoder_size(settings.entry, encoder, rows, settings.forms.get(name))
        counts = {"trained": sizes.trained, "total": sizes.total, "share": sizes.share}
        found.append({"method": method, "size": int(size), **counts})
    write_tsv(out, pandas.DataFrame(found))


if __name__ == "__main__":
    run_stage(count_encoders)
