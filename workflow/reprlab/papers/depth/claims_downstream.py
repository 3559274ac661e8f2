"""Claims of DEPTH about fine-tuning, emergence and continued pre-training."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reprlab.artifacts.tables import read_tsv
from reprlab.evaluation.bootstrap import mean_interval
from reprlab.papers.depth.claims_losses import at_last, over_batches, parts_gap, pooled, seeds_note
from reprlab.papers.depth.layouts import ClaimsLayout
from reprlab.papers.depth.published import DISCOEVAL, DISCOURSE_COHERENCE, GLUE, SENTENCE_POSITION
from reprlab.reporting.claims import ABOVE_ZERO, BELOW_ZERO, ClaimRow, Rule, decide, missing, not_testable
from reprlab.reporting.intervals import Estimate, ratio_difference
from reprlab.reporting.loss_table import ACCURACIES, sums_by_batch

if TYPE_CHECKING:
    import pandas

_TOO_SMALL = ("nano", "mini")
_REASON = "runs of a few hundred steps of a small model show no such effect; the number is reported and not judged"
_SEEDS_FOR_INTERVAL = 3
_NORMAL = 1.959964

_COMPARISONS = (
    ("D1", "From scratch, DEPTH beats T5 on GLUE (section 4.2)", "glue", "fs", GLUE, ABOVE_ZERO),
    ("D2", "From scratch, DEPTH beats T5 on DC (section 4.3)", "discoeval", "fs", DISCOURSE_COHERENCE, ABOVE_ZERO),
    ("D3", "From scratch, DEPTH beats T5 on SP (section 4.3)", "discoeval", "fs", SENTENCE_POSITION, ABOVE_ZERO),
    ("D4", "From scratch, DEPTH beats T5 on NI (section 4.4)", "ni", "fs", ("rougeL",), ABOVE_ZERO),
    ("D5", "Continued, DEPTH and T5 are within one point on GLUE (section 4.2)", "glue", "cpt", GLUE, Rule(-1.0, 1.0)),
    ("D6", "Continued, DEPTH beats T5 on DiscoEval (appendix G)", "discoeval", "cpt", DISCOEVAL, ABOVE_ZERO),
    ("D7", "Continued, DEPTH is behind T5 on NI (section 4.4)", "ni", "cpt", ("rougeL",), BELOW_ZERO),
)


def downstream_claims(layout: ClaimsLayout) -> list[ClaimRow]:
    """Claims D1 to D10."""
    cells: dict[str, pandas.DataFrame] = {str(name): read_tsv(path) for name, path in layout.cells.items()}
    rows = []
    for id, claim, table, init, columns, rule in _COMPARISONS:
        statistic = f"mean of DEPTH minus T5 over {', '.join(columns)} at the last checkpoint, points"
        found = _difference(cells.get(table), init, columns)
        rows.append(_judged(layout, id, claim, rule, statistic, found))
    rows.append(_emergence(layout, cells.get("discoeval")))
    return [*rows, *_continued(layout)]


def _judged(
    layout: ClaimsLayout, id: str, claim: str, rule: Rule, statistic: str, found: tuple[Estimate, str] | None
) -> ClaimRow:
    if layout.scale in _TOO_SMALL:
        note = _REASON if found else "not run in this configuration; " + _REASON.partition(";")[0]
        return not_testable(id, claim, rule, statistic, found[0] if found else None, note)
    if found is None:
        return missing(id, claim, rule, statistic, "not run in this configuration")
    return decide(id, claim, rule, statistic, found[0], found[1])


def _difference(cells: pandas.DataFrame | None, init: str, columns: tuple[str, ...]) -> tuple[Estimate, str] | None:
    """Mean over the columns that both models have, with an interval over seeds, or over examples below 3 seeds."""
    if cells is None:
        return None
    chosen = cells[(cells["init"] == init) & cells["column"].isin(columns)]
    chosen = chosen[chosen["step"] == chosen["step"].max()]
    sides = [chosen[chosen["model"] == model].set_index(["column", "seed"]) for model in ("depth", "t5")]
    shared = sides[0].index.intersection(sides[1].index)
    if not len(shared):
        return None
    depth, t5 = (side.loc[shared] for side in sides)
    differences = (depth["value"] - t5["value"]).groupby("seed").mean()
    if len(differences) >= _SEEDS_FOR_INTERVAL:
        value, low, high = mean_interval(differences.tolist())
        return Estimate(value, low, high, len(differences)), f"95% bootstrap over {len(differences)} seeds"
    errors = [(side["high"] - side["low"]) / (2 * _NORMAL) for side in (depth, t5)]
    error = math.sqrt(float(sum((part**2).sum() for part in errors))) / len(shared)
    value = float((depth["value"] - t5["value"]).mean())
    units = int(depth["n"].sum())
    return (
        Estimate(value, value - _NORMAL * error, value + _NORMAL * error, units),
        "95%, from the bootstrap over examples of each cell (normal), not over seeds",
    )


def _emergence(layout: ClaimsLayout, cells: pandas.DataFrame | None) -> ClaimRow:
    id, claim = "D8", "From scratch, DEPTH gains more than 10 points on DC-Wiki between 32k and 64k steps (section 4.3)"
    rule, statistic = Rule(low=10.0), "dc_wiki of DEPTH at step 64,000 minus step 32,000, points"
    found = None
    if cells is not None:
        rows = cells[(cells["init"] == "fs") & (cells["model"] == "depth") & (cells["column"] == "dc_wiki")]
        before, after = (rows[rows["step"] == step] for step in (32_000, 64_000))
        if len(before) and len(after):
            error = math.sqrt(sum(float(((part["high"] - part["low"]) ** 2).mean()) for part in (before, after))) / 2
            value = float(after["value"].mean() - before["value"].mean())
            found = (
                Estimate(value, value - error, value + error, int(after["n"].sum())),
                "95%, over examples (normal)",
            )
    return _judged(layout, id, claim, rule, statistic, found)


def _continued(layout: ClaimsLayout) -> Iterator[ClaimRow]:
    fs, cpt = at_last(pooled(layout.fs, "depth")), at_last(pooled(layout.cpt, "depth"))
    found = None
    if cpt is not None:
        found = (parts_gap(cpt, layout.statistics), f"{over_batches(layout.statistics)}; {seeds_note(layout.cpt)}")
    yield _judged(
        layout,
        "D9",
        "Continued, the sentence loss is about the reconstruction loss (appendix B, figure 9)",
        Rule(-0.1, 0.1),
        "sentence loss minus reconstruction loss of continued DEPTH at the last checkpoint, nats",
        found,
    )
    found = None
    if cpt is not None and fs is not None:
        both = [sums_by_batch(frame[frame["shuffled"]], ACCURACIES["sent_accuracy"]) for frame in (cpt, fs)]
        found = (ratio_difference(both[0], both[1], layout.statistics, paired=False), over_batches(layout.statistics))
    yield _judged(
        layout,
        "D10",
        "Continued DEPTH predicts the next sentence better than DEPTH from scratch (appendix B)",
        ABOVE_ZERO,
        "SENT accuracy on shuffled batches, continued minus from scratch, last checkpoints",
        found,
    )
