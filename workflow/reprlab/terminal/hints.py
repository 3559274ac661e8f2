"""Suggestions for a mistyped target."""

import logging
import re
from collections.abc import Callable, Iterable

from reprlab.planning.asked import nearest_target

_NO_RULE = re.compile(r"No rule to produce (.+?)(?: \(if you use input functions|$)", re.S)


class TargetHints(logging.Filter):
    """Turns the engine's message about a target that no rule makes into one line with the nearest name."""

    def __init__(self, targets: Callable[[], Iterable[str]]) -> None:
        super().__init__()
        self.targets = targets

    def filter(self, record: logging.LogRecord) -> bool:
        """Every record passes."""
        if getattr(record, "exception", "") == "MissingRuleException" and (
            found := _NO_RULE.search(record.getMessage())
        ):
            hint = nearest_target(found[1], list(self.targets()))
            record.msg, record.args = f"error: {found[1]}: no such target{hint}", ()
        return True
