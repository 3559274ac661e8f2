"""What of an encoder's input embedding is fine-tuned, and what is left of it: settings, chosen by `kind`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

_STRICT = ConfigDict(extra="forbid", frozen=True)
Splits = Annotated[list[str], Field(min_length=1)]


class PartialRows(BaseModel):
    """PEMA: train only the rows of the tokens in some splits; predictions are made with the matrix whole again."""

    model_config = _STRICT

    kind: Literal["partial"] = "partial"
    splits: Splits


class TrimmedRows(BaseModel):
    """Permanent trimming: the rows of all other tokens go, and such a token is read as the unknown one."""

    model_config = _STRICT

    kind: Literal["trimmed"] = "trimmed"
    splits: Splits


class Factorised(BaseModel):
    """Permanent factorisation: a product of two matrices stands for the one (`reprlab.models.factorised`)."""

    model_config = _STRICT

    kind: Literal["factorised"] = "factorised"
    rank: int = Field(ge=1)
    """Columns of the first matrix, at most as many as the embedding has."""


EmbeddingWay = Annotated[PartialRows | TrimmedRows | Factorised, Field(discriminator="kind")]
