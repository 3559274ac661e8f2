"""Write the report: one HTML page with all results, and the summary table."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def write_report(
    *,
    papers: list[Path],
    scale: str,
    out: Path,
    summary: Path,
    edges: list[tuple[str, str]] | None = None,
    benchmarks: Path | None = None,
    receipts: list[Path] | None = None,
    licences: list[tuple[str, str]] | None = None,
    changes: list[tuple[str, str, str, str]] | None = None,
    command: str = "",
    needed: list[tuple[str, str]] | None = None,
    neighbours: Path | None = None,
) -> None:
    """Gather the results of all papers in a page that needs no network.

    Args:
        papers: their result folders, `results/<slug>`; each contributes its own section and nothing else.
        scale: scale of the run.
        out: the HTML page.
        summary: TSV with one row per paper.
        edges: of the graph of stages, from the one that makes a file to the one that reads it.
        benchmarks: folder of Snakemake's benchmark files, `<stage>/<job>.tsv`.
        receipts: receipts of the archives that were read.
        licences: of these archives, by name.
        changes: settings that differ from the published ones: paper, setting, published value, value here.
        command: what makes this run again, as a user types it.
        needed: papers, each with a benchmark file of a job that its results need, shared ones too.
        neighbours: the table of the published rivals of their methods, which may have no row.
    """
    from reprlab.artifacts.tables import read_tsv, write_tsv
    from reprlab.plugins import load_plugin
    from reprlab.reporting.benchmarks import read_benchmarks
    from reprlab.reporting.page.data import data_table
    from reprlab.reporting.page.folder import PaperFolder
    from reprlab.reporting.page.overview import summary_table
    from reprlab.reporting.page.report import render
    from reprlab.runtime.files import write_text

    folders = [PaperFolder(path, load_plugin("papers", f"{path.name.replace('-', '_')}.about")) for path in papers]
    jobs = read_benchmarks(benchmarks or Path())
    data = data_table(receipts or [], dict(licences or []))
    table = summary_table(folders, jobs, scale, needed or [])
    write_tsv(summary, table)
    rivals = read_tsv(neighbours) if neighbours else None
    write_text(out, render(folders, jobs, data, edges or [], table, out, changes, command, rivals))


if __name__ == "__main__":
    run_stage(write_report)
