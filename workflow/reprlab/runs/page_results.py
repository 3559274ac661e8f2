"""Tables of measured results in pages of docs, written from the result files of a run.

    python -m reprlab.runs.page_results --paper depth --scale mini            # print the page's tables of mini
    python -m reprlab.runs.page_results --paper depth --scale mini --write    # renew them in docs/papers/depth.md

A page declares each of its tables in a comment, and the command renews what follows it, up to the next
`<!-- end of results -->`:

    <!-- results
    scale: mini
    table: event-relations/table2.tsv
    rows: {retriever: [none, sbert_ft], k: 5}
    columns: {retriever: trained and tested on, f1: micro F1}
    claims: event-relations/claims.tsv
    -->

Files lie below `results/` of the run. `rows` keeps those whose columns have one of the values given, in the order of
the file, and `any`, a list of such mappings, those that are as one of them asks; `columns` names what is shown, with
its heading; `decimals` (1 unless given) is a number for all columns, or one for each. A column with an interval,
`low_<column>` and `high_<column>` (`low` and `high` beside `value`), shows it. `claims` adds the verdicts.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy
from pydantic import Field, ValidationError

from reprlab.config.runtime import SCALES
from reprlab.runtime.errors import ReprlabError, told_in_one_line
from reprlab.settings.base import Settings

if TYPE_CHECKING:
    import pandas

END = "<!-- end of results -->"
_BLOCK = re.compile(
    rf"^(?P<head><!-- results\n(?P<spec>.*?)\n-->\n)(?P<body>.*?)^(?={re.escape(END)}$)", flags=re.S | re.M
)
_NO_MARKDOWN = str.maketrans({"|": "\\|", "<": "&lt;", ">": "&gt;", "\n": " ", "\r": " "})


class Block(Settings):
    """The declaration of one table of a page; see the module."""

    scale: str
    table: str
    rows: dict[str, Any] = Field(default_factory=dict)
    any: list[dict[str, Any]] = Field(default_factory=list)
    columns: dict[str, str] = Field(min_length=1)
    decimals: int | dict[str, int] = 1
    claims: str | None = None


def renew(page: Path, text: str, folder: Path, scale: str) -> tuple[str, list[str]]:
    """The text of a page with its tables of a scale made from the results in `folder`, and these tables.

    Raises:
        ReprlabError: the page declares no table of this scale, a declaration is wrong, or results are missing.
    """
    written: list[str] = []

    def one(found: re.Match[str]) -> str:
        block = parse(found["spec"], str(page))
        if block.scale != scale:
            return found[0]
        written.append(render(block, folder, str(page)))
        return f"{found['head']}\n{written[-1]}\n"

    renewed = _BLOCK.sub(one, text)
    if not written:
        raise ReprlabError(f"{page}: declares no table of {scale}; write `<!-- results` with its scale above it")
    return renewed, written


def parse(spec: str, page: str) -> Block:
    """The declaration that a comment holds.

    Raises:
        ReprlabError: it is not YAML, or a key is missing, unknown or of another type.
    """
    from reprlab.settings.errors import registry_error
    from reprlab.settings.yaml_text import parse_yaml

    values = parse_yaml(spec, name=page).values
    try:
        return Block.model_validate(values)
    except ValidationError as error:
        raise registry_error(error, Block, f"{page}, results: ") from None


def render(block: Block, folder: Path, page: str) -> str:
    """The lines of a table, where they come from, and the verdicts.

    Raises:
        ReprlabError: a file, column or row that the block names does not exist.
    """
    frame = _selected(block, folder, page)
    lines = ["| " + " | ".join(block.columns.values()) + " |", "| " + " | ".join("---" for _ in block.columns) + " |"]
    cells = [_cells(frame, name, _decimals(block, name)) for name in block.columns]
    lines += ["| " + " | ".join(row) + " |" for row in zip(*cells, strict=True)]
    lines += ["", _source(block, folder)]
    if block.claims:
        lines.append(_verdicts(_read(folder / block.claims, folder)))
    return "\n".join(lines) + "\n"


def _read(path: Path, folder: Path) -> pandas.DataFrame:
    from reprlab.artifacts.tables import read_tsv

    if not path.is_file():
        raise ReprlabError(f"{path}: no such file; make results/{path.relative_to(folder)} of this run first")
    return read_tsv(path)


def _selected(block: Block, folder: Path, page: str) -> pandas.DataFrame:
    from reprlab.settings.errors import nearest

    frame = _read(folder / block.table, folder)
    for name in [*block.rows, *(name for one in block.any for name in one), *block.columns]:
        if name not in frame:
            known = nearest(name, map(str, frame.columns))
            raise ReprlabError(f"{page}, results: {block.table} has no column {name!r}{known}")
    kept = _as_asked(frame, block.rows)
    if block.any:
        kept &= numpy.logical_or.reduce([_as_asked(frame, one) for one in block.any])
    if not kept.any():
        raise ReprlabError(f"{page}, results: {block.table} has no row that `rows` or `any` asks for")
    return frame[kept]


def _as_asked(frame: pandas.DataFrame, asked: dict[str, Any]) -> numpy.ndarray:
    """Whether each row has one of the values asked for in every column named."""
    kept = numpy.ones(len(frame), dtype=bool)
    for name, given in asked.items():
        values = {_text(value) for value in (given if isinstance(given, list) else [given])}
        kept &= frame[name].map(_text).isin(values).to_numpy()
    return kept


def _text(value: Any) -> str:
    """A value as text: 5 and 5.0 are the same, and a missing value is empty."""
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _decimals(block: Block, name: str) -> int:
    return block.decimals if isinstance(block.decimals, int) else block.decimals.get(name, 1)


def _cells(frame: pandas.DataFrame, name: str, decimals: int) -> list[str]:
    import pandas

    column = frame[name]
    known = column.dropna()
    if not pandas.api.types.is_numeric_dtype(column) or pandas.api.types.is_bool_dtype(column):
        return [_text(value).translate(_NO_MARKDOWN) for value in column]
    low, high = ("low", "high") if name == "value" else (f"low_{name}", f"high_{name}")
    interval = low in frame and high in frame
    if len(known) and (known % 1 == 0).all() and not interval:
        return [_text(value) for value in column]
    shown = ["" if value != value else f"{value:.{decimals}f}" for value in column]
    if not interval:
        return shown
    ends = zip(frame[low], frame[high], strict=True)
    return [
        f"{text} ({low:.{decimals}f} to {high:.{decimals}f})" if text and low == low and high == high else text
        for text, (low, high) in zip(shown, ends, strict=True)
    ]


def _source(block: Block, folder: Path) -> str:
    """Where a table comes from: the run or the benchmark, and the machine, as the record beside it names them."""
    from reprlab.artifacts.json_files import read_json

    table = folder / block.table
    record = table.with_name(f"{table.stem}.provenance.json")
    about = read_json(record) if record.is_file() else {}
    name, settings = about.get("machine", {}).get("cpu", ""), about.get("settings", {})
    on = f", on {name.translate(_NO_MARKDOWN)}" if name else ""
    if str(about.get("stage", "")).startswith("benchmarks/"):
        load = f" at a load of {settings['load']} on {settings['processors']} processors" if "load" in settings else ""
        return f"Written by `{about['stage']}`{on}{load}."
    return f"From `results/{block.table}` of a run at `{block.scale}`{on}."


def _verdicts(claims: pandas.DataFrame) -> str:
    """Claims by verdict, in the order of the file."""
    found: dict[str, list[str]] = {}
    for verdict, name in zip(claims["verdict"].map(_text), claims["id"].map(_text), strict=True):
        found.setdefault(verdict, []).append(name)
    parts = [f"{verdict}: {', '.join(names)}" for verdict, names in found.items()]
    return f"Claims {'; '.join(parts)}.".translate(_NO_MARKDOWN)


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Print a page's tables, or write them into the page; returns the exit status."""
    from reprlab.config.load import DEFAULT_SCALE
    from reprlab.runtime.files import write_text
    from reprlab.runtime.folders import checkout_root

    parser = argparse.ArgumentParser(
        prog="python -m reprlab.runs.page_results",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    page = parser.add_mutually_exclusive_group(required=True)
    page.add_argument("--paper", help="slug of the paper whose page this is")
    page.add_argument("--page", type=Path, help="any other page, such as README.md")
    parser.add_argument("--scale", choices=SCALES, default=DEFAULT_SCALE, help="whose tables are made (default: mini)")
    parser.add_argument("--run", type=Path, help="folder that holds the run's results/ (default: that of the scale)")
    parser.add_argument("--write", action="store_true", help="renew the tables in the page")
    options = parser.parse_args(arguments)
    root = checkout_root()
    path = options.page or root / "docs" / "papers" / f"{options.paper}.md"
    run = options.run or (root if options.scale == DEFAULT_SCALE else root / "runs" / options.scale)
    if not path.is_file():
        raise ReprlabError(f"{path}: no such page")
    text, tables = renew(path, path.read_text(encoding="utf-8"), run / "results", options.scale)
    if options.write:
        write_text(path, text)
    sys.stdout.write(f"{path}: renewed\n" if options.write else "\n".join(tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
