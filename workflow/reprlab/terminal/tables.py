"""What a run has made, as it is shown on a terminal when the run ends: tables cut to its width, verdicts counted."""

from __future__ import annotations

import csv
import functools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

_ROWS, _TABLES = 14, 2
_WIDEST = 24
_WHOLE = 10_000
"""Numbers from here on are written as whole ones."""
# Said by the file and the page; here there is room for keys and values.
_LEFT_OUT = {"scale", "seed", "seeds", "tuning_seed", "n", "steps", "tokens", "note", "source"}
_BESIDE = ("low_", "high_", "data_", "above_trivial_", "above_untrained_", "learned_")
_FLAGS = {"above_trivial": ("✓", "✗"), "above_untrained": ("▲", "▽")}
"""Signs of a score that is above the trivial baseline or the untrained model, and of one that is not."""
_OF = {"above_trivial": "the trivial baseline", "above_untrained": "the untrained model"}
_COLOURS = {"✓": "green", "✗": "red", "▲": "green", "▽": "yellow"}


def show_made(console: Console, run: Path, made: Sequence[Path], shown_as: str, again: Sequence[str]) -> None:
    """Print the first tables of a run, its claims, where its page lies, and one command that goes on from here.

    Args:
        made: tables and verdicts (`claims.tsv`) that the run has made; paths below `run`.
        shown_as: the run's folder as the user would type it, empty for the working folder.
        again: the settings that ask for this run.
    """
    say = functools.partial(console.print, soft_wrap=True)
    tables = [path for path in made if path.name != "claims.tsv"]
    signs: set[str] = set()
    for path in tables[:_TABLES]:
        table, left = table_of(run / path, console.width, signs)
        say(Text(f"{shown_as}{path}", "bold"))
        console.print(table, soft_wrap=False)
        if left:
            say(Text(left))
    if more := tables[_TABLES:]:
        say(Text(f"and {len(more)} more, such as {shown_as}{more[0]}"))
    if signs:
        said = [f"{''.join(pair)} above {_OF[name]} or not" for name, pair in _FLAGS.items() if {*pair} & signs]
        say(Text("; ".join(said)))
    for path in made:
        if path.name == "claims.tsv":
            counted = Counter(row["verdict"] for row in _rows(run / path))
            verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counted.items())
            say(Text(f"claims of {path.parent.name}: {verdicts}"))
    papers = list(dict.fromkeys(path.parent.name for path in made))
    page, whole = run / "results/report.html", [path.parent.name for path in made if path.name == "claims.tsv"]
    if page.is_file():
        say(Text(f"page: {shown_as}results/report.html"))
    if whole:
        settings = "; ".join([*again, f"build=[{', '.join(whole)}]"])
        say(Text(f"next: make report SET='{settings}'   # all of it as one page"))
    elif papers:
        settings = f" SET='{'; '.join(again)}'" if again else ""
        say(Text(f"next: make {papers[0]}{settings}   # all its tables, figures and claims"))


def table_of(path: Path, width: int, signs: set[str]) -> tuple[Table, str]:
    """The first rows of a table, as many of its columns as fit, and what is left out; `signs` gets the used signs."""
    rows = _rows(path)
    names = [name for name in (rows[0] if rows else ()) if name not in _LEFT_OUT and not _beside(name, rows[0])]
    varied = [name for name in names if len({row[name] for row in rows}) > 1 or len(rows) == 1]
    cells = {name: [_cell(row, name, signs) for row in rows[:_ROWS]] for name in varied or names}
    kept, room = [], width
    for name, column in cells.items():
        room -= min(max(len(name), *(cell.cell_len for cell in column)), _WIDEST) + 2
        if room < 0:
            break
        kept.append(name)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in kept:
        numbers = any(_is_number(row[name]) for row in rows)
        table.add_column(name, justify="right" if numbers else "left", no_wrap=True, max_width=_WIDEST)
    for place in range(min(len(rows), _ROWS)):
        table.add_row(*(cells[name][place] for name in kept))
    more = {"row": len(rows) - _ROWS, "column": len(cells) - len(kept)}
    left = [f"{count} more {what}{'s' * (count > 1)}" for what, count in more.items() if count > 0]
    return table, f"{' and '.join(left)} in the file" if left else ""


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))


def _beside(name: str, row: dict[str, str]) -> bool:
    """Whether a column says more of another one: its interval, its data, its flags."""
    of = [name.removeprefix(start) for start in _BESIDE if name.startswith(start)]
    of += [name.removesuffix(end) for end in ("_low", "_high") if name.endswith(end)]
    return any(one in row for one in of)


def _cell(row: dict[str, str], name: str, signs: set[str]) -> Text:
    number = float(row[name]) if _is_number(row[name]) else None
    text = Text(row[name] if number is None else f"{number:,.0f}" if abs(number) >= _WHOLE else f"{number:.4g}")
    for flag, pair in _FLAGS.items():
        if said := row.get(f"{flag}_{name}"):
            sign = pair[said.startswith("not")]
            signs.add(sign)
            text.append(f" {sign}", _COLOURS[sign])
    return text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
