"""What is wrong with the results of a run is found, and mended, before the engine plans by their dates."""

from collections.abc import Iterator
from pathlib import Path

from reprlab.runtime.clock import date_back_results
from reprlab.runtime.seals import set_changed_aside


def check_results(run_folder: Path, *, dry: bool = False) -> Iterator[str]:
    """Date back results of the future, set changed ones aside; one line for each finding. `dry` only finds."""
    yield from date_back_results(run_folder, dry=dry)
    yield from map(str, set_changed_aside(run_folder, dry=dry))
