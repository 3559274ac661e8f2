"""Train a classifier of event pairs on all positives and the negatives of a retriever, once for each seed."""

from pathlib import Path

from reprlab.events.settings import PairClassification
from reprlab.runtime.cli import run_stage


def train_pair_classifier(
    *,
    examples: Path,
    rankings: Path,
    model: Path,
    tokenizer: Path,
    out: Path,
    metrics: Path,
    work: Path,
    settings: PairClassification,
    fingerprint: str,
    save_every: int = 200,
    device: str = "cpu",
) -> None:
    """Write `out`, a folder for each seed with model, tokenizer and head, and `metrics`, losses by step and seed.

    Args:
        examples: documents with events.
        rankings: folder of rankings, by seed.
        model: folder of the encoder or encoder-decoder.
        work: folder that survives failure: an unfinished seed resumes exactly, finished ones are not trained again.

    Raises:
        ReprlabError: unreadable inputs, or the training documents have no pair.
    """
    import shutil

    from reprlab.artifacts.tsv import write_rows
    from reprlab.events.classification import open_classifier, train_classifier
    from reprlab.events.documents import load_events
    from reprlab.events.pairs import read_candidates
    from reprlab.events.rankings import of_seed, selected
    from reprlab.models.build import quiet_transformers
    from reprlab.runtime.files import atomic_directory
    from reprlab.training.fingerprints import run_fingerprint
    from reprlab.training.seeds import finished_seed, keep_seed, seeded

    quiet_transformers()
    documents = selected(load_events(examples)[0], settings.events)["train"]
    rows = []
    for seed in settings.seeds:
        alone = settings.model_copy(update={"engine": seeded(settings.engine, seed), "seeds": [seed]})
        ranking = of_seed(rankings, seed, ".parquet")
        identity = run_fingerprint(
            fingerprint, alone, [examples, ranking, *model.glob("*.*"), tokenizer / "tokenizer.json"]
        )
        if found := finished_seed(work, seed, identity):
            rows += found
            continue
        classifier = open_classifier(model, alone, tokenizer=tokenizer)
        run = train_classifier(
            classifier,
            documents,
            read_candidates(ranking, documents),
            work=work / f"seed-{seed}",
            save_every=save_every,
            fingerprint=identity,
            device=device,
        )
        if not run.is_main:
            continue
        found = [{"seed": seed, **row} for row in run.metrics]
        keep_seed(work, seed, identity, found, classifier.save)
        rows += found
    if not rows:
        return
    with atomic_directory(out) as folder:
        for seed in settings.seeds:
            shutil.copytree(work / f"seed-{seed}" / "model", folder / f"seed-{seed}")
    write_rows(metrics, rows)
    shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    run_stage(train_pair_classifier)
