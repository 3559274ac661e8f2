"""Evaluation and training sets of amuro-char (tables 1 and 5): the defaults are the published ones."""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from reprlab.config.settings import Distinct, NonNegativeFloat, PositiveInt, SafeName, Settings, TaskDataName

Split = Literal["train", "validation", "test"]
Names = Annotated[list[SafeName], Distinct]
Word = Annotated[str, StringConstraints(pattern=r"^[^=]+=[a-z]+$")]


class EvaluationSet(Settings):
    """One evaluation set."""

    kind: Literal["generation", "classification", "choice"]
    """generation: ROUGE-L of free text; classification: one of the label words; choice: the likeliest choice."""

    template: Literal["summary", "question", "nli", "paraphrase", "choice"]
    """Whose prompts (table 5)."""

    dataset: TaskDataName | None
    """Data set, an entry of datasets.yaml; null leaves the evaluation out."""

    splits: Annotated[list[Split], Field(min_length=1)] = ["validation"]
    """Scored splits of the data."""

    subset: str = ""
    """matched or mismatched; empty: all rows."""

    words: list[Word] = []
    """label=word: the word of a label in the prompts; a label that is not named stands for itself."""

    threshold: NonNegativeFloat | None = None
    """Data with scores in place of labels: yes above it, else no."""

    normalisation: Literal["none", "tokens", "characters"] = "none"
    """choice: what the log-likelihood of a choice is divided by."""

    max_rows: PositiveInt | None = None
    """Scored rows, the first by hash; null takes all."""

    unlabelled_upstream: bool = False
    """Whether the original scores it on rows without labels, all taken as no (prediction.unlabelled_gold_as_no)."""


class TrainingSet(Settings):
    """One set that checkpoints are fine-tuned on."""

    form: Literal["completion", "chat"] = "completion"
    """completion: prompt and completion; chat: turns of user and assistant."""

    template: Literal["summary", "question", "nli", "paraphrase", ""] = ""
    """Whose prompts (table 5); empty for data that are conversations already, and for a mixture."""

    dataset: TaskDataName | None = None
    """Data set, an entry of datasets.yaml; null without a mixture leaves the training set out."""

    mixture: Names = []
    """Training sets that are mixed in equal parts, in place of the data set."""

    subset: str = ""
    """matched or mismatched; empty: all rows."""

    words: list[Word] = []
    """label=word: the word of a label in the completions; a label that is not named stands for itself."""

    rows: PositiveInt | None = 6_000
    """Training rows, drawn with the seed of fine-tuning; null takes all."""

    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the data's rows that is drawn from, where rows is null."""

    in_domain: Names = []
    """Evaluation sets of the same task and source."""

    out_of_domain: Names = []
    """Evaluation sets of the same task from elsewhere."""


def _classified(template: Literal["nli", "paraphrase"], dataset: str, **more: object) -> EvaluationSet:
    return EvaluationSet.model_validate(
        {"kind": "classification", "template": template, "dataset": dataset, **more}, strict=True
    )


def _generated(template: Literal["summary", "question"], dataset: str, splits: list[str]) -> EvaluationSet:
    return EvaluationSet.model_validate(
        {"kind": "generation", "template": template, "dataset": dataset, "splits": splits}, strict=True
    )


def _chosen(dataset: str, normalisation: str) -> EvaluationSet:
    return EvaluationSet.model_validate(
        {"kind": "choice", "template": "choice", "dataset": dataset, "normalisation": normalisation}, strict=True
    )


EVALUATIONS = {
    "mnli_matched": _classified("nli", "glue_mnli", subset="matched"),
    "mnli_mismatched": _classified("nli", "glue_mnli", subset="mismatched"),
    "rte": _classified("nli", "glue_rte", words=["not_entailment=neutral"]),
    "gpt3nli": _classified("nli", "gpt3_nli", splits=["train"]),
    "paws": _classified("paraphrase", "paws_wiki", splits=["test"]),
    "qqp": _classified("paraphrase", "glue_qqp", words=["not_duplicate=no", "duplicate=yes"], unlabelled_upstream=True),
    "stsb": _classified("paraphrase", "glue_stsb", threshold=3.5, unlabelled_upstream=True),
    "xsum": _generated("summary", "xsum", ["test"]),
    "xlsum": _generated("summary", "xlsum_english", ["test"]),
    "cnn": _generated("summary", "cnn_dailymail", ["test"]),
    "socialiqa": _generated("question", "social_iqa", ["validation"]),
    "sciq_qg": _generated("question", "sciq", ["test"]),
    "tweetqa": _generated("question", "tweet_qa", ["validation"]),
    "hellaswag": _chosen("hellaswag", "characters"),
    "arc_challenge": _chosen("arc_challenge", "characters"),
    "arc_easy": _chosen("arc_easy", "characters"),
    "openbookqa": _chosen("openbookqa", "characters"),
    "boolq": _chosen("boolq", "none"),
    "sciq": _chosen("sciq", "none"),
}


TRAININGS = {
    "xsum": TrainingSet(template="summary", dataset="xsum", in_domain=["xsum", "xlsum"], out_of_domain=["cnn"]),
    "socialiqa": TrainingSet(
        template="question", dataset="social_iqa", in_domain=["socialiqa"], out_of_domain=["sciq_qg", "tweetqa"]
    ),
    "mnli": TrainingSet(
        template="nli",
        dataset="glue_mnli",
        in_domain=["mnli_matched", "mnli_mismatched"],
        out_of_domain=["rte", "gpt3nli"],
    ),
    "paws": TrainingSet(template="paraphrase", dataset="paws_wiki", in_domain=["paws"], out_of_domain=["qqp", "stsb"]),
    "tulu": TrainingSet(
        form="chat",
        dataset="tulu_v2",
        rows=None,
        share=0.05,
        in_domain=["hellaswag", "arc_challenge", "arc_easy", "openbookqa", "boolq", "sciq"],
    ),
}
