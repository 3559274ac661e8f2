"""Jobs around labelled examples that any paper may ask for: baselines, fine-tuning, choice of learning rates."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reprlab.evaluation.settings import BaselineSettings
from reprlab.planning.plan import Job, Plan
from reprlab.registry.dataset_entries import TaskEntry
from reprlab.results.sources import Baseline
from reprlab.training.finetuning_settings import FinetuneSettings


def add_baselines(plan: Plan, key: str, examples: str, settings: BaselineSettings) -> str:
    """Plan answers without training; returns the table of their scores."""
    return plan.add("evaluate_baselines", key, Job({"examples": examples}, {"settings": settings}))["out"]


def add_trivial(plan: Plan, entry: TaskEntry, key: str, examples: str, **settings: Any) -> list[Baseline]:
    """Plan the baselines that a task's registry entry names, by `settings` of their stage; returns what to beat."""
    names = entry.trivial()
    if not names:
        return []
    path = Path(add_baselines(plan, key, examples, BaselineSettings(baselines=names, **settings)))
    return [Baseline(name=name, path=path, where={"name": name}) for name in names]


def add_finetuning_job(
    plan: Plan,
    key: str,
    models: dict[str, str],
    after: list[str],
    tokenizer: str,
    examples: str,
    settings: FinetuneSettings,
) -> dict[str, str]:
    """Plan the fine-tuning of some models; `key` is model/task/cell. Returns its outputs.

    Args:
        models: folder of each model by its name in the results.
        after: files or folders that rules know of, in which the models lie.
    """
    inputs: dict[str, str | list[str]] = {"after": after, "tokenizer": tokenizer, "examples": examples}
    chosen = {"settings": settings, "models": list(models.values()), "names": list(models)}
    return plan.add("finetune_model", key, Job(inputs, chosen))


def add_selection(plan: Plan, key: str, metrics: Iterable[str], split: str) -> dict[str, str]:
    """Plan the choice of learning rates by a split; returns the choice, and the tables in one."""
    job = Job({"metrics": list(dict.fromkeys(metrics))}, {"split": split})
    return plan.add("select_learning_rate", key, job)
