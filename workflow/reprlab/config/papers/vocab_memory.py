"""Settings of the PEMA paper (slug `vocab-memory`): the defaults are what was published.

Williams and Aletras: Vocabulary-level Memory Efficiency for Language Model Fine-tuning.
Upstream code: https://github.com/mlsw/partial-embedding-matrix-adaptation, last commit 2025-02-20.
"""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config.papers.vocab_memory_finetuning import PemaFinetuningSettings, RuntimeTableSettings, Split
from reprlab.config.settings import (
    CorpusName,
    Distinct,
    ModelName,
    NonNegativeInt,
    PositiveInt,
    SafeName,
    Seed,
    Settings,
    TaskDataName,
    decision,
    paper,
)

Models = Annotated[list[ModelName], Field(min_length=1), Distinct]


class GlueTask(Settings):
    """One column of the GLUE tables."""

    dataset: TaskDataName | None
    """Data set, an entry of datasets.yaml; null leaves the column empty."""

    metric: Literal["accuracy", "matthews", "f1", "spearman"]
    """Metric, times 100."""


class XnliColumn(Settings):
    """One column of the XNLI table."""

    datasets: Annotated[list[TaskDataName], Distinct]
    """Data sets whose tokens are put together; an empty list leaves the column empty."""


class StandIn(Settings):
    """The tokenizer that counts for a model."""

    tokenizer: ModelName
    """The model whose tokenizer counts."""


_GLUE = {
    "cola": GlueTask(dataset="glue_cola", metric="matthews"),
    "mnli": GlueTask(dataset="glue_mnli", metric="accuracy"),
    "mrpc": GlueTask(dataset="glue_mrpc", metric="accuracy"),
    "qnli": GlueTask(dataset="glue_qnli", metric="accuracy"),
    "qqp": GlueTask(dataset="glue_qqp", metric="f1"),
    "rte": GlueTask(dataset="glue_rte", metric="accuracy"),
    "sst2": GlueTask(dataset="glue_sst2", metric="accuracy"),
    "stsb": GlueTask(dataset="glue_stsb", metric="spearman"),
    "wnli": GlueTask(dataset="glue_wnli", metric="accuracy"),
}

_XNLI = {
    "en": XnliColumn(datasets=["xnli_en"]),
    "en_de": XnliColumn(datasets=["xnli_en", "xnli_de"]),
    "en_zh": XnliColumn(datasets=["xnli_en", "xnli_zh"]),
    "all": XnliColumn(
        datasets=[
            f"xnli_{language}"
            for language in ("ar", "bg", "zh", "en", "fr", "de", "el", "hi", "ru", "es", "sw", "th", "tr", "vi", "ur")
        ]
    ),
}


class CountingSettings(Settings):
    """Token counts behind Figure 2 and Tables 1 to 4."""

    max_length: Annotated[PositiveInt, paper("table 8")] = 128
    """Tokens of an example that count; what a model does not read is not counted."""

    splits: Annotated[
        list[Annotated[list[Split], Field(min_length=1), Distinct]],
        Field(min_length=1),
        decision("the paper does not say which splits it counts, so several unions are shown"),
    ] = [["train"], ["train", "validation"], ["train", "validation", "test"]]
    """Unions of splits that the tables show, one row each; a split that the data lacks counts nothing."""

    compared: Annotated[
        list[Split], Field(min_length=1), Distinct, decision("what upstream counts in training with evaluation")
    ] = ["train", "validation"]
    """The union that stands beside the paper's numbers, and that figures and claims use; one of splits."""

    further: Annotated[list[TaskDataName], Distinct, decision("none; below paper scale they add points")] = []
    """Further data sets for Figure 2."""

    stand_ins: Annotated[dict[SafeName, StandIn], paper("section 6: the DeBERTaV3 family shares one vocabulary")] = {
        "deberta_v3_xsmall": StandIn(tokenizer="deberta_v3_base"),
        "deberta_v3_small": StandIn(tokenizer="deberta_v3_base"),
        "deberta_v3_large": StandIn(tokenizer="deberta_v3_base"),
    }
    """Models for which another's tokenizer counts, because it is the same; the others have their own."""

    @model_validator(mode="after")
    def _compared_is_shown(self) -> Self:
        if self.compared not in self.splits:
            raise ValueError(f"compared ({', '.join(self.compared)}) must be one of splits")
        return self


