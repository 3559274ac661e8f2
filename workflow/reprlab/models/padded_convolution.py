"""Convolutions over time that see nothing behind the end of a sequence, so that a batch changes none of its rows."""

from __future__ import annotations

import torch
from torch import nn

from reprlab.runtime.errors import ReprlabError


class PaddedConv1d(nn.Conv1d):
    """A convolution [B, c, T] to [B, d, T] that reads zeros where `set_padding` says that a sequence has ended.

    Layers before it give padding values of their own (a bias, a residual), which a kernel of several frames would carry
    into the last frames of a sequence; alone, it would meet the convolution's zeros there.

    Raises:
        ReprlabError: the kernel is even: it has no middle, so that a frame would see more to one side.
    """

    def __init__(self, width: int, out: int, kernel: int) -> None:
        if kernel % 2 == 0:
            raise ReprlabError(
                f"tuning.kernel: {kernel} is even, and a frame has as many on either side; take {kernel + 1}"
            )
        super().__init__(width, out, kernel, padding="same")
        self._present: torch.Tensor | None = None

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """See the class."""
        if self._present is not None and self.kernel_size[0] > 1:
            states = states * self._present[:, None].to(states.dtype)
        return super().forward(states)


def set_padding(model: nn.Module, present: torch.Tensor | None) -> None:
    """Tell the convolutions of a model which frames [B, T] of the batch that comes are there; None: all are."""
    for module in model.modules():
        if isinstance(module, PaddedConv1d):
            module._present = present


def require_own_statistics(model: nn.Module, name: str) -> None:
    """Refuse a model that normalises over time or over a batch, where padding and other rows reach each sequence.

    Raises:
        ReprlabError: a convolution is normalised by groups (wav2vec 2.0's `feat_extract_norm: group`) or by batches.
    """
    for place, module in model.named_modules():
        if isinstance(module, nn.GroupNorm | nn.modules.batchnorm._BatchNorm | nn.modules.instancenorm._InstanceNorm):
            kind = type(module).__name__
            raise ReprlabError(
                f"{name}: {place} is a {kind}, whose statistics run over the padding of a batch, so that a transcript "
                "would depend on its neighbours; take an encoder with layer norms (feat_extract_norm: layer)"
            )
