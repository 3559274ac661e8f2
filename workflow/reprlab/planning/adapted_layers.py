"""Which linear layers of a decoder get low-rank adapters, so that no name of another family is trained in silence."""

from collections.abc import Mapping, Sequence

from reprlab.config.load import LoadedConfig
from reprlab.registry.models import LINEAR_LAYERS
from reprlab.runtime.errors import ReprlabError


def adapted_layers(config: LoadedConfig, model: str, targets: Mapping[str, list[str]], setting: str) -> list[str]:
    """The linear layers of a model that get adapters: those named for its architecture, else all that it has.

    Args:
        setting: dotted name of `targets`, for the message.

    Raises:
        ReprlabError: none are named for its architecture, and it is not a decoder whose layers are known.
    """
    architecture = config.models[model].architecture
    found = targets.get(architecture) or LINEAR_LAYERS.get(architecture)
    if not found:
        raise ReprlabError(
            f"{setting} has no entry {architecture}, the architecture of {model}; add one that names its linear "
            f"layers, or name a model of {', '.join(sorted({*targets, *LINEAR_LAYERS}))}"
        )
    return list(found)


def check_adapted(config: LoadedConfig, model: str, targets: Sequence[str], setting: str) -> None:
    """Refuse names that no linear layer of a model has: peft would leave them out without a word.

    Args:
        setting: dotted name of `targets`, for the message.

    Raises:
        ReprlabError: it has none of one name. Models whose layers are not known here are left to peft.
    """
    entry = config.models[model]
    layers = LINEAR_LAYERS.get(entry.architecture)
    if layers and (unknown := [name for name in targets if name not in layers]):
        raise ReprlabError(
            f"{setting}: {model} ({entry.architecture}) has no layer {', '.join(unknown)}; those of its architecture "
            f"are {', '.join(layers)}"
        )