class TrendSettings(Settings):
    """Figure 2: unique tokens by tokens."""

    tokenizers: Annotated[Models, paper("section 3, figure 2")] = ["gpt2"]
    """Models whose tokenizers are drawn."""


class UnseenSettings(Settings):
    """Table 1: tokens that do not occur in a corpus."""

    corpus: Annotated[CorpusName | None, decision("the processed 20 GB Wikipedia dump is not named")] = None
    """Documents that are searched, an entry of datasets.yaml; null leaves the table without rows of ours."""

    tokenizers: Annotated[Models, paper("section 3, table 1")] = ["gpt2"]
    """Models whose vocabularies are searched."""

    examples: Annotated[NonNegativeInt, paper("table 1")] = 5
    """Unseen tokens that are shown of each vocabulary: those of the highest ids, the last merges."""


class PemaStatisticsSettings(Settings):
    """Intervals of the claims."""

    bootstrap: Annotated[Annotated[PositiveInt, Field(ge=100)], decision("percentile bootstrap")] = 2_000
    """Bootstrap samples."""

    seed: Annotated[Seed, decision("any")] = 0
    """Seed of the resampling."""


class VocabMemorySettings(Settings):
    """PEMA: fine-tuning with the rows of the embedding matrix that the data uses."""

    tasks: Annotated[dict[SafeName, GlueTask], paper("section 5, table 10")] = _GLUE
    """The columns of the GLUE tables."""

    xnli: Annotated[dict[SafeName, XnliColumn], paper("table 4")] = _XNLI
    """The columns of the XNLI table."""

    reduction_models: Annotated[
        Models, paper("table 2"), decision("uncased BERT and DistilBERT: only they fit table 2")
    ] = [
        "distilbert_base_uncased",
        "distilroberta_base",
        "distilmbert_base_cased",
        "bert_base_uncased",
        "roberta_base",
        "deberta_v3_base",
        "mbert_base_cased",
        "xlm_roberta_base",
        "xlm_v_base",
    ]
    """Rows of Table 2."""

    size_models: Annotated[Models, paper("table 3")] = [
        "deberta_v3_xsmall",
        "deberta_v3_small",
        "deberta_v3_base",
        "deberta_v3_large",
    ]
    """Rows of Table 3: one vocabulary, several sizes."""

    multilingual_models: Annotated[Models, paper("table 4")] = [
        "distilmbert_base_cased",
        "mbert_base_cased",
        "xlm_roberta_base",
        "xlm_v_base",
    ]
    """Rows of Table 4."""

    listed_models: Annotated[Models, paper("table 5")] = [
        "distilbert_base_cased",
        "distilroberta_base",
        "distilmbert_base_cased",
        "bert_base_cased",
        "roberta_base",
        "deberta_v3_base",
        "mbert_base_cased",
        "xlm_roberta_base",
        "xlm_v_base",
    ]
    """Rows of Table 5; it lists the cased vocabularies of BERT and DistilBERT."""

    family_models: Annotated[Models, paper("table 6")] = [
        "deberta_v3_xsmall",
        "deberta_v3_small",
        "deberta_v3_base",
        "deberta_v3_large",
    ]
    """Rows of Table 6."""

    counting: CountingSettings = CountingSettings()
    """Token counts."""

    trend: TrendSettings = TrendSettings()
    """Figure 2."""

    unseen: UnseenSettings = UnseenSettings()
    """Table 1."""

    finetuning: PemaFinetuningSettings = PemaFinetuningSettings()
    """Fine-tuning with and without PEMA (Table 10)."""

    runtime_table: RuntimeTableSettings = RuntimeTableSettings()
    """Time and memory of PEMA (Table 9)."""

    statistics: PemaStatisticsSettings = PemaStatisticsSettings()
    """Intervals."""

    @model_validator(mode="after")
    def _tasks_are_known(self) -> Self:
        for name, chosen in (("finetuning", self.finetuning.tasks), ("runtime_table", self.runtime_table.tasks)):
            if unknown := sorted(set(chosen) - set(self.tasks)):
                raise ValueError(f"{name}.tasks names {unknown[0]}; tasks has {', '.join(self.tasks)}")
        return self
