"""What was tried and what was lost, for the last lines of the run."""

import os
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest


def fault_seed() -> int:
    """REPRLAB_FAULTS_SEED repeats a run of the faults; without it each run has another."""
    given = os.environ.get("REPRLAB_FAULTS_SEED")
    seed = int(given) if given else random.SystemRandom().randrange(2**32)
    print(f"REPRLAB_FAULTS_SEED={seed}")
    return seed


@dataclass
class Tally:
    """What was tried, and what of it did not end in the same tables."""

    seed: int
    tried: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)

    @contextmanager
    def trial(self, kind: str, where: str) -> Iterator[random.Random]:
        """Count what is tried in the block, as lost where it fails; gives its random numbers."""
        self.tried[kind] += 1
        try:
            yield random.Random(f"{self.seed}-{kind}-{where}")
        except BaseException as error:
            self.lost.append(f"{kind} in {where}: {str(error)[:300]}")
            raise

    def __str__(self) -> str:
        total = sum(self.tried.values())
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.tried.items()))
        return (
            f"faults: {total} tried, {total - len(self.lost)} survived, {len(self.lost)} lost ({kinds});"
            f" REPRLAB_FAULTS_SEED={self.seed}"
        )


TALLY = pytest.StashKey[Tally]()
