"""Jobs that read the printed values of a paper, which are part of the repository."""

from pathlib import Path

from reprlab.planning.plan import Job

MODELS = "config/models.yaml"

PUBLISHED = "resources/published"
COSTS = "resources/costs"
"""Tables of what the published runs are reckoned to take, which `reprlab.preflight.published_costs` writes."""


def published_files(root: Path, paper: str, *patterns: str) -> list[str]:
    """The paper's printed tables and how they are keyed, and files of further patterns, relative to the checkout."""
    folder = root / PUBLISHED / paper
    found = {path for pattern in ("*.tsv", "printed.yaml", *patterns) for path in folder.glob(pattern)}
    return sorted(path.relative_to(root).as_posix() for path in found)


def audit_job(root: Path, paper: str, plugin: str) -> Job:
    """The audit of a paper, by the module `plugin`; its settings file holds published values as well."""
    published = [*published_files(root, paper, "**/*.tsv", "**/audit.yaml"), f"config/papers/{paper}.yaml"]
    return Job(files={"published": published, "models": MODELS}, plugins=(plugin,))
