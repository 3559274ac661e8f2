"""The declaration of a stage: its files, its words, and what its jobs need."""

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

FIRST = 30
"""Priority of jobs for which trainings, the longest chains of a run, wait."""


@dataclass(frozen=True)
class Stage:
    """One stage as plan and engine see it; what it does is the module `reprlab.stages.<name>`.

    Its threads are the user's (`threads` in config/config.yaml).
    """

    name: str
    message: str
    """What its job does, for people; wildcards are in braces."""
    outputs: Mapping[str, str]
    """Files by the names of the function's parameters (`provenance` is written beside a table), relative to the folder
    of the run. A pattern names its wildcards in braces; those of the first output make the key of a job, joined with
    `/`. One that ends in `/` is a folder."""
    mb: int = 2000
    """Memory in MB."""
    minutes: int = 30
    """Longest time of an attempt."""
    grows: Literal["nothing", "memory", "both"] = "nothing"
    """What a further attempt gets more of; both are memory and minutes."""
    gpu: bool = False
    """Whether it uses a GPU where there is one."""
    torchrun: bool = False
    """Whether it trains with several processes where the settings ask for them."""
    priority: int | Callable[[Any], int] = 0
    """Jobs of a higher one start first; a function of the wildcards where jobs of the stage differ."""
    retries: int | None = None
    """Further attempts wherever it runs; None: those of the command line."""
    local: bool = False
    """Whether it runs where Snakemake does: downloads need a network, and what takes seconds is not worth a queue."""
    array: bool = False
    """Whether jobs that are ready together go to Slurm as one array."""
    asks: bool = False
    """Whether it sends questions to the chat model whose endpoint its settings name."""
    heading: str = ""
    """Where Snakemake's report shows the first output; empty: nowhere."""

    @functools.cached_property
    def wildcards(self) -> tuple[str, ...]:
        """The names whose values, joined with `/`, are the key of a job."""
        return tuple(dict.fromkeys(re.findall(r"{(\w+)}", next(iter(self.outputs.values())))))


def within(folder: str, **names: str) -> dict[str, str]:
    """Outputs in one folder."""
    return {output: f"{folder}/{name}" for output, name in names.items()}


def table(name: str) -> dict[str, str]:
    """A table of a paper, with its provenance."""
    return within("results/{paper}", out=f"{name}.tsv", provenance=f"{name}.provenance.json")
