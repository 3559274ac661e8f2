"""`make prune`: free what can be made again without training: resume points, unpacked members, mapped tokens."""

import argparse
import shutil
import sys
from pathlib import Path

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.folders import checkout_root, download_cache, runs_of


def prunable(root: Path, cache: Path) -> list[Path]:
    """Folders that no finished result needs: resume points, copies of code and mapped tokens of every run, and
    members unpacked from archives."""
    runs = runs_of(root)
    found = [run / part for run in runs for part in ("results/work", ".snakemake/frozen")]
    found += [folder for run in runs for folder in sorted(run.glob("results/shared/tokens/.*.flat"))]
    found += sorted(cache.glob("*/members"))
    return [path for path in found if path.is_dir()]


def size_of(folder: Path) -> int:
    """Bytes of the files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def main(arguments: list[str] | None = None) -> int:
    """Delete, and say how much was freed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="say what would be freed and delete nothing")
    given = parser.parse_args(arguments)
    try:
        root = checkout_root()
    except ReprlabError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    cache = download_cache(root)
    freed = 0
    for folder in prunable(root, cache):
        size = size_of(folder)
        freed += size
        sys.stdout.write(f"{size / 2**20:9.1f} MB  {folder}\n")
        if not given.dry_run:
            shutil.rmtree(folder)
    sys.stdout.write(f"{freed / 2**20:9.1f} MB  {'would be ' if given.dry_run else ''}freed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
