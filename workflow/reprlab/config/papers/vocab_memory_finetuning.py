"""Settings of the PEMA paper: fine-tuning with and without the partial embedding matrix, and its time and memory."""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config.settings import (
    Distinct,
    ModelName,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SafeName,
    Seeds,
    Settings,
    decision,
    paper,
    upstream,
)

Split = Literal["train", "validation", "test"]


class ModelException(Settings):
    """What is different for one model."""

    learning_rate: PositiveFloat
    """Peak learning rate."""


class PemaFinetuningSettings(Settings):
    """Table 10: each model on each task, with and without PEMA."""

    models: Annotated[
        list[ModelName],
        Distinct,
        paper("table 10"),
        decision("uncased BERT and DistilBERT as in table 2; which ones table 10 has is not printed"),
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
    """Models that are fine-tuned. At paper scale choose rows: XLM-V alone has 0.78 B parameters."""

    tasks: Annotated[list[SafeName], Distinct, paper("table 10")] = [
        "cola", "mnli", "mrpc", "qnli", "qqp", "rte", "sst2", "stsb", "wnli",
    ]  # fmt: skip
    """Tasks, by the names of `tasks`."""

    seeds: Annotated[Seeds, paper("table 10 (five)"), decision("their values are not printed")] = [1, 2, 3, 4, 5]
    """Seeds of head, dropout and order of the data."""

    batch_size: Annotated[PositiveInt, paper("table 8")] = 32
    """Examples of one optimizer step."""

    input_length: Annotated[PositiveInt, paper("table 8")] = 128
    """Tokens of an example; longer ones are cut."""

    epochs: Annotated[PositiveFloat | None, paper("table 8")] = 3.0
    """Passes over the training data; null when steps is given."""

    steps: Annotated[PositiveInt | None, decision("epochs decide")] = None
    """Optimizer steps; null when epochs is given."""

    learning_rate: Annotated[PositiveFloat, paper("table 8")] = 2e-5
    """Peak learning rate."""

    exceptions: Annotated[dict[SafeName, ModelException], paper("table 8")] = {
        "xlm_roberta_base": ModelException(learning_rate=7.5e-6),
        "xlm_v_base": ModelException(learning_rate=7.5e-6),
    }
    """Models that are trained otherwise."""

    schedule: Annotated[Literal["constant", "linear"], paper("table 8")] = "linear"
    """Learning rate after the warm-up: linear falls to 0 at the last step."""

    warmup_steps: Annotated[NonNegativeInt, decision("not printed; the default of upstream's script")] = 0
    """Steps of linear warm-up."""

    weight_decay: Annotated[NonNegativeFloat, decision("not printed; above 0 unused rows shrink without PEMA only")] = (
        0.0
    )
    """Decoupled weight decay. Above 0 the two arms differ in the rows of unused tokens, and nowhere else."""

    clip_norm: Annotated[PositiveFloat, upstream("utils/run_glue_pema.py, the Trainer's default")] = 1.0
    """Gradients are scaled down to this norm."""

    beta1: Annotated[Annotated[float, Field(ge=0, lt=1)], paper("table 8")] = 0.9
    """Decay of the first moment."""

    beta2: Annotated[Annotated[float, Field(ge=0, lt=1)], paper("table 8")] = 0.999
    """Decay of the second moment."""

    epsilon: Annotated[PositiveFloat, paper("table 8")] = 1e-8
    """Added to the denominator."""

    dropout: Annotated[Annotated[float, Field(ge=0, lt=1)], paper("table 8")] = 0.1
    """Dropout of attention and hidden layers."""

    dtype: Annotated[Literal["auto", "float32", "bfloat16"], decision("not printed")] = "float32"
    """Arithmetic; auto takes numerics.dtype of config.yaml."""

    partial_splits: Annotated[
        list[Split], Field(min_length=1), Distinct, upstream("run_glue_pema.py: what the run touches")
    ] = ["train", "validation"]
    """Splits whose tokens keep their row in the partial matrix. Special tokens always do; scores are taken after the
    matrix is whole again, so no choice changes what is read."""

    train_examples: Annotated[PositiveInt | None, decision("all of them")] = None
    """Training examples of a task; null takes all."""

    evaluation_examples: Annotated[PositiveInt | None, decision("all of them")] = None
    """Validation examples of a task that are scored; null takes all."""

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if (self.epochs is None) == (self.steps is None):
            raise ValueError("give either epochs or steps, and null for the other")
        return self


class RuntimeTableSettings(Settings):
    """Table 9: seconds of PEMA beside those of fine-tuning, and peak memory with and without it."""

    model: Annotated[ModelName | None, paper("table 9")] = "roberta_base"
    """Model that is timed; null leaves the table out."""

    tasks: Annotated[list[SafeName], Distinct, paper("table 9")] = [
        "cola", "mnli", "mrpc", "qnli", "qqp", "rte", "sst2", "stsb", "wnli",
    ]  # fmt: skip
    """Tasks that are timed, by the names of `tasks`."""

    repeats: Annotated[PositiveInt, paper("table 9 (five)")] = 5
    """Runs of each task, with the seeds 1 and following."""

    steps: Annotated[PositiveInt | None, decision("whole runs, as finetuning sets them")] = None
    """Optimizer steps of a timed run; null takes those of finetuning."""
