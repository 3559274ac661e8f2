"""Rehearsal of published steps with random weights: speed, memory, and what DEPTH's masks cost.

    python -m benchmarks.gpu_rehearsal --device cuda --out rehearsal.tsv
    python -m benchmarks.gpu_rehearsal --device cpu --seq2seq t5_mini --tuned olmo_nano --adapted llama_nano \\
      --layers 1 --batch 2 --length 64 --steps 2 --matrix 256

Random tokens go through the project's own collation, masks, losses, optimizer and files. Rows: T5 (its corruption and
plain masks), DEPTH, DEPTH's batches with T5's plain masks, which is what the same shapes cost without DEPTH's masks;
amuro-char's fine-tuning of OLMo-1B; the adapters and the hidden states of intrinsic-dimension with Llama-3-8B; updates
of prompt-tuning-encoders and of overparameterized-encoders with it, all texts as long as a text may be. Ranks,
precision and batches of all but the first three are those of their jobs at paper scale; a decoder's batch is the part
that a device holds.

- `tokens_per_second` counts text before corruption; `flops_share` holds the formula of `cost.tsv` against the rate of
  bfloat16 matrix products measured in the same run.
- `decoder_tokens` are the places of a text at which the output layer is read; a decoder has no other.
- `masks_share` is the part of DEPTH's step that its masks cost; more than 0.15 is an error (exit status 1) on a GPU.
- `collation_share` is the time to collate a batch on one core over the time of a step: below 1 the device never waits.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow")]

import torch  # noqa: E402
from reprlab.config.load import load_config  # noqa: E402

from benchmarks.gpu_rehearsal import decoders, encoder_decoders, encoders  # noqa: E402
from benchmarks.gpu_rehearsal.measuring import COLUMNS, Row, matrix_rate  # noqa: E402

MASKS_MAY_COST = 0.15
PARTS = ("encoder_decoders", "decoders", "encoders")


def arguments(given: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="which rows")
    parser.add_argument("--seq2seq", default="t5_v1_1_base", help="a T5 of models.yaml")
    parser.add_argument("--tuned", default="olmo_1b", help="a decoder of models.yaml, trained whole")
    parser.add_argument("--adapted", default="llama_3_8b", help="a Llama of models.yaml, with adapters and for states")
    parser.add_argument("--layers", type=int, help="cut every stack to this many layers")
    parser.add_argument("--batch", type=int, help="examples of a step, in place of the papers'")
    parser.add_argument("--length", type=int, default=512, help="tokens of an example before corruption")
    parser.add_argument("--steps", type=int, default=20, help="steps that are timed, after three others")
    parser.add_argument("--matrix", type=int, default=8192, help="side of the matrices whose rate is measured")
    parser.add_argument("--dtype", choices=["bfloat16", "float32"], default="bfloat16", help="of encoder-decoders")
    parser.add_argument("--out", type=Path, help="write the table to this TSV")
    return parser.parse_args(given)


def rehearse(options: argparse.Namespace) -> tuple[list[Row], float]:
    """The rows, and the rate of matrix products in FLOP per second."""
    if options.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("error: --device cuda: this machine has no GPU that torch can use; take --device cpu")
    config = load_config(ROOT, {"scale": "paper"})
    rate = matrix_rate(options.matrix, options.device)
    rows: list[Row] = []
    if "encoder_decoders" in options.parts:
        rows += encoder_decoders.rows(options, config.models)
    if "decoders" in options.parts:
        rows += decoders.rows(options, config)
    if "encoders" in options.parts:
        rows += encoders.rows(options, config)
    for row in rows:
        if "tera_flops" in row:
            row["flops_share"] = row["tera_flops"] * 1e12 / rate
    return rows, rate


def main(given: list[str] | None = None) -> int:
    """Print the table; 1 if DEPTH's masks cost too much on a GPU."""
    options = arguments(given)
    rows, rate = rehearse(options)
    device = torch.cuda.get_device_name() if options.device == "cuda" else f"{torch.get_num_threads()} CPU threads"
    sys.stdout.write(f"{device}: {rate / 1e12:.2f} TFLOP/s in bfloat16 products of side {options.matrix}\n")
    lines = ["\t".join(COLUMNS), *("\t".join(shown(row.get(name)) for name in COLUMNS) for row in rows)]
    sys.stdout.write("\n".join(lines) + "\n")
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    shares = [row["masks_share"] for row in rows if row.get("masks_share") is not None]
    if options.device == "cuda" and any(share > MASKS_MAY_COST for share in shares):
        sys.stderr.write(f"error: DEPTH's masks cost {shares[0]:.0%} of its step, more than 15 %\n")
        return 1
    return 0


def shown(value: Any) -> str:
    """A cell of the table."""
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
