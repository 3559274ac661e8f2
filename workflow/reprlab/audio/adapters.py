"""Adapters of Samin et al. (2025) in frozen speech encoders, and what else is trained of one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import nn

from reprlab.audio.rival_adapters import Beside, Compacter, ParallelAdapter
from reprlab.audio.settings import Tuning
from reprlab.models.padded_convolution import PaddedConv1d
from reprlab.runtime.errors import ReprlabError

# Sub-layers of a block whose output an adapter reads, and the norm in front of each: it reads the residual.
_AFTER = {
    "WhisperEncoder": {"self_attn": "self_attn_layer_norm", "fc2": "final_layer_norm"},
    "Wav2Vec2Model": {"attention": "layer_norm", "feed_forward": "final_layer_norm"},
}
_ATTENTION = ["q_proj", "v_proj"]
_NOT_TUNED = ("conv1.", "conv2.", "embed_positions.", "feature_extractor.", "masked_spec_embed")


class FFAdapter(nn.Module):
    """LayerNorm(x + f(x)) of states [B, T, m]; f narrows, passes GELU after each layer but the last, and widens.

    The norm stands behind the sum: no weights of f make it the identity.
    """

    def __init__(self, width: int, inner: int, depth: int = 2, *, norm: bool = True) -> None:
        super().__init__()
        sizes = [width, *[inner] * (depth - 1)]
        layers: list[nn.Module] = []
        for left, right in pairwise(sizes):
            layers += [nn.Linear(left, right), nn.GELU()]
        self.inside = nn.Sequential(*layers, nn.Linear(inner, width))
        self.norm = nn.LayerNorm(width) if norm else nn.Identity()

    @property
    def last(self) -> nn.Module:
        """The layer whose output is added."""
        return self.inside[-1]

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """See the class."""
        found: torch.Tensor = self.norm(states + self.inside(states))
        return found


class ConvAdapter(nn.Module):
    """x + relu(conv(relu(conv(x)))) over time of states [B, T, m]: it can add, never take away."""

    def __init__(self, width: int, inner: int, kernel: int = 1) -> None:
        super().__init__()
        self.first = PaddedConv1d(width, inner, kernel)
        self.second = PaddedConv1d(inner, width, kernel)

    @property
    def last(self) -> nn.Module:
        """The layer whose output is added."""
        return self.second

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """See the class."""
        inside = self.first(states.transpose(1, 2)).relu()
        return states + self.second(inside).relu().transpose(1, 2)


class Adapted(nn.Module):
    """A sub-layer with an adapter behind it; of a tuple the first is adapted.

    With `norm`, the one in front of the sub-layer, the adapter is behind the residual sum: the residual is what the
    norm reads, and is taken off again for the block to add.
    """

    def __init__(self, sublayer: nn.Module, adapter: nn.Module, norm: nn.Module | None = None) -> None:
        super().__init__()
        self.sublayer, self.adapter = sublayer, adapter
        self._residual: list[torch.Tensor] = []
        if norm is not None:
            norm.register_forward_pre_hook(self._keep)

    def _keep(self, _: nn.Module, given: tuple[torch.Tensor, ...]) -> None:
        self._residual[:] = given[:1]

    def forward(self, *args: Any, **named: Any) -> Any:
        """The sub-layer's output, adapted."""
        found = self.sublayer(*args, **named)
        return (self._adapt(found[0]), *found[1:]) if isinstance(found, tuple) else self._adapt(found)

    def _adapt(self, states: torch.Tensor) -> torch.Tensor:
        adapted: torch.Tensor
        if not self._residual:
            adapted = self.adapter(states)
            return adapted
        residual = self._residual.pop()
        adapted = self.adapter(residual + states) - residual
        return adapted


def blocks_of(encoder: Any) -> nn.ModuleList:
    """The Transformer blocks of a Whisper encoder or a wav2vec 2.0 model."""
    blocks: nn.ModuleList = encoder.layers if hasattr(encoder, "layers") else encoder.encoder.layers
    return blocks


