"""Fine-tuning and scores: which models are made and what each is scored on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reprlab.config.load import LoadedConfig
from reprlab.evaluation.completion_settings import (
    CompletionBaselines,
    CompletionScoring,
    Method,
    ScoreCell,
    ScoredModel,
)
from reprlab.papers.amuro_char.names import BASE, WAYS
from reprlab.papers.amuro_char.plan_data import PromptPlanner
from reprlab.papers.amuro_char.plan_models import Checkpoints, add_checkpoints, add_readapted
from reprlab.papers.amuro_char.schema import AmuroCharSettings, Family, Sweep
from reprlab.planning.completion_jobs import ModelFolders, add_scores, add_tuning, tuning_metrics
from reprlab.planning.plan import Job, Plan
from reprlab.settings.base import derive
from reprlab.training.completion_settings import CompletionTuningSettings

_METHODS: dict[str, Method] = {"generation": "generate", "classification": "tokenprob", "choice": "loglikelihood"}
_FURTHER_METHODS: tuple[Method, ...] = ("free", "constrained")


@dataclass
class Scored:
    """Where the scores are, and what they are scores of."""

    sets: dict[str, str]
    """Evaluation set to the true name of its data; sets without data are missing."""
    trainings: dict[str, str]
    """Training set to the true name of its data; sets without data are missing."""
    files: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Score files, one row per (checkpoint, evaluation set, format, shots, method): family, training set and group of
    checkpoints of each; the training set is base where nothing was trained."""
    evals: dict[str, list[str]] = field(default_factory=dict)
    """Score file to its evaluation sets; all, where it is not named."""
    ways: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Score file to the neighbour whose model it has, and the model's checkpoint; the others are the paper's."""
    losses: dict[str, str] = field(default_factory=dict)
    """Family to the held-out losses of its ladder (`evaluate_lm`), where it was trained here."""
    baselines: str = ""
    """Scores of what needs no model, on all evaluation sets."""
    jobs: list[tuple[str, str]] = field(default_factory=list)
    """Stage and key of the jobs that fine-tune and score, for the hours of Table 4."""


def add_runs(plan: Plan, config: LoadedConfig, paper: AmuroCharSettings) -> Scored:
    """Plan checkpoints, prompts, fine-tuning and scores of all families."""
    planner = RunPlanner(plan, config, paper)
    for family in paper.grid.families:
        planner.add_family(family)
    planner.scored.baselines = planner.add_baselines()
    return planner.scored


class RunPlanner:
    """Adds the jobs of each family."""

    def __init__(self, plan: Plan, config: LoadedConfig, paper: AmuroCharSettings) -> None:
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
            models = found.models.only(checkpoints)
            self._score(f"{name}/{BASE}/{group}", found, models, self._base_cells(family))
        for train in filter(self.trainings.__contains__, family.trainings):
            cells = self._tuned_cells(family, train)
            made: dict[str, tuple[str, ModelFolders]] = {}
            for group, checkpoints in self._groups(self._tuned_checkpoints(family, train)):
                key = f"{name}/{train}/{group}"
                tuned = self._tune(key, found, checkpoints)
                self._score(key, found, tuned, cells, tuning_metrics(key))
                made |= dict.fromkeys(checkpoints, (key, tuned))
            self._readapt(found, made, family.checkpoints[-1], cells)

    def add_baselines(self) -> str:
        """Plan what needs no model on every set, fitted on a training set of its task; returns the scores."""
        paper, wanted = self.paper, self.paper.prediction
        trained = {
            eval: name
            for name, entry in paper.trainings.items()
            if name in self.trainings and entry.form == "completion" and not entry.mixture
            for eval in (*entry.in_domain, *entry.out_of_domain)
        }
        sets = {
            name: {
                "prompts": self.prompts.evaluation(name),
                "training": self.prompts.training(trained[name]) if name in trained else None,
            }
            for name in self.sets
        }
        settings = CompletionBaselines.model_validate(
            {"sets": sets, "bootstrap": wanted.bootstrap, "seed": wanted.seed}
        )
        read = [path for one in sets.values() for path in one.values() if path]
        job = Job({"after": list(dict.fromkeys(read))}, {"settings": settings})
        return self.plan.add("score_completion_baselines", "amuro-char", job)["out"]

    def _groups(self, checkpoints: list[str]) -> Iterable[tuple[str, list[str]]]:
        if self.paper.finetuning.job == "training":
            return [("all", checkpoints)] if checkpoints else []
        return [(checkpoint, [checkpoint]) for checkpoint in checkpoints]

    def _tuned_checkpoints(self, family: Family, train: str) -> list[str]:
        grid = self.paper.grid
        if not grid.tuned or train in grid.everywhere:
            return list(family.checkpoints)
        return [checkpoint for checkpoint in family.checkpoints if checkpoint in grid.tuned]

    def _tune(self, key: str, found: Checkpoints, checkpoints: list[str]) -> ModelFolders:
        name, train, _ = key.split("/")
        family, wanted = self.paper.families[name], self.paper.finetuning
        chosen, chat = family.chosen.get(train), self.paper.trainings[train].form == "chat"
        settings = derive(
            CompletionTuningSettings,
            family,
            wanted,
            learning_rates=list(family.candidates) if chosen is None else [chosen],
            epochs=family.chat_epochs if chat else family.epochs,
            dtype=self.config.arithmetic(wanted.dtype),
        )
        self.scored.jobs.append(("finetune_completions", key))
        models, prompts = found.models.only(checkpoints), self.prompts.training(train)
        return add_tuning(self.plan, key, models, found.tokenizer, prompts, settings)

    def _readapt(
        self, found: Checkpoints, made: Mapping[str, tuple[str, ModelFolders]], last: str, cells: list[ScoreCell]
    ) -> None:
        """Plan RE-Adapt of a training set, beside fine-tuning of the last checkpoint: `made` has key and models of each
        checkpoint that is fine-tuned. It is scored as that one is, by the main methods."""
        wanted, paper = self.paper.neighbours.re_adapt, self.paper
        if wanted.start == last or not {wanted.start, last} <= made.keys():
            return
        usual = ("default", paper.prompts.shots)
        cells = [one for one in cells if (one.fmt, one.shots) == usual and one.method not in _FURTHER_METHODS]
        for way, rank in zip(WAYS, (None, wanted.rank), strict=True):
            models = add_readapted(self.plan, made[wanted.start], found.models, (wanted.start, last), way, rank)
            self._score(made[last][0], found, models, cells, way=way)

    def _base_cells(self, family: Family) -> list[ScoreCell]:
        """All sets; further formats, methods and numbers of shots where the grid asks for them."""
        grid, sets = self.paper.grid, list(self.sets)
        further = [{"shots": number} for number in grid.further_shots if number != self.paper.prompts.shots]
        cells = [self._cell(name) for name in sets]
        return [*cells, *self._further(family, sets), *self._swept(grid.few_shot, family, sets, further)]

    def _tuned_cells(self, family: Family, train: str) -> list[ScoreCell]:
        """The sets that the model is judged by, and those of the other tasks."""
        entry, grid = self.paper.trainings[train], self.paper.grid
        own = [name for name in (*entry.in_domain, *entry.out_of_domain) if name in self.sets]
        further = [number for number in grid.tuned_shots if number != self.paper.prompts.shots]
        cells = [self._cell(name) for name in own]
        cells += [self._cell(name, shots=number) for name in own for number in further]
        others = [name for name in self.sets if name not in own]
        return [*cells, *self._swept(grid.cross, family, others, [{}]), *self._further(family, own)]

    def _further(self, family: Family, sets: list[str]) -> list[ScoreCell]:
        """Further formats and methods, of the sets that can have them."""
        grid, kinds = self.paper.grid, {name: self.paper.evaluations[name].kind for name in sets}
        answered = [name for name in sets if kinds[name] != "choice"]
        labelled = [name for name in sets if kinds[name] == "classification"]
        formats = [{"fmt": form} for form in self.paper.prompts.further_formats]
        methods = [{"method": method} for method in _FURTHER_METHODS]
        return [
            *self._swept(grid.formats, family, answered, formats),
            *self._swept(grid.methods, family, labelled, methods),
        ]

    def _swept(
        self, sweep: Sweep, family: Family, sets: Sequence[str], varied: Sequence[dict[str, Any]]
    ) -> list[ScoreCell]:
        """The sets and checkpoints of a sweep; a family without any of them is left out by a name that is none."""
        covered = [name for name in family.checkpoints if name in sweep.checkpoints] or ["none"]
        names = covered if sweep.checkpoints else []
        return [self._cell(name, names=names, **how) for name in sweep.evaluations if name in sets for how in varied]

    def _cell(self, name: str, **varied: Any) -> ScoreCell:
        usual = {"fmt": "default", "shots": self.paper.prompts.shots, "names": []}
        method = _METHODS[self.paper.evaluations[name].kind]
        return ScoreCell.model_validate({"eval": name, "method": method, **usual, **varied})

    def _score(
        self,
        key: str,
        found: Checkpoints,
        models: ModelFolders,
        cells: list[ScoreCell],
        tuning: str = "",
        way: str = "",
    ) -> None:
        name, train, group = key.split("/")
        family, wanted, paper = self.paper.families[name], self.paper.prediction, self.paper
        cells = [cell for cell in cells if not cell.names or set(cell.names) & set(models.folders)]
        evals = {cell.eval: paper.evaluations[cell.eval] for cell in cells}
        settings = derive(
            CompletionScoring,
            wanted,
            family=name,
            train=train,
            models=[self._model(family, checkpoint, found.steps[checkpoint]) for checkpoint in models.folders],
            prompts={one: Path(self.prompts.evaluation(one)) for one in evals},
            normalisation={one: entry.normalisation for one, entry in evals.items() if entry.kind == "choice"},
            cells=cells,
            max_length=family.max_length,
            tuning_seed=paper.finetuning.seed if tuning or way else None,
            dtype=self.config.arithmetic(wanted.dtype),
            notes={one: note for one in evals if (note := self._note(one))},
        )
        own = f"{name}/{train}/{way}" if way else key
        path = add_scores(self.plan, own, models, found.tokenizer, settings, tuning)
        self.scored.files[path] = (name, train, group)
        self.scored.evals[path] = list(evals)
        if way:
            self.scored.ways[path] = (way, next(iter(models.folders)))
        else:
            self.scored.jobs.append(("score_completions", key))

    def _model(self, family: Family, checkpoint: str, step: int) -> ScoredModel:
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
