"""A small classifier for the training loop, and toy tokens for the pre-training stage.

Run as a script it trains the classifier, so that tests can kill it or start several processes of it.
"""

import argparse
import itertools
from pathlib import Path
from typing import Any

import numpy as np

FEATURES, CLASSES, BATCH = 6, 4, 8


def tiny_settings(**changes: Any) -> Any:
    from reprlab.training.settings import EngineSettings

    values: dict[str, Any] = {
        "steps": 12,
        "ladder": [0, 5, 12],
        "batch_size": BATCH,
        "optimizer": {"learning_rate": 0.05, "weight_decay": 0.01},
        "schedule": {"name": "linear", "warmup_steps": 2},
        "log_every": 4,
    }
    return EngineSettings.model_validate({**values, **changes})


def tiny_model(dropout: float = 0.1) -> Any:
    """Double precision: differences between orders of summation then stay near 1e-16 and tolerances can be tight."""
    import torch

    torch.manual_seed(5)
    layers = [torch.nn.Linear(FEATURES, 16), torch.nn.Tanh(), torch.nn.Dropout(dropout), torch.nn.Linear(16, CLASSES)]
    return torch.nn.Sequential(*layers).double()


def tiny_batch(settings: Any) -> Any:
    """`batch_of` with unequal numbers of labels per row: a third of the labels are left out (-100)."""
    import torch

    def batch_of(step: int, part: int, rank: int, world: int) -> dict[str, torch.Tensor]:
        random = np.random.default_rng((17, step))
        inputs = random.normal(size=(settings.batch_size, FEATURES))
        labels = np.where(random.random(settings.batch_size) < 1 / 3, -100, (inputs[:, 0] > 0).astype(np.int64))
        labels[0] = 1
        rows = settings.batch_size // (settings.accumulation * world)
        first = (rank * settings.accumulation + part) * rows
        cut = slice(first, first + rows)
        return {"inputs": torch.from_numpy(inputs[cut]), "labels": torch.from_numpy(labels[cut])}

    return batch_of


def tiny_loss(model: Any, batch: dict[str, Any]) -> Any:
    import torch

    labels = batch["labels"]
    count = (labels != -100).sum()
    total = torch.nn.functional.cross_entropy(model(batch["inputs"]), labels, reduction="sum")
    return total / count.clamp(min=1), {"loss_sum": total.detach(), "count": count, "tokens": count}


def train_tiny(
    work: Path, out: Path, settings: Any, *, dropout: float = 0.1, pause: float = 0.0, **options: Any
) -> Any:
    """Train, keep the ladder under `out`, return (run, model)."""
    import time

    from reprlab.training.engine import train
    from safetensors.torch import save_file

    model = tiny_model(dropout)
    out.mkdir(parents=True, exist_ok=True)

    def loss_of(trained: Any, batch: dict[str, Any]) -> Any:
        time.sleep(pause)
        return tiny_loss(trained, batch)

    run = train(
        model,
        options.pop("batch_of", tiny_batch(settings)),
        options.pop("loss_of", loss_of),
        settings,
        work=work,
        save_every=options.pop("save_every", 3),
        fingerprint=options.pop("fingerprint", "one"),
        on_checkpoint=lambda step, kept: save_file(kept.state_dict(), out / f"{step}.safetensors"),
        device="cpu",
    )
    return run, model


def write_tokens(folder: Path, form: str, rows: int = 200, length: int = 48, pieces: int = 67) -> tuple[Path, Path]:
    """A tokenizer folder (vocabulary only) and a token file of the given format; returns (tokens, tokenizer)."""
    import pyarrow
    from reprlab.artifacts.tables import write_parquet
    from reprlab.text.vocabulary import Vocabulary

    vocabulary = Vocabulary(pieces)
    vocabulary.save(folder / "tokenizer")
    random = np.random.default_rng(0)
    ids, types = [], []
    for _ in range(rows):
        # Each word is followed by its successor half of the time: something to learn.
        words = [_words(random, int(random.integers(4, 12)), pieces) for _ in range(random.integers(3, 6))]
        if form == "t5":
            row = [*itertools.chain(*words)][: length - 1]
            row.append(1)
            kind = [1] * len(row)
        else:
            row, kind = [vocabulary.eosen_id], [1]
            for number, (name, sentence) in enumerate(zip(random.permutation(20), words, strict=False), start=1):
                row += [vocabulary.first_sentence + int(name), *sentence, vocabulary.eosen_id]
                kind += [number] * (len(sentence) + 2)
            row, kind = [*row, 1][:length], [*kind, kind[-1]][:length]
        ids.append(row)
        types.append(kind)
    splits = ["train"] * (rows - rows // 5) + ["validation"] * (rows // 5)
    columns = {
        "split": splits,
        "input_ids": pyarrow.array(ids, pyarrow.list_(pyarrow.int32())),
        "token_types": pyarrow.array(types, pyarrow.list_(pyarrow.int16())),
    }
    write_parquet(folder / f"{form}.parquet", pyarrow.table(columns))
    return folder / f"{form}.parquet", folder / "tokenizer"


def _words(random: np.random.Generator, count: int, pieces: int) -> list[int]:
    words = random.integers(3, pieces, count)
    follows = random.random(count) < 0.5
    for place in range(1, count):
        if follows[place]:
            words[place] = 3 + (words[place - 1] - 2) % (pieces - 3)
    return [int(word) for word in words]


def main() -> None:
    import json
    import os

    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--changes", type=json.loads, default={})
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--pause", type=float, default=0.0)
    options = parser.parse_args()
    import torch
    from reprlab.runtime.errors import ReprlabError

    torch.set_num_threads(1)
    settings = tiny_settings(**options.changes)
    try:
        run, _ = train_tiny(
            options.folder / "work", options.folder / "out", settings, dropout=options.dropout, pause=options.pause
        )
    except ReprlabError as error:
        raise SystemExit(str(error)) from None
    if run.is_main:
        assert os.environ.get("RANK", "0") == "0"
        (options.folder / "metrics.json").write_text(json.dumps(run.metrics))


if __name__ == "__main__":
    main()
