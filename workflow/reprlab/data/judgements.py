"""Judgements of a published set, each of which counts once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reprlab.data.sources import FaultyRows
from reprlab.runtime.log import get_logger


def judged_once(
    judgements: Iterable[tuple[str, str, int]], place: str, faulty: FaultyRows
) -> Iterator[tuple[str, str, int]]:
    """(query, passage, grade), the first of each query and passage; the same again is counted in the log.

    Args:
        place: the file, for messages.

    Raises:
        ReprlabError: a pair has two grades, of which the first would count, and the entry knows of fewer faulty rows.
    """
    grades: dict[tuple[str, str], int] = {}
    again = 0
    for query, passage, grade in judgements:
        before = grades.get((query, passage))
        if before is None:
            grades[query, passage] = grade
            yield query, passage, grade
        elif before == grade:
            again += 1
        else:
            faulty.leave_out(f"{place}: judges {passage} for query {query} with two grades, {before} and {grade}")
    if again:
        get_logger().info("%s: %d judgements are given again with the same grade; each counts once", place, again)
