"""Autocast on the meta device, where PyTorch has none: products of matrices take bfloat16, all else stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def short_products(casts: list[torch.Tensor]) -> Any:
    """A context in which products of matrices cast their inputs to bfloat16: weights once, which are put into `casts`,
    and activations each time, as autocast does."""
    import torch
    from torch.nn import functional
    from torch.overrides import TorchFunctionMode

    products = {
        functional.linear, torch.matmul, torch.Tensor.matmul, torch.Tensor.__matmul__, torch.bmm, torch.Tensor.bmm,
        torch.baddbmm, torch.addmm, torch.einsum, functional.scaled_dot_product_attention, functional.conv1d,
    }  # fmt: skip
    weights: dict[int, torch.Tensor] = {}

    def short(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.dtype != torch.float32:
            return value
        if not isinstance(value, torch.nn.Parameter):
            return value.to(torch.bfloat16)
        if id(value) not in weights:
            weights[id(value)] = value.to(torch.bfloat16)
            casts.append(weights[id(value)])
        return weights[id(value)]

    class Autocast(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            if func in products:
                args, named = [short(each) for each in args], {name: short(each) for name, each in named.items()}
            return func(*args, **named)

    return Autocast()
