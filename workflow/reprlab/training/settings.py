"""Settings of one training run: optimizer, schedule and loop."""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.settings.base import NonNegativeInt, PositiveInt

_STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class UpdateSettings(BaseModel):
    """Plain AdamW with clipping of the global gradient norm, for whatever learning rate."""

    model_config = _STRICT

    name: Literal["adamw"] = "adamw"
    """The optimizer; decoupled weight decay applies to every trained parameter."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Decoupled weight decay."""
    beta1: float = Field(default=0.9, ge=0, lt=1)
    """Decay of the running mean of the gradient."""
    beta2: float = Field(default=0.999, ge=0, lt=1)
    """Decay of the running mean of the squared gradient."""
    epsilon: float = Field(default=1e-8, gt=0)
    """Added to the denominator of the update."""
    clip_norm: float | None = Field(default=1.0, gt=0)
    """Largest 2-norm of the whole gradient; null: no clipping."""


class OptimizerSettings(UpdateSettings):
    """The optimizer with its peak learning rate."""

    learning_rate: float = Field(gt=0)
    """Peak learning rate."""


class ScheduleSettings(BaseModel):
    """Learning rate against the step: linear warm-up, then one of four courses."""

    model_config = _STRICT

    name: Literal["constant", "linear", "inverse_sqrt", "cosine"] = "constant"
    """Course after the warm-up."""
    warmup_steps: NonNegativeInt = 0
    """Updates over which the rate rises linearly from 0 to its peak."""
    horizon_steps: PositiveInt | None = None
    """Update at which `linear` and `cosine` reach 0; it may lie beyond the last step. Null: the last step."""

    @model_validator(mode="after")
    def _horizon_follows_warmup(self) -> Self:
        if self.horizon_steps is not None and self.horizon_steps <= self.warmup_steps:
            raise ValueError(f"horizon_steps ({self.horizon_steps}) must exceed warmup_steps ({self.warmup_steps})")
        return self


class InfiniteSettings(BaseModel):
    """A rate that needs no last update before it is annealed: linear warm-up, cool-down to a constant, annealing."""

    model_config = _STRICT

    name: Literal["infinite"] = "infinite"
    """Course after the warm-up."""
    warmup_steps: NonNegativeInt = 0
    """Updates over which the rate rises linearly from 0 to its peak."""
    cooldown_steps: NonNegativeInt
    """Updates after these over which it falls to the constant, along half a cosine."""
    constant: float = Field(gt=0, le=1)
    """The constant, as a share of the peak."""
    anneal_steps: NonNegativeInt
    """The last updates, over which it falls from the constant to `final`, by an equal factor each."""
    final: float = Field(gt=0, le=1)
    """The rate at the horizon and beyond, as a share of the peak; at most the constant."""
    horizon_steps: PositiveInt | None = None
    """Update at which the annealing ends; null: the last step."""

    @model_validator(mode="after")
    def _falls(self) -> Self:
        if self.final > self.constant:
            raise ValueError(f"final ({self.final}) must not exceed constant ({self.constant})")
        return self


class EngineSettings(BaseModel):
    """One run of the training loop."""

    model_config = _STRICT

    steps: int = Field(ge=0)
    """Number of updates."""
    ladder: list[int] = Field(default_factory=list)
    """Updates after which the model is kept, ascending; 0 is the untrained model."""
    batch_size: int = Field(ge=1)
    """Examples in one update, over all processes and accumulated parts."""
    accumulation: int = Field(default=1, ge=1)
    """Parts into which each process cuts its share of the batch, to save memory."""
    optimizer: OptimizerSettings
    """Optimizer and its peak learning rate."""
    schedule: ScheduleSettings | InfiniteSettings = ScheduleSettings()
    """Learning-rate schedule."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Arithmetic of the forward and backward pass; weights and optimizer stay in float32."""
    seed: int = Field(default=0, ge=0)
    """Seed of data order, corruption and dropout."""
    log_every: int = Field(default=50, ge=1)
    """Updates in one row of the metrics; steps of the ladder end a row too."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.ladder != sorted(set(self.ladder)):
            raise ValueError(f"ladder must ascend without repeats, got {self.ladder}")
        if self.ladder and not 0 <= self.ladder[0] <= self.ladder[-1] <= self.steps:
            raise ValueError(f"ladder steps must lie in 0..{self.steps} (steps), got {self.ladder}")
        if self.batch_size % self.accumulation:
            raise ValueError(f"batch_size ({self.batch_size}) must be a multiple of accumulation ({self.accumulation})")
        return self


class TextSettings(BaseModel):
    """How tokens become batches of an objective."""

    model_config = _STRICT

    objective: str
    """Module of `reprlab.objectives`: `t5`, `depth` or `causal_lm`."""
    objective_settings: dict[str, Any] = Field(default_factory=dict)
    """Settings of that objective."""
    input_length: int = Field(ge=4)
    """Tokens of an example before corruption; longer ones are cut."""
    target_length: int = Field(ge=4)
    """Labels of an example; longer ones are cut."""
    packing: bool = False
    """Concatenate texts and cut them into full lengths, so that nothing is padded or thrown away."""

    @property
    def packed_length(self) -> int:
        """Tokens of a packed row; 0 where texts are not packed."""
        return self.input_length if self.packing else 0


class ReplaySettings(BaseModel):
    """Examples of other text in each batch, in place of some of its own."""

    model_config = _STRICT

    share: float = Field(ge=0, lt=1)
    """Share of all examples that are read."""
    objective: str
    """Module of `reprlab.objectives` that corrupts them; its batches have the tensors of the run's objective."""
    objective_settings: dict[str, Any] = Field(default_factory=dict)
    """Settings of that objective."""


class PretrainSettings(TextSettings):
    """One pre-training run."""

    engine: EngineSettings
    """Loop, optimizer and schedule."""
    init_step: int | None = Field(default=None, ge=0)
    """Step of the ladder to start from, where `init` is a ladder; null: `init` is a model."""
    dropout: float | None = Field(default=None, ge=0, lt=1)
    """T5 only: dropout of every layer; null: that of the model's configuration."""
    replay: ReplaySettings | None = None
    """What is read again of other text, which the run then has as an input; null: nothing."""


class EvaluationSettings(TextSettings):
    """Validation of a ladder on fixed batches."""

    split: Literal["train", "validation", "test"] = "validation"
    """Part of the corpus."""
    batches: int = Field(ge=1)
    """Number of batches; the bootstrap draws from them. Fewer where the split is smaller."""
    batch_size: int = Field(ge=1)
    """Examples in a batch."""
    seed: int = Field(default=0, ge=0)
    """Seed of the choice and corruption of batches."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Arithmetic of the forward pass."""


class EvaluationRun(BaseModel):
    """A ladder to evaluate, and how."""

    model_config = _STRICT

    name: str
    """Name of its rows, in the column `run`."""
    ladder: Path
    """Folder of the ladder."""
    steps: list[int] = Field(min_length=1)
    """Steps of the ladder."""
    tokens: Path
    """Tokens of the corpus in the format of the objective."""
    settings: EvaluationSettings
    """Batches and objective."""


class EvaluationRuns(BaseModel):
    """Evaluations that one job makes."""

    model_config = _STRICT

    runs: list[EvaluationRun] = Field(min_length=1)
    """The ladders."""
