"""The answers and the table of verdicts on a paper's page, written from claims.tsv of its runs.

    python -m reprlab.runs.page_verdicts --paper asr-adapters            # print them
    python -m reprlab.runs.page_verdicts --paper asr-adapters --write    # renew them in docs/papers/asr-adapters.md
    python -m reprlab.runs.page_verdicts --readme --write                # and README's answers, from all pages

The page says where they belong, by a line `<!-- verdicts -->` and another `<!-- end of verdicts -->`. First the paper's
questions with their answers, then a row for every claim, whatever the verdict: the number at `mini` and at `small`, the
effect that four of five such runs would support, the verdict, the twin that learnt nothing, and what the verdict
depends on. Where a run is not at hand, its column stays as the page has it, and a claim that the page does not have yet
is not run.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reprlab.reporting.answers import OPEN, Answer
from reprlab.results.records import PaperResults, records_of
from reprlab.runtime.errors import ReprlabError, told_in_one_line

BEGIN, END = "<!-- verdicts -->", "<!-- end of verdicts -->"
SCALES = ("mini", "small")
COLUMNS = ("claim", "paper", *SCALES, "power", "verdict", "twin", "depends on")
NOT_RUN = "not run"
_BLOCK = re.compile(rf"^{re.escape(BEGIN)}\n(?P<body>.*?)^{re.escape(END)}$", flags=re.S | re.M)
_NO_MARKDOWN = str.maketrans({"|": "\\|", "<": "&lt;", ">": "&gt;", "\n": " ", "\r": " "})
_CELL = re.compile(r"(?<!\\)\|")
_SOURCE = {scale: re.compile(rf"^`{scale}`: (?:commit|on|no record).*$", flags=re.M) for scale in SCALES}


def renew(
    page: Path, text: str, records: PaperResults, answers: Sequence[Answer], runs: Mapping[str, Path]
) -> tuple[str, str]:
    """The text of a page with its answers and its table of verdicts made anew, and these alone.

    Args:
        answers: to the paper's questions.
        runs: claims.tsv by scale, where there is one.

    Raises:
        ReprlabError: the page has no place for it, or a file lacks a claim of the paper.
    """
    block = _BLOCK.search(text)
    if block is None:
        raise ReprlabError(f"{page}: has no place for verdicts; write the lines `{BEGIN}` and `{END}`")
    body = block["body"]
    table = render(records, runs, read_block(body), {scale: _SOURCE[scale].findall(body) for scale in SCALES})
    body = f"{answered(answers, read_block(table))}\n{table}"
    return text[: block.start("body")] + f"\n{body}\n" + text[block.end("body") :], body


def answered(answers: Sequence[Answer], rows: Mapping[str, Mapping[str, str]]) -> str:
    """A line for each question: its answer at each scale, with the number behind it."""
    lines = []
    for one in answers:
        row = rows[one.claim]
        said = [f"`{scale}`: {_answer(one, row[scale])}" for scale in SCALES]
        power = f" Four of five runs as that at `mini` would support {row['power']}." if row["power"] else ""
        lines.append(f"- **{one.asks}** {'; '.join(said)} ({one.claim}).{power}")
    return "\n".join(lines) + "\n"


def _answer(answer: Answer, cell: str) -> str:
    number, _, verdict = cell.rpartition(": ")
    return f"*{answer.words(verdict)}*, {number}" if number else cell


def decided(answers: Sequence[Answer], rows: Mapping[str, Mapping[str, str]]) -> str:
    """The answer to the first question that a run has decided, in a few words with its scale; else that none has."""
    for one in answers:
        for scale in reversed(SCALES):
            words = one.words(rows.get(one.claim, {}).get(scale, "").rpartition(": ")[2])
            if words != OPEN:
                return f"{one.asks} **{words[0].upper()}{words[1:]}** (`{scale}`)"
    return OPEN if rows else "no run of the present rules"


def readme(text: str, found: Mapping[str, str]) -> str:
    """README's list of papers with the last cell of each row, the answer, made anew.

    Args:
        found: the cell by slug.
    """
    for slug, cell in found.items():
        link = f"docs/papers/{slug}.md"
        row = re.compile(rf"^(\| \[`{re.escape(slug)}`\]\({re.escape(link)}\) \|.*\|) [^|]* \|$", flags=re.M)
        text = row.sub(lambda match, cell=cell: f"{match[1]} {plain(cell)} |", text)  # type: ignore[misc]
    return text


def table_rows(body: str) -> list[list[str]]:
    """The cells of the tables of a text by line, with their head and the rule below it."""
    lines = [line for line in body.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in _CELL.split(line.strip())[1:-1]] for line in lines]


def read_block(body: str) -> dict[str, dict[str, str]]:
    """The rows of a table of verdicts by claim; none of another table."""
    rows = table_rows(body)
    # A page may have the columns of a former version.
    if not rows or rows[0][0] != COLUMNS[0]:
        return {}
    found = {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[2:] if len(row) == len(rows[0])}
    return {id: {name: row.get(name, "") for name in COLUMNS} for id, row in found.items()}


def render(
    records: PaperResults,
    runs: Mapping[str, Path],
    former: Mapping[str, Mapping[str, str]],
    sources: Mapping[str, Sequence[str]],
) -> str:
    """The lines of the table, one for each claim, and where its numbers come from; `sources` are those of the page."""
    from reprlab.artifacts.tables import read_tsv

    # Claims that are numbered are named by text too.
    found = {scale: (path, read_tsv(path).astype({"id": str}).set_index("id")) for scale, path in runs.items()}
    twins = {id: twin.words for twin in records.twins for id in twin.claims}
    lines = ["| " + " | ".join(COLUMNS) + " |", "| " + " | ".join("---" for _ in COLUMNS) + " |"]
    for claim in records.claims:
        row = {"claim": claim.id, "paper": plain(claim.claim), "twin": plain(twins.get(claim.id, ""))}
        row |= {name: former.get(claim.id, {}).get(name, NOT_RUN if name in SCALES else "") for name in COLUMNS[2:]
                if name not in ("verdict", "twin")}  # fmt: skip
        for scale, (path, table) in found.items():
            if claim.id not in table.index:
                raise ReprlabError(f"{path}: has no row of claim {claim.id}; make it again")
            row[scale] = plain(_number(table.loc[claim.id]))
        if "mini" in found:
            about = found["mini"][1].loc[claim.id]
            # What a former run found when it varied its decisions is true of the same number.
            if (said := plain(_text(about.get("depends_on")))) or row["mini"] != former.get(claim.id, {}).get("mini"):
                row["depends on"] = said
            row["power"] = _effect(about.get("power"))
        row["verdict"] = _verdict({scale: row[scale] for scale in SCALES})
        lines.append("| " + " | ".join(row[name] for name in COLUMNS) + " |")
    origins = {
        scale: [_source(scale, found[scale][0])] if scale in found else sources.get(scale, ()) for scale in SCALES
    }
    return "\n".join([*lines, "", *(line for scale in SCALES for line in origins[scale])]) + "\n"


def _number(row: Any) -> str:
    """`-79.6 (-83.0 to -76.1): supported`."""
    estimate, low, high = (row[name] for name in ("estimate", "low", "high"))
    if estimate != estimate:
        return f"no number: {row['verdict']}"
    interval = f" ({low:.3g} to {high:.3g})" if low == low and high == high else ""
    return f"{estimate:.3g}{interval}: {row['verdict']}"


def _effect(power: Any) -> str:
    return "" if power is None or power != power else f"{power:.2g}"


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
    parts = [f"commit {commit}" if commit else "", f"on {plain(machine)}" if machine else ""]
    return f"`{scale}`: {', '.join(part for part in parts if part) or 'no record'}."


def plain(text: str) -> str:
    """A text in a cell of a table of Markdown."""
    return text.translate(_NO_MARKDOWN)


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)


def answers_of(slug: str) -> Sequence[Answer]:
    """The answers of a paper."""
    from reprlab.plugins import load_plugin

    found: Sequence[Answer] = getattr(load_plugin("papers", f"{slug.replace('-', '_')}.about"), "ANSWERS", ())
    return found


def page_rows(text: str) -> dict[str, dict[str, str]]:
    """The rows of a page's table of verdicts by claim; none where it has none."""
    block = _BLOCK.search(text)
    return read_block(block["body"]) if block else {}


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Print a page's verdicts, or write them into the page; returns the exit status."""
    from reprlab.config.papers import SLUGS
    from reprlab.runtime.files import write_text
    from reprlab.runtime.folders import checkout_root
    from reprlab.settings.errors import nearest

    parser = argparse.ArgumentParser(prog="python -m reprlab.runs.page_verdicts", description=__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--paper", help="slug of the paper whose page this is")
    which.add_argument("--readme", action="store_true", help="the answers in README, as the pages have them")
    for scale in SCALES:
        parser.add_argument(f"--{scale}", type=Path, help=f"folder of the run at {scale} (default: that of the scale)")
    parser.add_argument("--write", action="store_true", help="renew the table in the page")
    options = parser.parse_args(arguments)
    root = checkout_root()
    if options.readme:
        pages = {slug: (root / f"docs/papers/{slug}.md").read_text(encoding="utf-8") for slug in SLUGS}
        cells = {slug: decided(answers_of(slug), page_rows(text)) for slug, text in pages.items()}
        if options.write:
            write_text(root / "README.md", readme((root / "README.md").read_text(encoding="utf-8"), cells))
        sys.stdout.write("".join(f"{slug}: {cell}\n" for slug, cell in cells.items()))
        return 0
    if options.paper not in SLUGS:
        raise ReprlabError(f"{options.paper}: there is no such paper{nearest(options.paper, SLUGS)}")
    folders = {"mini": options.mini or root, "small": options.small or root / "runs/small"}
    runs = {scale: folder / "results" / options.paper / "claims.tsv" for scale, folder in folders.items()}
    runs = {scale: path for scale, path in runs.items() if path.is_file()}
    page = root / "docs/papers" / f"{options.paper}.md"
    if not runs and not page_rows(page.read_text(encoding="utf-8")):
        raise ReprlabError(f"results/{options.paper}/claims.tsv: no such file; make it first")
    records = records_of(options.paper.replace("-", "_"))
    text, written = renew(page, page.read_text(encoding="utf-8"), records, answers_of(options.paper), runs)
    if options.write:
        write_text(page, text)
    sys.stdout.write(f"{page}: renewed\n" if options.write else written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
