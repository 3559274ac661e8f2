"""`make bundle`: the report and the results of a run in one archive, for those who have not got the workflow."""

import argparse
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from reprlab.reporting.verify import problems
from reprlab.runtime.errors import ReprlabError, told_in_one_line
from reprlab.runtime.files import atomic_file
from reprlab.runtime.folders import checkout_root
from reprlab.runtime.seals import RESULTS

# Folders of results that no reader of a paper asks for: what papers share, work in progress, logs, minutes of jobs.
_KEPT_HERE = {"shared", "work", "logs", "benchmarks"}
# The same results are the same bytes, whenever they are packed.
_DATE = (1980, 1, 1, 0, 0, 0)


def members(run: Path) -> Iterator[Path]:
    """Files of the archive: the report, the summary, the settings and all in the folders of papers."""
    results = run / RESULTS
    for path in sorted(results.iterdir()):
        if path.is_file():
            yield path
        elif path.name not in _KEPT_HERE:
            yield from (file for file in sorted(path.rglob("*")) if file.is_file() and not file.is_symlink())


def bundle(run: Path, out: Path) -> int:
    """Write the archive; the number of its files.

    Raises:
        ReprlabError: the run has no report, or a result is not what its stage wrote.
    """
    if not (run / RESULTS / "report.html").is_file():
        raise ReprlabError(f"{run / RESULTS}: has no report.html; `make report` makes it with all that it shows")
    if wrong := next(problems(run), ""):
        raise ReprlabError(f"{run}: {wrong}; `make verify` lists all, and nothing was packed")
    found = [path for path in members(run) if not path.name.startswith(".")]
    with atomic_file(out) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in found:
            name = zipfile.ZipInfo(str(path.relative_to(run)), _DATE)
            name.external_attr = 0o644 << 16
            name.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(name, path.read_bytes())
    return len(found)


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Pack one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", nargs="?", type=Path, help="folder that holds results/ (default: this checkout)")
    parser.add_argument("--out", type=Path, default=Path("reprlab-results.zip"), help="the archive")
    given = parser.parse_args(arguments)
    if given.out.is_dir() or given.out.suffix != ".zip":
        raise ReprlabError(f"--out {given.out}: is not the name of a .zip file")
    count = bundle(given.run or checkout_root(), given.out)
    sys.stdout.write(f"{given.out}: {count} files, {given.out.stat().st_size / 1e6:.1f} MB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
