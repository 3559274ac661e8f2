"""What the experiments need: collections of states and fine-tuning runs, noted before any job is planned."""

from dataclasses import dataclass, field
from typing import Literal

Split = Literal["train", "validation"]
Dtype = Literal["float32", "bfloat16"]
Experiment = Literal["comparison", "sft_dynamics", "icl_dynamics", "icl_unique", "precision", "replication"]


@dataclass
class Collection:
    """One planned collection; the experiments that share it add their steps and subsets."""

    model: str
    dataset: str
    prompts: str
    dtype: Dtype
    limit: int | None = None
    run: int | None = None
    """Steps of the fine-tuning run whose adapters are collected."""
    steps: set[int] = field(default_factory=set)
    subsets: set[int] = field(default_factory=set)
    experiments: list[Experiment] = field(default_factory=list)
    k: int = 0
    split: Split = "validation"
    compared: int | None = None
    """Step that the comparison of paradigms takes."""
    seed: int | None = None
    """Seed of demonstrations or adapter; none means that of the main run."""

    def read_by(self, experiment: Experiment) -> None:
        """Note that an experiment reads it."""
        if experiment not in self.experiments:
            self.experiments.append(experiment)


@dataclass
class Run:
    """One planned fine-tuning run; its ladder is what the experiments ask for."""

    warmup_steps: int
    prompts: str
    ladder: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class RunKey:
    """A fine-tuning run."""

    model: str
    dataset: str
    steps: int
    seed: int | None = None

    @property
    def cell(self) -> str:
        """Its name among the adapters of a model on a data set."""
        return f"sft_{self.steps}{suffix(self.seed)}"


def suffix(seed: int | None) -> str:
    """End of the name of what was made with another seed than the main one."""
    return "" if seed is None else f"_seed{seed}"
