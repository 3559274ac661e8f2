"""Parameter counts without weights and without the network."""

from __future__ import annotations

from dataclasses import dataclass

from reprlab.models.build import architecture_classes, build_from_config, configuration
from reprlab.registry.models import ModelEntry


def parameter_count(entry: ModelEntry, vocab_size: int | None = None) -> int:
    """Parameters of the entry's architecture, tied ones once, counted on the meta device.

    Args:
        entry: registry entry; `entry.model_copy(update={"tie_output": ...})` counts the other form.
        vocab_size: rows of the embedding in place of the entry's.
    """
    import torch

    with torch.device("meta"):
        model = build_from_config(entry, vocab_size)
    return sum(parameter.numel() for parameter in model.parameters())


@dataclass(frozen=True)
class ClassifierSizes:
    """Sizes of a model with a classification head, in parameters."""

    vocabulary: int
    """Rows of the input embedding."""
    width: int
    """Columns of the input embedding."""
    total: int
    """All parameters, those of the head included."""

    @property
    def embedding(self) -> int:
        """Parameters of the input embedding matrix; positions and segments are not counted (PEMA, appendix A)."""
        return self.vocabulary * self.width


def classifier_sizes(entry: ModelEntry, labels: int = 2) -> ClassifierSizes:
    """Sizes of the entry's architecture with the sequence-classification head of transformers, on the meta device.

    Args:
        entry: registry entry; its origin is not looked at.
        labels: outputs of the head; 1 for regression.
    """
    import torch
    from transformers import AutoModelForSequenceClassification

    config_class, _ = architecture_classes(entry.architecture)
    config = configuration(config_class, entry, None)
    config.num_labels = labels
    with torch.device("meta"):
        model = AutoModelForSequenceClassification.from_config(config, trust_remote_code=False)
    rows = model.get_input_embeddings().weight
    return ClassifierSizes(rows.shape[0], rows.shape[1], sum(parameter.numel() for parameter in model.parameters()))
