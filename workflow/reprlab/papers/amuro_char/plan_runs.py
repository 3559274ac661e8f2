"""Fine-tuning and scores: which models are made and what each is scored on."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.config.settings import derive
from reprlab.evaluation.completion_settings import CompletionScoring, Method, ScoreCell, ScoredModel
from reprlab.papers.amuro_char.plan_data import PromptPlanner
from reprlab.papers.amuro_char.plan_models import Checkpoints, add_checkpoints, resolved
from reprlab.papers.completion_jobs import ModelFolders, add_scores, add_tuning, tuning_metrics
from reprlab.papers.plan import Plan
from reprlab.training.completion_settings import CompletionTuningSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.amuro_char import AmuroCharSettings, Family, Sweep

BASE = "base"
_METHODS: dict[str, Method] = {"generation": "generate", "classification": "tokenprob", "choice": "loglikelihood"}
_FURTHER_METHODS: tuple[Method, ...] = ("free", "constrained")


@dataclass(frozen=True)
class Scored:
    """Where the scores are, and what they are scores of."""

    sets: dict[str, str]
    """Evaluation set to the true name of its data; sets without data are missing."""
    trainings: dict[str, str]
    """Training set to the true name of its data; sets without data are missing."""
    files: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Score files, one row per (checkpoint, evaluation set, format, shots, method): family, training set and group of
    checkpoints of each; the training set is base where nothing was trained."""
    losses: dict[str, str] = field(default_factory=dict)
    """Family to the held-out losses of its ladder (`evaluate_lm`), where it was trained here."""
    jobs: list[tuple[str, str]] = field(default_factory=list)
    """Stage and key of the jobs that fine-tune and score, for the hours of Table 4."""


def add_runs(plan: Plan, config: "LoadedConfig", paper: "AmuroCharSettings") -> Scored:
    """Plan checkpoints, prompts, fine-tuning and scores of all families."""
    planner = RunPlanner(plan, config, paper)
    for family in paper.grid.families:
        planner.add_family(family)
    return planner.scored


