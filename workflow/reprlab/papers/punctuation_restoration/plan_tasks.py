"""Structure tasks: every model fine-tuned on each, alike, and tested on its own and on further sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.evaluation.settings import MetricName
from reprlab.papers.punctuation_restoration.plan_models import NAME, SLUG, Init, Models
from reprlab.planning.finetuning_jobs import add_finetuning_job, add_trivial
from reprlab.planning.plan import Plan
from reprlab.planning.seq2seq_jobs import add_answers, add_pair_training, add_pairs
from reprlab.planning.shared_jobs import add_task
from reprlab.results.sources import Baseline, Source, Value
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.base import derive
from reprlab.structure.formats import KINDS
from reprlab.structure.pair_scores import BASELINES
from reprlab.structure.seq2seq_settings import PairSettings, PairTraining, StructureTask
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.punctuation_restoration.schema import PunctuationRestorationSettings

# Names of the discriminative scores in the tables.
_ENTITY: dict[str, MetricName] = {
    "precision": "entity_precision", "recall": "entity_recall", "f1": "entity_f1",
}  # fmt: skip
# The factor of a file that counts pairs, and its column.
_SPLITS = {"counted": "split"}


class Tasks:
    """Jobs of the tasks; each method gives the sources of its results."""

    def __init__(
        self, plan: Plan, config: "LoadedConfig", paper: "PunctuationRestorationSettings", models: Models
    ) -> None:
        self.plan, self.config, self.paper, self.models = plan, config, paper, models
        for name in dict.fromkeys((*paper.trained, *paper.joint, *paper.discriminative.tasks)):
            self._require_kinds(name, ("tags",) if name in paper.discriminative.tasks else ())

    def _require_kinds(self, name: str, also: tuple[str, ...]) -> None:
        """Refuse data sets whose rows have not what a task, or a head over its tokens (`also`), is read from.

        Raises:
            ReprlabError: one has not.
        """
        wanted, setting = self.paper.tasks[name], f"papers.{SLUG}.tasks.{name}"
        sets = {"dataset": wanted.dataset, **{f"further.{place}": one for place, one in wanted.further.items()}}
        for place, dataset in sets.items():
            kind = self.config.datasets.tasks[dataset].kind
            for kinds in filter(None, (KINDS[wanted.task], also if place == "dataset" else ())):
                if kind not in kinds:
                    raise ReprlabError(
                        f"{setting}.{place}: {dataset} holds {kind}, and {wanted.task} is read from "
                        f"{' or '.join(kinds)}; name another data set, or another task"
                    )

    def generative(self, name: str) -> list[Source]:
        """One task alone: losses, and scores on its test set and on further ones."""
        wanted = self.paper.tasks[name]
        pairs = self._pairs(wanted.task, wanted.dataset)
        tested = {wanted.train_set: wanted.dataset, **wanted.further}
        about: dict[str, Value] = {"task": wanted.task, "train_set": wanted.train_set}
        counted: dict[str, Value] = {"part": "pairs", **about}
        found = [self._source(pairs["metrics"], {**counted, "eval_set": wanted.train_set}, wanted.dataset, _SPLITS)]
        for place, dataset in wanted.further.items():
            sizes = self._source(self._pairs(wanted.task, dataset)["metrics"], counted, dataset, _SPLITS)
            further = {"factors": {**counted, "eval_set": place}, "where": {"split": "test"}}
            found.append(sizes.model_copy(update=further))
        for init, seed, trained in self._trainings(name, pairs["out"]):
            run: dict[str, Value] = {**about, "init": init, "seed": seed}
            losses = self._source(trained["metrics"], {**run, "part": "losses"}, wanted.dataset, {"epoch": "epoch"})
            found.append(losses.model_copy(update={"wide": ["loss"]}))
            for place, dataset in tested.items():
                scores = self._scores(wanted.task, dataset, f"{NAME}_{init}", f"{name}_s{seed}", trained, pairs["out"])
                found.append(self._source(scores, {**run, "part": "generative", "eval_set": place}, dataset))
        return found

    def joint(self) -> list[Source]:
        """Several tasks in one training, each row with the prompt of its own task; scored task by task."""
        several = [self.paper.tasks[name] for name in self.paper.joint]
        tables = [self._examples(one.dataset) for one in several]
        settings = self._pair_settings([one.task for one in several])
        key = f"{'_'.join(one.dataset for one in several)}/{NAME}_joint"
        pairs = add_pairs(self.plan, key, tables, self.models.tokenizer, settings)
        found = []
        for one in several:
            counted: dict[str, Value] = {"part": "pairs", "task": one.task, "train_set": "joint"}
            sizes = self._source(pairs["metrics"], {**counted, "eval_set": one.train_set}, one.dataset, _SPLITS)
            found.append(sizes.model_copy(update={"where": {"task": one.task}}))
        for init, seed, trained in self._trainings("joint", pairs["out"]):
            for one in several:
                scores = self._scores(one.task, one.dataset, f"{NAME}_{init}", f"joint_s{seed}", trained, pairs["out"])
                run: dict[str, Value] = {"task": one.task, "train_set": "joint", "eval_set": one.train_set}
                found.append(self._source(scores, {**run, "part": "joint", "init": init, "seed": seed}, one.dataset))
        return found

    def discriminative(self, name: str) -> list[Source]:
        """The encoder with a head over every token, on entities of words."""
        wanted, recipe = self.paper.tasks[name], self.paper.discriminative
        examples = self._examples(wanted.dataset)
        scored, limits = list(_ENTITY.values()), self.paper.finetuning
        cut: dict[str, Any] = {"splits": ["test"], "train_limit": limits.examples, "eval_limit": limits.scored}
        entry = self.config.datasets.tasks[wanted.dataset]
        baselines = add_trivial(self.plan, entry, wanted.dataset, examples, metrics=scored, **cut)
        found = []
        for init, start in self.models.inits.items():
            for seed in recipe.seeds:
                settings = derive(
                    FinetuneSettings,
                    recipe,
                    # The authors' code labels all pieces; what it scores are pieces too, and here words.
                    task=TaskSettings(kind="tags", metrics=scored, input_length=recipe.length, tag_pieces="words"),
                    engine=self.models.engine(recipe, 1, [], seed),
                    learning_rates=[recipe.learning_rate],
                    **cut,
                    keep=self.config.workflow.keep_finetuned,
                )
                key = f"{NAME}_{init}/{wanted.dataset}/s{seed}"
                made = add_finetuning_job(
                    self.plan, key, {init: start.model}, [start.made_in], self.models.tokenizer, examples, settings
                )
                run: dict[str, Value] = {"task": wanted.task, "train_set": wanted.train_set, "init": init, "seed": seed}
                run |= {"part": "discriminative", "eval_set": wanted.train_set}
                source = self._source(made["out_metrics"], run, wanted.dataset)
                found.append(source.model_copy(update={"baselines": baselines}))
        return found

    def _trainings(self, name: str, pairs: str) -> list[tuple[str, int, dict[str, str]]]:
        """Every model with every seed, on the same pairs by the same recipe."""
        return [
            (init, seed, self._train(name, pairs, init, start, seed))
            for init, start in self.models.inits.items()
            for seed in self.paper.finetuning.seeds
        ]

    def _train(self, name: str, pairs: str, init: str, start: Init, seed: int) -> dict[str, str]:
        recipe = self.paper.finetuning
        resumed = recipe.course == "upstream_resume" and init == "pr"
        task = self.paper.tasks[name].task if name in self.paper.tasks else None
        epochs = recipe.epochs if task is None else recipe.epochs_by_task.get(task, recipe.epochs)
        settings = derive(
            PairTraining,
            recipe,
            engine=self.models.engine(recipe, 1, [], seed).model_copy(update={"log_every": 5}),
            epochs=epochs,
            # What restoration has had, and then this training.
            horizon_epochs=recipe.resumed_epochs - recipe.epochs + epochs if resumed else None,
            input_length=recipe.length,
            target_length=recipe.length,
            init_step=start.step,
        )
        key = f"{NAME}_{init}/{name}/s{seed}"
        moments = start.made_in if resumed else ""
        return add_pair_training(self.plan, key, pairs, self.models.tokenizer, start.made_in, settings, moments=moments)

    def _scores(
        self, task: StructureTask, dataset: str, model: str, cell: str, trained: dict[str, str], seen: str
    ) -> str:
        pairs = self._pairs(task, dataset)["out"]
        key = f"{model}/{dataset}_{task}/{cell}"
        return add_answers(self.plan, key, pairs, self.models.tokenizer, trained, self.models.generation(), seen)

    def _pairs(self, task: StructureTask, dataset: str) -> dict[str, str]:
        settings, key = self._pair_settings([task]), f"{dataset}/{NAME}_{task}"
        return add_pairs(self.plan, key, [self._examples(dataset)], self.models.tokenizer, settings)

    def _pair_settings(self, tasks: list[StructureTask]) -> PairSettings:
        recipe = self.paper.finetuning
        return PairSettings.model_validate(
            {"tasks": tasks, "limits": {"train": recipe.examples, "test": recipe.scored}}
        )

    def _examples(self, dataset: str) -> str:
        return add_task(self.plan, self.config, dataset)

    def _source(self, path: str, factors: dict[str, Value], dataset: str, keys: dict[str, str] | None = None) -> Source:
        """Rows of a file; scores are beside what needs no model."""
        scored = factors["part"] in ("generative", "joint")
        trivial = [Baseline(name=name, path=Path(path), column=name) for name in BASELINES] if scored else []
        title = self.config.datasets.tasks[dataset].title
        return Source(path=Path(path), factors=factors, keys=keys or {}, data=title, baselines=trivial)
