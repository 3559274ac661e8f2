"""Plan of the counting half: which tokenizer counts which data, and the rows of Tables 1 to 6 and Figure 2."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reprlab.config.load import LoadedConfig
from reprlab.papers.vocab_memory.names import label_of, size_label_of
from reprlab.papers.vocab_memory.schema import VocabMemorySettings
from reprlab.planning.plan import Plan
from reprlab.planning.shared_jobs import add_corpus, add_task, add_tokenizer
from reprlab.planning.vocabulary_jobs import add_model_sizes, add_token_counts, add_vocabulary_use
from reprlab.results.sources import Missing, Source
from reprlab.runtime.errors import ReprlabError
from reprlab.text.token_counts import CountSettings
from reprlab.text.vocabulary_use import UseSettings

NO_DATA = "no data at this scale"
_KINDS = ("single", "pair", "similarity")
_NO_CORPUS = "no corpus: the paper does not name its Wikipedia dump; set unseen.corpus"
_REDUCTION = ["vocabulary", "width", "total"]
_LISTED = {"table5_models": ["vocabulary"], "table6_deberta": ["layers", "heads", "width"]}


def add_readable_task(plan: Plan, config: LoadedConfig, dataset: str) -> str:
    """Plan the examples of a task of single texts or pairs; returns their path.

    Raises:
        ReprlabError: the task is of another kind.
    """
    entry = config.datasets.tasks[dataset]
    if entry.kind not in _KINDS or entry.documents:
        raise ReprlabError(f"papers.vocab-memory: {dataset} is of kind {entry.kind}; use one of {', '.join(_KINDS)}")
    return add_task(plan, config, dataset)


class Counting:
    """The counting half at the config's scale."""

    def __init__(self, plan: Plan, config: LoadedConfig, paper: VocabMemorySettings) -> None:
        self.plan, self.config, self.paper = plan, config, paper
        sized = [*paper.reduction_models, *paper.size_models, *paper.multilingual_models]
        listed = [*paper.listed_models, *paper.family_models]
        self.sizes = Path(add_model_sizes(plan, config, "vocab_memory", [*sized, *listed]))

    def entries(self) -> Iterator[Source | Missing]:
        """Rows of Tables 1 to 6 and of Figure 2, in the paper's order; columns without data are missing."""
        paper = self.paper
        tasks = {name: [task.dataset] if task.dataset else [] for name, task in paper.tasks.items()}
        yield from self.unseen()
        glue = [*paper.reduction_models, *paper.size_models]
        use = self.add_use("glue", glue, tasks, paper.counting.splits)
        yield from self.reduction("table2_reduction", paper.reduction_models, tasks, use)
        yield from self.reduction("table3_deberta_sizes", paper.size_models, tasks, use, family=True)
        use = self.add_use("xnli", paper.multilingual_models, paper.xnli, paper.counting.splits)
        yield from self.reduction("table4_xnli", paper.multilingual_models, paper.xnli, use)
        for table, models in (("table5_models", paper.listed_models), ("table6_deberta", paper.family_models)):
            for model in models:
                yield self.size(table, model, [*_LISTED[table], "embedding", "total"], family=table != "table5_models")
        trend = {**tasks, **{dataset: [dataset] for dataset in paper.counting.further}}
        use = self.add_use("trend", paper.trend.tokenizers, trend, [paper.counting.compared])
        for model in paper.trend.tokenizers:
            about = {"table": "fig2_vocab_trend", "model": label_of(model)}
            yield from self.counts(about, self.tokenizer_of(model), trend, use, ["unique", "vocabulary"])

    def tokenizer_of(self, model: str) -> str:
        """The model whose tokenizer counts for `model`; empty where none is known."""
        known = self.paper.counting.stand_ins.get(model, model)
        return known if self.config.models[known].origin.kind != "scratch" else ""

    def add_use(self, group: str, models: list[str], data: dict[str, list[str]], splits: list[Any]) -> Path | None:
        """Plan what the columns use of the vocabularies of some models; nothing where no column has data."""
        tokenizers = dict.fromkeys(filter(None, map(self.tokenizer_of, models)))
        known = {column: datasets for column, datasets in data.items() if datasets}
        if not tokenizers or not known:
            return None
        counts = {
            tokenizer: {name: [self.add_counts(tokenizer, one) for one in sets] for name, sets in known.items()}
            for tokenizer in tokenizers
        }
        settings = UseSettings(counts=counts, splits=[list(union) for union in splits])
        return Path(add_vocabulary_use(self.plan, f"vocab_memory_{group}", settings))

    def add_counts(self, tokenizer: str, dataset: str) -> Path:
        """Plan the counts of a task's examples."""
        settings = CountSettings(source="examples", max_length=self.paper.counting.max_length)
        examples = add_readable_task(self.plan, self.config, dataset)
        return Path(add_token_counts(self.plan, self.config, tokenizer, dataset, examples, settings))

    def size(self, table: str, model: str, sizes: list[str], *, family: bool = False, tokenizer: str = "") -> Source:
        """The sizes of a model in a table."""
        label = size_label_of(model) if family else label_of(model)
        about: dict[str, Any] = {"table": table, "model": label, "entry": model, "tokenizer": tokenizer}
        return Source(path=self.sizes, factors=about, where={"name": model}, wide=sizes)

    def reduction(
        self, table: str, models: list[str], data: dict[str, list[str]], use: Path | None, *, family: bool = False
    ) -> Iterator[Source | Missing]:
        """Counts of every tokenizer of a table, and sizes of its models."""
        counters = {model: self.tokenizer_of(model) for model in models}
        for tokenizer in dict.fromkeys(counters.values()):
            yield from self.counts({"table": table}, tokenizer, data, use, ["used"])
        for model, tokenizer in counters.items():
            yield self.size(table, model, _REDUCTION, family=family, tokenizer=tokenizer)

    def counts(
        self, about: dict[str, Any], tokenizer: str, data: dict[str, list[str]], use: Path | None, metrics: list[str]
    ) -> Iterator[Source | Missing]:
        """Counts of one tokenizer by column."""
        for column, datasets in data.items():
            known: dict[str, Any] = {**about, "column": column}
            if not datasets or use is None:
                yield Missing(factors=known, reason=NO_DATA)
            elif not tokenizer:
                yield Missing(factors={**known, "tokenizer": ""}, reason="no tokenizer of this model at this scale")
            else:
                title = "; ".join(self.config.datasets.tasks[dataset].title for dataset in datasets)
                where: dict[str, Any] = {"model": tokenizer, "column": column, "metric": metrics}
                factors = {**known, "tokenizer": tokenizer}
                yield Source(path=use, factors=factors, keys={"splits": "splits"}, where=where, data=title)

    def unseen(self) -> Iterator[Source | Missing]:
        """Table 1: tokens that a corpus does not have."""
        unseen, corpus, table = self.paper.unseen, self.paper.unseen.corpus, "table1_unseen_tokens"
        counters = {model: known for model in unseen.tokenizers if (known := self.tokenizer_of(model))}
        if corpus is None or not counters:
            yield Missing(factors={"table": table}, reason=_NO_CORPUS)
            return
        documents, settings = add_corpus(self.plan, self.config, corpus), CountSettings(source="documents")
        tokenizers = dict.fromkeys(counters.values())
        counts = {one: add_token_counts(self.plan, self.config, one, corpus, documents, settings) for one in tokenizers}
        use = UseSettings(
            counts={one: {corpus: [Path(path)]} for one, path in counts.items()},
            splits=[[]],
            unseen=unseen.examples,
            tokenizers={one: Path(add_tokenizer(self.plan, self.config, one)) for one in tokenizers},
        )
        path = Path(add_vocabulary_use(self.plan, "vocab_memory_unseen", use))
        title = self.config.datasets.corpora[corpus].title
        for model, tokenizer in counters.items():
            about: dict[str, Any] = {"table": table, "model": label_of(model), "tokenizer": tokenizer}
            where: dict[str, Any] = {"model": tokenizer, "metric": ["id", "unseen", "vocabulary"]}
            yield Source(path=path, factors=about, keys={"token": "token"}, where=where, data=title)
