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
    depths: Path | None = None,
    triples: Path | None = None,
    fitting: Path | None = None,
    device: str = "cpu",
    inference_batch: int = 64,
) -> None:
    """Write `out`, a row for each task and seed: main score in percent, interval, number of units, size, steps, tokens
    of the training, and the length that texts are cut to.

    Args:
        model: folder of the decoder.
        tasks: examples, in the order of the settings' tasks.
        encoders: what was trained, by seed, and `training`, its metrics; none where nothing is trained.
        depths: losses by layer, where the settings name one of the depths that they choose, and the encoder was not cut
            to it before it was trained.
        triples: folder of tokenised triples, whose loss is a further row where the settings have a sample.
        fitting: folder of tokenised training triples, where the settings whiten vectors by a map fitted on them.
        inference_batch: texts in a forward pass; it does not change the result.

    Raises:
        ReprlabError: unreadable inputs, examples of another kind than a task needs, or no triples to fit a map on.
    """
    import functools

    import numpy as np

    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.runtime.progress import track
    from reprlab.sentences.encoder import build_encoder, embed, load_encoder, size_of
    from reprlab.sentences.evaluation import sample_loss, score_task
    from reprlab.sentences.layer_losses import with_layers
    from reprlab.sentences.task_scores import unit
    from reprlab.sentences.texts import encode_texts
    from reprlab.sentences.triples import open_triples
    from reprlab.sentences.whitening import fit_on_triples, scored_on_itself
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.training.processes import choose_device

    quiet_transformers()
    reader, form, sample = load_tokenizer(tokenizer), settings.encoder.form, settings.sample
    given = list(zip(tasks, settings.tasks, strict=True))
    rows: list[dict[str, Any]] = []
    # A depth that was chosen before the training is known to the encoder alone.
    known_before = encoders is not None and depths is None
    asked_for = settings.encoder if known_before else with_layers(settings.encoder, depths)
    kept = asked_for.layers if isinstance(asked_for.layers, int) else None
    for seed in settings.seeds if encoders is not None else settings.seeds[:1]:
        network = load_model(model)
        encoder = (
            build_encoder(network, asked_for, seed)
            if encoders is None
            else load_encoder(network, encoders / f"seed-{seed}", both_ends=settings.encoder.both_ends, layers=kept)
        )
        encoder.to(choose_device(device))
        embedded = functools.partial(embed, encoder, batch_size=inference_batch, dtype=settings.dtype)
        white, whitening = fit_on_triples(settings.whitening, fitting, embedded), settings.whitening

        # Two tasks on the same texts, clusters of them and their labels, read them once.
        known: dict[tuple[Path, str], dict[str, np.ndarray]] = {}

        def encode(
            path: Path,
            texts: Sequence[str],
            instruction: str,
            embedded: Any = embedded,
            known: Any = known,
            white: Any = white,
        ) -> Any:
            asked = instruction + settings.separator if instruction else ""
            kept = known.setdefault((path, instruction), {}) if tasks.count(path) > 1 else {}
            # A text can be in many pairs.
            unread = [text for text in dict.fromkeys(texts) if text not in kept]
            if unread:
                vectors = embedded(encode_texts(reader, unread, form, asked))
                vectors = white(vectors) if white else vectors
                kept.update(zip(unread, unit(vectors) if settings.encoder.normalised else vectors, strict=True))
            return np.stack([kept[text] for text in texts])

        about = dict(zip(("seed", "layers", "parameters"), (seed, *size_of(network)), strict=True))
        about |= {"length": form.max_length, **_trained(training, seed)}
        about["parameters"] += white.size if white else 0
        for path, task in track(given, "tasks"):
            score = functools.partial(score_task, path, task, settings=settings, seed=seed)
            asked = functools.partial(encode, path)
            if whitening is not None and whitening.fit_on == "test":
                found = scored_on_itself(score, asked, whitening.dimensions)
            else:
                found = score(asked)
            found.pop("majority", None)
            rows.append({**about, **found})
        if sample is not None and triples is not None:
            data = open_triples(triples)
            rows.append({**about, **sample_loss(encoder, data, sample, inference_batch, settings.dtype)})
    write_rows(out, rows)


def _trained(training: Path | None, seed: int) -> dict[str, Any]:
    """Steps and tokens of the checkpoint that was kept, and what was trained."""
    if training is None:
        return {"steps": 0, "tokens": 0, "trained": 0, "learning_rate": math.nan}
    from reprlab.artifacts.tables import read_tsv

    rows = read_tsv(training).query("chosen == 1 and seed == @seed")
    # Without held-out scores the last one was kept.
    known = rows.dropna(subset="held_out").sort_values("held_out", kind="stable", ascending=False)
    best = known.iloc[0] if len(known) else rows.iloc[-1]
    return {
        "steps": int(best["step"]),
        "tokens": int(best["tokens"]),
        "trained": int(best["trained"]),
        "learning_rate": float(best["learning_rate"]),
    }


if __name__ == "__main__":
    run_stage(evaluate_encoder)
