"""List pairs of events that a classifier answers wrongly without a retriever and rightly with it."""

from pathlib import Path

from reprlab.events.settings import AnswerComparison
from reprlab.runtime.cli import run_stage


def compare_answers(*, examples: Path, before: Path, after: Path, out: Path, settings: AnswerComparison) -> None:
    """Write `out`, one row for each such pair of the first seed, in the order of documents and mentions.

    Args:
        examples: documents with events.
        before: predictions over all pairs. after: predictions over the retrieved pairs; the rest has no relation.

    Raises:
        ReprlabError: unreadable inputs.
    """
    from reprlab.artifacts.tables import read_parquet, write_tsv
    from reprlab.events.documents import load_events
    from reprlab.events.encodings import mention_texts
    from reprlab.reporting.provenance import write_provenance

    keys = ["document", "head", "tail"]
    whole, kept = (
        table[table["seed"] == settings.seed] for table in (read_parquet(path).to_pandas() for path in (before, after))
    )
    both = whole.merge(kept[[*keys, "predicted"]], on=keys, how="left", suffixes=("_all_pairs", "_retrieved"))
    both["retrieved"] = both["predicted_retrieved"].notna().map({True: "yes", False: "no"})
    both["predicted_retrieved"] = both["predicted_retrieved"].fillna(settings.none)
    wrong, right = both["predicted_all_pairs"] != both["gold"], both["predicted_retrieved"] == both["gold"]
    table = both[wrong & right].sort_values(keys).head(settings.pairs).reset_index(drop=True)
    named = {document.name: mention_texts(document, "wrapped") for document in load_events(examples)[0]}
    for side in ("head", "tail"):
        table[f"{side}_text"] = [named[name][place] for name, place in zip(table["document"], table[side], strict=True)]
    columns = [*keys, "head_text", "tail_text", "gold", "predicted_all_pairs", "predicted_retrieved", "retrieved"]
    write_tsv(out, table[columns].assign(scale=settings.scale))
    write_provenance(out, stage="compare_answers", settings=settings.model_dump(), inputs=[examples, before, after])


if __name__ == "__main__":
    run_stage(compare_answers)
