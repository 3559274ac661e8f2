"""Jobs around labelled examples that any paper may ask for: baselines, fine-tuning, choice of learning rates."""

from collections.abc import Iterable
from typing import Any

from reprlab.baselines.declared import BaselineName
from reprlab.evaluation.settings import BaselineSettings
from reprlab.planning.plan import Job, Plan
from reprlab.registry.dataset_entries import TaskEntry
from reprlab.results.sources import rivals
from reprlab.training.finetuning_settings import FinetuneSettings


def add_baselines(plan: Plan, key: str, examples: str, settings: BaselineSettings) -> str:
    """Plan answers without training; returns the table of their scores."""
    return plan.add("evaluate_baselines", key, Job({"examples": examples}, {"settings": settings}))["out"]


def add_trivial(
    plan: Plan, entry: TaskEntry, key: str, examples: str, *, further: Iterable[BaselineName] = (), **settings: Any
) -> dict[str, Any]:
    """Plan the baselines that are declared for a task's kind of answer, by `settings` of their stage.

    Args:
        further: baselines that the paper adds.

    Returns:
        The kind of answer and the baselines as fields of a `Source`; why there are none, where examples are of a kind
        without.
    """
    if entry.answer is None:
        return {"unjudged": f"no baselines are declared for examples of the kind {entry.kind}"}
    names = list(dict.fromkeys([*entry.trivial(), *further]))
    path = add_baselines(plan, key, examples, BaselineSettings(baselines=names, **settings))
    return rivals(entry.answer, path, names)


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
