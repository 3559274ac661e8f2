"""Parameter counts without weights and without the network."""

from reprlab.config.models import ModelEntry
from reprlab.models.build import build_from_config


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
