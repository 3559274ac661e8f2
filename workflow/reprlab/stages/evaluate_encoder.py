"""Score a sentence encoder on tasks of the MTEB categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.runtime.cli import run_stage
from reprlab.sentences.settings import Evaluation

if TYPE_CHECKING:
    import numpy as np


def evaluate_encoder(
    *,
    model: Path,
    tokenizer: Path,
    tasks: list[Path],
    out: Path,
    settings: Evaluation,
    encoders: Path | None = None,
    training: Path | None = None,
    device: str = "cpu",
    inference_batch: int = 64,
) -> None:
    """Write `out`, a row for each task and seed: main score in percent, interval, number of units, steps, tokens.

    Args:
        model: folder of the decoder.
        tasks: examples, in the order of the settings' tasks.
        encoders: what was trained, by seed, and `training`, its metrics; none where nothing is trained.
        inference_batch: texts in a forward pass; it does not change the result.

    Raises:
        ReprlabError: unreadable inputs, or examples of another kind than a task needs.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.runtime.progress import track
    from reprlab.sentences.encoder import build_encoder, embed, load_encoder
    from reprlab.sentences.evaluation import score_task
    from reprlab.sentences.texts import encode_texts
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.training.processes import choose_device

    quiet_transformers()
    reader = load_tokenizer(tokenizer)
    rows: list[dict[str, Any]] = []
    for seed in settings.seeds if encoders is not None else settings.seeds[:1]:
        network = load_model(model)
        encoder = (
            build_encoder(network, settings.encoder, seed)
            if encoders is None
            else load_encoder(network, encoders / f"seed-{seed}")
        )
        encoder.to(choose_device(device))

        def encode(texts: Sequence[str], instruction: str, encoder: Any = encoder) -> np.ndarray:
            asked = instruction + settings.separator if instruction else ""
            encoded = encode_texts(reader, texts, settings.encoder.form, asked)
            return embed(encoder, encoded, batch_size=inference_batch, dtype=settings.dtype)

        about = {"seed": seed, **_trained(training, seed)}
        for path, task in track(list(zip(tasks, settings.tasks, strict=True)), "tasks"):
            rows.append({**about, "majority": math.nan, **score_task(path, task, encode, settings, seed)})
    write_rows(out, rows)


def _trained(training: Path | None, seed: int) -> dict[str, Any]:
    """Steps and tokens of the checkpoint that was kept, and what was trained."""
    if training is None:
        return {"steps": 0, "tokens": 0, "trained": 0, "learning_rate": math.nan}
    from reprlab.artifacts.tables import read_tsv

    rows = read_tsv(training).query("chosen == 1 and seed == @seed")
    best = rows.sort_values("held_out", kind="stable", ascending=False).iloc[0]
    return {
        "steps": int(best["step"]),
        "tokens": int(best["tokens"]),
        "trained": int(best["trained"]),
        "learning_rate": float(best["learning_rate"]),
    }


if __name__ == "__main__":
    run_stage(evaluate_encoder)
