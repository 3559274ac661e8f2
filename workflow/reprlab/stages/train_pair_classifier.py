"""Train a classifier of event pairs on all positives and the negatives of a retriever, once for each seed."""

from pathlib import Path
from typing import Any

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
    from reprlab.events.classification import open_classifier, train_classifier
    from reprlab.events.documents import load_events
    from reprlab.events.pairs import read_candidates
    from reprlab.events.rankings import of_seed, selected
    from reprlab.models.build import quiet_transformers
    from reprlab.training.seeds import seeded, train_each_seed

    quiet_transformers()
    splits = selected(load_events(examples)[0], settings.events)
    documents, held_out = splits["train"], splits["validation"]

    def train_one(alone: PairClassification, folder: Path, identity: str) -> Any:
        ranked = read_candidates(of_seed(rankings, alone.engine.seed, ".parquet"), [*documents, *held_out])
        classifier = open_classifier(model, alone, tokenizer=tokenizer)
        return train_classifier(
            classifier,
            documents,
            held_out,
            ranked,
            work=folder,
            save_every=save_every,
            fingerprint=identity,
            device=device,
        )

    train_each_seed(
        settings.seeds,
        lambda seed: settings.model_copy(update={"engine": seeded(settings.engine, seed), "seeds": [seed]}),
        lambda seed: [
            examples, of_seed(rankings, seed, ".parquet"), *model.glob("*.*"), tokenizer / "tokenizer.json",
        ],
        train_one,
        out=out,
        metrics=metrics,
        work=work,
        fingerprint=fingerprint,
    )  # fmt: skip


if __name__ == "__main__":
    run_stage(train_pair_classifier)
