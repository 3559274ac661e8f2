"""Settings of the paper on intrinsic dimension (slug `intrinsic-dimension`): the defaults are what was published.

Janapati and Ji: A Comparative Study of Learning Paradigms in Large Language Models via Intrinsic Dimension. Upstream
code: https://github.com/saahithjanapati/intrinsic-dimension-of-learning-paradigms, commit de35a47, 2025-09-03.
"""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from reprlab.config.papers.intrinsic_dimension_prompts import PROMPTED, UNIQUE, PromptedDataset
from reprlab.config.settings import (
    CorpusName,
    Distinct,
    Ladder,
    ModelName,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Probability,
    SafeName,
    Seed,
    Settings,
    decision,
    paper,
    upstream,
)


def _sorted(values: list[int]) -> list[int]:
    if values != sorted(set(values)):
        raise ValueError("must increase from each number to the next")
    return values


Shots = Annotated[list[NonNegativeInt], Field(min_length=1), AfterValidator(_sorted)]
Models = Annotated[list[ModelName], Field(min_length=1), Distinct]
Names = Annotated[list[SafeName], Distinct]

_MODELS = ["llama_3_8b", "llama_2_7b", "llama_2_13b", "mistral_7b_v0_3"]
_DYNAMICS_MODELS = ["llama_3_8b", "llama_2_13b"]


class PromptDataSettings(Settings):
    """Data sets and the size of their splits."""

    train_items: Annotated[PositiveInt, paper("section 4")] = 1_000
    """Training examples; demonstrations are drawn from them."""

    validation_items: Annotated[PositiveInt, paper("section 4")] = 5_000
    """Validation prompts."""

    demonstration_seed: Annotated[Seed, upstream("notebook of the data sets")] = 42
    """Seed of the demonstrations of each prompt."""

    scratch_corpus: Annotated[CorpusName | None, decision("no model is drawn at random at paper scale")] = None
    """Corpus for the tokenizer of models that are drawn at random."""

    datasets: Annotated[
        dict[SafeName, PromptedDataset],
        upstream("datasets/*.json and their notebook", words=paper("appendix H")),
    ] = PROMPTED
    """The data sets by the name of their row."""


class CollectionSettings(Settings):
    """Forward passes whose last-token states are kept."""

    dtype: Annotated[
        Literal["auto", "float32", "bfloat16"], upstream("no dtype is given: float32 in transformers 4")
    ] = "float32"
    """Arithmetic, the same for all paradigms; auto takes numerics.dtype of config.yaml."""

    label_ids: Annotated[Literal["in_context", "bare"], decision("upstream scores tokens that are not written: T1")] = (
        "in_context"
    )
    """Token that scores a label: the one after the prompt, or the first of the label by itself (bare, as upstream)."""

    batch_tokens: Annotated[PositiveInt, decision("fits a GPU of 48 GB; rounding depends on it a little")] = 16_384
    """Tokens of a batch, padding included."""

    precision_items: Annotated[NonNegativeInt, decision("collection is in float32 already")] = 0
    """Zero-shot prompts that are collected in the other arithmetic too, to show what bfloat16 does; 0: none."""


class EstimationSettings(Settings):
    """Estimators of intrinsic dimension."""

    discard: Annotated[Probability, upstream("calculate_id.py; the paper does not mention it")] = 0.1
    """TwoNN: share of the largest ratios left out of the fit."""

    neighbours: Annotated[Annotated[PositiveInt, Field(ge=3)], paper("appendix F")] = 50
    """Levina-Bickel: k."""

    duplicates: Annotated[
        Literal["drop", "upstream"], decision("the 1e-10 rule of upstream collapses from 10 % of twins on")
    ] = "drop"
    """drop: one of each set of equal points; upstream: a first distance of 0 becomes 1e-10."""

    norm: Annotated[Literal["paper", "upstream"], paper("section 4.1")] = "paper"
    """Normalised AUC: divided by the layers L (paper), or by L - 1 as in the authors' figures (upstream)."""

    halves: Annotated[NonNegativeInt, decision("the paper has one run and no intervals")] = 20
    """Random halves of the prompts behind the intervals (delete-half jackknife); 0: none."""

    confidence: Annotated[Annotated[float, Field(gt=0, lt=1)], decision("the usual level")] = 0.95
    """Level of the intervals."""

    seed: Annotated[Seed, decision("any")] = 0
    """Seed of the halves."""


