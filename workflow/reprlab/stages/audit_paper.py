"""Audit a paper's own arithmetic, without training and without network."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def audit_paper(*, paper: str, published: list[Path], models: Path, out: Path) -> None:
    """Write the audit of a paper: one row per check, with the verdict agrees, differs or not checkable.

    Args:
        paper: its slug.
        published: its printed tables, the records of its audit, its settings, and what else its checks read.
        models: the registry of models, for parameter counts.
        out: TSV with the columns id, what, printed, recomputed, verdict, note.
    """
    from reprlab.reporting.audit import write_audit
    from reprlab.reporting.audit_records import audit
    from reprlab.reporting.provenance import write_provenance

    write_audit(out, audit(paper, published, models))
    write_provenance(out, stage="audit_paper", settings={"paper": paper}, inputs=[*published, models])


if __name__ == "__main__":
    run_stage(audit_paper)
