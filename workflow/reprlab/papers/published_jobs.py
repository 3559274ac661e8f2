"""Jobs that read the printed values of a paper, which are part of the repository."""

from pathlib import Path

from reprlab.papers.plan import Job

MODELS = "config/models.yaml"


def published_files(root: Path, paper: str, pattern: str = "*.tsv") -> list[str]:
    """The paper's printed values, relative to the checkout `root`."""
    folder = root / "resources/published" / paper
    return sorted(path.relative_to(root).as_posix() for path in folder.glob(pattern))


def audit_job(root: Path, paper: str, plugin: str) -> Job:
    """The audit of a paper, by the module `plugin`; its settings file holds published values as well."""
    tables, records = (published_files(root, paper, f"**/{kind}") for kind in ("*.tsv", "audit.yaml"))
    published = [*tables, *records, f"config/papers/{paper}.yaml"]
    return Job(files={"published": published, "models": MODELS}, plugins=(plugin,))