class RunPlanner:
    """Adds the jobs of each family."""

    def __init__(self, plan: Plan, config: "LoadedConfig", paper: "AmuroCharSettings") -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.prompts = PromptPlanner(plan, config, paper)
        self.sets, self.trainings = self.prompts.sets(), self.prompts.trainings()
        self.scored = Scored(self.sets, self.trainings)

    def add_family(self, name: str) -> None:
        """Plan a family: BASE is scored once, and each fine-tuned model on what it is judged by."""
        family = self.paper.families[name]
        found = add_checkpoints(self.plan, self.config, self.paper, name, self.prompts)
        if found.losses:
            self.scored.losses[name] = found.losses
        for group, checkpoints in self._groups(family.checkpoints):
            self._score(name, BASE, group, found, self._only(found.models, checkpoints), self._base_cells(family))
        for train in family.trainings:
            if train in self.trainings:
                for group, checkpoints in self._groups(self._tuned_checkpoints(family, train)):
                    self._tune_and_score(name, train, group, found, checkpoints)

    def _groups(self, checkpoints: list[str]) -> Iterable[tuple[str, list[str]]]:
        if self.paper.finetuning.job == "training":
            return [("all", checkpoints)] if checkpoints else []
        return [(checkpoint, [checkpoint]) for checkpoint in checkpoints]

    def _tuned_checkpoints(self, family: "Family", train: str) -> list[str]:
        grid = self.paper.grid
        if not grid.tuned or train in grid.everywhere:
            return list(family.checkpoints)
        return [checkpoint for checkpoint in family.checkpoints if checkpoint in grid.tuned]

    def _tune_and_score(self, name: str, train: str, group: str, found: Checkpoints, checkpoints: list[str]) -> None:
        family, wanted = self.paper.families[name], self.paper.finetuning
        chosen = family.chosen.get(train)
        chat = self.paper.trainings[train].form == "chat"
        settings = derive(
            CompletionTuningSettings,
            family,
            wanted,
            learning_rates=list(family.candidates) if chosen is None else [chosen],
            epochs=family.chat_epochs if chat else family.epochs,
            dtype=resolved(self.config, wanted.dtype),
        )
        key = f"{name}/{train}/{group}"
        tuned = add_tuning(
            self.plan,
            key,
            self._only(found.models, checkpoints),
            found.tokenizer,
            self.prompts.training(train),
            settings,
        )
        self.scored.jobs.append(("finetune_completions", key))
        self._score(name, train, group, found, tuned, self._tuned_cells(family, train), tuning_metrics(key))

    def _base_cells(self, family: "Family") -> list[ScoreCell]:
        """All sets; further formats, methods and numbers of shots where the grid asks for them."""
        grid, shots = self.paper.grid, self.paper.prompts.shots
        cells = [self._cell(name, shots) for name in self.sets]
        cells += self._format_cells(family, self.sets)
        cells += self._method_cells(family, self.sets)
        for name in self._available(grid.few_shot, self.sets):
            names = self._names(grid.few_shot, family)
            cells += [self._cell(name, number, names=names) for number in grid.further_shots if number != shots]
        return cells

    def _tuned_cells(self, family: "Family", train: str) -> list[ScoreCell]:
        """The sets that the model is judged by, and those of the other tasks."""
        entry = self.paper.trainings[train]
        own = [name for name in (*entry.in_domain, *entry.out_of_domain) if name in self.sets]
        cells = [self._cell(name, self.paper.prompts.shots) for name in own]
        further = [number for number in self.paper.grid.tuned_shots if number != self.paper.prompts.shots]
        cells += [self._cell(name, number) for name in own for number in further]
        cross = self.paper.grid.cross
        for name in self._available(cross, self.sets):
            if name not in own:
                cells.append(self._cell(name, self.paper.prompts.shots, names=self._names(cross, family)))
        return [*cells, *self._format_cells(family, own), *self._method_cells(family, own)]

    def _format_cells(self, family: "Family", sets: Iterable[str]) -> list[ScoreCell]:
        grid, prompts = self.paper.grid, self.paper.prompts
        return [
            self._cell(name, prompts.shots, names=self._names(grid.formats, family), fmt=form)
            for name in self._available(grid.formats, sets)
            for form in prompts.further_formats
            if self.paper.evaluations[name].kind != "choice"
        ]

    def _method_cells(self, family: "Family", sets: Iterable[str]) -> list[ScoreCell]:
        sweep = self.paper.grid.methods
        return [
            self._cell(name, self.paper.prompts.shots, names=self._names(sweep, family), method=method)
            for name in self._available(sweep, sets)
            for method in _FURTHER_METHODS
            if self.paper.evaluations[name].kind == "classification"
        ]

    def _cell(
        self, name: str, shots: int, *, names: list[str] | None = None, fmt: str = "default", method: str = ""
    ) -> ScoreCell:
        chosen = method or _METHODS[self.paper.evaluations[name].kind]
        return ScoreCell.model_validate(
            {"eval": name, "fmt": fmt, "shots": shots, "method": chosen, "names": names or []}
        )

    @staticmethod
    def _available(sweep: "Sweep", sets: Iterable[str]) -> list[str]:
        known = set(sets)
        return [name for name in sweep.evaluations if name in known]

    @staticmethod
    def _names(sweep: "Sweep", family: "Family") -> list[str]:
        """Models of a sweep; a family without any of its checkpoints is left out by a name that is none."""
        if not sweep.checkpoints:
            return []
        return [name for name in family.checkpoints if name in sweep.checkpoints] or ["none"]

    @staticmethod
    def _only(models: ModelFolders, names: list[str]) -> ModelFolders:
        folders = {name: models.folders[name] for name in names}
        sources = [source for source in models.sources if any(path.startswith(source) for path in folders.values())]
        return ModelFolders(folders, sources)

    def _score(
        self,
        name: str,
        train: str,
        group: str,
        found: Checkpoints,
        models: ModelFolders,
        cells: list[ScoreCell],
        tuning: str = "",
    ) -> None:
        family, wanted, paper = self.paper.families[name], self.paper.prediction, self.paper
        cells = [cell for cell in cells if not cell.names or set(cell.names) & set(models.folders)]
        evals = list(dict.fromkeys(cell.eval for cell in cells))
        settings = derive(
            CompletionScoring,
            wanted,
            family=name,
            train=train,
            models=[self._model(family, checkpoint, found.steps[checkpoint]) for checkpoint in models.folders],
            prompts={one: Path(self.prompts.evaluation(one)) for one in evals},
            normalisation={
                one: paper.evaluations[one].normalisation for one in evals if paper.evaluations[one].kind == "choice"
            },
            cells=cells,
            max_length=family.max_length,
            tuning_seed=paper.finetuning.seed if tuning else None,
            dtype=resolved(self.config, wanted.dtype),
            notes={one: note for one in evals if (note := self._note(one))},
        )
        key = f"{name}/{train}/{group}"
        self.scored.files[add_scores(self.plan, key, models, found.tokenizer, settings, tuning)] = (name, train, group)
        self.scored.jobs.append(("score_completions", key))

    def _model(self, family: "Family", checkpoint: str, step: int) -> ScoredModel:
        each = family.tokens_per_step
        if self.config.models[family.model].origin.kind == "scratch":
            each = self.paper.pretraining.batch_size * self.paper.pretraining.context
        return ScoredModel(name=checkpoint, step=step, tokens=step * each if each and step else None)

    def _note(self, name: str) -> str:
        entry = self.paper.evaluations[name]
        words = self.paper.prompts.input_words
        parts = [f"inputs cut to {words} words" if words and entry.template != "choice" else ""]
        if self.paper.prediction.unlabelled_gold_as_no and entry.unlabelled_upstream:
            parts.append("every right answer taken as no, as upstream")
        return "; ".join(part for part in parts if part)
