"""What the paper's result files are made from. (Planned jobs follow below.)"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class CellJob:
    """One job that fine-tunes or scores: its benchmark file lies at results/benchmarks/<stage>/<key with dots>.tsv."""

    stage: str
    """finetune_completions or score_completions."""
    key: str
    """Wildcards of the job, joined with dots."""
    family: str
    train: str
    """Training set; base where nothing was trained."""


@dataclass(frozen=True)
class Scored:
    """Where the scores are, and what they are scores of."""

    paths: list[str]
    """Score files, one row per (model, evaluation set, format, shots, method)."""
    pretraining: str
    """Held-out losses of the ladder that was trained here (`evaluate_lm`), empty where none was."""
    sets: dict[str, str]
    """Evaluation set to the true name of its data; sets without data are missing."""
    trainings: dict[str, str] = field(default_factory=dict)
    """Training set to the true name of its data; sets without data are missing."""
    families: dict[str, list[str]] = field(default_factory=dict)
    """Family to its checkpoints in order."""
    tuning: list[str] = field(default_factory=list)
    """Metrics of fine-tuning (`finetune_completions`): one row per checkpoint and learning rate."""
    jobs: list[CellJob] = field(default_factory=list)
    """The jobs behind the scores, for the hours of Table 4."""
