"""Estimate the intrinsic dimension of every layer of collected states."""

from pathlib import Path

from reprlab.representations.settings import DimensionSettings
from reprlab.runtime.cli import run_stage


def estimate_dimension(*, states: Path, out: Path, settings: DimensionSettings, device: str = "cpu") -> None:
    """Write one row per step, layer, set of items and estimator, and the areas under these curves.

    Layer 0 is left out: prompts end with one token, so that a rotary model has one embedding for all of them. `subset`
    is `all`, `first <n>` or `half <i>`. One layer is in memory at a time.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.representations.dimensions import dimension_rows

    variants = sorted(path for path in states.iterdir() if path.is_dir())
    write_rows(out, [row for variant in variants for row in dimension_rows(variant, settings, device)])


if __name__ == "__main__":
    run_stage(estimate_dimension)
