"""The record beside a benchmark's table: machine, versions, and how busy the machine was."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from reprlab.reporting.provenance import write_provenance


def write_record(script: str, options: argparse.Namespace, inputs: Sequence[Path] = ()) -> None:
    """Write the record of the table at `options.out`.

    The load is that of the last minute: on a machine with more to do than processors, CPU seconds grow with it.

    Args:
        script: the benchmark, as a path of the checkout.
        options: its options, of which those that are numbers are written down.
        inputs: the files that it read.
    """
    numbers = {name: value for name, value in vars(options).items() if isinstance(value, int | float | list)}
    about = {**numbers, "load": round(os.getloadavg()[0], 1), "processors": len(os.sched_getaffinity(0))}
    plain = {name: value for name, value in about.items() if not isinstance(value, list) or _plain(value)}
    write_provenance(options.out, stage=script, settings=plain, inputs=inputs)


def _plain(values: list[object]) -> bool:
    return all(isinstance(value, int | float) for value in values)
