"""Natural-instructions tasks as BIG-bench carries them, with held-out tasks as Super-NaturalInstructions has them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.data.sources import Sources, expected_format, read_json_member
from reprlab.data.splits import position
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError


class Settings(BaseModel):
    """Which tasks are trained on and which are held out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: str
    """Folder of the tasks in the archive."""
    train: list[str] = Field(min_length=1)
    """Tasks to train on."""
    validation: list[str] = []
    """Tasks to choose hyperparameters on."""
    test: list[str] = Field(min_length=1)
    """Tasks to measure on."""
    instances: int = Field(default=100, ge=1)
    """Instances of each task (Super-NaturalInstructions takes 100), the first by hash order."""
    positive_examples: int = Field(default=2, ge=0)
    """Solved examples shown with each task. The files mark none, so instances are set aside for it."""

    @model_validator(mode="after")
    def _tasks_are_disjoint(self) -> "Settings":
        tasks = [*self.train, *self.validation, *self.test]
        if len(set(tasks)) != len(tasks):
            raise ValueError("a task is named in two splits")
        return self


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each instance; the group is the task.

    Raises:
        ReprlabError: a task has too few instances or is not in the format.
    """
    for split in ("train", "validation", "test"):
        for task in getattr(settings, split):
            yield from _task(sources, settings, task, split, splits.seed)


def _task(sources: Sources, settings: Settings, task: str, split: str, seed: int) -> Iterator[dict[str, Any]]:
    path = sources.archive.member(f"{settings.folder}/{task}/task.json")
    content = read_json_member(path)
    with expected_format(str(path), "a task with a prefix and examples"):
        yield from _instances(path, content, settings, task, split, seed)


def _instances(
    path: Path, content: dict[str, Any], settings: Settings, task: str, split: str, seed: int
) -> Iterator[dict[str, Any]]:
    order = sorted(range(len(content["examples"])), key=lambda number: position(seed, f"{task}-{number}"))
    shown, used = order[: settings.positive_examples], order[settings.positive_examples :][: settings.instances]
    if not used:
        raise ReprlabError(f"{path}: has only {len(order)} instances; lower `positive_examples`")
    positive = [content["examples"][number] for number in shown]
    for number in used:
        instance = content["examples"][number]
        yield {
            "id": f"{task}-{number}",
            "group": task,
            "split": split,
            "source": instance["input"].strip(),
            "targets": [target.strip() for target in instance["target"]],
            "task": task,
            "definition": content["task_prefix"].strip().removeprefix("Definition:").strip(),
            "positive_inputs": [example["input"].strip() for example in positive],
            "positive_outputs": [example["target"][0].strip() for example in positive],
        }
