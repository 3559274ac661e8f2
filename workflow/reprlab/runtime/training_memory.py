"""How a training saves memory: runtime settings, which a job's command names and its training loop reads."""

from dataclasses import dataclass, replace

from reprlab.runtime.errors import ReprlabError


@dataclass(frozen=True)
class TrainingMemory:
    """What this process does to fit into memory; no result's key holds it."""

    accumulation: int = 1
    """Parts, at most, into which what a device would hold at once is cut further."""
    checkpointing: bool = False
    """Whether the blocks of a model are computed again in the backward pass instead of kept."""

    def parts(self, examples: int) -> int:
        """The largest number of equal parts of so many examples that was allowed."""
        return max(parts for parts in range(1, min(self.accumulation, examples) + 1) if examples % parts == 0)


_given = TrainingMemory()


def save_memory(memory: TrainingMemory) -> None:
    """Have all training of this process save memory so."""
    global _given
    _given = memory


def training_memory() -> TrainingMemory:
    """How this process saves memory."""
    return _given


def memory_of_whole_batches(why: str) -> TrainingMemory:
    """The same for a training whose batches cannot be cut.

    Raises:
        ReprlabError: they are to be cut; with the reason.
    """
    if _given.accumulation > 1:
        raise ReprlabError(
            f"runtime.accumulation={_given.accumulation}: {why}; leave it at 1 and set "
            "runtime.activation_checkpointing=true"
        )
    return _given


def memory_cut_elsewhere() -> tuple[TrainingMemory, int]:
    """The same for a training that cuts its batches itself, and into how many parts."""
    return replace(_given, accumulation=1), _given.accumulation
