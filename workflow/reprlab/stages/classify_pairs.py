"""Classify the candidate pairs of events and score them, once for each seed."""

from pathlib import Path

from reprlab.events.settings import PairClassification
from reprlab.runtime.cli import run_stage


def classify_pairs(
    *,
    examples: Path,
    rankings: Path,
    models: Path,
    training: Path,
    out: Path,
    metrics: Path,
    counts: Path,
    settings: PairClassification,
    device: str = "cpu",
    inference_batch: int = 32,
) -> None:
    """Write `out`, one row for each classified pair of the test split, and `metrics`, the scores of both regimes.

    The validation split is scored beside the test split, so that settings can be chosen on it. `counts` has what each
    document adds to the scores over the relations.

    Args:
        examples: documents with events.
        rankings: folder of rankings, by seed.
        models: folder of trained classifiers, by seed, and `training`, the table of their losses.
        inference_batch: pairs (generative) or documents (discriminative) at once; it does not change the result.

    Raises:
        ReprlabError: unreadable inputs.
    """
    import pandas

    from reprlab.artifacts.tables import read_tsv, write_tsv
    from reprlab.events.classification import open_classifier, predict_labels
    from reprlab.events.documents import load_events
    from reprlab.events.pairs import inference_pairs, read_candidates
    from reprlab.events.rankings import of_seed, selected
    from reprlab.events.scoring import (
        ROW,
        classification_items,
        prediction_rows,
        scored_rows,
        write_answers,
        write_items,
    )
    from reprlab.models.build import quiet_transformers

    quiet_transformers()
    splits = selected(load_events(examples)[0], settings.events)
    trained = read_tsv(training).groupby("seed")[["step", "tokens"]].max()
    rows, answers, counted = [], [], []
    for seed in settings.seeds:
        classifier = open_classifier(of_seed(models, seed), settings, trained=True)
        about = {"seed": seed, "steps": int(trained["step"][seed]), "tokens": int(trained["tokens"][seed])}
        # Settings are chosen on the validation split; the tables of the paper are those of the test split.
        for split in ("validation", "test"):
            documents = splits[split]
            ranked = read_candidates(of_seed(rankings, seed, ".parquet"), documents)
            pairs = [inference_pairs(document, ranked[document.name], settings) for document in documents]
            found = predict_labels(classifier, documents, pairs, device=device, batch_size=inference_batch)
            rows += [{**about, **row} for row in scored_rows(documents, pairs, found, settings, split, splits["train"])]
            items_of = classification_items(documents, pairs, found, settings, split)
            counted += [{"seed": seed, **row} for row in items_of]
        answers += [{"seed": seed, **row} for row in prediction_rows(documents, pairs, found, settings)]
    write_answers(out, answers)
    write_items(counts, counted)
    write_tsv(metrics, pandas.DataFrame(rows, columns=ROW))


if __name__ == "__main__":
    run_stage(classify_pairs)
