"""Models as they are counted: built on PyTorch's meta device without weights, and fed with ids without values."""

from __future__ import annotations

import inspect
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from reprlab.models.build import architecture_classes, build_from_config, configuration
from reprlab.registry.models import ModelEntry

if TYPE_CHECKING:
    import torch

_BLOCKS = (
    "num_hidden_layers",
    "n_layers",
    "n_layer",
    "num_layers",
    "num_decoder_layers",
    "encoder_layers",
    "decoder_layers",
)
_WIDTHS = ("hidden_size", "d_model", "dim", "n_embd")

Powers = tuple[tuple[int, int], ...]
"""Terms of a polynomial, by the powers of the lengths of encoder and decoder."""
ALONE: Powers = ((0, 0), (1, 0), (2, 0))
READ: Powers = (*ALONE, (0, 1))
BOTH: Powers = (*READ, (0, 2), (1, 1))


@dataclass(frozen=True)
class CountedModel:
    """A language model or a classifier: what its count depends on."""

    entry: ModelEntry
    """Architecture and its numbers."""
    vocabulary: int | None = None
    """Rows of the embedding in place of the entry's."""
    labels: int = 0
    """Outputs of a classification head; 0: the model as the entry has it, a language model."""
    rank: int = 0
    """Rank of low-rank adapters, which alone are trained; 0: all of the model is."""
    targets: tuple[str, ...] = ()
    """Layers with an adapter."""

    def key(self) -> Hashable:
        """The same for equal counts."""
        return type(self), self.entry.model_dump_json(), self.vocabulary, self.labels, self.rank, self.targets

    @property
    def blocks(self) -> int | None:
        """How many equal blocks it has, of encoder and decoder alike; None where their numbers differ."""
        found = {int(self.entry.config[name]) for name in _BLOCKS if name in self.entry.config}
        return found.pop() if len(found) == 1 else None

    @property
    def width(self) -> int:
        """Numbers of a state between two blocks."""
        return next(int(self.entry.config[name]) for name in _WIDTHS if name in self.entry.config)

    @property
    def reads_apart(self) -> bool:
        """Whether an encoder reads and a decoder writes."""
        return architecture_classes(self.entry.architecture)[0]().is_encoder_decoder

    def with_blocks(self, count: int) -> Self:
        """The same model with this many blocks."""
        config = {**self.entry.config, **{name: count for name in _BLOCKS if name in self.entry.config}}
        return replace(self, entry=self.entry.model_copy(update={"config": config}))

    def powers(self, network: Any, training: bool) -> Powers:
        """The terms that its work consists of."""
        if network.config.is_encoder_decoder:
            return BOTH
        return ALONE if self.labels or training or not _reads_places(network) else READ

    def network(self) -> Any:
        """The model, with attention that is not fused: fused kernels hide their work."""
        import torch
        from transformers import AutoModelForSequenceClassification

        network: Any
        with torch.device("meta"):
            if self.labels:
                config_class, _ = architecture_classes(self.entry.architecture)
                config = configuration(config_class, self.entry, self.vocabulary)
                config.num_labels = self.labels
                network = AutoModelForSequenceClassification.from_config(config, trust_remote_code=False)
                # It would be looked for among the ids, which have no values here.
                network.config.pad_token_id = None
            else:
                network = build_from_config(self.entry, self.vocabulary)
            if self.rank:
                from peft import LoraConfig, get_peft_model

                adapters = LoraConfig(r=self.rank, target_modules=list(self.targets), task_type="CAUSAL_LM")
                return get_peft_model(network, adapters)
        return network

    def parameters(self, network: Any) -> tuple[int, int]:
        """Parameters of the model, tied ones once, and of what is trained beside it."""
        return split_parameters(network, adapted=bool(self.rank))

    def run(self, network: Any, examples: int, encoder: int, decoder: int, training: bool) -> torch.Tensor:
        """Send this many examples of these lengths through the network: a number to start the backward pass from."""
        ids = tokens(examples, encoder)
        options: dict[str, Any] = {"input_ids": ids}
        if network.config.is_encoder_decoder:
            options["labels"] = tokens(examples, decoder)
        elif training and not self.labels:
            options["labels"] = ids
        elif not self.labels and _reads_places(network):
            options["logits_to_keep"] = decoder
        output = network(**options)
        found: torch.Tensor = output.loss if training and not self.labels else output.logits.sum()
        return found

    def outputs(self, network: Any) -> int:
        """Rows of the output layer of a language model; 0 where it has none."""
        return 0 if self.labels else int(network.config.vocab_size)


@dataclass(frozen=True)
class CountedBackbone(CountedModel):
    """A language model without its output layer, of which one state is read, as cross-encoders are; BART reads the
    sequence twice."""

    def powers(self, network: Any, training: bool) -> Powers:
        """See `CountedModel`."""
        return ALONE

    def network(self) -> Any:
        """See `CountedModel`. T5 has a head on its encoder, as in `models.t5_heads`."""
        network = super().network()
        return network.get_encoder() if self.entry.architecture == "t5" else network.base_model

    def run(self, network: Any, examples: int, encoder: int, decoder: int, training: bool) -> torch.Tensor:
        """See `CountedModel`."""
        # Without a mask and with a cache nothing is asked of values that are not there; Mamba's kernels have no cache.
        network.config.use_cache = not self.entry.architecture.startswith(("mamba", "t5"))
        found: torch.Tensor = network(input_ids=tokens(examples, encoder)).last_hidden_state[:, 0].sum()
        return found

    def outputs(self, network: Any) -> int:
        """See `CountedModel`."""
        return 0


def _reads_places(network: Any) -> bool:
    """Whether the output layer of a decoder alone is read at some places: that of a masked model is at all."""
    return (
        "logits_to_keep"
        in inspect.signature(
            network.get_base_model().forward if hasattr(network, "get_base_model") else network.forward
        ).parameters
    )


def split_parameters(network: Any, *, adapted: bool) -> tuple[int, int]:
    """Parameters that a network starts from, and those of what is trained beside frozen ones."""
    sizes = [(parameter.numel(), parameter.requires_grad) for parameter in network.parameters()]
    added = sum(size for size, trained in sizes if trained) if adapted else 0
    return sum(size for size, _ in sizes) - added, added


def tokens(examples: int, length: int) -> torch.Tensor:
    """[examples, length] ids without values."""
    import torch

    return torch.zeros((examples, length), dtype=torch.long, device="meta")
