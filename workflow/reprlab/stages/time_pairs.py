"""Measure the seconds of a classifier of event pairs over documents of growing size."""

from pathlib import Path

from reprlab.events.settings import PairTiming
from reprlab.runtime.cli import run_stage


def time_pairs(
    *,
    examples: Path,
    models: Path,
    out: Path,
    settings: PairTiming,
    device: str = "cpu",
    inference_batch: int = 32,
) -> None:
    """Write `out`: seconds and pairs by events and condition. Seconds differ from run to run.

    Args:
        examples: documents with events; those of the test split are joined until they are large enough.
        models: folder of trained classifiers, by seed; the first seed's is measured.

    Raises:
        ReprlabError: unreadable inputs, or too few events in the test split.
    """
    import pandas

    from reprlab.artifacts.tables import write_tsv
    from reprlab.events.classification import open_classifier
    from reprlab.events.documents import load_events
    from reprlab.events.rankings import of_seed, selected
    from reprlab.events.timing import timing_rows
    from reprlab.models.build import quiet_transformers

    quiet_transformers()
    classification = settings.classification
    documents = selected(load_events(examples)[0], classification.events)["test"]
    classifier = open_classifier(of_seed(models, classification.seeds[0]), classification, trained=True)
    rows = timing_rows(classifier, documents, settings, device=device, batch_size=inference_batch)
    write_tsv(out, pandas.DataFrame(rows))


if __name__ == "__main__":
    run_stage(time_pairs)
