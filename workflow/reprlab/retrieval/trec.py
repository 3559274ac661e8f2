"""Runs and judgements in TREC's form: what was found for each query, and what is relevant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from reprlab.data.text_files import blank_cells, text_rows
from reprlab.runtime.errors import ReprlabError

Run = dict[str, dict[str, float]]
"""Query id: document id: score."""
Judgements = dict[str, dict[str, int]]
"""Query id: document id: grade."""


def ordered(scores: Mapping[str, float]) -> list[str]:
    """Documents best first as trec_eval orders them: by score in single precision, equal ones by descending id."""
    import numpy as np

    return sorted(scores, key=lambda name: (np.float32(scores[name]), name), reverse=True)


def without_ties(run: Run) -> Run:
    """The run with distinct scores in single precision, documents best first.

    Of equal scores the later one in `run` becomes the next smaller float32, so that trec_eval keeps their order.
    """
    import numpy as np

    found: Run = {}
    for query, scores in run.items():
        names, values = list(scores), np.array(list(scores.values()), dtype=np.float32)
        order = np.argsort(-values, kind="stable")
        values = values[order]
        # What is lowered may meet the next one, which is lowered then.
        while (tied := np.flatnonzero((values[1:] == values[:-1]) & np.isfinite(values[1:]))).size:
            values[tied + 1] = np.nextafter(values[tied], np.float32(-np.inf))
        found[query] = dict(zip((names[place] for place in order.tolist()), values.tolist(), strict=True))
    return found


def write_run(path: Path, run: Run, tag: str) -> None:
    """Write `query Q0 document rank score tag` lines, queries in their order; scores keep all digits of a float32.

    Raises:
        ReprlabError: an id has white space, which the form cannot hold.
    """
    from reprlab.runtime.files import write_text

    write_text(path, "".join(_lines(run, tag, path)))


def _lines(run: Run, tag: str, path: Path) -> Iterator[str]:
    for query, scores in run.items():
        for rank, document in enumerate(ordered(scores), start=1):
            if len(blank_cells(f"{query} {document}")) != 2 or "\n" in f"{query}{document}":
                raise ReprlabError(f"{path}: ids {query!r} and {document!r} must be words without white space")
            yield f"{query} Q0 {document} {rank} {scores[document]:.9g} {tag}\n"


def read_run(path: Path) -> Run:
    """Read a run; the column of ranks is ignored, as by trec_eval.

    Raises:
        ReprlabError: a line has not six columns, its score is not a number, or a query lists a document twice.
    """
    found: Run = {}
    for place, (query, document, text) in _columns(path, 6, (0, 2, 4)):
        if document in found.setdefault(query, {}):
            raise ReprlabError(f"{path}: line {place}: document {document} is listed twice under query {query}")
        found[query][document] = _number(path, place, text)
    return found


def read_judgements(path: Path) -> Judgements:
    """Read `query 0 document grade` lines.

    Raises:
        ReprlabError: a line has not four columns, or its grade is not a whole number.
    """
    found: Judgements = {}
    for place, (query, document, text) in _columns(path, 4, (0, 2, 3)):
        grade = _number(path, place, text)
        if grade != int(grade):
            raise ReprlabError(f"{path}: line {place}: the grade {text} is not a whole number")
        found.setdefault(query, {})[document] = int(grade)
    return found


def _columns(path: Path, width: int, wanted: tuple[int, ...]) -> Iterator[tuple[int, list[str]]]:
    try:
        rows = list(text_rows(path))
    except OSError as error:
        raise ReprlabError(f"{path}: cannot be read ({error})") from None
    # Behind the last line end there is nothing.
    for place, line in rows if rows[-1][1] else rows[:-1]:
        cells = blank_cells(line)
        if len(cells) != width:
            raise ReprlabError(f"{path}: line {place} has {len(cells)} columns, {width} are expected")
        yield place, [cells[column] for column in wanted]


def _number(path: Path, place: int, text: str) -> float:
    import math

    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ReprlabError(f"{path}: line {place}: {text!r} is not a number")
    return value
