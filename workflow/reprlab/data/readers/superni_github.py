"""Super-NaturalInstructions from its own repository: one JSON file a task and lists of the tasks of each split."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources, expected_format, read_json_member, read_text
from reprlab.data.splits import position
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Where the lists of the tasks are, and how much of each task."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    train_list: str = "splits/default/train_tasks.txt"
    """Names of the training tasks, one a line."""
    test_list: str = "splits/default/test_tasks.txt"
    """Names of the test tasks, one a line."""
    instances: int = Field(default=100, ge=1)
    """Instances of each task, the first of its file, as published."""
    positive_examples: int = Field(default=2, ge=0)
    """Positive examples shown with each task."""
    validation_share: float = Field(default=0.01, ge=0, lt=1)
    """Share of the training instances set aside by hash: the repository has no validation split."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each instance; the group is the task.

    Raises:
        ReprlabError: a listed task is missing or not in the format.
    """
    for split, names in (("train", settings.train_list), ("test", settings.test_list)):
        for task in read_text(sources.archive.file(names)).split():
            path = sources.archive.file(f"tasks/{task}.json")
            content = read_json_member(path)
            with expected_format(str(path), "a task of Super-NaturalInstructions"):
                yield from _instances(task, content, split, settings, splits.seed)


def _instances(
    task: str, content: dict[str, Any], split: str, settings: Settings, seed: int
) -> Iterator[dict[str, Any]]:
    definition = content["Definition"]
    positive = content["Positive Examples"][: settings.positive_examples]
    for number, instance in enumerate(content["Instances"][: settings.instances]):
        name = str(instance.get("id", f"{task}-{number}"))
        output = instance["output"]
        held_out = split == "train" and position(seed, name) < settings.validation_share
        yield {
            "id": name,
            "group": task,
            "split": "validation" if held_out else split,
            "source": instance["input"],
            "targets": output if isinstance(output, list) else [output],
            "task": task,
            "definition": definition[0] if isinstance(definition, list) else definition,
            "positive_inputs": [example["input"] for example in positive],
            "positive_outputs": [example["output"] for example in positive],
        }
