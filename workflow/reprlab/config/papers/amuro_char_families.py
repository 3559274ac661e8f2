"""Models of amuro-char with their checkpoints (section 3)."""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from reprlab.config.papers.amuro_char_data import TRAININGS, Names
from reprlab.config.settings import (
    Distinct,
    LearningRates,
    ModelName,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Settings,
)

CheckpointName = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    Field(pattern=r"^(main|[0-9]{1,8})$"),
]
Revision = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+$")]


class ChosenRates(Settings):
    """Learning rate by training set, chosen beforehand; null: the candidates are tried."""

    xsum: PositiveFloat | None = None
    """Of the summary task."""

    socialiqa: PositiveFloat | None = None
    """Of question generation."""

    mnli: PositiveFloat | None = None
    """Of inference."""

    paws: PositiveFloat | None = None
    """Of paraphrase."""

    tulu: PositiveFloat | None = None
    """Of the instruction mixture."""


class Family(Settings):
    """A model with its checkpoints, and how they are fine-tuned."""

    model: ModelName
    """Entry of models.yaml; a model that is drawn at random is pre-trained here, by `pretraining` below."""

    checkpoints: Annotated[list[CheckpointName], Field(min_length=1), Distinct]
    """Checkpoints in the order of their steps, by which they are named; the last one may be named main."""

    revisions: list[Revision] = []
    """Their branches on the hub, where the model has more than one; empty: the revision of the model's entry."""

    main_step: NonNegativeInt = 0
    """Step of main; 0 where it is not known. Of a ladder trained here it is the last step."""

    tokens_per_step: PositiveInt | None = None
    """Tokens of one update of pre-training; null where they are not known."""

    trainings: Names = list(TRAININGS)
    """Training sets that the family is fine-tuned on."""

    batch_size: PositiveInt = 8
    """Rows of one update."""

    epochs: PositiveInt = 3
    """Passes over a training set."""

    chat_epochs: PositiveInt = 5
    """Passes over an instruction mixture."""

    candidates: LearningRates
    """Learning rates among which the loss on held-out rows decides, where none is chosen below."""

    chosen: ChosenRates = ChosenRates()
    """Learning rates by training set."""

    max_length: PositiveInt = 2_048
    """Tokens of a training row (cut at the right) and of a prompt with its shots."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if "main" in self.checkpoints[:-1]:
            raise ValueError("checkpoints: main is the last one")
        if self.revisions and len(self.revisions) != len(self.checkpoints):
            raise ValueError(f"{len(self.revisions)} revisions for {len(self.checkpoints)} checkpoints")
        return self


_OLMO_STEPS = {1_000: 4, 18_000: 75, 342_000: 1_434, 424_000: 1_778, 505_000: 2_118, 592_000: 2_483, 738_000: 3_095}
FAMILIES = {
    "olmo1b": Family(
        model="olmo_1b",
        checkpoints=[*map(str, _OLMO_STEPS), "main"],
        revisions=[*(f"step{step}-tokens{billions}B" for step, billions in _OLMO_STEPS.items()), "main"],
        main_step=738_020,
        tokens_per_step=2_048 * 2_048,
        candidates=[2e-5, 2e-6, 2e-7],
        chosen=ChosenRates(xsum=2e-7, socialiqa=2e-6, mnli=2e-6, paws=2e-6, tulu=2e-6),
    ),
    "llama3_8b": Family(
        model="llama_3_8b",
        checkpoints=["main"],
        trainings=["xsum", "socialiqa", "mnli", "paws"],
        batch_size=16,
        epochs=2,
        candidates=[5e-5, 5e-6, 5e-7],
        chosen=ChosenRates(xsum=5e-6, socialiqa=5e-6, mnli=5e-6, paws=5e-6),
    ),
}
