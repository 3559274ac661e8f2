"""Prompts of the training and evaluation sets."""

from pathlib import Path

from reprlab.config.load import LoadedConfig
from reprlab.papers.amuro_char.schema import AmuroCharSettings
from reprlab.planning.completion_jobs import add_completions
from reprlab.planning.language_model_jobs import add_sentences
from reprlab.planning.plan import Plan
from reprlab.planning.shared_jobs import add_task
from reprlab.settings.base import derive
from reprlab.text.completion_settings import (
    CompletionFile,
    EvaluationPart,
    EvaluationTextSettings,
    TrainingPart,
    TrainingTextSettings,
)


class PromptPlanner:
    """Adds prompts to the plan; what several jobs read is made once."""

    def __init__(self, plan: Plan, config: LoadedConfig, paper: AmuroCharSettings) -> None:
        self.plan, self.config, self.paper = plan, config, paper

    def sentences(self, corpus: str) -> str:
        """Passages of a corpus."""
        return add_sentences(self.plan, self.config, corpus, "amuro_char", self.paper.pretraining.segmentation)

    def sets(self) -> dict[str, str]:
        """Evaluation sets that have data, with its true name."""
        found = {name: entry.dataset for name, entry in self.paper.evaluations.items()}
        return {name: self.config.datasets.tasks[data].title for name, data in found.items() if data}

    def trainings(self) -> dict[str, str]:
        """Training sets that have data, with its true name."""
        return {name: " + ".join(titles) for name in self.paper.trainings if (titles := self._titles(name))}

    def evaluation(self, name: str) -> str:
        """Plan the prompts of an evaluation set; returns their path."""
        entry, prompts, grid = self.paper.evaluations[name], self.paper.prompts, self.paper.grid
        formats = prompts.further_formats if name in grid.formats.evaluations and entry.kind != "choice" else []
        further = [*(grid.further_shots if name in grid.few_shot.evaluations else []), *grid.tuned_shots]
        settings = derive(
            EvaluationTextSettings,
            entry,
            prompts,
            words=_words(entry.words),
            formats=["default", *formats],
            rows=entry.max_rows,
            shots=max([prompts.shots, *further]),
            gold_as_no=self.paper.prediction.unlabelled_gold_as_no and entry.unlabelled_upstream,
        )
        part = EvaluationPart(examples=self._examples(str(entry.dataset)), settings=settings)
        return add_completions(self.plan, f"amuro_{name}/evaluation", CompletionFile(evaluation=part))

    def training(self, name: str) -> str:
        """Plan the prompts of a training set; returns their path."""
        entry, held_out = self.paper.trainings[name], self.paper.finetuning.held_out
        parts = entry.mixture or [name]
        rows = entry.rows // len(parts) if entry.rows else None
        each = [self._part(part, entry.form == "chat", rows, max(1, held_out // len(parts))) for part in parts]
        return add_completions(self.plan, f"amuro_{name}/training", CompletionFile(training=each))

    def _part(self, name: str, chat: bool, rows: int | None, held_out: int) -> TrainingPart:
        entry = self.paper.trainings[name]
        settings = derive(
            TrainingTextSettings,
            entry,
            self.paper.prompts,
            # Conversations have no template of their own; a name is needed all the same.
            template=entry.template or "question",
            words=_words(entry.words),
            seed=self.paper.finetuning.seed,
            chat=chat,
            rows=rows,
            held_out=held_out,
        )
        return TrainingPart(examples=self._examples(str(entry.dataset)), settings=settings)

    def _examples(self, dataset: str) -> Path:
        corpora = self.config.datasets.tasks[dataset].documents
        return Path(add_task(self.plan, self.config, dataset, {corpus: self.sentences(corpus) for corpus in corpora}))

    def _titles(self, name: str) -> list[str]:
        entry = self.paper.trainings[name]
        if entry.mixture:
            return [title for part in entry.mixture for title in self._titles(part)]
        return [self.config.datasets.tasks[entry.dataset].title] if entry.dataset else []


def _words(pairs: list[str]) -> dict[str, str]:
    return {label: word for label, _, word in (pair.partition("=") for pair in pairs)}
