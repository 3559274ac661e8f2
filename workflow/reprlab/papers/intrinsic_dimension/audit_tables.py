"""Counts and steps of the published settings, means and majorities, and statements that printed numbers decide."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

import torch

from reprlab.models.build import build_from_config
from reprlab.papers.intrinsic_dimension.results import CONDITIONS
from reprlab.reporting.audit import Found, found, rounded
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import counted, majority
from reprlab.representations.adapters import add_adapter
from reprlab.representations.settings import AdapterSettings
from reprlab.training.settings import EngineSettings, OptimizerSettings

# tau/commonsense_qa, official training split.
_COMMONSENSE_TRAIN = 9_741


def steps(given: Given) -> Iterator[Found]:
    """5.9: steps of an epoch, and of whole runs."""
    settings = given.settings
    per_epoch = math.ceil(int(given.said["train_items"]) / settings.finetuning.batch_size)
    yield found(per_epoch, batch=settings.finetuning.batch_size)
    yield found(15 * per_epoch, planned=settings.sft_dynamics.steps)
    yield found(4 * per_epoch, planned=settings.comparison.steps)


def parameters_of_adapters(given: Given) -> Iterator[Found]:
    """5.8: the adapters of the published settings as peft makes them, and all parameters of the model."""
    settings = given.settings.finetuning
    engine = EngineSettings(steps=0, batch_size=1, optimizer=OptimizerSettings(learning_rate=1e-4))
    about = {"engine": engine, "rank": settings.rank, "targets": settings.targets}
    adapters = AdapterSettings(**about, alpha=16, dropout=0.0, max_length=64)
    for row in given.tables["models"].itertuples(index=False):
        with torch.device("meta"):
            model = build_from_config(given.entry(row.model))
            total = sum(one.numel() for one in model.parameters())
            adapted = add_adapter(model, adapters)
        trained = sum(one.numel() for one in adapted.parameters() if one.requires_grad)
        of_adapters = f"parameters of adapters, r = {settings.rank}"
        yield found(trained, printed=row.adapter_parameters, counted=of_adapters, row=row)
        yield found(total, printed=row.parameters, counted="parameters, on the meta device", row=row)


def majorities(given: Given) -> Iterator[Found]:
    """5.10: the most frequent class beside each row of Table 1."""
    counts = given.tables["label_counts"].query("split == 'validation'")
    for dataset, printed in given.tables["accuracy"].set_index("dataset").iterrows():
        most = majority(counts.loc[counts["dataset"] == dataset, "count"])
        below = ", ".join(name for name in CONDITIONS if Decimal(printed[name]) < most)
        note = f"below it: {below}" if below else "every condition is above it"
        shown = ", ".join(f"{name} {printed[name]}" for name in CONDITIONS)
        yield found(rounded(most, 4), not below, dataset=dataset, shown=shown, note=note)


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
