"""The table of verdicts on a paper's page, written from claims.tsv of its runs.

    python -m reprlab.runs.page_verdicts --paper asr-adapters            # print it
    python -m reprlab.runs.page_verdicts --paper asr-adapters --write    # renew it in docs/papers/asr-adapters.md

The page says where it belongs, by a line `<!-- verdicts -->` and another `<!-- end of verdicts -->`. It has a row for
every claim of the paper, whatever the verdict: the number at `mini` and at `small`, the verdict, the twin that learnt
nothing, and what the verdict depends on. Where a run is not at hand, its column stays as the page has it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reprlab.results.records import PaperResults, records_of
from reprlab.runtime.errors import ReprlabError, told_in_one_line

BEGIN, END = "<!-- verdicts -->", "<!-- end of verdicts -->"
SCALES = ("mini", "small")
COLUMNS = ("claim", "paper", *SCALES, "verdict", "twin", "depends on")
NOT_RUN = "not run"
_BLOCK = re.compile(rf"^{re.escape(BEGIN)}\n(?P<body>.*?)^{re.escape(END)}$", flags=re.S | re.M)
_NO_MARKDOWN = str.maketrans({"|": "\\|", "<": "&lt;", ">": "&gt;", "\n": " ", "\r": " "})
_CELL = re.compile(r"(?<!\\)\|")


def renew(page: Path, text: str, records: PaperResults, runs: Mapping[str, Path]) -> tuple[str, str]:
    """The text of a page with its table of verdicts made anew, and the table.

    Args:
        runs: claims.tsv by scale, where there is one.

    Raises:
        ReprlabError: the page has no place for it, or a file lacks a claim of the paper.
    """
    block = _BLOCK.search(text)
    if block is None:
        raise ReprlabError(f"{page}: has no place for verdicts; write the lines `{BEGIN}` and `{END}`")
    table = render(records, runs, read_block(block["body"]))
    return text[: block.start("body")] + f"\n{table}\n" + text[block.end("body") :], table


def read_block(body: str) -> dict[str, dict[str, str]]:
    """The rows of a table of verdicts by claim; none of another table."""
    lines = [line for line in body.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in _CELL.split(line.strip())[1:-1]] for line in lines]
    if not rows or tuple(rows[0]) != COLUMNS:
        return {}
    return {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in rows[2:] if len(row) == len(COLUMNS)}


def render(records: PaperResults, runs: Mapping[str, Path], former: Mapping[str, Mapping[str, str]]) -> str:
    """The lines of the table, one for each claim, and where its numbers come from."""
    from reprlab.artifacts.tables import read_tsv

    found = {scale: (path, read_tsv(path).set_index("id")) for scale, path in runs.items()}
    twins = {id: twin.words for twin in records.twins for id in twin.claims}
    lines = ["| " + " | ".join(COLUMNS) + " |", "| " + " | ".join("---" for _ in COLUMNS) + " |"]
    for claim in records.claims:
        row = {"claim": claim.id, "paper": _plain(claim.claim), "twin": _plain(twins.get(claim.id, ""))}
        row |= {name: former.get(claim.id, {}).get(name, NOT_RUN if name in SCALES else "") for name in COLUMNS[2:]
                if name not in ("verdict", "twin")}  # fmt: skip
        for scale, (path, table) in found.items():
            if claim.id not in table.index:
                raise ReprlabError(f"{path}: has no row of claim {claim.id}; make it again")
            row[scale] = _plain(_number(table.loc[claim.id]))
        if "mini" in found and "depends_on" in found["mini"][1]:
            row["depends on"] = _plain(_text(found["mini"][1].loc[claim.id, "depends_on"]))
        row["verdict"] = _verdict({scale: row[scale] for scale in SCALES})
        lines.append("| " + " | ".join(row[name] for name in COLUMNS) + " |")
    return "\n".join([*lines, "", *(_source(scale, path) for scale, (path, _) in found.items())]) + "\n"


def _number(row: Any) -> str:
    """`-79.6 (-83.0 to -76.1): supported`."""
    estimate, low, high = (row[name] for name in ("estimate", "low", "high"))
    if estimate != estimate:
        return f"no number: {row['verdict']}"
    interval = f" ({low:.3g} to {high:.3g})" if low == low and high == high else ""
    return f"{estimate:.3g}{interval}: {row['verdict']}"


def _verdict(cells: Mapping[str, str]) -> str:
    said = {scale: cell.rpartition(": ")[2] for scale, cell in cells.items() if cell != NOT_RUN}
    if len(set(said.values())) <= 1:
        return next(iter(said.values()), NOT_RUN)
    return "; ".join(f"{scale}: {verdict}" for scale, verdict in said.items())


def _source(scale: str, path: Path) -> str:
    """The run behind a column: its commit and machine, as the record beside the table names them."""
    from reprlab.artifacts.json_files import read_json

    record = path.with_name("claims.provenance.json")
    about = read_json(record) if record.is_file() else {}
    commit, machine = str(about.get("commit") or "")[:10], about.get("machine", {}).get("cpu", "")
    parts = [f"commit {commit}" if commit else "", f"on {_plain(machine)}" if machine else ""]
    return f"`{scale}`: {', '.join(part for part in parts if part) or 'no record'}."


def _plain(text: str) -> str:
    return text.translate(_NO_MARKDOWN)


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Print a page's table of verdicts, or write it into the page; returns the exit status."""
    from reprlab.config.papers import SLUGS
    from reprlab.runtime.files import write_text
    from reprlab.runtime.folders import checkout_root
    from reprlab.settings.errors import nearest

    parser = argparse.ArgumentParser(prog="python -m reprlab.runs.page_verdicts", description=__doc__)
    parser.add_argument("--paper", required=True, help="slug of the paper whose page this is")
    for scale in SCALES:
        parser.add_argument(f"--{scale}", type=Path, help=f"folder of the run at {scale} (default: that of the scale)")
    parser.add_argument("--write", action="store_true", help="renew the table in the page")
    options = parser.parse_args(arguments)
    if options.paper not in SLUGS:
        raise ReprlabError(f"{options.paper}: there is no such paper{nearest(options.paper, SLUGS)}")
    root = checkout_root()
    folders = {"mini": options.mini or root, "small": options.small or root / "runs/small"}
    runs = {scale: folder / "results" / options.paper / "claims.tsv" for scale, folder in folders.items()}
    runs = {scale: path for scale, path in runs.items() if path.is_file()}
    if not runs:
        raise ReprlabError(f"results/{options.paper}/claims.tsv: no such file; make it first")
    page = root / "docs/papers" / f"{options.paper}.md"
    records = records_of(options.paper.replace("-", "_"))
    text, table = renew(page, page.read_text(encoding="utf-8"), records, runs)
    if options.write:
        write_text(page, text)
    sys.stdout.write(f"{page}: renewed\n" if options.write else table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
