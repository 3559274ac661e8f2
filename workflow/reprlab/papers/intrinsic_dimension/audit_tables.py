"""Checks 5.9 and 5.10, the grid of Figure 46, and statements of the text that its own numbers decide."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from reprlab.papers.intrinsic_dimension.results import CONDITIONS
from reprlab.reporting.audit import AuditRow, check, judge, mean, not_checkable, rounded
from reprlab.representations.prompts import demonstration_indices
from reprlab.representations.settings import PromptSettings

if TYPE_CHECKING:
    from reprlab.config.papers.intrinsic_dimension import IntrinsicDimensionSettings

Tables = dict[str, Any]
_KNOWN_MEANS = ("0.4999", "0.5168", "0.5666", "0.6039", "0.6176", "0.7201")
_POINTS = 6_528
# tau/commonsense_qa, official training split.
_COMMONSENSE_TRAIN = 9_741


def points_of_figure(tables: Tables, settings: IntrinsicDimensionSettings) -> Iterator[AuditRow]:
    """Section 4: the points of Figure 46, from the models, data sets and conditions of the published settings."""
    layers = tables["models"].set_index("model")["layers"].astype(int)
    conditions = len(settings.comparison.shots) + 1
    found = len(settings.data.datasets) * conditions * int(layers[settings.comparison.models].sum())
    what = "points of Figure 46: models and their layers, data sets, conditions"
    yield check("", what, _POINTS, found, "known answer; not printed")


def steps(tables: Tables, settings: IntrinsicDimensionSettings) -> Iterator[AuditRow]:
    """5.9: steps, the ladder of the published settings, and demonstrations."""
    values = tables["statements"].set_index("quantity")["value"]
    per_epoch = math.ceil(int(values["train_items"]) / settings.finetuning.batch_size)
    note = "printed as about 62; the last batch is short (T5)"
    what = f"optimizer steps of an epoch, batch {settings.finetuning.batch_size}"
    yield check("", what, int(values["steps_per_epoch"]), per_epoch, note)
    runs = ((15, settings.sft_dynamics.steps), (4, settings.comparison.steps))
    for epochs, planned in runs:
        yield check("", f"steps of {epochs} epochs, as the settings have them", planned, epochs * per_epoch)
    ladder = [0, *settings.sft_dynamics.ladder]
    each = [step for step in ladder if step % 62 == 0]
    note = "each 62 steps to 930, then the end; multiples of 62 are no ends of epochs"
    right = len(ladder) == 17 and each == list(range(0, 931, 62)) and ladder[-1] == 15 * per_epoch
    yield judge("", "evaluated steps of the settings, 0 included", 17, len(ladder), right, note)
    data = settings.data
    prompts = PromptSettings(
        template="{text}",
        split="validation",
        train_items=data.train_items,
        validation_items=data.validation_items,
        demonstrations=2,
        seed=data.demonstration_seed,
    )
    found = demonstration_indices(3, data.train_items, prompts)
    known = [[654, 114], [25, 759], [281, 250]]
    yield check("", "demonstrations of items 0 to 2, k = 2", known, found, "released indices")
    k, items = max(settings.icl_unique.shots), data.validation_items
    unique = prompts.model_copy(update={"demonstrations": k, "unique": True})
    drawn = {index for indices in demonstration_indices(items, settings.icl_unique.pool, unique) for index in indices}
    note = "the released indices of this control are those of the main experiment (T3)"
    yield check(
        "", f"unique control: different demonstrations of {items} prompts, k = {k}", k * items, len(drawn), note
    )


def means_and_majorities(tables: Tables) -> Iterator[AuditRow]:
    """5.10: means of Table 1, and the most frequent class beside each of its rows."""
    accuracy, counts = tables["accuracy"], tables["label_counts"]
    for condition, known in zip(CONDITIONS, _KNOWN_MEANS, strict=True):
        found, what = rounded(mean(accuracy[condition]), 4), f"Table 1, mean of {condition} over 8 data sets"
        yield check("", what, Decimal(known), found, "known answer; not printed")
    for dataset, printed in accuracy.set_index("dataset").iterrows():
        of_set = counts.loc[(counts["dataset"] == dataset) & (counts["split"] == "validation"), "count"].astype(int)
        majority = Decimal(int(of_set.max())) / Decimal(int(of_set.sum()))
        below = [name for name in CONDITIONS if Decimal(printed[name]) < majority]
        what = f"{dataset}: Table 1 beats the most frequent class of the released validation labels"
        note = f"below it: {', '.join(below)}" if below else "every condition is above it"
        yield judge("", what, f"{printed['icl_0']} to {printed['sft_1k']}", rounded(majority, 4), not below, note)


def statements(tables: Tables, settings: IntrinsicDimensionSettings) -> Iterator[AuditRow]:
    """Statements of the text, by the number of the trap that they belong to."""
    accuracy = tables["accuracy"].set_index("dataset")
    values, counts = tables["statements"].set_index("quantity")["value"], tables["label_counts"]
    missing = "needs the tokenizers of the four models; tests show the difference on tokenizers of their kinds"
    what = "the scored token is the one that the model writes (label_ids)"
    yield not_checkable("8.1", what, "first token of the label", missing)
    labels = counts.loc[counts["dataset"] == "commonsense_qa", "label"].nunique()
    note = "the prompt shows A to D, the released answers have E as well"
    yield check("8.2", "label set of CommonsenseQA", values["label_choices"], str(labels), note)
    needed = max(settings.icl_unique.shots) * settings.data.validation_items
    printed = f"{values['unique_demonstrations']} needed"
    found = f"{needed} needed, {_COMMONSENSE_TRAIN} training items"
    enough = needed == int(values["unique_demonstrations"]) and needed <= _COMMONSENSE_TRAIN
    note = f"k = {max(settings.icl_unique.shots)}; the figures show QQP in its place"
    yield judge("8.3", "CommonsenseQA can give disjoint demonstrations", printed, found, enough, note)
    best = accuracy[list(CONDITIONS)].map(Decimal).idxmax(axis=1) == "sft_1k"
    what = "fine-tuning has the best accuracy on all data sets"
    yield judge("8.4a", what, f"all {len(best)} data sets", f"{best.sum()} data sets", bool(best.all()))
    falls = [
        f"{dataset} from {first} to {second}"
        for dataset, row in accuracy.iterrows()
        for first, second in pairwise(CONDITIONS[:-1])
        if Decimal(row[second]) < Decimal(row[first])
    ]
    note = f"it falls on {', '.join(falls)}" if falls else ""
    what = "accuracy never falls with more demonstrations"
    yield judge("8.4b", what, "increases and then plateaus", f"{len(falls)} falls", not falls, note)
