"""Speed of the token scanner on ids that were made before: ids per CPU second, on one thread.

    python benchmarks/token_counts.py --out token_counts.tsv

Writes a token file with random ids (distributed as 1 / rank, as words are) in rows of uneven length, scans it, and
times beside it a plain loop with `collections.Counter` on a part of it. Wanted: 10 million ids per CPU second or more.
"""

from __future__ import annotations

import argparse
import collections
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas
import pyarrow
from reprlab.artifacts.tables import write_parquet, write_tsv
from reprlab.text.parquet_batches import read_batches
from reprlab.text.token_counts import CountSettings, scan_counts

WANTED = 10_000_000


class Sized:
    """Stands for a tokenizer: a scan of ids asks it for its size alone."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ids", type=int, default=20_000_000, help="ids in the file")
    parser.add_argument("--vocabulary", type=int, default=50_257, help="size of the vocabulary")
    parser.add_argument("--out", type=Path, help="write the table to this TSV")
    return parser.parse_args()


def write_ids(path: Path, ids: int, vocabulary: int) -> None:
    """A token file of rows with 1 to 512 ids."""
    rng = np.random.Generator(np.random.Philox(key=0))
    lengths = rng.integers(1, 513, size=ids // 256)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    flat = np.exp(rng.random(offsets[-1]) * np.log(vocabulary)).astype(np.int32) - 1
    rows = pyarrow.ListArray.from_arrays(pyarrow.array(offsets), pyarrow.array(flat))
    splits = pyarrow.array(np.where(rng.random(len(lengths)) < 0.9, "train", "validation"))
    write_parquet(path, pyarrow.table({"split": splits, "input_ids": rows}))


def plain_loop(path: Path, rows: int) -> tuple[int, float]:
    """Ids and CPU seconds of counting the first rows one id at a time."""
    batch = next(read_batches(path, ["split", "input_ids"], rows))
    lists = batch.column("input_ids").to_pylist()
    start = time.process_time()
    counter: collections.Counter[int] = collections.Counter()
    for row in lists:
        counter.update(row)
    return counter.total(), time.process_time() - start


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ids.parquet"
        write_ids(path, options.ids, options.vocabulary)
        start = time.process_time()
        found = scan_counts(path, Sized(options.vocabulary), CountSettings(source="tokens"))
        seconds = time.process_time() - start
        ids = sum(int(counts.sum()) for counts in found.counts.values())
        plain_ids, plain_seconds = plain_loop(path, 2_000)
    table = pandas.DataFrame(
        [
            {"way": "scan_counts", "ids": ids, "cpu_seconds": seconds, "ids_per_cpu_second": ids / seconds},
            {"way": "Counter", "ids": plain_ids, "cpu_seconds": plain_seconds,
             "ids_per_cpu_second": plain_ids / plain_seconds},
        ]
    )  # fmt: skip
    print(table.to_string(index=False))
    print(f"wanted: {WANTED:,} ids per CPU second: {'reached' if ids / seconds >= WANTED else 'missed'}")
    if options.out:
        write_tsv(options.out, table)


if __name__ == "__main__":
    main()