def tune(encoder: Any, tuning: Tuning) -> None:
    """Put in adapters, and leave trainable what the tuning trains, in place; adapters are drawn as PyTorch does, and
    scaled.

    Raises:
        ReprlabError: there are fewer blocks than are to have adapters.
    """
    blocks, width = blocks_of(encoder), encoder.config.hidden_size
    wanted = len(blocks) if tuning.blocks is None else tuning.blocks
    if wanted > len(blocks):
        raise ReprlabError(f"tuning.blocks: {wanted} blocks are to have adapters, the encoder has {len(blocks)}")
    inner = width if tuning.inner is None else tuning.inner
    # Those of the Transformer, not those in front of it.
    transformer = encoder if hasattr(encoder, "layers") else encoder.encoder
    norms = [one for one in transformer.modules() if isinstance(one, nn.LayerNorm)]
    encoder.requires_grad_(False)
    adapted = blocks[len(blocks) - wanted :]
    if tuning.method in ("ff", "conv", "compacter", "parallel"):
        # Drawn only where adapters share it, so that the others start as they did without it.
        shared = nn.Parameter(torch.empty([tuning.terms] * 3))
        if tuning.method == "compacter":
            nn.init.normal_(shared, std=tuning.terms**-0.5)
        for block in adapted:
            for name, after in _AFTER[type(encoder).__name__].items():
                adapter = _adapter(tuning, width, inner, shared)
                with torch.no_grad():
                    for parameter in adapter.last.parameters():
                        parameter.mul_(tuning.initial_scale)
                sublayer, norm = getattr(block, name), getattr(block, after)
                if tuning.method == "parallel":
                    setattr(block, name, Beside(sublayer, adapter, norm))
                else:
                    setattr(block, name, Adapted(sublayer, adapter, norm if tuning.placement == "outer" else None))
    elif tuning.method == "lora":
        from peft import LoraConfig, inject_adapter_in_model

        # The factor of the update is 2, as peft's examples of twice the rank for alpha have it.
        for block in adapted:
            inject_adapter_in_model(LoraConfig(r=inner, lora_alpha=2 * inner, target_modules=_ATTENTION), block)
    elif tuning.method == "full":
        for name, parameter in encoder.named_parameters():
            parameter.requires_grad_(not name.startswith(_NOT_TUNED))
    if tuning.method not in ("head", "full"):
        for norm in norms:
            norm.requires_grad_(True)


def _adapter(tuning: Tuning, width: int, inner: int, shared: nn.Parameter) -> Any:
    """An adapter with a layer `last`, whose output is added; `shared` is that of all of an encoder."""
    match tuning.method:
        case "ff":
            return FFAdapter(width, inner, tuning.depth, norm=tuning.norm)
        case "conv":
            return ConvAdapter(width, inner, tuning.kernel)
        case "compacter":
            return Compacter(width, inner, tuning.rank, shared)
    return ParallelAdapter(width, inner, tuning.scale)


def counts(encoder: Any, tuning: Tuning, symbols: int) -> dict[str, int]:
    """Parameters by part, of a tuned encoder and a head of this many symbols."""
    norms = {
        id(parameter)
        for module in encoder.modules()
        if isinstance(module, nn.LayerNorm)
        for parameter in module.parameters(recurse=False)
    }
    added = {name: one for name, one in encoder.named_parameters() if ".adapter." in name or "lora_" in name}
    trained = {name: one for name, one in encoder.named_parameters() if one.requires_grad}
    head = symbols * (encoder.config.hidden_size + 1)
    return {
        "adapters": sum(one.numel() for one in added.values()),
        "norms": sum(one.numel() for name, one in trained.items() if id(one) in norms and name not in added),
        "head": head,
        "trained": sum(one.numel() for one in trained.values()) + head,
        "backbone": sum(one.numel() for name, one in encoder.named_parameters() if name not in added) + head,
    }
