"""Rehearsal of published training steps with random weights: speed, memory, and what DEPTH's masks cost.

    python benchmarks/gpu_rehearsal.py --device cuda --out rehearsal.tsv
    python benchmarks/gpu_rehearsal.py --device cpu --layers 1 --batch 2 --length 64 --steps 2 --matrix 256

Random tokens go through the project's own collation, masks, loss and optimizer. Rows: T5 (its corruption and plain
masks), DEPTH, and DEPTH's batches with T5's plain masks, which is what the same shapes cost without DEPTH's masks.

- `tokens_per_second` counts text before corruption; `flops_share` holds the formula of `cost.tsv` against the rate of
  bfloat16 matrix products measured in the same run.
- `masks_share` of the last column is the part of DEPTH's step that its masks cost; more than 0.15 is an error (exit
  status 1) on a GPU.
- `collation_share` is the time to collate a batch on one core over the time of a step: below 1 the device never waits.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow"))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from reprlab.config.models import ModelEntry, load_models  # noqa: E402
from reprlab.models.build import build_from_config  # noqa: E402
from reprlab.objectives import depth, t5  # noqa: E402
from reprlab.objectives.attention_masks import plain_masks  # noqa: E402
from reprlab.objectives.losses import batch_loss  # noqa: E402
from reprlab.objectives.masked_seq2seq import mask_dtype  # noqa: E402
from reprlab.reporting.cost_formula import training_flops  # noqa: E402
from reprlab.reporting.cost_layout import Shape  # noqa: E402
from reprlab.text.vocabulary import Vocabulary  # noqa: E402

MASKS_MAY_COST = 0.15
COLUMNS = [
    "what",
    "parameters",
    "batch",
    "encoder_tokens",
    "decoder_tokens",
    "milliseconds",
    "tokens_per_second",
    "memory_gb",
    "tera_flops",
    "flops_share",
    "collation_share",
    "masks_share",
]


@dataclasses.dataclass(frozen=True)
class Case:
    """One kind of step: how a batch is made of text, and the loss of a batch."""

    name: str
    objective: Any
    loss: Callable[[Any, dict[str, torch.Tensor]], torch.Tensor]


def arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--model", default="t5_v1_1_base", help="a T5 of models.yaml")
    parser.add_argument("--layers", type=int, help="cut encoder and decoder to so many layers")
    parser.add_argument("--batch", type=int, default=25, help="examples of a step; 25 is a part of DEPTH's 200")
    parser.add_argument("--length", type=int, default=512, help="tokens of an example before corruption")
    parser.add_argument("--steps", type=int, default=20, help="steps that are timed, after three others")
    parser.add_argument("--matrix", type=int, default=8192, help="side of the matrices whose rate is measured")
    parser.add_argument("--dtype", choices=["bfloat16", "float32"], default="bfloat16")
    parser.add_argument("--out", type=Path, help="write the table to this TSV")
    return parser.parse_args(given)


def synchronise(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def seconds_of(run: Callable[[], object], device: str, repeats: int, warm: int = 3) -> float:
    """Median seconds of a call."""
    times = []
    for number in range(warm + repeats):
        synchronise(device)
        start = time.perf_counter()
        run()
        synchronise(device)
        if number >= warm:
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def matrix_rate(options: argparse.Namespace) -> float:
    """FLOP per second of a square bfloat16 product."""
    side = options.matrix
    left, right = (torch.randn(side, side, device=options.device, dtype=torch.bfloat16) for _ in range(2))
    return 2 * side**3 / seconds_of(lambda: left @ right, options.device, repeats=10)


def text(options: argparse.Namespace, vocabulary: Vocabulary, *, marked: bool) -> tuple[np.ndarray, ...]:
    """Full rows of random tokens; `marked` puts them into DEPTH's format, with sentences of 25 tokens."""
    rng = np.random.Generator(np.random.Philox(key=0))
    shape = (options.batch, options.length)
    ids = rng.integers(3, vocabulary.pieces, shape).astype(np.int32)
    lengths = np.full(options.batch, options.length, np.int64)
    if not marked:
        ids[:, -1] = 1
        return ids, np.ones(shape, np.int16), lengths
    places = np.arange(options.length)
    # EOSEN SENT x … EOSEN SENT x …: the end of one sentence stands before the next one's token.
    width = max(25, -(-options.length // 20))
    ids[:, places % width == 0] = vocabulary.eosen_id
    sentences = (places % width == 1).sum()
    drawn = np.argsort(rng.random((options.batch, 20)), axis=1)[:, :sentences]
    ids[:, places % width == 1] = vocabulary.first_sentence + drawn
    types = np.broadcast_to(np.maximum(places - 1, 0) // width + 1, shape).astype(np.int16)
    ids[:, -2], ids[:, -1] = vocabulary.eosen_id, 1
    return ids, types, lengths


def cases(options: argparse.Namespace, vocabulary: Vocabulary) -> Iterator[Case]:
    """T5, DEPTH, and DEPTH's batches under T5's masks."""
    plain = t5.Objective(t5.Settings(), vocabulary, options.length, options.length)
    hierarchical = depth.Objective(depth.Settings(), vocabulary, options.length, options.length)

    def without_masks(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        masks = plain_masks(batch["encoder_ids"], batch["decoder_ids"].shape[1], dtype=mask_dtype(model))
        return batch_loss(model, batch, masks, vocabulary, None)[0]

    yield Case("t5", plain, lambda model, batch: plain.loss(model, batch)[0])
    yield Case("depth", hierarchical, lambda model, batch: hierarchical.loss(model, batch)[0])
    yield Case("depth with t5's masks", hierarchical, without_masks)


def entry_of(options: argparse.Namespace) -> ModelEntry:
    entry = load_models(ROOT / "config/models.yaml")[options.model]
    layers = {"num_layers": options.layers, "num_decoder_layers": options.layers} if options.layers else {}
    return entry.model_copy(update={"config": {**entry.config, **layers}})


def measure(case: Case, options: argparse.Namespace, entry: ModelEntry, vocabulary: Vocabulary) -> dict[str, Any]:
    """One row, without the share of the masks."""
    device = options.device
    model = build_from_config(entry, vocabulary.padded_size, seed=0).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    rows = text(options, vocabulary, marked=case.objective.token_format == "depth")

    def collated() -> dict[str, torch.Tensor]:
        rng = np.random.Generator(np.random.Philox(key=1))
        keywords = {"shuffled": True} if case.objective.token_format == "depth" else {}
        return {name: torch.from_numpy(array) for name, array in case.objective.collate(*rows, rng, **keywords).items()}

    batch = {name: value.to(device) for name, value in collated().items()}
    precision = (
        torch.autocast(device, dtype=torch.bfloat16) if options.dtype == "bfloat16" else contextlib.nullcontext()
    )

    def step() -> None:
        with precision:
            loss = case.loss(model, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds = seconds_of(step, device, options.steps)
    memory = (
        torch.cuda.max_memory_allocated()
        if device == "cuda"
        else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    )
    encoder, decoder = batch["encoder_ids"].shape[1], batch["decoder_ids"].shape[1]
    flops = options.batch * training_flops(Shape.of_t5(entry.config, vocabulary.padded_size), encoder, decoder)
    return {
        "what": case.name,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "batch": options.batch,
        "encoder_tokens": encoder,
        "decoder_tokens": decoder,
        "milliseconds": 1e3 * seconds,
        "tokens_per_second": options.batch * options.length / seconds,
        "memory_gb": memory / 1e9,
        "tera_flops": flops / seconds / 1e12,
        "collation_share": seconds_of(collated, "cpu", 3, warm=1) / seconds,
    }


def rehearse(options: argparse.Namespace) -> tuple[list[dict[str, Any]], float]:
    """The rows, and the rate of matrix products in FLOP per second."""
    vocabulary, entry = Vocabulary(32_000), entry_of(options)
    rate = matrix_rate(options)
    rows = [measure(case, options, entry, vocabulary) for case in cases(options, vocabulary)]
    for row in rows:
        row["flops_share"] = row["tera_flops"] * 1e12 / rate
        row["masks_share"] = None
    rows[1]["masks_share"] = 1 - rows[2]["milliseconds"] / rows[1]["milliseconds"]
    return rows, rate


def main(given: list[str] | None = None) -> int:
    """Print the table; 1 if DEPTH's masks cost too much on a GPU."""
    options = arguments(given)
    rows, rate = rehearse(options)
    device = torch.cuda.get_device_name() if options.device == "cuda" else f"{torch.get_num_threads()} CPU threads"
    sys.stdout.write(f"{device}: {rate / 1e12:.2f} TFLOP/s in bfloat16 products of side {options.matrix}\n")
    lines = ["\t".join(COLUMNS), *("\t".join(shown(row[name]) for name in COLUMNS) for row in rows)]
    sys.stdout.write("\n".join(lines) + "\n")
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if options.device == "cuda" and rows[1]["masks_share"] > MASKS_MAY_COST:
        sys.stderr.write(f"error: DEPTH's masks cost {rows[1]['masks_share']:.0%} of its step, more than 15 %\n")
        return 1
    return 0


def shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
