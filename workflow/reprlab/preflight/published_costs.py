"""What each paper costs as published: `python -m reprlab.preflight.published_costs --write` rewrites the tables of
`resources/costs`, and the line of each page that sums them up."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.config.load import load_config
from reprlab.planning.cost_totals import read_total
from reprlab.planning.plan import Plan
from reprlab.planning.published_jobs import COSTS
from reprlab.plugins import load_plugin
from reprlab.reporting.cost_layout import CostLayout
from reprlab.runtime.errors import ReprlabError, told_in_one_line
from reprlab.runtime.files import write_text
from reprlab.runtime.folders import checkout_root

if TYPE_CHECKING:
    import pandas

_BEGIN, _END = "<!-- cost -->", "<!-- end of cost -->"


def published_layout(root: Path, paper: str) -> CostLayout:
    """The layout of a paper's own scale as shipped, in the short arithmetic of a GPU where settings leave it open."""
    plan = Plan()
    config = load_config(root, {"scale": "paper", "numerics": {"dtype": "bfloat16"}}, targets=[paper])
    load_plugin("papers", f"{paper.replace('-', '_')}.plan").add_jobs(plan, config)
    return CostLayout.model_validate_json(plan.job("estimate_cost", paper).settings["layout"])


def published_costs(root: Path, paper: str) -> "pandas.DataFrame":
    """The table of a paper."""
    from reprlab.models.build import quiet_transformers
    from reprlab.reporting.cost import cost_table

    quiet_transformers()
    return cost_table(published_layout(root, paper), "paper", root)


def page_with(text: str, words: str) -> str:
    """A page with other words between its markers.

    Raises:
        ReprlabError: it has no markers.
    """
    before, found, rest = text.partition(_BEGIN)
    _, ended, after = rest.partition(_END)
    if not found or not ended:
        raise ReprlabError(f"{_BEGIN} … {_END}: the page has no such markers; put them where its cost is to be")
    return f"{before}{_BEGIN}{words}{_END}{after}"


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Print the tables of some papers or all, or write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {COSTS} and the pages")
    parser.add_argument("papers", nargs="*", help="papers; all by default")
    given = parser.parse_args(arguments)
    root = checkout_root()
    for paper in given.papers or list(load_config(root).papers):
        text = published_costs(root, paper).to_csv(sep="\t", index=False, lineterminator="\n")
        if not given.write:
            sys.stdout.write(text)
            continue
        write_text(root / COSTS / f"{paper}.tsv", text)
        total, page = read_total(root, paper), root / f"docs/papers/{paper}.md"
        if total is not None:
            write_text(page, page_with(page.read_text(encoding="utf-8"), total.in_words()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
