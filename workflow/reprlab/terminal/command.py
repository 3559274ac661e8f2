"""What the command asks of the engine while it reads the Snakefile, and what it may not decide by itself.

The engine tells the Snakefile its targets only when the jobs are put in order, after the plan; so they are looked up
where it has them meanwhile, among the variables of the functions that are at work.
"""

import functools
import sys
from collections.abc import Iterable
from typing import Any


def decide_by_plan() -> None:
    """Let the engine run what is missing or named to it (`make_again`), whatever its own records and dates say.

    What is stale is found by `runtime.stale`. The engine compares dates whatever its settings say, and gives results
    the date of now when a job ends, so that they would be read again.
    """
    from snakemake.dag import DAG
    from snakemake.io import _IOFile

    if (settings := _variable("snakemake.api", "dag_settings")) is not None:
        settings.rerun_triggers = frozenset()
    _IOFile.is_newer = _never
    if not isinstance(DAG.__dict__["check_and_touch_output"], functools.partialmethod):
        undated = functools.partialmethod(DAG.check_and_touch_output, no_touch=True)
        DAG.check_and_touch_output = undated
    DAG.check_output_mtime = _never


async def _never(*_: Any) -> bool:
    return False


def asked_targets() -> tuple[str, ...]:
    """What the command asks for by name: targets, and what is to be made whether or not it is there. Empty: all."""
    settings = _variable("snakemake.api", "dag_settings")
    if settings is None or settings.target_jobs:
        return ()
    return (*settings.targets, *settings.forcerun) if settings.targets else ()


def make_again(paths: Iterable[str]) -> None:
    """Let the engine make results that are there; each is one that the command needs, for it becomes a target."""
    if (settings := _variable("snakemake.api", "dag_settings")) is not None:
        settings.forcerun = frozenset({*settings.forcerun, *paths})


def only_touches() -> bool:
    """Whether the command would only give results the date of now (`--touch`)."""
    arguments = _variable("snakemake.cli", "args")
    return bool(getattr(arguments, "touch", False))


def _variable(module: str, name: str) -> Any:
    """A variable of the innermost function of a module that is at work and has it; None where none does."""
    frame = sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        if frame.f_globals.get("__name__") == module and name in frame.f_locals:
            return frame.f_locals[name]
    return None
