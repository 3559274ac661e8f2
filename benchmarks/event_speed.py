"""Speed of event-relations' classifiers with random weights: seconds over growing documents and of an update.

    python -m benchmarks.event_speed --device cuda --examples examples.parquet --tokenizer folder --out speed.tsv
    python -m benchmarks.event_speed --device cpu --layers 1 --classifiers roberta --events 6 \\
      --examples examples.parquet --tokenizer folder --out speed.tsv

`--examples` are those that `build_examples` made of a corpus, `--tokenizer` is a model folder of any vocabulary that
fits (the published ones are on the hub): weights are drawn, and what they answer is nothing. Settings are those of the
jobs at the scale. Rows are those of `time_pairs`, and of each classifier `update_seconds` (median of some updates on
pairs of the training documents) and `update_gb`, the memory that they take at most.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow")]

import numpy as np  # noqa: E402
import pandas  # noqa: E402
import torch  # noqa: E402
from reprlab.config.load import load_config  # noqa: E402
from reprlab.events.classification import open_classifier  # noqa: E402
from reprlab.events.documents import EventDocument, load_events  # noqa: E402
from reprlab.events.pairs import training_pairs  # noqa: E402
from reprlab.events.rankings import rank_at_random, selected  # noqa: E402
from reprlab.events.settings import PairClassification, PairTiming  # noqa: E402
from reprlab.events.timing import timing_rows  # noqa: E402
from reprlab.models.build import build_from_config, save_model  # noqa: E402
from reprlab.planning.paper_plans import make_plan  # noqa: E402
from reprlab.preflight.updates.decoders import settings_of  # noqa: E402
from reprlab.preflight.updates.measuring import peak_memory_gb, seconds_of, start_memory, training_step  # noqa: E402
from reprlab.registry.models import ModelEntry  # noqa: E402

UPDATES = 5
Rows = Iterator[dict[str, Any]]


def cut(entry: ModelEntry, layers: int | None) -> ModelEntry:
    """The model with this many layers in each stack; null: with its own."""
    fewer = {name: layers for name in entry.config if layers and name.startswith("num_") and name.endswith("_layers")}
    return entry.model_copy(update={"config": {**entry.config, **fewer}})


def classifier_of(entry: ModelEntry, settings: PairClassification, options: argparse.Namespace) -> Any:
    """The classifier as a job opens it before it trains, with weights that are drawn here."""
    with tempfile.TemporaryDirectory() as place:
        with torch.device(options.device):
            model = build_from_config(entry, seed=0)
        save_model(model, Path(place))
        return open_classifier(Path(place), settings, tokenizer=options.tokenizer)


def updates(classifier: Any, documents: list[EventDocument], device: str) -> Rows:
    """An update as published: its examples, its parts, its precision, AdamW."""
    settings: PairClassification = classifier.settings
    rng = np.random.Generator(np.random.Philox(key=0))
    rankings = rank_at_random(documents, 0)
    pairs = [training_pairs(document, rankings[document.name], settings, rng) for document in documents]
    items, engine = classifier.prepare(documents, pairs), settings.engine
    model = classifier.model.to(device).train()
    part = engine.batch_size // engine.accumulation

    def loss_of() -> torch.Tensor:
        rows = rng.choice(len(items), part, replace=False)
        batch = {name: value.to(device) for name, value in items.batch(rows).items()}
        found: torch.Tensor = classifier.loss(model, batch)[0]
        return found

    start_memory(device)
    seconds = engine.accumulation * seconds_of(training_step(model, loss_of, engine.dtype, device), device, UPDATES)
    about = {"events": None, "condition": f"{engine.batch_size}, {engine.accumulation} parts", "n": UPDATES}
    yield {**about, "metric": "update_seconds", "value": seconds}
    yield {**about, "metric": "update_gb", "value": peak_memory_gb(device)}
    model.zero_grad(set_to_none=True)


def main(given: list[str] | None = None) -> int:
    """Write the table after each classifier."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--scale", default="paper", help="whose settings are taken")
    parser.add_argument("--examples", type=Path, required=True, help="documents with events, `examples.parquet`")
    parser.add_argument("--tokenizer", type=Path, required=True, help="a model folder with a tokenizer")
    parser.add_argument("--classifiers", nargs="+", default=["roberta", "t5"], help="those of the paper's settings")
    parser.add_argument("--events", nargs="+", type=int, help="events of a document, in place of `timed_events`")
    parser.add_argument("--layers", type=int, help="cut every stack to this many layers")
    parser.add_argument("--batch", type=int, default=64, help="sequences of a forward pass")
    parser.add_argument("--out", type=Path, required=True, help="write the table to this TSV")
    options = parser.parse_args(given)
    dtype = "bfloat16" if options.device == "cuda" else "float32"
    config = load_config(ROOT, {"scale": options.scale, "set": f"numerics.dtype={dtype}"})
    paper, plan = config.papers["event-relations"], make_plan(config)
    if unknown := [name for name in options.classifiers if name not in paper.classifiers]:
        parser.error(f"--classifiers: {', '.join(unknown)}: not among {', '.join(paper.classifiers)}")
    documents = load_events(options.examples)[0]
    rows: list[dict[str, Any]] = []
    for name in options.classifiers:
        settings = settings_of(plan, "train_pair_classifier", f"{name}/", PairClassification)
        model = paper.classifiers[name].model
        classifier = classifier_of(cut(config.models[model], options.layers), settings, options)
        splits = selected(documents, settings.events)
        about = {"classifier": name, "model": model}
        rows += [{**about, **row} for row in updates(classifier, splits["train"], options.device)]
        timing = PairTiming(classification=settings, sizes=options.events or paper.timed_events, ks=paper.ks)
        found = timing_rows(classifier, splits["test"], timing, device=options.device, batch_size=options.batch)
        rows += [{**about, **row} for row in found]
        pandas.DataFrame(rows).to_csv(options.out, sep="\t", index=False)
        sys.stdout.write(pandas.DataFrame(rows).to_string() + "\n")
        del classifier
    return 0


if __name__ == "__main__":
    sys.exit(main())
