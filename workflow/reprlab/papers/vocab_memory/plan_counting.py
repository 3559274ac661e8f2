"""Plan of the counting half: which tokenizer counts which data, and the columns and rows that follow."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.papers.plan import Plan
from reprlab.papers.shared_jobs import add_corpus, add_task
from reprlab.papers.vocab_memory.layouts import CountColumn, ModelRow
from reprlab.papers.vocab_memory.names import label_of, size_label_of
from reprlab.papers.vocabulary_jobs import add_model_sizes, add_token_counts, add_tokenizer
from reprlab.runtime.errors import ReprlabError
from reprlab.text.token_counts import CountSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.vocab_memory import VocabMemorySettings

NO_DATA = "no data at this scale"
_KINDS = ("single", "pair", "similarity")


@dataclass
class Counted:
    """What the tables of counts are made from."""

    sizes: str
    """Table of model sizes."""
    reduction: list[ModelRow]
    """Rows of Table 2."""
    family_savings: list[ModelRow]
    """Rows of Table 3."""
    multilingual: list[ModelRow]
    """Rows of Table 4."""
    glue: list[CountColumn]
    """Columns of Tables 2 and 3."""
    xnli: list[CountColumn]
    """Columns of Table 4."""
    trend: list[ModelRow]
    """Tokenizers of Figure 2."""
    trend_data: list[CountColumn]
    """Its data sets."""
    unseen: list[ModelRow] = field(default_factory=list)
    """Vocabularies of Table 1."""
    unseen_folders: dict[str, Path] = field(default_factory=dict)
    """Their tokenizers."""
    unseen_counts: dict[str, Path] = field(default_factory=dict)
    """Their counts."""
    corpus: str = ""
    """True name of the corpus of Table 1."""


def add_counting(plan: Plan, config: "LoadedConfig", paper: "VocabMemorySettings") -> Counted:
    """Plan counts, tokenizers and sizes."""
    planner = _Planner(plan, config, paper)
    reduction, savings = planner.rows(paper.reduction_models), planner.rows(paper.size_models, family=True)
    multilingual, trend = planner.rows(paper.multilingual_models), planner.rows(paper.trend.tokenizers)
    tasks = {name: [task.dataset] if task.dataset else [] for name, task in paper.tasks.items()}
    further = {dataset: [dataset] for dataset in paper.counting.further}
    languages = {name: list(datasets) for name, datasets in paper.xnli.items()}
    sized = [*paper.reduction_models, *paper.size_models, *paper.multilingual_models]
    counted = Counted(
        sizes=add_model_sizes(plan, config, "vocab_memory", [*sized, *paper.listed_models, *paper.family_models]),
        reduction=reduction,
        family_savings=savings,
        multilingual=multilingual,
        glue=planner.columns(tasks, [*reduction, *savings]),
        xnli=planner.columns(languages, multilingual),
        trend=trend,
        trend_data=planner.columns({**tasks, **further}, trend),
    )
    if paper.unseen.corpus is not None:
        planner.add_unseen(counted, paper.unseen.corpus)
    return counted


def add_readable_task(plan: Plan, config: "LoadedConfig", dataset: str) -> str:
    """Plan the examples of a task of single texts or pairs; returns their path.

    Raises:
        ReprlabError: the task is of another kind.
    """
    entry = config.datasets.tasks[dataset]
    if entry.kind not in _KINDS or entry.documents:
        raise ReprlabError(f"papers.vocab-memory: {dataset} is of kind {entry.kind}; use one of {', '.join(_KINDS)}")
    return add_task(plan, config, dataset)


class _Planner:
    def __init__(self, plan: Plan, config: "LoadedConfig", paper: "VocabMemorySettings") -> None:
        self.plan, self.config, self.paper = plan, config, paper

    def rows(self, models: list[str], *, family: bool = False) -> list[ModelRow]:
        """Rows of a table, each with the model whose tokenizer counts for it."""
        label = size_label_of if family else label_of
        return [ModelRow(name=model, label=label(model), tokenizer=self.tokenizer_of(model)) for model in models]

    def tokenizer_of(self, model: str) -> str:
        """The model whose tokenizer counts for `model`; empty where none is known."""
        known = self.paper.counting.stand_ins.get(model, model)
        return known if self.config.models[known].origin.kind != "scratch" else ""

    def columns(self, data: dict[str, list[str]], rows: list[ModelRow]) -> list[CountColumn]:
        """Columns of a table with the counts by each tokenizer of its rows."""
        tokenizers = list(dict.fromkeys(row.tokenizer for row in rows if row.tokenizer))
        return [
            CountColumn(
                name=name,
                data="; ".join(self.config.datasets.tasks[dataset].title for dataset in datasets),
                counts={
                    tokenizer: [Path(self.add_counts(tokenizer, dataset)) for dataset in datasets]
                    for tokenizer in tokenizers
                    if datasets
                },
                reason="" if datasets else NO_DATA,
            )
            for name, datasets in data.items()
        ]

    def add_counts(self, tokenizer: str, dataset: str) -> str:
        """Plan the counts of a task's examples."""
        settings = CountSettings(source="examples", max_length=self.paper.counting.max_length)
        examples = add_readable_task(self.plan, self.config, dataset)
        return add_token_counts(self.plan, self.config, tokenizer, dataset, examples, settings)

    def add_unseen(self, counted: Counted, corpus: str) -> None:
        """Plan the counts of a corpus for Table 1."""
        documents = add_corpus(self.plan, self.config, corpus)
        counted.unseen = [row for row in self.rows(self.paper.unseen.tokenizers) if row.tokenizer]
        counted.corpus = self.config.datasets.corpora[corpus].title
        for row in counted.unseen:
            counted.unseen_folders[row.tokenizer] = Path(add_tokenizer(self.plan, self.config, row.tokenizer))
            counted.unseen_counts[row.tokenizer] = Path(
                add_token_counts(
                    self.plan, self.config, row.tokenizer, corpus, documents, CountSettings(source="documents")
                )
            )
