"""Which files feed which table and claim.

`perf` gathers the scores of all jobs (`PerfLayout`); at paper scale there are hundreds, so their paths stand in the
rule's inputs alone. All other tables aggregate `perf.tsv` (`AggregateLayout`).
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from reprlab.papers.amuro_char.names import Pair
from reprlab.reporting.layouts import Scale, Statistics

_STRICT = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class PerfLayout(BaseModel):
    """`perf.tsv`: every score."""

    model_config = _STRICT

    scale: Scale
    """Scale of the run."""
    families: list[str]
    """Models in the order of the tables."""
    evals: list[str]
    """Evaluation sets in the order of the tables."""


class Groups(BaseModel):
    """Which pairs of evaluation and training set belong together."""

    model_config = _STRICT

    in_domain: list[Pair]
    """Single tasks on their own test sets (Figure 10)."""
    out_of_domain: dict[str, list[Pair]]
    """Task: its out-of-domain sets (Figures 5, 11, 15)."""
    mrc: dict[str, list[Pair]]
    """Direction of transfer: its pairs (section 4.3)."""
    cross_from_class: list[Pair]
    """Trained on classification, evaluated on another task (Figure 12)."""
    cross_from_generation: list[Pair]
    """Trained on generation, evaluated on classification (Figure 13)."""
    instruction: list[Pair]
    """The instruction-tuned model on its suite (Figure 9)."""
    learned_in_pretrain: list[Pair]
    """First group of Table 6, with the repetition of the original."""
    learned_in_finetune: list[Pair]
    """Second group of Table 6."""
    improving: list[str]
    """Evaluation sets of Figure 6a."""
    flat: list[str]
    """Evaluation sets of Figure 6b."""
    prediction_rows: dict[str, Pair]
    """Rows of Table 3."""
    examples: list[Pair] = []
    """The two pairs of Figure 7."""

    def known(self) -> list[Pair]:
        """All pairs of the groups of section 4, each once."""
        listed = [*self.in_domain, *self.cross_from_class, *self.cross_from_generation]
        listed += [pair for pairs in self.out_of_domain.values() for pair in pairs]
        return list(dict.fromkeys(listed))


class AggregateLayout(BaseModel):
    """A table of aggregates."""

    model_config = _STRICT

    scale: Scale
    """Scale of the run."""
    perf: Path
    """perf.tsv."""
    groups: Groups
    """Pairs."""
    fmt: str = "default"
    """Format of the prompts whose scores are aggregated."""
    shots: int
    """Demonstrations in those prompts."""
    paraphrase: list[str] = []
    """Evaluation sets whose golds the original lacked: those of the effect of `unlabelled_gold_as_no`."""
    golds_read_as_no: bool = False
    """Whether this run scored them so itself; then it has no scores with their labels."""
    statistics: Statistics = Statistics()
    """Bootstrap behind the intervals over pairs and checkpoints."""


class HoursLayout(BaseModel):
    """`gpu_hours.tsv`: the engine's own measurements."""

    model_config = _STRICT

    scale: Scale
    """Scale of the run."""
    benchmarks: str = "results/benchmarks"
    """Folder of the engine's measurements. They are no declared inputs: times are no results."""
    jobs: dict[str, dict[str, list[str]]]
    """Training set (or what is shared): activity: measurements below the folder."""
    device: str
    """Where the jobs ran, by the config."""


class ClaimsLayout(BaseModel):
    """Evidence of the claims."""

    model_config = _STRICT

    aggregate: AggregateLayout
    """perf.tsv and the groups."""
    pretraining: Path | None = None
    """TSV of evaluate_lm on the ladder; None where the checkpoints are public ones."""
