"""Jobs around prompts with completions that any paper may ask for: files of prompts, fine-tuning, scores."""

from collections.abc import Iterable
from dataclasses import dataclass

from reprlab.evaluation.completion_settings import CompletionScoring
from reprlab.planning import paths
from reprlab.planning.plan import Job, Plan
from reprlab.text.completion_settings import CompletionFile
from reprlab.training.completion_settings import CompletionTuningSettings


@dataclass(frozen=True)
class ModelFolders:
    """Models by name, and the files or folders that rules know of and in which they lie."""

    folders: dict[str, str]
    sources: list[str]

    def only(self, names: Iterable[str]) -> "ModelFolders":
        """Some of them."""
        folders = {name: self.folders[name] for name in names}
        sources = [source for source in self.sources if any(path.startswith(source) for path in folders.values())]
        return ModelFolders(folders, sources)


def add_completions(plan: Plan, key: str, settings: CompletionFile) -> str:
    """Plan a file of prompts; `key` is dataset/cell. Returns its path."""
    examples = [str(part.examples) for part in settings.training]
    examples += [str(settings.evaluation.examples)] if settings.evaluation else []
    return plan.add("build_completions", key, Job({"after": examples}, {"settings": settings}))["out"]


def tuning_metrics(key: str) -> str:
    """Table of the losses of a fine-tuning job."""
    return paths.output("finetune_completions", "metrics", key)


def add_tuning(
    plan: Plan, key: str, models: ModelFolders, tokenizer: str, prompts: str, settings: CompletionTuningSettings
) -> ModelFolders:
    """Plan fine-tuning; `key` is model/task/cell. Returns the fine-tuned models."""
    inputs: dict[str, str | list[str]] = {"after": models.sources, "tokenizer": tokenizer, "prompts": prompts}
    chosen = {"settings": settings, "models": list(models.folders.values()), "names": list(models.folders)}
    folder = plan.add("finetune_completions", key, Job(inputs, chosen))["out"]
    return ModelFolders({name: f"{folder}/{name}" for name in models.folders}, [folder])


def add_scores(
    plan: Plan, key: str, models: ModelFolders, tokenizer: str, settings: CompletionScoring, tuning: str = ""
) -> str:
    """Plan scores; `key` is model/task/cell. Returns their table."""
    inputs: dict[str, str | list[str]] = {
        "after": [*models.sources, *(str(path) for path in settings.prompts.values())],
        "tokenizer": tokenizer,
        "tuning": tuning,
    }
    folders = [models.folders[model.name] for model in settings.models]
    return plan.add("score_completions", key, Job(inputs, {"settings": settings, "models": folders}))["out"]
