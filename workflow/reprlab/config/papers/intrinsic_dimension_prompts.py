"""Prompt templates of the paper on intrinsic dimension, as rendered in the authors' released data."""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from reprlab.config.settings import PositiveInt, Settings, TaskDataName


class PromptedDataset(Settings):
    """A data set and the form of its prompts."""

    dataset: TaskDataName | None
    """Data set, an entry of datasets.yaml; null leaves the row empty."""

    template: Annotated[str, StringConstraints(min_length=1, max_length=2_000)] = "{text}"
    """Format string with columns of the data; released data sets hold whole prompts already. Line ends are added."""

    words: list[Annotated[str, StringConstraints(min_length=1, max_length=100)]] = []
    """Words of the labels in the prompt, in the order of the data's labels; empty: the labels themselves."""

    validation_splits: Annotated[list[Literal["validation", "test"]], Field(min_length=1)] = ["validation"]
    """Splits of the data that make up the validation prompts."""

    max_words: PositiveInt | None = None
    """Examples with longer inputs are left out; null takes all."""


def _released(name: str) -> PromptedDataset:
    return PromptedDataset(dataset=f"id_{name}")


PROMPTED = {
    name: _released(name) for name in ("sst2", "cola", "qnli", "qqp", "mnli", "ag_news", "commonsense_qa", "mmlu")
}

UNIQUE = {
    "ag_news": PromptedDataset(
        dataset="ag_news",
        template="What label best describes this news article?\n{text}",
        validation_splits=["test"],
    ),
    "qnli": PromptedDataset(
        dataset="glue_qnli",
        template='{text_b}\nDoes that sentence have all you need to answer the question "{text_a}"?',
        words=["yes", "no"],
    ),
    "qqp": PromptedDataset(
        dataset="glue_qqp",
        template='I\'m an administrator on the website Quora. There are two posts, one that asks "{text_a}" and '
        'another that asks "{text_b}". I can merge questions if they are asking the same thing. Can I merge these two '
        "questions?",
        words=["no", "yes"],
    ),
}
