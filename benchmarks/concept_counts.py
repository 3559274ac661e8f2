"""Speed of counting concepts in text: words per CPU second, on one thread.

    python -m benchmarks.concept_counts --out concept_counts.tsv

Draws words as words are distributed (1 / rank) and concepts of one to four of them, and counts the concepts in one
pass. Beside it: a plain loop over runs of one to four words on a part of the text. Wanted: a million words per CPU
second or more with 150,000 concepts.
"""

from __future__ import annotations

import argparse
import collections
import time
from pathlib import Path

import numpy as np
import pandas
from reprlab.artifacts.tables import write_tsv
from reprlab.concepts.matching import LONGEST, ConceptMatcher, words_of

from benchmarks.record import write_record

WANTED = 1_000_000
_TEXT = 200


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--concepts", type=int, default=150_000, help="concepts that are counted")
    parser.add_argument("--words", type=int, default=4_000_000, help="words of text")
    parser.add_argument("--vocabulary", type=int, default=200_000, help="different words")
    parser.add_argument("--out", type=Path, help="write the table to this TSV")
    return parser.parse_args()


def plain_loop(texts: list[str], concepts: set[str]) -> tuple[int, float]:
    """Words and CPU seconds of looking up each run of words by itself."""
    start, words, counter = time.process_time(), 0, collections.Counter[str]()
    for text in texts:
        found = words_of(text)
        words += len(found)
        for size in range(1, LONGEST + 1):
            runs = (" ".join(found[place : place + size]) for place in range(len(found) - size + 1))
            counter.update(run for run in runs if run in concepts)
    return words, time.process_time() - start


def main() -> None:
    options = arguments()
    rng = np.random.Generator(np.random.Philox(key=0))
    drawn = np.exp(rng.random(options.words) * np.log(options.vocabulary)).astype(np.int64)
    names = np.array([f"w{number:x}" for number in range(options.vocabulary + 1)])
    words = names[drawn]
    texts = [" ".join(words[first : first + _TEXT]) for first in range(0, options.words, _TEXT)]
    starts, sizes = (
        rng.integers(0, options.words - LONGEST, options.concepts * 2),
        rng.integers(1, LONGEST + 1, options.concepts * 2),
    )
    concepts = dict.fromkeys(" ".join(words[one : one + size]) for one, size in zip(starts, sizes, strict=True))
    chosen = list(concepts)[: options.concepts]
    matcher = ConceptMatcher(chosen)
    start = time.process_time()
    counts = sum(matcher.count(texts[first : first + 2_000]) for first in range(0, len(texts), 2_000))
    seconds = time.process_time() - start
    plain_words, plain_seconds = plain_loop(texts[:1_000], set(chosen))
    rows = [("ConceptMatcher", options.words, seconds), ("plain loop", plain_words, plain_seconds)]
    table = pandas.DataFrame(
        [
            {"way": way, "concepts": len(chosen), "words": words, "cpu_seconds": s, "words_per_cpu_second": words / s}
            for way, words, s in rows
        ]
    )
    print(table.to_string(index=False), f"\n{int(np.sum(counts)):,} occurrences")
    reached = "reached" if options.words / seconds >= WANTED else "missed"
    print(f"wanted: {WANTED:,} words per CPU second: {reached}")
    if options.out:
        write_tsv(options.out, table)
        write_record("benchmarks/concept_counts.py", options)


if __name__ == "__main__":
    main()
