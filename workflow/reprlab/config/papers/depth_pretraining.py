"""Settings of DEPTH's pre-training: corruption, masks, loss, optimizer and runs."""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config.settings import (
    Distinct,
    Ladder,
    ModelName,
    NonNegativeFloat,
    NonNegativeInt,
    OpenProbability,
    PositiveFloat,
    PositiveInt,
    Probability,
    Seed,
    Seeds,
    Settings,
    decision,
    paper,
    upstream,
)

Objective = Literal["t5", "depth"]
SentenceWeight = Annotated[float, Field(gt=0, le=1000)] | None


class CorruptionSettings(Settings):
    """Span corruption and sentence shuffling."""

    mask_probability: Annotated[OpenProbability, paper("section 3")] = 0.3
    """Share of the tokens that is masked."""

    mean_span_length: Annotated[Annotated[float, Field(ge=1)], paper("section 3")] = 3.0
    """Mean length of a masked span, in tokens."""

    sentinel_replacement: Annotated[bool, upstream("encoder_decoder_utils/corruption.py")] = True
    """DEPTH draws its sentinels with replacement, so that two spans may share one; false keeps them distinct."""

    shuffle_probability: Annotated[Probability, paper("section 2.2")] = 0.5
    """Probability that the sentences of a batch are shuffled; one coin for the whole batch."""

    t5_int8_bug: Annotated[bool, decision("upstream scrambles T5 inputs beyond 127 tokens; never by default")] = False
    """true repeats the upstream T5 collator's 8-bit indices, which lose and duplicate tokens beyond 127."""


class AttentionSettings(Settings):
    """DEPTH's hierarchical attention masks in pre-training."""

    mask_rows: Annotated[Literal["sent", "sent_eosen"], upstream("encoder_decoder_utils/t5_model.py")] = "sent"
    """Whose view is restricted: sentence tokens, or end-of-sentence tokens too."""

    mask_keys: Annotated[Literal["sent", "sent_eosen"], upstream("encoder_decoder_utils/t5_model.py")] = "sent"
    """What counts as sentence token among the keys of decoder and cross attention."""

    mask_padding: Annotated[bool, decision("the paper is silent; upstream attends to padding")] = True
    """Whether padding is hidden in encoder and cross attention."""


class LossSettings(Settings):
    """The training loss."""

    sentence_weight: Annotated[SentenceWeight, paper("section 2.4; weights: appendix B.1")] = None
    """null: the mean over all labels; w: w times the mean over sentence tokens plus the mean over the others."""

    count_padding_in_loss: Annotated[bool, decision("upstream does, by mistake; never by default")] = False
    """true counts padded label positions in the DEPTH loss, as upstream does."""


class OptimizerSettings(Settings):
    """AdamW without parameter-wise scaling."""

    name: Annotated[Literal["adamw"], paper("section 3")] = "adamw"
    """Optimizer."""

    learning_rate: Annotated[PositiveFloat, paper("appendix A.2")] = 1e-4
    """Peak learning rate."""

    weight_decay: Annotated[NonNegativeFloat, upstream("run_configs/")] = 0.0
    """Weight decay."""

    beta1: Annotated[Annotated[float, Field(ge=0, lt=1)], upstream("plain torch AdamW, its default")] = 0.9
    """Decay of the first moment."""

    beta2: Annotated[Annotated[float, Field(ge=0, lt=1)], upstream("plain torch AdamW, its default")] = 0.999
    """Decay of the second moment."""

    epsilon: Annotated[PositiveFloat, upstream("plain torch AdamW, its default")] = 1e-8
    """Added to the denominator."""

    clip_norm: Annotated[PositiveFloat, upstream("run_configs/")] = 1.0
    """Gradients are scaled down to this norm."""


class ScheduleSettings(Settings):
    """The learning rate over the steps, one shape per objective; both start with a linear warm-up."""

    warmup_steps: Annotated[NonNegativeInt, paper("section 3")] = 10_000
    """Steps of linear warm-up."""

    depth: Annotated[Literal["constant", "linear", "inverse_sqrt", "cosine"], paper("section 3")] = "linear"
    """Shape after the warm-up for DEPTH: linear falls to 0 at the run's horizon."""

    t5: Annotated[Literal["constant", "linear", "inverse_sqrt", "cosine"], paper("section 3")] = "inverse_sqrt"
    """Shape after the warm-up for T5: inverse_sqrt falls with the square root of the step."""


