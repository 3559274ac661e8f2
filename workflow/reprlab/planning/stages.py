"""All stages, and what their wildcards may be."""

import re
from collections.abc import Iterable

from reprlab.planning.declared import (
    audio,
    completions,
    concepts,
    coreference,
    data,
    events,
    features,
    models,
    music,
    representations,
    reranking,
    results,
    sentences,
    seq2seq,
    text,
)
from reprlab.planning.stage import Stage
from reprlab.runtime.errors import ReprlabError


def by_name(declared: Iterable[Stage]) -> dict[str, Stage]:
    """Stages by name.

    Raises:
        ReprlabError: two have one name.
    """
    found: dict[str, Stage] = {}
    for stage in declared:
        if found.setdefault(stage.name, stage) is not stage:
            raise ReprlabError(f"{stage.name}: two stages have this name; rename one of them")
    return found


_TABLES = (
    data,
    text,
    concepts,
    models,
    completions,
    representations,
    sentences,
    seq2seq,
    reranking,
    events,
    features,
    music,
    coreference,
    audio,
    results,
)
STAGES = by_name(stage for table in _TABLES for stage in table.STAGES)

_WORD = "[a-z0-9_]+"
_OF_A_PAPER = re.compile(r"results/(?:{paper}|[a-z-]+)/([^/.]+)\.(?:tsv|provenance\.json)")


def wildcard_constraints(papers: Iterable[str]) -> dict[str, str]:
    """Regular expressions by wildcard, so that each file has one stage that makes it: names of settings in all but
    `cell`, and a table is none of those that another stage writes."""
    written = {
        re.sub(r"{\w+}", _WORD, found[1])
        for stage in STAGES.values()
        for pattern in stage.outputs.values()
        if (found := _OF_A_PAPER.fullmatch(pattern)) and found[1] != "{table}"
    }
    # Made by a command of its own, from several runs (`reprlab.planning.sensitivity`).
    written.add("sensitivity")
    return {
        **{wildcard: _WORD for stage in STAGES.values() for wildcard in stage.wildcards},
        "cell": "[A-Za-z0-9_.-]+",
        "paper": "|".join(map(re.escape, papers)),
        "table": rf"(?!(?:{'|'.join(sorted(written))})\b){_WORD}",
    }
