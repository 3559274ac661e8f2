"""Lists ranked by one token (FIRST), beside the pointwise reranker of the same model, the model untrained, and BM25."""

from typing import TYPE_CHECKING, Any

from reprlab.papers.ssm_rerankers.plan_models import add_ranking_start
from reprlab.papers.ssm_rerankers.plan_tasks import SLUG, WORDS, Collected, TaskJobs, factors_of, sized
from reprlab.papers.ssm_rerankers.results import LISTS
from reprlab.planning.plan import Job, Plan
from reprlab.results.sources import Source
from reprlab.retrieval.rerank_settings import ListSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.base import derive

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.ssm_rerankers.schema import SsmRerankersSettings


class ListJobs(TaskJobs):
    """Passages in-domain, ranked in lists and in pairs alike; jobs of pairs that the paper has are its own."""

    def __init__(self, plan: Plan, config: "LoadedConfig", paper: "SsmRerankersSettings") -> None:
        first = paper.neighbours.first
        own: dict[str, Any] = {} if first.queries is None else {"queries": first.queries, "queries_of": {}}
        if first.pair_length is not None:
            # What the lists are trained on: as many candidates for each query.
            own |= {"lengths": {"firstp": first.pair_length}, "negatives": first.window - 1}
        super().__init__(plan, config, paper, "lists" if own else "passages", paper.passages.model_copy(update=own))
        self.first, self.longest = first, self.longest_query(str(self.task.dataset))
        self.read = derive(ListSettings, first, ranknet_weight=0.0)

    def collections(self) -> list[Collected]:
        """Those in-domain."""
        return [one for one in super().collections() if one[2] == "in_domain"]

    def all(self) -> list[Source]:
        """First stages, and of each model three ways to rank, with their tokens and parameters."""
        kinds = dict.fromkeys((self.task.first_stage, WORDS))
        asked = [(*one[:2], kind) for one in self.collections() for kind in kinds] if self.first.models else []
        # An empty method: without any these rows would be those of each method.
        found = [
            _in_lists(one, "") for dataset, splits, kind in asked for one in self.hits(dataset, splits, LISTS, kind)
        ]
        for name in self.first.models:
            self._check_length(name)
            pairs = [one for one in self.scored(name, "firstp", 0) if one.factors["part"] == "in_domain"]
            again = [_in_lists(one, "pointwise") for one in pairs]
            for one in (*again, *self._listwise(name, trained=True), *self._listwise(name, trained=False)):
                found += [one, sized(one, "parameters")]
        return found

    def _check_length(self, name: str) -> None:
        """Refuse lists that are surely longer than their model's learned positions."""
        model = self.paper.rerankers[name].model
        most, tokens = self.config.models[model].learned_positions, self.read.longest(self.longest)
        if most is not None and tokens > most:
            raise ReprlabError(
                f"papers.{SLUG}.neighbours.first: {model} has {most} learned positions, and a list of "
                f"{self.first.window} passages has some {tokens} tokens; lower window or passage_tokens"
            )

    def _listwise(self, name: str, *, trained: bool) -> list[Source]:
        """Scores of lists, by a model that was trained on lists or as it is before."""
        seeds, files, words = self.paper.training.seeds, {}, {}
        if trained:
            ranknet = {"window": self.first.window, "passage_tokens": self.first.passage_tokens}
            lists = ListSettings(ranknet_weight=self.first.ranknet_weight, **ranknet)
            made = self.trained(name, "firstp", lists=lists)
            files = {"models": made["out"], "training": made["metrics"]}
        else:
            start = add_ranking_start(self.plan, self.config, self.paper, name)
            # Nothing is drawn of it.
            seeds, files = seeds[:1], {"tokenizer": start.tokenizer}
            words = {"models": start.model}
        settings, inputs = self.reranking_of(self.collections(), self.pairs(name, "firstp", self.longest), seeds)
        after = [*inputs, *([] if trained else [start.made_in])]
        job = Job({**files, "after": after}, {"settings": settings, "lists": self.read, **words})
        method = "listwise" if trained else "untrained"
        made = self.plan.add("rerank_passages", f"{name}/{self.task.dataset}/{self.name}_{method}", job)
        about = {**factors_of(self.paper, name), "part": LISTS, "truncation": "firstp", "method": method}
        found = [self.judged(made, about, dataset, splits) for dataset, splits, _ in self.collections()]
        bare: dict[str, Any] = {"answer": None, "baselines": [], "unjudged": "the model without training"}
        return found if trained else [one.model_copy(update=bare) for one in found]


def _in_lists(scored: Source, method: str) -> Source:
    return scored.model_copy(update={"factors": {**scored.factors, "part": LISTS, "method": method}})
