"""Turn passages or labelled examples into pairs of texts for a sequence-to-sequence model."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.structure.seq2seq_settings import PairSettings


def build_seq2seq(*, tables: list[Path], tokenizer: Path, out: Path, metrics: Path, settings: PairSettings) -> None:
    """Write `out`, examples of the kind text_to_text, and `metrics`.

    The metrics are, by task and split, the numbers of rows that were kept, too long, or cannot be written, and the
    percent of unknown pieces among those of all sources and targets that were read.

    Args:
        tables: passages (restoration) or examples, one for each task of the settings.
        tokenizer: folder of the tokenizer whose vocabulary must hold what is restored.

    Raises:
        ReprlabError: unreadable tables, or no pair is left.
    """
    import pandas

    from reprlab.artifacts.tables import write_tsv
    from reprlab.data.schema import write_rows
    from reprlab.runtime.errors import ReprlabError
    from reprlab.structure.pairs import KEPT, PairSource

    sources = [
        PairSource(path, task, settings.words, tokenizer) for path, task in zip(tables, settings.tasks, strict=True)
    ]
    limits = {str(split): limit for split, limit in settings.limits.items()}
    # Two tables may have rows of one name; where they are of one task, their data sets tell them apart.
    own = [str(task) if settings.tasks.count(task) == 1 else path.parent.name for path, task in zip(
        tables, settings.tasks, strict=True)]  # fmt: skip
    rows = (
        {**row, "id": f"{name}-{row['id']}"} if len(sources) > 1 else row
        for name, source in zip(own, sources, strict=True)
        for row in source.rows(limits)
    )
    write_rows(out, rows, "text_to_text", {"kind": "text_to_text", "labels": []})
    counted = [
        {"task": source.task, "split": split, "metric": fate, "value": count}
        for source in sources
        for (split, fate), count in sorted({**source.counts, **source.unknown_rates()}.items())
    ]
    if not any(row["metric"] == KEPT for row in counted):
        raise ReprlabError(f"{tables[0]}: no pair is left; name splits that it has, and longer excerpts")
    write_tsv(metrics, pandas.DataFrame(counted, columns=["task", "split", "metric", "value"]))


if __name__ == "__main__":
    run_stage(build_seq2seq)
