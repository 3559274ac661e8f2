"""`make metrics`: every metric of every paper with its unit, direction and range, as tab-separated lines."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from reprlab.results.records import records_of

COLUMNS = ("paper", "metric", "unit", "better", "least", "most", "scored", "about")


def metric_rows() -> Iterator[tuple[str, ...]]:
    """A row of `COLUMNS` for each metric, papers in alphabetical order."""
    from reprlab.config.papers import SLUGS

    for slug in sorted(SLUGS):
        for name, one in records_of(slug).metrics.items():
            low, high = one.bounds
            yield slug, name, one.unit, one.better, f"{low:g}", f"{high:g}", "yes" if one.scored else "no", one.about


def main(arguments: list[str] | None = None) -> None:
    """Print them."""
    argparse.ArgumentParser(prog="make metrics", description=__doc__).parse_args(arguments)
    for row in (COLUMNS, *metric_rows()):
        print("\t".join(row))


if __name__ == "__main__":
    main()
