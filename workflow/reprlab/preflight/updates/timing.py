"""Seconds, memory and FLOPs of updates of published sizes: real models with drawn weights, before a GPU hour is spent.

Random tokens go through the project's own collation, masks, losses, optimizer and files. Ranks, precision and batches
are those of the jobs at paper scale, and all texts are as long as a text may be; a decoder's batch is the part that a
device holds. Columns:

- `milliseconds` is the median of an update, `memory_gb` the most that it held.
- `tokens_per_second` counts text before corruption; `flops_share` holds the formula of `cost.tsv` against the rate of
  bfloat16 matrix products measured in the same run.
- `decoder_tokens` are the places of a text at which the output layer is read; a decoder has no other.
- `masks_share` is the part of DEPTH's step that its masks cost, against its batches under T5's plain masks.
- `collation_share` is the time to collate a batch on one core over the time of a step: below 1 the device never waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from reprlab.config.load import LoadedConfig
from reprlab.preflight.updates import decoders, encoder_decoders, encoders
from reprlab.preflight.updates.measuring import Row, Sizes, Update, matrix_rate
from reprlab.retrieval.memory_limits import is_out_of_memory

COLUMNS = (
    "paper", "what", "model", "parameters", "batch", "encoder_tokens", "decoder_tokens", "milliseconds",
    "tokens_per_second", "memory_gb", "tera_flops", "flops_share", "collation_share", "masks_share",
)  # fmt: skip
MASKS_MAY_COST = 0.15
PAPERS: Mapping[str, Callable[[Sizes, LoadedConfig], Iterator[Update]]] = {
    "depth": encoder_decoders.updates,
    "amuro-char": decoders.tuning,
    "intrinsic-dimension": decoders.adapting,
    "prompt-tuning-encoders": partial(encoders.updates, encoders.PROMPTED),
    "overparameterized-encoders": partial(encoders.updates, encoders.PRUNED),
}
"""The papers of which updates are timed."""


def timed_rows(config: LoadedConfig, papers: Sequence[str], sizes: Sizes) -> tuple[list[Row], float]:
    """A row of `COLUMNS` for each update of those papers that have some, and the FLOP per second of bfloat16 products.

    What does not fit into the device is a row whose numbers are missing.

    Args:
        config: that of scale paper, in which the papers are planned.
    """
    rate = matrix_rate(sizes.matrix, sizes.device)
    rows: list[Row] = []
    for paper in papers:
        own = [_timed(paper, update, rate) for update in PAPERS[paper](sizes, config)] if paper in PAPERS else []
        share = encoder_decoders.share_of_masks(own)
        rows += [{**row, "masks_share": share} if row["what"] == encoder_decoders.DEPTH else row for row in own]
    return [{name: row.get(name) for name in COLUMNS} for row in rows], rate


def too_costly(rows: Sequence[Row]) -> str:
    """The error of DEPTH's masks where they cost too much of its step; '' where they do not."""
    shares = [row["masks_share"] for row in rows if row["masks_share"] is not None]
    if all(share <= MASKS_MAY_COST for share in shares):
        return ""
    return f"DEPTH's masks cost {max(shares):.0%} of its step, more than {MASKS_MAY_COST:.0%}"


def _timed(paper: str, update: Update, rate: float) -> Row:
    named = {"paper": paper, "model": update.model}
    try:
        row = update.measured()
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        return {**named, "what": f"{update.what}: out of memory"}
    return {**row, **named, "flops_share": row["tera_flops"] * 1e12 / rate}
