"""Suggestions for a mistyped target."""

import logging
import re
from collections.abc import Callable, Iterable

from reprlab.settings.errors import nearest

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
            hint = nearest(found[1], self.targets()) or "; `make list` shows what there is"
            record.msg, record.args = f"error: {found[1]}: no such target{hint}", ()
        return True
