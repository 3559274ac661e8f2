"""The claims of DEPTH, and the rules that decide them.

L1 to L8 are visible in short runs and are decided at every scale. D1 to D8 are about downstream scores, emergence and
continued pre-training, which runs of a few hundred steps cannot show: below the `small` scale their numbers are
reported and not judged.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from reprlab.papers.depth.claims_downstream import downstream_claims
from reprlab.papers.depth.claims_losses import loss_claims
from reprlab.papers.depth.layouts import ClaimsLayout
from reprlab.reporting.claims import ClaimRow
from reprlab.reporting.layouts import paths_of
from reprlab.runtime.errors import ReprlabError


def claims(layout: str, inputs: list[Path]) -> list[ClaimRow]:
    """All claims, from a `ClaimsLayout` given as JSON.

    Raises:
        ReprlabError: the layout is not valid or names a file that is no input.
    """
    try:
        parsed = ClaimsLayout.model_validate_json(layout)
    except ValidationError as error:
        first = error.errors()[0]
        raise ReprlabError(f"layout of claims: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    undeclared = sorted(str(path) for path in set(paths_of(parsed)) - set(inputs))
    if undeclared:
        raise ReprlabError(f"layout of claims: {undeclared[0]} is not among the inputs; add it to the rule's input")
    return [*loss_claims(parsed), *downstream_claims(parsed)]
