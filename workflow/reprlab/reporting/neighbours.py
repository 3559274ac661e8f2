"""Verdicts on neighbours of a paper's method, as their table and the report have them."""

AHEAD = "ahead"
BEHIND = "behind"
LEVEL = "level"
NOT_TOLD_APART = "not told apart"
VERDICTS = (AHEAD, BEHIND, LEVEL, NOT_TOLD_APART)