class ComparisonSettings(Settings):
    """In-context learning against fine-tuning (section 7)."""

    models: Annotated[Models, paper("section 4")] = _MODELS
    """Models, entries of models.yaml."""

    shots: Annotated[Shots, paper("section 7.1")] = [0, 1, 2, 5, 10]
    """Numbers of demonstrations."""

    steps: Annotated[PositiveInt, paper("section 7.1: 4 epochs of 63 steps")] = 252
    """Optimizer steps of fine-tuning."""

    warmup_steps: Annotated[NonNegativeInt, upstream("warmup_ratio 0.1")] = 26
    """Steps of linear warm-up."""


class SftDynamicsSettings(Settings):
    """Fine-tuning step by step (section 5)."""

    models: Annotated[Models, paper("section 5.1")] = _DYNAMICS_MODELS
    """Models, entries of models.yaml."""

    steps: Annotated[PositiveInt, paper("section 5.1: 15 epochs of 63 steps")] = 945
    """Optimizer steps."""

    warmup_steps: Annotated[NonNegativeInt, upstream("warmup_ratio 0.1")] = 95
    """Steps of linear warm-up."""

    ladder: Annotated[Ladder, upstream("every second of the checkpoints, which come each 31 steps")] = [
        *range(62, 931, 62),
        945,
    ]
    """Steps that are evaluated; step 0 is evaluated always."""

    @model_validator(mode="after")
    def _ladder_ends_with_the_run(self) -> Self:
        if self.ladder[-1] > self.steps:
            raise ValueError(f"ladder goes to {self.ladder[-1]}, beyond steps ({self.steps})")
        return self


class IclDynamicsSettings(Settings):
    """In-context learning by the number of demonstrations (section 6)."""

    models: Annotated[Models, paper("section 6.1")] = _DYNAMICS_MODELS
    """Models, entries of models.yaml."""

    datasets: Annotated[Names, paper("section 6.1")] = ["commonsense_qa", "mmlu", "qnli"]
    """Data sets, among data.datasets."""

    shots: Annotated[Shots, paper("section 6.1")] = [0, 1, 2, 5, 10, 12, 14, 16, 18, 20]
    """Numbers of demonstrations."""


class IclUniqueSettings(Settings):
    """No demonstration in two prompts (appendix D)."""

    models: Annotated[Models, paper("appendix D, figures 37 to 39")] = ["llama_3_8b"]
    """Models, entries of models.yaml."""

    shots: Annotated[Shots, paper("appendix D, figures 37 to 39")] = [0, 1, 2, 5, 10, 12, 14, 16, 18, 20]
    """Numbers of demonstrations."""

    pool: Annotated[PositiveInt, decision("20 demonstrations for each of 5000 prompts")] = 100_000
    """Training examples from which demonstrations are drawn without repetition."""

    datasets: Annotated[dict[SafeName, PromptedDataset], paper("appendix D, figures 37 to 39")] = UNIQUE
    """The data sets, which must have that many training examples."""


