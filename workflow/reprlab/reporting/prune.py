"""`make prune`: free what can be made again without training: resume points, unpacked members, mapped tokens, and the
plans and copies of code that no result names and no run works from."""

import argparse
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from reprlab.runtime.errors import told_in_one_line
from reprlab.runtime.folders import checkout_root, download_cache, runs_of
from reprlab.runtime.locks import is_at_work
from reprlab.runtime.plan_file import FOLDER as PLANS
from reprlab.runtime.seals import plans_of_results


def prunable(root: Path, cache: Path) -> list[Path]:
    """Files that no result needs: resume points, mapped tokens, copies of code and plans of every run that no engine
    works in, and members unpacked from archives.

    The newest copy and the newest plan of a run stay, and so does every plan that made a result: `make explain` reads
    from it what has changed since.
    """
    runs = runs_of(root)
    idle = [run for run in runs if not is_at_work(run)]
    found = []
    for run in idle:
        found += [run / "results/work", *sorted(run.glob("results/shared/tokens/.*.flat"))]
        found += _but_newest(run.glob(".snakemake/frozen/*"))
        named = plans_of_results(run)
        found += [plan for plan in _but_newest(run.glob(f"{PLANS}/*.sqlite")) if plan.name not in named]
    if idle == runs:
        found += sorted(cache.glob("*/members"))
    return [path for path in found if path.exists()]


def _but_newest(paths: Iterable[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: path.stat().st_mtime_ns)[:-1]


def size_of(path: Path) -> int:
    """Bytes of a file, or of the files below a folder."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(path.stat().st_size for path in path.rglob("*") if path.is_file() and not path.is_symlink())


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Delete, and say how much was freed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="say what would be freed and delete nothing")
    given = parser.parse_args(arguments)
    root = checkout_root()
    cache = download_cache(root)
    freed = 0
    for run in filter(is_at_work, runs_of(root)):
        sys.stdout.write(f"{run}: a run goes on here; nothing of it is pruned, nor what it may read from {cache}\n")
    for path in prunable(root, cache):
        size = size_of(path)
        freed += size
        sys.stdout.write(f"{size / 2**20:9.1f} MB  {path}\n")
        if not given.dry_run:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    sys.stdout.write(f"{freed / 2**20:9.1f} MB  {'would be ' if given.dry_run else ''}freed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
