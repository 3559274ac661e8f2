"""Hours and depths of the two variants that the paper prints in Tables 1 and 2."""

from pathlib import Path

from reprlab.papers.overparameterized_encoders.plan_backbone import NAME
from reprlab.papers.overparameterized_encoders.results import CHOSEN, LABELS
from reprlab.planning.cost_rules.representations import BOUNDED
from reprlab.reporting.cost_layout import CostRun
from reprlab.reporting.published import read_printed


def with_hours(root: Path, run: CostRun) -> CostRun:
    """The run with the hours of its training and the layers that were chosen, where they are printed."""
    model, _, cell = run.name.partition("/")
    found = [depth for depth in CHOSEN if cell.split("_")[-1:] == [depth] or f"_{depth}_" in cell]
    if run.encoder is None or not found or model not in LABELS:
        return run
    (depth,) = found
    sizes = read_printed(root, "overparameterized-encoders", "table1", keys=2)
    layers = int(sizes[f"{LABELS[model]} {depth}"]["layers"])
    known = {"encoder": run.encoder.model_copy(update={"layers": layers}), "note": _without_bound(run.note)}
    # A neighbour of that depth has hours of its own, which nobody printed.
    if run.stage == "train_encoder" and cell == f"{NAME}_{depth}":
        minutes = read_printed(root, "overparameterized-encoders", "table2")[LABELS[model]][depth]
        known["published_hours"] = f"{float(minutes) / 60:.3f}"
    return run.model_copy(update=known)


def _without_bound(note: str) -> str:
    return "; ".join(part for part in note.split("; ") if part != BOUNDED)
