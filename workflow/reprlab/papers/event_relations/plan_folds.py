"""Jobs of one fold of a corpus: rankings of partners, classifiers of pairs, their scores."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from reprlab.baselines.declared import declared
from reprlab.events.settings import (
    ALL,
    ALL_PAIRS,
    CANDIDATES,
    RELATED,
    AnswerComparison,
    EventSelection,
    PairClassification,
    PairTiming,
    Retrieval,
    RetrieverTraining,
    SentenceParsing,
    ZeroShotClassification,
)
from reprlab.papers.event_relations.names import MATCHED
from reprlab.planning import paths
from reprlab.planning.given_paths import pipeline_paths
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_model, add_task
from reprlab.planning.warm_starts import Recipe, Start, add_start
from reprlab.plugins import load_plugin
from reprlab.registry.dataset_entries import reader_settings
from reprlab.results.sources import Baseline, Items, Missing, Source, rivals
from reprlab.retrieval.settings import BiEncoderTraining
from reprlab.settings.base import derive
from reprlab.training.settings import EngineSettings, ScheduleSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.event_relations.schema import EventData, EventRelationsSettings

SLUG = "event-relations"
RETRIEVERS = ("random", "roberta", "roberta_ft", "sbert", "sbert_ft")
_Classifier = Literal["roberta", "t5"]
# Counts of each document behind scores.
RETRIEVED = {"retrieval_recall": ("recalled", "related"), "positive_share": ("recalled", "kept")}
RETRIEVED |= {"density": ("related", "pairs")}
CLASSIFIED = {"precision": ("right", "named"), "recall": ("right", "related"), "f1": ("right", "half")}


@dataclass(frozen=True)
class _Trained:
    """A planned classifier: its key, settings, and what training and scoring write."""

    key: str
    settings: PairClassification
    trained: dict[str, str]
    scored: dict[str, str]


class Fold:
    """The jobs of one fold of one corpus, and the files that hold their results."""

    def __init__(
        self,
        plan: Plan,
        config: "LoadedConfig",
        paper: "EventRelationsSettings",
        name: str,
        data: "EventData",
        fold: int,
    ) -> None:
        self.plan, self.config, self.paper, self.name, self.data, self.fold = plan, config, paper, name, data, fold
        self.examples = add_task(plan, config, data.dataset)
        self.title = config.datasets.tasks[data.dataset].title
        self.dtype = config.arithmetic(paper.dtype)

    def entries(self) -> list[Source | Missing]:
        """Every retriever and classifier of every table."""
        paper = self.paper
        found: list[Source | Missing] = []
        for retriever in RETRIEVERS:
            found += self._retrieval(retriever, "wrapped", chains=False)
        chained = paper.chains and self.has_chains
        if chained:
            found += self._retrieval("chains", "wrapped", chains=False)
        elif paper.chains:
            reason = f"{self.title} has no coreference chains"
            found += [Missing(factors={"dataset": self.name, "fold": self.fold, "chains": "yes"}, reason=reason)]
        further = [("trigger", False)] * paper.trigger_alone + [("wrapped", True)] * chained
        further += [("graph", False)] * (paper.graph.parser is not None)
        for encoding, chains in further:
            for retriever in paper.sweep_retrievers:
                found += self._retrieval(retriever, encoding, chains=chains)
        for classifier in paper.classifiers:
            for retriever in ("none", *RETRIEVERS):
                found += self._classification(classifier, retriever)
        found += self._zero_shot()
        if paper.classifiers[paper.ablation_classifier].model is None:
            return found
        for encoding, chains in further:
            for retriever in paper.sweep_retrievers:
                found += self._classification(paper.ablation_classifier, retriever, encoding=encoding, chains=chains)
        for k in paper.ks:
            if k != paper.k:
                found += self._classification(paper.ablation_classifier, "sbert_ft", k=k)
        return found

    @property
    def has_chains(self) -> bool:
        """Whether the corpus has coreference chains: v1.5 of the Event StoryLine Corpus has none."""
        entry = self.config.datasets.tasks[self.data.dataset]
        known = getattr(load_plugin("data.readers", entry.reader), "has_chains", None)
        return known is None or known(reader_settings(entry))

    def _events(self, encoding: str, chains: bool) -> EventSelection:
        return derive(
            EventSelection, self.data, fold=self.fold, limit=self.data.documents, encoding=encoding, chains=chains
        )

    def _engine(self, recipe: Any) -> EngineSettings:
        return derive(
            EngineSettings, recipe, steps=1, dtype=self.dtype, log_every=10, schedule=ScheduleSettings(name="linear")
        )

    def _cell(self, encoding: str, chains: bool) -> str:
        return f"{encoding}{'_chains' if chains else ''}.fold{self.fold}"

    def _rankings(self, retriever: str, encoding: str, chains: bool) -> dict[str, str]:
        """The rankings of a retriever, and the table of its recall."""
        paper, events = self.paper, self._events(encoding, chains)
        key = f"{retriever}/{self.data.dataset}/{self._cell(encoding, chains)}"
        sweep = encoding != "wrapped" or chains
        seeds = paper.seeds[: paper.sweep_seeds] if sweep else paper.seeds
        seeds = seeds[:1] if retriever in paper.encoders else seeds
        if retriever in ("random", "chains", "nearest"):
            # Distances have no seed.
            chosen = {"pooling": retriever, "seeds": seeds[:1] if retriever == "nearest" else seeds}
            settings = Retrieval.model_validate({"events": events, "ks": paper.ks, **chosen})
            return self.plan.add("rank_partners", key, Job({"examples": self.examples}, {"settings": settings}))
        recipe = paper.retriever_training
        encoder = paper.encoders["roberta" if retriever.startswith("roberta") else "sbert"]
        model = tokenizer = add_model(self.plan, self.config, encoder.model, seed=0)
        trees = self._trees() if encoding == "graph" else {}
        if retriever.endswith("_ft"):
            training = derive(BiEncoderTraining, recipe, engine=self._engine(recipe), pooling=encoder.pooling)
            # A retriever has no pairs to classify: more documents cost it little.
            own = events.model_copy(update={"limit": recipe.documents or events.limit})
            tuned = RetrieverTraining(events=own, training=training, seeds=seeds)
            tuned = tuned.model_copy(update={"graph_learning_rate": paper.graph.learning_rate} if trees else {})
            inputs = {"examples": self.examples, "model": model, "tokenizer": model, **trees}
            model, tokenizer = self.plan.add("train_retriever", key, Job(inputs, {"settings": tuned}))["out"], ""
        settings = derive(Retrieval, encoder, recipe, events=events, ks=paper.ks, seeds=seeds, dtype=self.dtype)
        inputs = {"examples": self.examples, "model": model, "tokenizer": tokenizer, **trees}
        return self.plan.add("rank_partners", key, Job(inputs, {"settings": settings}))

    def _trees(self) -> dict[str, str]:
        """The parses of the corpus, as an input."""
        settings = SentenceParsing.model_validate({"parser": self.paper.graph.parser})
        given = {"graph.parser": pipeline_paths(settings.parser)}
        job = Job({"examples": self.examples}, {"settings": settings}, given=given)
        return {"parses": self.plan.add("parse_sentences", self.data.dataset, job)["out"]}

    def _factors(self, **own: Any) -> dict[str, Any]:
        part = "main" if own["k"] == self.paper.k else "sweep"
        return {"dataset": self.name, "fold": self.fold, "part": part, **own}

    def _retrieval(self, retriever: str, encoding: str, *, chains: bool) -> list[Source]:
        made = self._rankings(retriever, encoding, chains)
        items = Items(path=Path(made["counts"]), item="document", counts=RETRIEVED)
        beside = self._floors(retriever, chains)
        about = {
            "retriever": retriever,
            "classifier": "none",
            "encoding": encoding,
            "chains": "yes" if chains else "no",
        }
        return [
            Source(
                path=Path(made["metrics"]),
                items=items,
                factors=self._factors(**about, k=k),
                keys={"seed": "seed"},
                where={"k": k},
                data=self.title,
                **beside(k),
            )
            for k in self.paper.ks
        ]

    def _floors(self, retriever: str, chains: bool) -> Callable[[int], dict[str, Any]]:
        """What a retriever must beat at each k: what is declared, and the chains where they may say without a text
        which mentions are related."""
        if retriever == "random":
            return lambda k: {"unjudged": "a baseline"}
        names = dict(zip(declared("partners"), ("random", "nearest"), strict=True))
        names |= {"chains without text": "chains"} if chains else {}
        floors = {name: Path(self._rankings(one, "wrapped", False)["metrics"]) for name, one in names.items()}
        return lambda k: {
            "answer": "partners",
            "baselines": [Baseline(name=name, path=floor, where={"k": k}) for name, floor in floors.items()],
        }

    def _classification(self, classifier: _Classifier, retriever: str, **how: Any) -> list[Source]:
        """The scores of one classifier (see `trained`)."""
        if self.paper.classifiers[classifier].model is None:
            return []
        job = self.trained(classifier, retriever, **how)
        about = {"retriever": retriever, "classifier": classifier, "encoding": how.get("encoding", "wrapped")}
        factors = self._factors(**about, chains="yes" if job.settings.events.chains else "no", k=job.settings.k)
        items = Items(path=Path(job.scored["counts"]), item="document", counts=CLASSIFIED)
        return [self._scores(Path(job.scored["metrics"]), factors, items)]

    def trained(
        self, classifier: _Classifier, retriever: str, *, encoding: str = "wrapped", chains: bool = False, k: int = 0
    ) -> _Trained:
        """One classifier; `none` is trained and used on all pairs, `random` trained on as many random negatives.

        A tree is the encoding of the retriever alone: the classifier behind it reads wrapped sentences.
        """
        paper, recipe = self.paper, self.paper.classifiers[classifier]
        assert recipe.model is not None
        sweep = encoding != "wrapped" or chains or retriever in paper.encoders
        how = {"none": ("all", "all"), "random": ("random", "all")}.get(retriever, ("retrieved", "retrieved"))
        rankings = self._rankings(retriever if how[0] == "retrieved" else MATCHED, encoding, chains)["out"]
        settings = derive(
            PairClassification,
            recipe,
            self.data,
            events=self._events("wrapped" if encoding == "graph" else encoding, chains),
            k=k or paper.k,
            negatives=how[0],
            inference=how[1],
            engine=self._engine(recipe),
            seeds=(paper.seeds[: paper.sweep_seeds] if sweep else paper.seeds)[: recipe.most_seeds],
        )
        key = f"{classifier}/{self.data.dataset}/{retriever}.{self._cell(encoding, chains)}.k{settings.k}"
        start, inputs = self._start(classifier), {"examples": self.examples, "rankings": rankings}
        job = start.job({**inputs, "tokenizer": start.tokenizer}, {"settings": settings})
        trained = self.plan.add("train_pair_classifier", key, job)
        inputs |= {"models": trained["out"], "training": trained["metrics"]}
        scored = self.plan.add("classify_pairs", key, Job(inputs, {"settings": settings}))
        return _Trained(key, settings, trained, scored)

    def _start(self, classifier: _Classifier) -> Start:
        """The model of a classifier: as its entry has it, or an encoder-decoder of no tokenizer, pre-trained here."""
        recipe = self.paper.classifiers[classifier]
        model, origin = str(recipe.model), self.config.models[str(recipe.model)].origin
        if recipe.kind == "discriminative" or origin.kind != "scratch" or origin.tokenizer:
            folder = add_model(self.plan, self.config, model, seed=0)
            return Start(folder, folder, folder)
        wanted = Recipe(
            warm=self.paper.warm_start,
            setting=f"papers.{SLUG}.warm_start",
            name="event_relations",
            optimizer=recipe.optimizer,
            schedule="linear",
            objective="t5",
        )
        return add_start(self.plan, self.config, model, wanted)

    def _zero_shot(self) -> list[Source]:
        """The answers of a chat model to all pairs."""
        if not self.paper.zero_shot.enabled:
            return []
        settings = derive(
            ZeroShotClassification, self.paper.zero_shot, self.data, events=self._events("wrapped", False)
        )
        key = f"{self.data.dataset}/{self._cell('wrapped', False)}"
        asked = self.plan.add("ask_relations", key, Job({"examples": self.examples}, {"settings": settings}))
        about = {"retriever": "none", "classifier": "gpt", "encoding": "wrapped", "chains": "no"}
        return [self._scores(Path(asked["metrics"]), self._factors(**about, k=self.paper.k))]

    def _scores(self, path: Path, factors: dict[str, Any], items: Items | None = None) -> Source:
        """Scores beside the trivial answers to the same pairs."""
        return Source(
            path=path,
            items=items,
            factors=factors,
            keys={"seed": "seed"},
            where={"name": "model", "subset": [RELATED, ALL, CANDIDATES]},
            data=self.title,
            **rivals("relation", path),
        )

    def measured(self) -> list[Source]:
        """The case study, and a classifier's seconds over growing documents."""
        paper, name = self.paper, self.paper.ablation_classifier
        if paper.classifiers[name].model is None:
            return []
        without, found = (self.trained(name, retriever) for retriever in ("none", MATCHED))
        study = AnswerComparison(seed=paper.seeds[0], pairs=paper.case_study, scale=self.config.scale)
        answers = {"before": without.scored["out"], "after": found.scored["out"]}
        self.plan.add("compare_answers", SLUG, Job({"examples": self.examples, **answers}, {"settings": study}))
        self.plan.add_targets(SLUG, [paths.result(SLUG, "case_study.tsv")])
        timing = PairTiming(classification=found.settings, sizes=paper.timed_events, ks=paper.ks)
        inputs = {"examples": self.examples, "models": found.trained["out"]}
        path = Path(self.plan.add("time_pairs", found.key, Job(inputs, {"settings": timing}))["out"])
        about = {"classifier": name, "encoding": "wrapped", "chains": "no", "part": "timing"}
        return [
            Source(
                path=path,
                factors={**self._factors(k=k or paper.k), **about, "retriever": MATCHED if k else "none"},
                keys={"events": "events"},
                where={"condition": str(k) if k else ALL_PAIRS},
                data=self.title,
            )
            for k in (0, *paper.ks)
        ]