class LoraSettings(Settings):
    """Low-rank adapters."""

    rank: Annotated[PositiveInt, paper("section 5.1")] = 64
    """r."""

    alpha: Annotated[PositiveInt, paper("section 5.1")] = 16
    """The update is scaled by alpha / r."""

    dropout: Annotated[Probability, paper("section 5.1")] = 0.1
    """Dropout before the first matrix of an adapter."""

    targets: Annotated[list[Annotated[str, StringConstraints(pattern=r"^[a-z_]+$")]], paper("section 5.1")] = [
        "q_proj",
        "k_proj",
        "v_proj",
        "o_proj",
    ]
    """Layers that get an adapter."""

    batch_size: Annotated[PositiveInt, paper("section 5.1")] = 16
    """Examples of one optimizer step."""

    accumulation: Annotated[
        PositiveInt, decision("memory; rounding and the draws of dropout apart, the same update")
    ] = 4
    """Parts of a batch that a device holds one after the other."""

    learning_rate: Annotated[PositiveFloat, paper("section 5.1")] = 1e-4
    """Peak learning rate; it falls linearly to 0."""

    weight_decay: Annotated[NonNegativeFloat, upstream("default of the trainer")] = 0.0
    """Weight decay."""

    clip_norm: Annotated[PositiveFloat, upstream("default of the trainer")] = 1.0
    """Gradients are scaled down to this norm."""

    max_length: Annotated[PositiveInt, upstream("detailed_finetune.py")] = 1_024
    """Tokens of a training text."""

    dtype: Annotated[Literal["auto", "float32", "bfloat16"], upstream("detailed_finetune.py: bf16 weights")] = (
        "bfloat16"
    )
    """Arithmetic of training; auto takes numerics.dtype of config.yaml."""

    seed: Annotated[Seed, upstream("default of the trainer")] = 42
    """Seed of initial adapters, order and dropout."""

    @model_validator(mode="after")
    def _parts_are_equal(self) -> Self:
        if self.batch_size % self.accumulation:
            raise ValueError(f"batch_size ({self.batch_size}) must be a multiple of accumulation ({self.accumulation})")
        return self


class ReplicationSettings(Settings):
    """Conditions of the comparison again with other seeds of demonstrations and adapters."""

    seeds: Annotated[
        Annotated[list[Seed], Distinct], decision("the paper has one run; each seed here is one more of each condition")
    ] = []
    """Further seeds."""

    datasets: Annotated[Names, decision("none without seeds")] = []
    """Data sets, among data.datasets."""

    shots: Annotated[list[PositiveInt], decision("without demonstrations no seed has a part")] = [5]
    """Numbers of demonstrations, each at least 1."""


class IntrinsicDimensionSettings(Settings):
    """Intrinsic dimension of hidden states under in-context learning and under fine-tuning."""

    data: PromptDataSettings = PromptDataSettings()
    """Data and prompts."""

    collection: CollectionSettings = CollectionSettings()
    """Collection of hidden states."""

    estimation: EstimationSettings = EstimationSettings()
    """Estimators."""

    finetuning: LoraSettings = LoraSettings()
    """Fine-tuning."""

    comparison: ComparisonSettings = ComparisonSettings()
    """Paradigms compared."""

    sft_dynamics: SftDynamicsSettings = SftDynamicsSettings()
    """Fine-tuning by step."""

    icl_dynamics: IclDynamicsSettings = IclDynamicsSettings()
    """In-context learning by k."""

    icl_unique: IclUniqueSettings = IclUniqueSettings()
    """Control for shared demonstrations."""

    replication: ReplicationSettings = ReplicationSettings()
    """Spread over seeds."""

    @model_validator(mode="after")
    def _named_datasets_exist(self) -> Self:
        known = {name for name, entry in self.data.datasets.items() if entry.dataset}
        for section, names in (
            ("icl_dynamics", self.icl_dynamics.datasets),
            ("replication", self.replication.datasets),
        ):
            for name in names:
                if name not in known:
                    raise ValueError(f"{section}.datasets: {name} is not in data.datasets, or has no data there")
        return self

    @model_validator(mode="after")
    def _seeds_are_further_ones(self) -> Self:
        taken = {self.data.demonstration_seed, self.finetuning.seed}.intersection(self.replication.seeds)
        if taken:
            raise ValueError(f"replication.seeds: {min(taken)} is the seed of the main run")
        return self

    @model_validator(mode="after")
    def _precision_fits(self) -> Self:
        if self.collection.precision_items > self.data.validation_items:
            raise ValueError("collection.precision_items is larger than data.validation_items")
        return self
