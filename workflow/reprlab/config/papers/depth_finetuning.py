"""Settings of DEPTH's fine-tuning: the tasks, and what is fine-tuned on them."""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from reprlab.config.settings import (
    ColumnName,
    Distinct,
    LearningRates,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SafeName,
    Seeds,
    Settings,
    TaskDataName,
    decision,
    paper,
    upstream,
)

EvaluationMode = Literal["generate", "teacher_forced"]
LabelWord = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Split = Literal["train", "validation", "test"]
Table = Literal["glue", "discoeval", "ni"]


class FinetuningTask(Settings):
    """One task, text to text: its data, its form and its recipe."""

    table: Table
    """Result table that shows the task."""

    columns: Annotated[list[ColumnName], Field(min_length=1), Distinct]
    """Columns of the task in that table; more than one when the evaluation data has subsets (MNLI)."""

    dataset: TaskDataName | None
    """Data set, an entry of datasets.yaml; null leaves the columns empty."""

    template: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    """Text-to-text template: a name, or a format string with columns of the data in braces."""

    template_task: Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{0,32}$")] = ""
    """Name of the task inside template `discoeval`; empty for templates that know theirs."""

    labels: Annotated[list[LabelWord], Distinct]
    """Target text of each label, in the order of the data set's labels; empty where targets are free text."""

    metric: Literal["accuracy", "matthews", "rouge_l"]
    """Metric, times 100."""

    input_length: PositiveInt
    """Tokens of the input."""

    target_length: PositiveInt
    """Tokens of the target."""

    batch_size: PositiveInt
    """Examples of one optimizer step."""

    steps: PositiveInt | None = None
    """Optimizer steps; null when epochs is given."""

    epochs: PositiveInt | None = None
    """Passes over the training data; null when steps is given."""

    warmup_steps: NonNegativeInt
    """Steps of linear warm-up."""

    schedule: Literal["constant", "linear", "inverse_sqrt", "cosine"]
    """Learning rate after the warm-up."""

    eval_modes: Annotated[list[EvaluationMode], Field(min_length=1), Distinct] = ["generate"]
    """How predictions are made: generate, or the argmax under the gold target (teacher_forced, as upstream)."""

    learning_rates: LearningRates | None = None
    """Learning rates of the sweep; null takes finetuning.learning_rates."""

    instances_per_task: PositiveInt | None = None
    """Training examples of each Natural Instructions task; null takes all."""

    report_split: Split | None = None
    """Split whose values the tables show; null takes finetuning.report_split."""

    @model_validator(mode="after")
    def _steps_or_epochs(self) -> Self:
        if (self.steps is None) == (self.epochs is None):
            raise ValueError("give either steps or epochs, and null for the other")
        return self


class FinetuneOptimizer(Settings):
    """Optimizer of fine-tuning; the learning rate comes from the sweep."""

    weight_decay: Annotated[NonNegativeFloat, upstream("run_configs/")] = 0.0
    """Weight decay."""

    clip_norm: Annotated[PositiveFloat, upstream("run_configs/")] = 1.0
    """Gradients are scaled down to this norm."""


class BaselineSettings(Settings):
    """Rows that a trained row is compared with."""

    published: Annotated[bool, paper("tables 5, 7 and 9, first rows")] = True
    """Fine-tune pretraining.published_weights as well (the T5-Base rows)."""

    untrained: Annotated[bool, paper("table 5, T5-Base at step 0")] = True
    """Fine-tune randomly initialised weights as well."""

    trivial: Annotated[
        list[Literal["majority", "tfidf"]], Distinct, decision("a row below these has learned nothing")
    ] = ["majority", "tfidf"]
    """Predictors without a language model: the most frequent label, and TF-IDF with logistic regression."""


def _discoeval(name: str, words: list[str]) -> FinetuningTask:
    return FinetuningTask(
        table="discoeval", columns=[name], dataset=f"discoeval_{name}", template=name,
        labels=words, metric="accuracy", input_length=512, target_length=32, batch_size=64, steps=1_500,
        warmup_steps=100, schedule="linear",
    )  # fmt: skip


_PLACES = ["First sentence", "Second sentence", "Third sentence", "Fourth sentence", "Fifth sentence"]
_COHERENCE = ["Incoherent", "Coherent"]

