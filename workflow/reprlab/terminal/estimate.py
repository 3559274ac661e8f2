"""Time that the remaining jobs will take, by what such jobs took before."""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

# Of a sweep this many jobs say enough; a run has thousands.
_SAMPLED = 50


class Estimate:
    """Seconds of jobs by rule: those of this run, and earlier ones of its folder until there are any."""

    def __init__(self, before: Mapping[str, float]) -> None:
        self._before = before
        self._seen: dict[str, list[float]] = defaultdict(list)

    def saw(self, rule: str, seconds: float) -> None:
        """A job has ended."""
        self._seen[rule].append(seconds)

    def seconds(self, rule: str) -> float | None:
        """Seconds of a job of this rule; None while unknown."""
        if seen := self._seen.get(rule):
            return sum(seen) / len(seen)
        if rule in self._before:
            return self._before[rule] * self._pace()
        every = [value for values in self._seen.values() for value in values]
        return sum(every) / len(every) if every else None

    def _pace(self) -> float:
        """How much slower than before this run is, by the rules that both have."""
        known = [(rule, sum(seen), len(seen)) for rule, seen in self._seen.items() if self._before.get(rule)]
        expected = sum(self._before[rule] * count for rule, _, count in known)
        return sum(seconds for _, seconds, _ in known) / expected if expected else 1.0

    def left(self, waiting: Counter[str], running: Iterable[tuple[str, float]], lanes: int) -> float | None:
        """Seconds until the last job ends.

        Args:
            waiting: how many jobs of each rule have not started.
            running: rule and seconds so far of those that run.
            lanes: how many jobs run at once.
        """
        each = [self.seconds(rule) for rule, count in waiting.items() for _ in range(count)]
        each += [None if (known := self.seconds(rule)) is None else max(known - gone, 0) for rule, gone in running]
        if any(seconds is None for seconds in each):
            return None
        known_seconds = [seconds for seconds in each if seconds is not None]
        return max([sum(known_seconds) / max(min(lanes, len(known_seconds)), 1), *known_seconds], default=0.0)


def measured_seconds(benchmarks: Path) -> dict[str, float]:
    """Mean seconds of a job of each rule, by the benchmark files of an earlier run: `<rule>/**/*.tsv`."""
    means = {}
    for folder in sorted(path for path in benchmarks.glob("*") if path.is_dir()):
        files = sorted(folder.rglob("*.tsv"))[:_SAMPLED]
        if seconds := [value for file in files for value in _seconds(file)]:
            means[folder.name] = sum(seconds) / len(seconds)
    return means


def _seconds(file: Path) -> list[float]:
    """Column `s` of a benchmark file; nothing where the file is damaged, for an estimate can do without."""
    try:
        with file.open(encoding="utf-8", newline="") as handle:
            return [float(row["s"]) for row in csv.DictReader(handle, delimiter="\t")]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def in_words(seconds: float) -> str:
    """A duration as people say it: 8 s, 4 min, 2 h 10 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
