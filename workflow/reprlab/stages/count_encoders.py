"""Count what sentence encoders train, without weights and without the network."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.sentences.sizes import SizedEncoders


def count_encoders(*, settings: SizedEncoders, out: Path, tokenizer: Path | None = None) -> None:
    """Write one row per encoder: trained numbers, those of decoder and trained together, and the share in percent.

    Args:
        tokenizer: folder whose padded vocabulary a model has that is drawn at random; a published one leaves it to the
            model's entry.
    """
    import pandas

    from reprlab.artifacts.tables import write_tsv
    from reprlab.sentences.sizes import encoder_size
    from reprlab.text.vocabulary import padded_rows

    rows, found = padded_rows(tokenizer), []
    for name, encoder in settings.encoders.items():
        method, _, size = name.partition(" ")
        sizes = encoder_size(settings.entry, encoder, rows, settings.forms.get(name))
        counts = {"trained": sizes.trained, "total": sizes.total, "share": sizes.share}
        found.append({"method": method, "size": int(size), **counts})
    write_tsv(out, pandas.DataFrame(found))


if __name__ == "__main__":
    run_stage(count_encoders)
