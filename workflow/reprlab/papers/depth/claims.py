"""The claims of DEPTH, and the rules that decide them.

L1 to L8 are visible in short runs and are decided at every scale. D1 to D8 are about downstream scores, emergence and
continued pre-training, which runs of a few hundred steps cannot show: below the `small` scale their numbers are
reported and not judged.
"""

from __future__ import annotations

from pathlib import Path

from reprlab.papers.depth.claims_downstream import downstream_claims
from reprlab.papers.depth.claims_losses import loss_claims
from reprlab.papers.depth.layouts import ClaimsLayout
from reprlab.reporting.claims import ClaimRow
from reprlab.reporting.layouts import read_layout


def claims(layout: str, inputs: list[Path]) -> list[ClaimRow]:
    """All claims, from a `ClaimsLayout` given as JSON.

    Raises:
        ReprlabError: the layout is not valid or names a file that is no input.
    """
    parsed = read_layout(ClaimsLayout, layout, inputs, "claims")
    return [*loss_claims(parsed), *downstream_claims(parsed)]
