"""Count how often each token occurs in a data set."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.text.token_counts import CountSettings


def count_tokens(*, source: Path, tokenizer: Path, out: Path, summary: Path, settings: CountSettings) -> None:
    """Write the counts of every id by split, and a table of totals.

    Args:
        source: examples.parquet, documents.parquet or a token file.
        tokenizer: its folder.
        out: safetensors file, one int64 tensor [vocabulary] for each split.
        summary: TSV with the columns split, rows, tokens, unique, vocabulary.
    """
    import pandas

    from reprlab.artifacts.tables import write_tsv
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.text.token_counts import save_counts, scan_counts

    found = scan_counts(source, load_tokenizer(tokenizer), settings)
    save_counts(found, out)
    rows = [
        {
            "split": split,
            "rows": found.rows[split],
            "tokens": int(counts.sum()),
            "unique": int((counts > 0).sum()),
            "vocabulary": len(counts),
        }
        for split, counts in sorted(found.counts.items())
    ]
    write_tsv(summary, pandas.DataFrame(rows))


if __name__ == "__main__":
    run_stage(count_tokens)
