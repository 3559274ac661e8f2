"""Counts and steps of the published settings, means and majorities, and statements that printed numbers decide."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Any

from reprlab.papers.intrinsic_dimension.results import CONDITIONS
from reprlab.reporting.audit import Found, found, mean, rounded
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import counted, majority
from reprlab.representations.prompts import demonstration_indices
from reprlab.representations.settings import PromptSettings

# tau/commonsense_qa, official training split.
_COMMONSENSE_TRAIN = 9_741


def points_of_figure(given: Given) -> int:
    """4.1: models and their layers, data sets and conditions."""
    settings, layers = given.settings, given.tables["models"].set_index("model")["layers"].astype(int)
    conditions = len(settings.comparison.shots) + 1
    return len(settings.data.datasets) * conditions * int(layers[settings.comparison.models].sum())


def steps(given: Given) -> Iterator[Found]:
    """5.9: steps of an epoch, of whole runs, and at which runs are evaluated: each 62 steps to 930, then the end."""
    settings = given.settings
    per_epoch = math.ceil(int(given.said["train_items"]) / settings.finetuning.batch_size)
    yield found(per_epoch, batch=settings.finetuning.batch_size)
    yield found(15 * per_epoch, planned=settings.sft_dynamics.steps)
    yield found(4 * per_epoch, planned=settings.comparison.steps)
    ladder = [0, *settings.sft_dynamics.ladder]
    each = [step for step in ladder if step % 62 == 0]
    yield found(len(ladder), len(ladder) == 17 and each == list(range(0, 931, 62)) and ladder[-1] == 15 * per_epoch)


def demonstrations(given: Given) -> Iterator[Any]:
    """5.9: those of items 0 to 2; how many are different where each is drawn once."""
    data, unique = given.settings.data, given.settings.icl_unique
    sizes = {"train_items": data.train_items, "validation_items": data.validation_items}
    prompts = PromptSettings(
        template="{text}", split="validation", demonstrations=2, seed=data.demonstration_seed, **sizes
    )
    yield demonstration_indices(3, data.train_items, prompts)
    k, items = max(unique.shots), data.validation_items
    drawn = demonstration_indices(items, unique.pool, prompts.model_copy(update={"demonstrations": k, "unique": True}))
    different = {index for indices in drawn for index in indices}
    yield found(len(different), printed=k * items, items=items, k=k)


def mean_accuracy(given: Given, *, condition: str) -> Decimal:
    return rounded(mean(given.tables["accuracy"][condition]), 4)


def majorities(given: Given) -> Iterator[Found]:
    """5.10: the most frequent class beside each row of Table 1."""
    counts = given.tables["label_counts"].query("split == 'validation'")
    for dataset, printed in given.tables["accuracy"].set_index("dataset").iterrows():
        most = majority(counts.loc[counts["dataset"] == dataset, "count"])
        below = ", ".join(name for name in CONDITIONS if Decimal(printed[name]) < most)
        note = f"below it: {below}" if below else "every condition is above it"
        yield found(rounded(most, 4), not below, dataset=dataset, row=printed, note=note)


def labels(given: Given) -> int:
    return given.tables["label_counts"].query("dataset == 'commonsense_qa'")["label"].nunique()


def disjoint_demonstrations(given: Given) -> Found:
    k = max(given.settings.icl_unique.shots)
    needed, said = k * given.settings.data.validation_items, given.said["unique_demonstrations commonsense_qa"]
    return found(needed, int(said) == needed <= _COMMONSENSE_TRAIN, items=_COMMONSENSE_TRAIN, k=k)


def conditions(given: Given) -> Iterator[Found]:
    """8.4: the best condition, and falls from one number of demonstrations to the next."""
    accuracy = given.tables["accuracy"].set_index("dataset")[[*CONDITIONS]].map(Decimal)
    yield counted(accuracy.idxmax(axis=1) == "sft_1k")
    falls = [
        f"{dataset} from {first} to {second}"
        for dataset, row in accuracy.iterrows()
        for first, second in pairwise(CONDITIONS[:-1])
        if row[second] < row[first]
    ]
    yield found(len(falls), not falls, note=f"it falls on {', '.join(falls)}" if falls else "")
