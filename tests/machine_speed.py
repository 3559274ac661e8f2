"""Processor time in a unit of the machine: what the standard library needs to read and write its `inspect` five times.

A bound in seconds fails where the processor is slower and nothing has changed. One in this unit does not, and still
fails when the work grows.
"""

import subprocess
import sys

_WORK = (
    "import ast, inspect, time; from pathlib import Path; text = Path(inspect.__file__).read_text(encoding='utf-8'); "
    "began = time.process_time(); [ast.unparse(ast.parse(text)) for _ in range(5)]; "
    "print(time.process_time() - began)"
)


def unit_seconds(attempts: int = 3) -> float:
    """The least seconds of several attempts, each in a process of its own, because what runs beside one slows it."""
    return min(_attempt() for _ in range(attempts))


def _attempt() -> float:
    return float(subprocess.run([sys.executable, "-c", _WORK], check=True, capture_output=True, text=True).stdout)
