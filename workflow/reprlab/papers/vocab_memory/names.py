"""The paper's names for models and columns."""

from reprlab.results.words import printed_of

_PRINTED = printed_of("vocab-memory")
MODELS, SIZES = _PRINTED.names["models"], _PRINTED.names["sizes"]
GLUE, XNLI = _PRINTED.tables["table2_reduction"].values[:-1], _PRINTED.tables["table4_xnli"].values

TRIMMED, FACTORISED = "trimmed", "factorised"
"""Values of the factor `pema` of its rivals, which leave the embedding smaller for good."""


def label_of(model: str) -> str:
    """A model's name in the paper's tables; the registry's name where the paper does not have it."""
    return MODELS.get(model, model)


def size_label_of(model: str) -> str:
    """A model's name in the paper's tables of one family."""
    return SIZES.get(model, label_of(model))
