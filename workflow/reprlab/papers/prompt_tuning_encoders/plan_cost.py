"""Cost of training soft prompts and their rivals: one row for the encoders of a decoder that train alike."""

import math
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from reprlab.config.load import LoadedConfig
from reprlab.planning.adapted_layers import adapted_layers
from reprlab.planning.cost_jobs import computed, equal_jobs, examples_of
from reprlab.reporting.cost_layout import CostRun
from reprlab.sentences.contrastive import share_read_twice

if TYPE_CHECKING:
    from reprlab.papers.prompt_tuning_encoders.schema import PromptTuningEncodersSettings

_TEXTS = 3


def cost_runs(config: LoadedConfig, paper: "PromptTuningEncodersSettings", scale: str, name: str) -> Iterator[CostRun]:
    """The cost runs of one scale; `name` is that of the cells.

    Attention, position, pooling and post-training change nothing of the work: a row has the cells with one method and
    one number of vectors, or rank.
    """
    training, known = paper.training, paper.cost
    for backbone, given in ((each, paper.backbones[each]) for each in paper.compared):
        rows, pairs = (
            [examples_of(numbers, data, limit, f"papers.prompt-tuning-encoders.cost.{setting}") for data in chosen]
            for setting, numbers, chosen, limit in (
                ("triples", known.triples, training.triples, given.triples),
                ("pairs", known.pairs, training.held_out, training.held_out_limit),
            )
        )
        steps = max(1, round(training.epochs * (sum(count for count, _ in rows) // training.batch_size)))
        alike: dict[tuple[str, int], list[str]] = defaultdict(list)
        if given.full:
            alike["full", 0].append("full")
        for encoder, sizes in given.grid.items():
            for size in sizes:
                alike[paper.encoders[encoder].method, size].append(encoder)
        layers = partial(
            adapted_layers, config, given.model, paper.lora.targets, "papers.prompt-tuning-encoders.lora.targets"
        )
        for (method, size), encoders in alike.items():
            kind: Any = method if method in ("lora", "full") else "soft"
            recipe = training.recipes[kind]
            yield equal_jobs(
                scale,
                "train_encoder",
                [f"{backbone}/{name}_{encoder}_{size}" for encoder in encoders],
                name=f"{backbone}/{method}" + (f"_{size}" if size else ""),
                jobs=len(encoders) * len(recipe.learning_rates) * len(given.seeds),
                model=given.model,
                steps=steps,
                batch_size=training.batch_size,
                sequences=_TEXTS,
                part_size=min(training.part_size, _TEXTS * training.batch_size),
                recomputed=share_read_twice(_TEXTS * training.batch_size, training.part_size),
                forwarded=math.ceil(steps / training.evaluate_every) * 2 * sum(count for count, _ in pairs),
                text_length=training.length,
                dtype=computed(config, paper.dtype, scale),
                encoder=paper.made(encoders[0], size, training.length, layers),
                note="; ".join(["texts filled to their length", *(note for _, note in (*rows, *pairs) if note)]),
            )