_PUBLISHED_TASKS = {
    "cola": FinetuningTask(
        table="glue", columns=["cola"], dataset="glue_cola", template="cola", labels=["unacceptable", "acceptable"],
        metric="matthews", input_length=256, target_length=16, batch_size=16, steps=3_000, warmup_steps=300,
        schedule="constant",
    ),
    "sst2": FinetuningTask(
        table="glue", columns=["sst2"], dataset="glue_sst2", template="sst2", labels=["negative", "positive"],
        metric="accuracy", input_length=272, target_length=8, batch_size=128, steps=3_000, warmup_steps=300,
        schedule="linear",
    ),
    "mnli": FinetuningTask(
        table="glue", columns=["mnli_m", "mnli_mm"], dataset="glue_mnli", template="mnli",
        labels=["entailment", "neutral", "contradiction"], metric="accuracy", input_length=512, target_length=8,
        batch_size=256, steps=10_000, warmup_steps=1_000, schedule="linear",
    ),
    "sp_arxiv": _discoeval("sp_arxiv", _PLACES),
    "sp_wiki": _discoeval("sp_wiki", _PLACES),
    "sp_rocstory": _discoeval("sp_rocstory", _PLACES),
    "dc_chat": _discoeval("dc_chat", _COHERENCE),
    "dc_wiki": _discoeval("dc_wiki", _COHERENCE),
    "ni": FinetuningTask(
        table="ni", columns=["rougeL"], dataset="super_natural_instructions", template="ni", labels=[],
        metric="rouge_l", input_length=512, target_length=128, batch_size=64, epochs=3, warmup_steps=0,
        schedule="constant", eval_modes=["generate", "teacher_forced"], instances_per_task=100, report_split="test",
    ),
}  # fmt: skip


class FinetuningSettings(Settings):
    """Fine-tuning of the checkpoints."""

    learning_rates: Annotated[
        LearningRates,
        paper('section 4 ("best of 3"); the values are those of run_configs/'),
    ] = [1e-5, 5e-5, 1e-4]
    """Learning rates of the sweep; the best on select_split is reported."""

    checkpoints: Annotated[
        Literal["all", "first_and_last", "last"], paper("section 3.1: every checkpoint of the ladder")
    ] = "all"
    """Checkpoints of each ladder that are fine-tuned."""

    jobs: Annotated[
        Literal["checkpoint", "ladder", "task"],
        decision("a job of hours belongs to one checkpoint, one of seconds does not"),
    ] = "checkpoint"
    """checkpoint: one job for each checkpoint and learning rate; ladder: one for a whole ladder and sweep; task: one
    for all ladders of an input format."""

    tables: Annotated[list[Table], Distinct, paper("section 3.1")] = ["glue", "discoeval", "ni"]
    """Benchmarks that are run."""

    select_split: Annotated[Split, upstream("metrics of the fine-tuning scripts")] = "validation"
    """Split on which the learning rate is chosen; never test."""

    report_split: Annotated[Split, paper("appendices F, G and H: validation sets")] = "validation"
    """Split whose values the tables show."""

    mnli_field_order: Annotated[Literal["right", "upstream"], decision("upstream swaps the two field names")] = "right"
    """right: hypothesis and premise under their own names, as T5; upstream: swapped."""

    train_examples: Annotated[PositiveInt | None, upstream("all of them")] = None
    """Training examples of a task that are used; null takes all."""

    evaluation_examples: Annotated[PositiveInt | None, upstream("all of them")] = None
    """Evaluation examples of a task and split that are scored, each once; null takes all."""

    seeds: Annotated[Seeds, upstream("hydra_configs/default.yaml")] = [2137]
    """Seeds of the order of the data."""

    dropout: Annotated[Annotated[float, Field(ge=0, lt=1)], upstream("run_configs/")] = 0.0
    """Dropout in fine-tuning."""

    group_by_length: Annotated[bool, decision("false draws batches at random, as upstream; true pads less")] = False
    """Whether training batches hold examples of similar length."""

    optimizer: FinetuneOptimizer = FinetuneOptimizer()
    """Optimizer."""

    baselines: BaselineSettings = BaselineSettings()
    """Rows to compare with."""

    tasks: Annotated[
        dict[SafeName, FinetuningTask],
        upstream(
            "run_configs/ and fine_tune_constants/",
            eval_modes=decision("upstream scores teacher-forced argmax, which is no prediction; NI shows both"),
            dataset=paper("section 3.1"),
            report_split=paper("appendices F, G and H: validation sets, and test tasks for NI"),
        ),
    ] = _PUBLISHED_TASKS
    """The tasks by name."""

    @model_validator(mode="after")
    def _never_select_on_test(self) -> Self:
        if self.select_split == "test":
            raise ValueError("select_split is test: a learning rate chosen on the test split makes its score worthless")
        return self