class RunSettings(Settings):
    """One pre-training run, made once for each objective."""

    init: Literal["random", "published", "t5_fs"]
    """random; published: released weights (published_weights); t5_fs: last checkpoint of the T5 run from scratch."""

    steps: PositiveInt
    """Optimizer steps."""

    horizon_steps: PositiveInt
    """Step at which a linear or cosine schedule ends."""

    ladder: Ladder
    """Steps at which checkpoints are kept, evaluated and fine-tuned."""

    @model_validator(mode="after")
    def _ladder_within_steps(self) -> Self:
        if self.ladder[-1] > self.steps:
            raise ValueError(f"ladder goes to {self.ladder[-1]}, beyond steps ({self.steps})")
        return self


_THOUSANDS = [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000]


class RunsSettings(Settings):
    """Pre-training from scratch (fs) and continued pre-training (cpt)."""

    fs: Annotated[RunSettings, paper("section 3", horizon_steps=upstream("run_configs/"))] = RunSettings(
        init="random", steps=1_000_000, horizon_steps=1_000_000, ladder=[*_THOUSANDS, 512_000, 1_000_000]
    )
    """From scratch."""

    cpt: Annotated[
        RunSettings,
        paper("section 3 and tables 2, 6", horizon_steps=upstream("run_configs/: its scripts ask for 1M steps")),
    ] = RunSettings(init="published", steps=256_000, horizon_steps=1_000_000, ladder=_THOUSANDS)
    """Continued pre-training."""


class PretrainingSettings(Settings):
    """Pre-training of T5 and DEPTH: the same model, data and optimizer, two objectives."""

    model: Annotated[ModelName, paper("section 3 (T5-Base, 220M)"), upstream("google/t5-v1_1-base")] = "t5_v1_1_base"
    """Architecture, an entry of models.yaml."""

    published_weights: Annotated[ModelName, paper("section 3, CPT"), upstream("google/t5-v1_1-base")] = (
        "t5_v1_1_base_pretrained"
    )
    """Released weights for runs that start from `published` and for the T5-Base rows."""

    objectives: Annotated[list[Objective], Field(min_length=1), Distinct, paper("section 3")] = ["t5", "depth"]
    """Objectives that are trained and compared."""

    dropout: Annotated[Annotated[float, Field(ge=0, lt=1)], upstream("run_configs/")] = 0.0
    """Dropout in pre-training."""

    batch_size: Annotated[PositiveInt, paper("appendix C")] = 200
    """Examples of one optimizer step, over all devices and accumulated parts."""

    accumulation: Annotated[PositiveInt, upstream("run_configs/")] = 2
    """Parts into which the batch of a step is cut; their gradients are added up."""

    packing: Annotated[bool, paper("section 3")] = False
    """Whether the T5 objective joins passages up to the full length."""

    dtype: Annotated[Literal["auto", "float32", "bfloat16"], upstream("run_configs/")] = "bfloat16"
    """Arithmetic in pre-training and fine-tuning; auto takes numerics.dtype of config.yaml."""

    evaluation_every: Annotated[PositiveInt, upstream("run_configs/")] = 1_000
    """Steps between two rows of the training curve."""

    seeds: Annotated[Seeds, upstream("hydra_configs/default.yaml")] = [2137]
    """Seeds of initial weights and of the order of the data; every seed is a whole set of runs."""

    collator_seed: Annotated[Seed, upstream("encoder_decoder_utils/data_collator_utils.py")] = 42
    """Seed of masks, sentence tokens and shuffles."""

    optimizer: OptimizerSettings = OptimizerSettings()
    """Optimizer."""

    schedule: ScheduleSettings = ScheduleSettings()
    """Learning-rate schedule."""

    runs: RunsSettings = RunsSettings()
    """The runs."""

    @model_validator(mode="after")
    def _parts_are_equal(self) -> Self:
        if self.batch_size % self.accumulation:
            raise ValueError(f"batch_size ({self.batch_size}) must be a multiple of accumulation ({self.accumulation})")
        return self

    @model_validator(mode="after")
    def _runs_fit(self) -> Self:
        for name, run in (("fs", self.runs.fs), ("cpt", self.runs.cpt)):
            if run.horizon_steps <= self.schedule.warmup_steps:
                raise ValueError(
                    f"runs.{name}.horizon_steps ({run.horizon_steps}) must exceed "
                    f"schedule.warmup_steps ({self.schedule.warmup_steps})"
                )
        if self.runs.fs.init == "t5_fs":
            raise ValueError("runs.fs.init is t5_fs: the run from scratch cannot start from itself")
        if self.runs.cpt.init == "t5_fs" and "t5" not in self.objectives:
            raise ValueError("runs.cpt.init is t5_fs, but objectives lacks t5")
        return self
