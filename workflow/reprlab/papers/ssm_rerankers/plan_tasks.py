"""Jobs of passage or of document reranking: first stages, rerankers at each length and in each order, scores."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from reprlab.papers.ssm_rerankers.plan_models import (
    add_ranking_start,
    end_of,
    in_order,
    ranking_engine,
    stages_on_spans,
)
from reprlab.papers.ssm_rerankers.results import CONTRAST, ORDERED
from reprlab.papers.ssm_rerankers.schema import FirstStage as Kind
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_model, add_task
from reprlab.registry.dataset_entries import reader_settings
from reprlab.results.sources import Baseline, Items, Source
from reprlab.retrieval.collections import RANDOM
from reprlab.retrieval.read_orders import Order, copies_of
from reprlab.retrieval.rerank_settings import (
    FirstStage,
    ListSettings,
    PairSettings,
    RerankedCollection,
    RerankerTraining,
    Reranking,
)
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.base import derive

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.ssm_rerankers.schema import SsmRerankersSettings, Task

SLUG = "ssm-rerankers"
WORDS: Kind = "bm25"
"""The first stage that needs no model."""
Collected = tuple[str, tuple[str, ...], str]
"""A data set, its evaluated splits, and the part of the results that it belongs to."""


def factors_of(paper: "SsmRerankersSettings", name: str) -> dict[str, Any]:
    """What the rows of a reranker have in common."""
    return {"model": name, "family": paper.rerankers[name].family, "size": paper.rerankers[name].size}


class TaskJobs:
    """Jobs of passage or of document reranking, and the files that hold their results."""

    def __init__(
        self, plan: Plan, config: "LoadedConfig", paper: "SsmRerankersSettings", name: str, task: "Task"
    ) -> None:
        self.plan, self.config, self.paper, self.name, self.task = plan, config, paper, name, task
        self.dtype = config.arithmetic(paper.dtype)
        # Each reranker reads them.
        self._examples = functools.cache(functools.partial(add_task, plan, config))
        self._first_stage = functools.cache(self._found)

    def retrieval(self) -> list[Source]:
        """The hits of each first stage, and the random order of those that are reranked."""
        kinds: tuple[Kind, ...] = get_args(Kind) if self.name == "passages" else (self.task.first_stage,)
        found = []
        for dataset, splits, part in self.collections():
            for kind in kinds:
                found += self.hits(dataset, splits, part, kind)
        return [*found, *self._deep_recall()]

    def hits(self, dataset: str, splits: tuple[str, ...], part: str, kind: Kind) -> list[Source]:
        """What a first stage finds in its own order, and in a random one where it is what is reranked."""
        made, found = self._first_stage(dataset, kind), []
        for name in (kind, RANDOM) if kind == self.task.first_stage else (kind,):
            model = self.paper.retriever.model if name == "dense" else name
            about: dict[str, Any] = {"model": model, "part": part, "dataset": dataset, "truncation": "none"}
            found.append(
                Source(
                    path=Path(made["metrics"]),
                    factors=about,
                    where={"name": name, "split": list(splits)},
                    items=Items(path=Path(made["out"]), item="query", where={"name": name}),
                    data=self.config.datasets.tasks[dataset].title,
                    unjudged="the order that is reranked, or another that needs no reranker",
                )
            )
        return found

    def _deep_recall(self) -> list[Source]:
        """Recall of the first stage beyond what is reranked, where the paper prints it so (Table 8: dev)."""
        task, depth = self.task, self.task.deep_recall_at
        if depth is None:
            return []
        dataset, kind, metric = str(task.dataset), task.first_stage, f"recall_at_{depth}"
        known = self._first_stage_settings(dataset, kind)
        queries = {split: limit for split, limit in known.queries.items() if split in task.splits}
        deep = {"depth": depth, "splits": list(task.splits), "queries": queries, "metrics": [metric]}
        settings = known.model_copy(update=deep)
        about: dict[str, Any] = {"part": self.collections()[0][2], "dataset": dataset, "truncation": "none"}
        return [
            Source(
                path=Path(self._retrieved(dataset, kind, settings, f"{self.name}_deep")["metrics"]),
                factors={**about, "model": self.paper.retriever.model if kind == "dense" else kind},
                where={"name": kind, "split": list(task.splits), "metric": metric},
                data=self.config.datasets.tasks[dataset].title,
                unjudged="the order that is reranked",
            )
        ]

    def reranking(self, name: str) -> list[Source]:
        """The scores of one model at each length, with its best passages where documents are long."""
        found = []
        for truncation in self.task.lengths:
            if truncation == "longp" and not self.paper.rerankers[name].long:
                continue
            found += self.scored(name, truncation, 0)
            if truncation == "firstp" and self.task.maxp_stride is not None:
                found += self.scored(name, truncation, self.task.maxp_stride)
        return found

    def read_in_other_orders(self) -> list[Source]:
        """Scores in-domain of the rerankers that are read in other orders as well, and the tokens of a pair in each."""
        wanted, found = self.paper.neighbours.read_twice, []
        for name in wanted.models:
            plain = self.scored(name, "firstp", 0)
            found += [sized(one) for one in plain if one.factors["part"] == "in_domain"]
            for order in wanted.orders:
                self._check_positions(name, order)
                scored = self.scored(name, "firstp", 0, order)
                found += [one for source in scored for one in (source, sized(source))]
        return found

    def _check_positions(self, name: str, order: Order) -> None:
        """Refuse an order in which a pair has more tokens than its model has positions."""
        model = self.paper.rerankers[name].model
        most, copies = self.config.models[model].learned_positions, copies_of(order)
        length = self.task.lengths["firstp"]
        if most is not None and copies * length > most:
            raise ReprlabError(
                f"papers.{SLUG}.neighbours.read_twice: {model} has {most} learned positions, and {order} reads up to "
                f"{copies * length} tokens; take {name} out, or set passages.lengths.firstp to {most // copies} at most"
            )

    def collections(self) -> list[Collected]:
        """What is reranked."""
        task, part = self.task, "document" if self.name == "documents" else "in_domain"
        again = [(dataset, ("test",), part) for dataset in task.again]
        further = [(dataset, ("test",), "out_of_domain") for dataset in task.further]
        return [(str(task.dataset), tuple(task.splits), part), *again, *further]

    def _found(self, dataset: str, kind: Kind) -> dict[str, str]:
        return self._retrieved(dataset, kind, self._first_stage_settings(dataset, kind), self.name)

    def _first_stage_settings(self, dataset: str, kind: Kind) -> FirstStage:
        """Runs of a collection, of its train split as well where rerankers are trained on them."""
        task, retriever = self.task, self.paper.retriever
        own = dataset == task.dataset
        trained = own and kind == task.first_stage
        splits: list[Any] = [*(["train"] if trained else []), *(task.splits if own else ["test"])]
        asked = task.queries_of.get(dataset, task.queries)
        limits: dict[Any, int | None] = dict.fromkeys(("validation", "test"), asked)
        limits["train"] = task.training_queries
        given, names = (task, ("k1", "b")) if kind == "bm25" else (retriever, ("prefix", "pooling", "max_length"))
        return FirstStage(
            kind=kind,
            depth=task.depth,
            splits=splits,
            drop_own=getattr(reader_settings(self.config.datasets.tasks[dataset]), "drop_own", False),
            queries={name: limit for name in splits if (limit := limits[name]) is not None},
            seed=self.config.workflow.seed,
            metrics=[*task.metrics, f"recall_at_{task.recall_at}"],
            **{name: getattr(given, name) for name in names},
        )

    def _retrieved(self, dataset: str, kind: Kind, settings: FirstStage, cell: str) -> dict[str, str]:
        retriever = self.paper.retriever
        inputs: dict[str, str | list[str]] = {"examples": self._examples(dataset)}
        if kind == "dense":
            inputs["model"] = add_model(self.plan, self.config, retriever.model, seed=0)
        model = retriever.model if kind == "dense" else kind
        return self.plan.add("retrieve_passages", f"{model}/{dataset}/{cell}", Job(inputs, {"settings": settings}))

    def longest_query(self, dataset: str) -> int:
        """Tokens of a query of a data set at most."""
        return self.task.max_query_of.get(dataset, self.task.max_query)

    def pairs(self, name: str, truncation: Any, max_query: int) -> PairSettings:
        """How a reranker reads pairs."""
        reranker, alone = self.paper.rerankers[name], name in self.paper.encoder_cls
        length = self.task.lengths[truncation]
        return derive(PairSettings, reranker, self.task, max_length=length, max_query=max_query, encoder_cls=alone)

    def trained(
        self, name: str, truncation: str, order: Order = "once", lists: ListSettings | None = None
    ) -> dict[str, str]:
        """One reranker, trained on the train split of the task: of pairs, or of lists with their own negatives."""
        task, recipe, reranker = self.task, self.paper.training, self.paper.rerankers[name]
        start = add_ranking_start(self.plan, self.config, self.paper, name, order)
        engine = ranking_engine(self.config, self.paper, reranker, recipe.schedule)
        pairs = self.pairs(name, truncation, self.longest_query(str(task.dataset)))
        # A head that was trained on spans is not a fresh one.
        own: dict[str, Any] = {"head_factor": 1.0} if stages_on_spans(self.config, self.paper, reranker) else {}
        own |= {"negatives": lists.window - 1} if lists else {}
        settings = derive(RerankerTraining, recipe, reranker, task, pairs=pairs, engine=engine, **own)
        inputs: dict[str, str | list[str]] = {
            "examples": self._examples(str(task.dataset)),
            "run": self._first_stage(str(task.dataset), task.first_stage)["out"],
            "tokenizer": start.tokenizer,
        }
        job = start.job(inputs, {"settings": settings, **in_order(order), **({"lists": lists} if lists else {})})
        cell = f"{self.name}_{'listwise' if lists else truncation}{end_of(order)}"
        return self.plan.add("train_reranker", f"{name}/{task.dataset}/{cell}", job)

    def scored(self, name: str, truncation: str, stride: int, order: Order = "once") -> list[Source]:
        """Scores in and out of domain; jobs apart, so that a table runs no more than it shows. In another order than
        that of the template those in-domain alone, without their contrasts.

        Data sets whose queries are cut elsewhere (`max_query_of`) have jobs of their own.
        """
        found, trained = [], self.trained(name, truncation, order)
        known_collections = [one for one in self.collections() if order == "once" or one[2] == "in_domain"]
        for part, longest in dict.fromkeys((part, self.longest_query(name)) for name, _, part in known_collections):
            chosen = [one for one in known_collections if (one[2], self.longest_query(one[0])) == (part, longest)]
            pairs = self.pairs(name, truncation, longest)
            settings, inputs = self.reranking_of(chosen, pairs, self.paper.training.seeds, stride)
            cell = f"{self.name}_{'maxp' if stride else truncation}_{part}"
            cell += "" if longest == self.task.max_query else f"_query{longest}"
            cell += end_of(order)
            job = Job(
                {"models": trained["out"], "training": trained["metrics"], "after": inputs},
                {"settings": settings, **in_order(order)},
            )
            made = self.plan.add("rerank_passages", f"{name}/{self.task.dataset}/{cell}", job)
            known = {**factors_of(self.paper, name), "part": part, "truncation": "maxp" if stride else truncation}
            known |= {} if order == "once" else {"part": ORDERED, "order": order}
            for dataset, splits, _ in chosen:
                found.append(self.judged(made, known, dataset, splits))
                if order == "once":
                    contrasts = {"path": Path(made["contrasts"]), "differences": True, **self._about(dataset, splits)}
                    keys = {name: name for name in ("seed", "less", "p")}
                    factors = {**known, "dataset": dataset, "part": CONTRAST}
                    found.append(Source(factors=factors, keys=keys, **contrasts))
        return found

    def reranking_of(
        self, chosen: list[Collected], pairs: PairSettings, seeds: list[int], stride: int = 0
    ) -> tuple[Reranking, list[str]]:
        """Settings of the scores of some collections, and the files that they are read from."""
        collections, inputs = [], []
        for dataset, splits, _ in chosen:
            examples = self._examples(dataset)
            run = self._first_stage(dataset, self.task.first_stage)["out"]
            inputs += [examples, run]
            for split in splits:
                about = {"examples": Path(examples), "run": Path(run), "split": split}
                collections.append(RerankedCollection.model_validate({"name": dataset, **about}))
        own: dict[str, Any] = {"pairs": pairs, "collections": collections, "stride": stride, "seeds": seeds}
        return derive(Reranking, self.task, dtype=self.dtype, **own), list(dict.fromkeys(inputs))

    def judged(
        self, made: Mapping[str, str], known: Mapping[str, Any], dataset: str, splits: tuple[str, ...]
    ) -> Source:
        """The scores of a reranker on a collection, beside the random order and the words."""
        first, words = (Path(self._first_stage(dataset, kind)["metrics"]) for kind in (self.task.first_stage, WORDS))
        return Source(
            path=Path(made["metrics"]),
            factors={**known, "dataset": dataset},
            keys={"seed": "seed"},
            items=Items(path=Path(made["out"]), item="query"),
            answer="ranking",
            baselines=[
                Baseline(name=RANDOM, path=first, where={"name": RANDOM}),
                Baseline(name="bm25", path=words, where={"name": "bm25"}),
            ],
            **self._about(dataset, splits),
        )

    def _about(self, dataset: str, splits: tuple[str, ...]) -> dict[str, Any]:
        title = self.config.datasets.tasks[dataset].title
        return {"where": {"dataset": dataset, "split": list(splits)}, "data": title}


def sized(scored: Source, *columns: str) -> Source:
    """The tokens of a pair, and what else is named, which stand beside the scores of a reranker."""
    kept = {name: getattr(scored, name) for name in ("path", "factors", "keys", "where", "data")}
    return Source(**kept, wide=["pair_tokens", *columns])
