"""What a job's settings can be refused for without its data, found when planning and not after hours of training."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reprlab.data.schema import columns_of
from reprlab.planning import paths
from reprlab.planning.plan import Job, Plan
from reprlab.representations.prompts import check_prompts
from reprlab.representations.settings import PromptSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.text.templates import label_words, render
from reprlab.training.finetuning_settings import TaskSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.registry.dataset_entries import TaskEntry


def check_jobs(plan: Plan, config: "LoadedConfig") -> None:
    """Hold templates and label words of the planned jobs against the columns and labels of their registered data.

    Raises:
        ReprlabError: a template that no data of this kind fills, or words that do not fit the labels.
    """
    entries = {paths.examples(name): config.datasets.tasks[name] for name in plan.jobs.get("build_examples", {})}
    checked = set()
    for stage, check in _CHECKS.items():
        for key, job in plan.jobs.get(stage, {}).items():
            examples, settings = str(job.inputs.get("examples")), _settings(stage, job)
            one = (stage, examples, json.dumps(settings, sort_keys=True))
            if one in checked or examples not in entries:
                continue
            checked.add(one)
            try:
                check(settings, entries[examples])
            except ReprlabError as error:
                raise ReprlabError(f"{stage} {key}: {error}") from None


def _settings(stage: str, job: Job) -> Any:
    given = job.settings["settings"]
    values = json.loads(given) if isinstance(given, str) else given
    return values["task"] if stage in _TUNING else values


def _check_task(values: Any, entry: "TaskEntry") -> None:
    task = TaskSettings.model_validate(values)
    # The default of a head takes the texts as they are, one or two; tags and spans have no template.
    if task.kind == "text_to_text" or (task.kind == "classification" and task.template != "{text}"):
        nothing: dict[str, list[Any]] = {column: [] for column in columns_of(entry.kind)}
        render(task.template, entry.kind, nothing, task=task.template_task, field_order=task.field_order)
    if task.kind == "text_to_text":
        label_words(task.template, task.labels or entry.labels, task.label_words)


def _check_prompts(values: Any, entry: "TaskEntry") -> None:
    check_prompts(list(columns_of(entry.kind)), entry.labels, PromptSettings.model_validate(values))


_TUNING = ("finetune_model", "measure_finetuning")
_CHECKS: dict[str, Callable[[Any, "TaskEntry"], None]] = {
    **dict.fromkeys(_TUNING, _check_task),
    "build_prompts": _check_prompts,
}
