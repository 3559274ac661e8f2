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
    settings: PairClassification,
    device: str = "cpu",
    inference_batch: int = 32,
) -> None:
    """Write `out`, one row for each classified pair of the test split, and `metrics`, the scores of both regimes.

    Args:
        examples: documents with events.
        rankings: folder of rankings, by seed.
        models: folder of trained classifiers, by seed, and `training`, the table of their losses.
        inference_batch: pairs (generative) or documents (discriminative) at once; it does not change the result.

    Raises:
        ReprlabError: unreadable inputs.
    """
    import numpy as np
    import pandas
    import pyarrow

    from reprlab.artifacts.tables import read_tsv, write_parquet, write_tsv
    from reprlab.events.classification import open_classifier, predict_labels
    from reprlab.events.documents import load_events
    from reprlab.events.pairs import inference_pairs, read_candidates
    from reprlab.events.rankings import of_seed, selected
    from reprlab.events.scoring import (
        MAJORITY,
        MODEL,
        NOTHING,
        ROW,
        classification_rows,
        commonest_relation,
        prediction_rows,
    )
    from reprlab.models.build import quiet_transformers

    quiet_transformers()
    splits = selected(load_events(examples)[0], settings.events)
    documents, majority = splits["test"], commonest_relation(splits["train"], settings)
    trained = read_tsv(training).groupby("seed")[["step", "tokens"]].max()
    rows, answers = [], []
    for seed in settings.seeds:
        rankings_of = read_candidates(of_seed(rankings, seed, ".parquet"), documents)
        pairs = [inference_pairs(document, rankings_of[document.name], settings) for document in documents]
        classifier = open_classifier(of_seed(models, seed), settings, trained=True)
        found = predict_labels(classifier, documents, pairs, device=device, batch_size=inference_batch)
        about = {"seed": seed, "steps": int(trained["step"][seed]), "tokens": int(trained["tokens"][seed])}
        # What a score must beat: the commonest relation for every candidate, and none for any.
        guessed, nothing = ([np.full(len(one.labels), label) for one in pairs] for label in (majority, 0))
        for name, labels in ((MODEL, found), (MAJORITY, guessed), (NOTHING, nothing)):
            rows += [{**about, **row} for row in classification_rows(documents, pairs, labels, settings, "test", name)]
        answers += [{"seed": seed, **row} for row in prediction_rows(documents, pairs, found, settings)]
    types = {"seed": "int64", "document": "string", "head": "int32", "tail": "int32", "gold": "string"}
    schema = pyarrow.schema([*types.items(), ("predicted", "string")])
    write_parquet(out, pyarrow.Table.from_pylist(answers, schema=schema))
    write_tsv(metrics, pandas.DataFrame(rows, columns=ROW))


if __name__ == "__main__":
    run_stage(classify_pairs)
