"""Choice of the attention kernel that a CPU trains with."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def attention_for_training(ids: torch.Tensor, at_most: int | None = None) -> AbstractContextManager[Any]:
    """Separate products on a CPU, in bfloat16: the gradient of PyTorch's fused kernel for CPUs is slow on short texts.

    Measured on SmolLM2-135M, one thread: 16 x 45 tokens forward and backward 1.8 + 2.9 s fused, 1.6 + 1.3 s apart. Of
    an update with adapters, products apart save a third at 12 tokens, a fifth at 24, a tenth at 48, nothing at 128.

    Args:
        ids: [B, L], what is read.
        at_most: longest L whose products are taken apart; None: any. Apart, they keep B x heads x L x L weights.
    """
    from torch.nn.attention import SDPBackend, sdpa_kernel

    apart = ids.device.type == "cpu" and (at_most is None or ids.shape[1] <= at_most)
    context: AbstractContextManager[Any] = sdpa_kernel(SDPBackend.MATH) if apart else nullcontext()
    return context
