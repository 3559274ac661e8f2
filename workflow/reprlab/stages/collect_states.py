"""Collect last-token states and label logits of prompts."""

from pathlib import Path
from typing import Any

from reprlab.representations.settings import CollectSettings
from reprlab.runtime.cli import run_stage


def collect_states(
    *,
    model: Path,
    tokenizer: Path,
    prompts: Path,
    out: Path,
    table: Path,
    scores: Path,
    settings: CollectSettings,
    adapters: Path | None = None,
    device: str = "cpu",
) -> None:
    """Write `out`, arrays by variant of the model (see `representations.files`), and `table`, one row an item.

    `scores` is a TSV with the accuracy of each variant and of the most frequent class.

    `adapters` is a ladder of adapters; its steps are those of the settings. Every estimator and every paper reads these
    states; none runs the model again.

    Raises:
        ReprlabError: a label has no token of its own, or a state is not finite.
    """
    import gc

    import pyarrow
    import torch

    from reprlab.artifacts.tables import read_parquet, write_parquet
    from reprlab.artifacts.tsv import write_rows
    from reprlab.data.schema import read_metadata
    from reprlab.models.build import load_model
    from reprlab.representations.adapters import load_adapter
    from reprlab.representations.collection import collect_states as collect
    from reprlab.representations.files import variant_names
    from reprlab.representations.items import item_table, score_rows
    from reprlab.representations.label_tokens import label_token_ids
    from reprlab.representations.tokens import encode_texts
    from reprlab.runtime.files import atomic_directory
    from reprlab.text.tokenizer_folder import open_tokenizer
    from reprlab.training.ladder import find_step
    from reprlab.training.processes import choose_device

    items = read_parquet(prompts)
    labels = read_metadata(prompts, items, ["labels"])["labels"]
    rows = items.slice(0, settings.limit).to_pylist()
    reader = open_tokenizer(tokenizer)
    label_ids = label_token_ids(reader, labels, settings.label_ids, rows[0]["prompt"])
    encoded = encode_texts(reader, [row["prompt"] for row in rows])
    answers = []
    with atomic_directory(out) as folder:
        for number, variant in enumerate(variant_names(settings.steps)):
            network: Any = load_model(model)
            if adapters is not None:
                network = load_adapter(network, find_step(adapters, settings.steps[number]))
            network = network.to(choose_device(device), getattr(torch, settings.dtype))
            (folder / variant).mkdir()
            logits = collect(network, encoded, label_ids, folder / variant, settings.batch_tokens)
            answers.append(item_table(variant, rows, labels, logits, [len(ids) for ids in encoded]))
            # Modules point at each other: without this the models of all variants pile up in memory.
            del network
            gc.collect()
        write_parquet(table, pyarrow.concat_tables(answers))
        steps = settings.steps or [0]
        found = [row for step, answer in zip(steps, answers, strict=True) for row in score_rows(step, answer)]
        write_rows(scores, found)


if __name__ == "__main__":
    run_stage(collect_states)
