"""The settings of a rehearsal: those of scale `paper` with their numbers cut, by rules on the settings' names.

A rule says the largest value that a setting of this name has in a rehearsal. It is the same for all papers, and it
never gives a value to what has none, so that the plan has the shape of the published one. Learning rates, seeds, grids,
lengths, prompts and everything that is not a number stay.
"""

from collections.abc import Mapping
from typing import Any

from reprlab.models.cut import LAYERS

LARGEST: Mapping[str, float] = {
    # Two updates on small batches.
    **dict.fromkeys(("steps", "horizon_steps", "batches", "accumulation", "resumed_epochs"), 2),
    **dict.fromkeys(("epochs", "chat_epochs", "epochs_by_task", "warmup_steps"), 1),
    **dict.fromkeys(("evaluation_every", "evaluate_every", "log_every"), 1),
    **dict.fromkeys(("evaluation_batches", "fit_batches", "loss_batches"), 2),
    "batch_size": 4,
    # Data to their first rows.
    **dict.fromkeys(("rows", "train_items", "train", "instances_per_task"), 24),
    "held_out": 1,
    **dict.fromkeys(("validation", "test", "examples", "quality_blocks", "excerpts"), 8),
    **dict.fromkeys(("validation_items", "pool"), 24),
    "neighbours": 5,
    "timed_events": 12,
    # Concepts occur a few times in so little text.
    "frequency": 10,
    **dict.fromkeys(("documents", "blocks", "case_study"), 40),
    "shards": 2,
    **dict.fromkeys(("sizes", "minutes", "transfer_minutes"), 0.1),
    # Models have two layers, and heads are as narrow.
    "hidden": 64,
    **dict.fromkeys(("tuning.rank", "factorised.rank"), 2),
    **dict.fromkeys(("layers", "best_layers"), LAYERS),
    # Few tokens are generated.
    **dict.fromkeys(("max_new_tokens", "free_tokens"), 4),
    "generation.length": 16,
    # What is drawn, timed or explained again and again.
    **dict.fromkeys(("bootstrap", "resamples"), 100),
    **dict.fromkeys(("draws", "repeats", "per_label", "features", "halves", "random"), 2),
    "warmups": 1,
    "batch": 4,
}
"""By the name of a setting, or the names of its group and it where others of that name are something else."""
_GROUPS = ("epochs_by_task", "best_layers")
"""Groups that map names to numbers: the rule of the group is that of each."""


def cut(values: Mapping[str, Any], group: str = "") -> dict[str, Any]:
    """The settings of a paper, or of the group of this name, that a rehearsal changes, nested as in `values`."""
    found = {name: _cut(name, value, group) for name, value in values.items()}
    return {name: value for name, value in found.items() if value != values[name] and value != {}}


def _cut(name: str, value: Any, group: str = "") -> Any:
    if isinstance(value, Mapping):
        if name in _GROUPS:
            return {key: _cut(name, one) for key, one in value.items()}
        return cut(value, name)
    if isinstance(value, list):
        if name == "ladder":
            return [1, 2] if len(value) > 1 else [2]
        if name == "tested":
            # Folds differ in their documents alone, and what joins the answers of all needs the answers of each.
            return value[:1]
        if name == "values":
            # Points of a way to merge differ in this number alone.
            return value[:2]
        found = [{**one, **cut(one)} if isinstance(one, Mapping) else _cut(name, one) for one in value]
        return [one for place, one in enumerate(found) if one not in found[:place]] if found != value else value
    largest = LARGEST.get(f"{group}.{name}", LARGEST.get(name))
    if isinstance(value, bool) or not isinstance(value, int | float) or largest is None:
        return value
    # 3.0 epochs are a number with a fraction, and stay one.
    return min(value, type(value)(largest) if isinstance(largest, int) else largest)
