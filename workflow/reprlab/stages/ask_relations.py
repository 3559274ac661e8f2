"""Ask a chat model for the relation of every pair of events, and score its answers."""

from pathlib import Path

from reprlab.events.settings import ZeroShotClassification
from reprlab.runtime.cli import run_stage


def ask_relations(*, examples: Path, out: Path, metrics: Path, cache: Path, settings: ZeroShotClassification) -> None:
    """Write `out`, one row for each pair of the test split, and `metrics`, the scores of both regimes.

    Args:
        examples: documents with events.
        cache: the folder of downloads, where each answer is kept.

    Raises:
        ReprlabError: unreadable inputs, no key in OPENAI_API_KEY, or the endpoint refuses or cannot be reached.
    """
    import pandas

    from reprlab.artifacts.tables import write_tsv
    from reprlab.events.documents import load_events
    from reprlab.events.pairs import known_pairs
    from reprlab.events.rankings import selected
    from reprlab.events.scoring import ROW, prediction_rows, scored_rows, write_answers
    from reprlab.events.zero_shot import ask_labels

    splits = selected(load_events(examples)[0], settings.events)
    documents = splits["test"]
    pairs = [known_pairs(document, settings) for document in documents]
    found = ask_labels(documents, pairs, settings, cache / "answers")
    answers = prediction_rows(documents, pairs, found, settings)
    write_answers(out, [{"seed": 0, **row} for row in answers])
    rows = [{"seed": 0, **row} for row in scored_rows(documents, pairs, found, settings, "test", splits["train"])]
    write_tsv(metrics, pandas.DataFrame(rows, columns=ROW))


if __name__ == "__main__":
    run_stage(ask_relations)
