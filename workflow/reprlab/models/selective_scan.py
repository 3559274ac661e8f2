"""Selective scans of Mamba-1 and Mamba-2 in chunks, for machines without the compiled kernels.

The plain path of transformers steps through Mamba-1 position by position, keeping all that it makes, and pads Mamba-2
to chunks of 256 with one score matrix for each head. Here Mamba-1 runs over chunks of sequences whose states stay in
the cache and makes them again in the backward pass, as the compiled kernel does; Mamba-2 runs over chunks of positions
side by side. Results are the same to rounding.
"""

from __future__ import annotations

import functools
import math
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from reprlab.runtime.log import get_logger

if TYPE_CHECKING:
    import torch

ScanPath = Literal["compiled", "chunked"]
_CHUNK = 32
# Numbers of the states at one position that are scanned at once: on a CPU more leave the cache and fewer are all
# overhead; elsewhere each step is a launch, and what bounds it is the memory of all positions.
_SCANNED, _SCANNED_ELSEWHERE = 2**16, 2**22


def install_scans(device: torch.device) -> ScanPath:
    """Let transformers' Mamba models scan in chunks where compiled kernels do not run; logs and returns the path.

    The kernels are for CUDA and of two packages: the layer that is compiled whole for training has the convolution of
    `causal_conv1d` in it. Mamba-2's are in mamba_ssm from 2.0.4 on; with an older one neither model runs compiled. Only
    a forward without a cache takes the chunked path; decoding token by token is left as it is.
    """
    from transformers.utils.import_utils import is_causal_conv1d_available, is_mamba_2_ssm_available

    compiled = device.type == "cuda" and is_mamba_2_ssm_available() and is_causal_conv1d_available()
    path: ScanPath = "compiled" if compiled else "chunked"
    get_logger().info("scans of Mamba layers, where a model has them: %s", path)
    if compiled:
        return path
    from transformers.models.mamba import modeling_mamba
    from transformers.models.mamba2 import modeling_mamba2

    _replace(modeling_mamba, "mamba_selective_scan", selective_scan, "return_last_state")
    _replace(modeling_mamba2, "mamba2_chunk_scan", state_space_dual, "return_final_states", "initial_states")
    for module, whole in ((modeling_mamba, "mamba_inner_fn"), (modeling_mamba2, "mamba2_split_conv1d_scan_combined")):
        _replace(module, whole, _no_whole_layer)
        _replace(module, "causal_conv1d_fn", causal_convolution)
    return path


def _no_whole_layer(*_: Any, **__: Any) -> None:
    """None, at which transformers takes the steps of a layer one by one."""


def _replace(module: ModuleType, name: str, ours: Any, *cached: str) -> None:
    original = getattr(module, name)
    if hasattr(original, "replaces"):
        return

    @functools.wraps(ours)
    def scan(*args: Any, **kwargs: Any) -> Any:
        uses_cache = any(kwargs.get(option) is not None and kwargs[option] is not False for option in cached)
        return (original if uses_cache else ours)(*args, **kwargs)

    scan.replaces = original  # type: ignore[attr-defined]
    setattr(module, name, scan)


def zero_order_hold(rates: torch.Tensor, step: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Of h' = A h + B x with diagonal A and x held for a `step` d: exp(d A), and expm1(d A) / A, the factor of B.

    The factor tends to d as A tends to 0. Released models take d for it (Euler). Source: ssm-rerankers, equation 4.
    """
    import torch

    exponent = step * rates
    return exponent.exp(), torch.where(rates == 0, step, exponent.expm1() / rates)


def linear_recurrence(decay: torch.Tensor, inputs: torch.Tensor, chunk: int = _CHUNK) -> torch.Tensor:
    """h_t = decay_t h_{t-1} + inputs_t along dimension 1 of [B, L, ...], h_0 = 0; differentiable in both.

    All chunks step together, then the states at their ends are carried over: `chunk` + L / `chunk` steps in place of L.
    """
    return _recurrence().apply(decay, inputs, chunk)


@functools.cache
def _recurrence() -> Any:
    import torch

    class Recurrence(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, decay: torch.Tensor, inputs: torch.Tensor, chunk: int) -> torch.Tensor:
            states = _scan(decay, inputs, chunk)
            ctx.save_for_backward(decay, states)
            ctx.chunk = chunk
            return states

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
            # The same recurrence backwards: g_t = gradient_t + decay_{t+1} g_{t+1}.
            decay, states = ctx.saved_tensors
            later = torch.cat([decay[:, 1:], torch.zeros_like(decay[:, :1])], dim=1).flip(1)
            found = _scan(later, gradients[0].flip(1), ctx.chunk).flip(1)
            of_decay = torch.zeros_like(found)
            torch.mul(found[:, 1:], states[:, :-1], out=of_decay[:, 1:])
            return of_decay, found, None

    return Recurrence


def _scan(decay: torch.Tensor, inputs: torch.Tensor, chunk: int) -> torch.Tensor:
    import torch

    length = inputs.shape[1]
    chunk = min(chunk, length)
    padding = -length % chunk
    if padding:
        decay, inputs = (
            torch.cat([part, part.new_zeros(part.shape[0], padding, *part.shape[2:])], 1) for part in (decay, inputs)
        )
    decay, states = (part.unflatten(1, (-1, chunk)) for part in (decay, inputs.clone()))
    for place in range(1, chunk):
        states[:, :, place].addcmul_(decay[:, :, place], states[:, :, place - 1])
    if states.shape[1] > 1:
        # torch.cumprod is slow along a dimension that is not the last: the whole scan would take two to three times
        # as long.
        reach = decay.clone()
        for place in range(1, chunk):
            reach[:, :, place].mul_(reach[:, :, place - 1])
        for number in range(1, states.shape[1]):
            states[:, number].addcmul_(reach[:, number], states[:, number - 1, -1:])
    return states.flatten(1, 2)[:, :length]


def selective_scan(
    hidden_states: torch.Tensor,
    dt: torch.Tensor,
    A: torch.Tensor,  # noqa: N803 (the kernel's own names)
    B: torch.Tensor,  # noqa: N803
    C: torch.Tensor,  # noqa: N803
    D: torch.Tensor | None = None,  # noqa: N803
    z: torch.Tensor | None = None,
    delta_bias: torch.Tensor | None = None,
    delta_softplus: bool = False,
    **_: Any,
) -> torch.Tensor:
    """Mamba-1: [batch, channels, L] of inputs and steps of that shape, A [channels, N], B and C [batch, N, L].

    Source: Gu and Dao 2023, algorithm 2, with the Euler step for B that released models are trained with.
    """
    from torch.nn import functional

    dt = dt if delta_bias is None else dt + delta_bias.to(dt.dtype)[..., None]
    dt = (functional.softplus(dt) if delta_softplus else dt).transpose(1, 2).float()
    inputs = hidden_states.transpose(1, 2).float()
    columns = [part.contiguous() for part in (dt, dt * inputs, B.transpose(1, 2).float(), C.transpose(1, 2).float())]
    found = _read_states().apply(A.float(), *columns)
    found = (found if D is None else found + inputs * D).transpose(1, 2)
    return (found if z is None else found * functional.silu(z)).to(hidden_states.dtype)


@functools.cache
def _read_states() -> Any:
    """A function of A [channels, N], steps and weighted inputs [batch, L, channels], B and C [batch, L, N]: the states'
    products with C, [batch, L, channels]."""
    import torch

    def parts(steps: torch.Tensor, rates: torch.Tensor) -> list[slice]:
        at_once = _SCANNED if rates.device.type == "cpu" else _SCANNED_ELSEWHERE
        size = max(1, at_once // rates.numel())
        return [slice(start, start + size) for start in range(0, len(steps), size)]

    # States lie as [batch, N, channels]: channels are many and N few, and the last dimension is what vectors run along.
    # What stays is a state for each stretch, whose others are made again there: few enough to stay in the cache.
    class ReadStates(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, rates: torch.Tensor, *columns: torch.Tensor) -> torch.Tensor:
            rates = rates.t().contiguous()
            found = torch.empty_like(columns[0])
            stretch = math.isqrt(found.shape[1])
            kept = rates.new_empty(-(-found.shape[1] // stretch), len(found), *rates.shape)
            for rows in parts(columns[0], rates):
                steps, inputs, before, after = (part[rows] for part in columns)
                states = rates.new_zeros(len(steps), *rates.shape)
                decay = torch.empty_like(states)
                for place in range(steps.shape[1]):
                    if place % stretch == 0:
                        kept[place // stretch, rows] = states
                    torch.mul(steps[:, place, None], rates, out=decay).exp_()
                    states.mul_(decay).addcmul_(before[:, place, :, None], inputs[:, place, None])
                    found[rows, place] = torch.bmm(after[:, place, None], states)[:, 0]
            ctx.save_for_backward(rates, kept, *columns)
            return found

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, ...]:
            rates, kept, *columns = ctx.saved_tensors
            length = columns[0].shape[1]
            stretch = math.isqrt(length)
            of_rates = torch.zeros_like(rates)
            of_columns = [torch.empty_like(part) for part in columns]
            for rows in parts(columns[0], rates):
                steps, inputs, before, after = (part[rows] for part in columns)
                of_steps, of_inputs, of_before, of_after = (part[rows] for part in of_columns)
                read = gradients[0][rows]
                decay = rates.new_empty(stretch, len(steps), *rates.shape)
                states = rates.new_empty(stretch + 1, len(steps), *rates.shape)
                flow, summed = torch.zeros_like(states[0]), torch.zeros_like(states[0])
                for first in reversed(range(0, length, stretch)):
                    places = list(enumerate(range(first, min(first + stretch, length))))
                    states[0] = kept[first // stretch, rows]
                    for number, place in places:
                        torch.mul(steps[:, place, None], rates, out=decay[number]).exp_()
                        torch.mul(states[number], decay[number], out=states[number + 1])
                        states[number + 1].addcmul_(before[:, place, :, None], inputs[:, place, None])
                    for number, place in reversed(places):
                        of_after[:, place] = torch.bmm(states[number + 1], read[:, place, :, None])[..., 0]
                        flow.addcmul_(after[:, place, :, None], read[:, place, None])
                        of_inputs[:, place] = torch.bmm(before[:, place, None], flow)[:, 0]
                        of_before[:, place] = torch.bmm(flow, inputs[:, place, :, None])[..., 0]
                        flow.mul_(decay[number])
                        # Over the states behind this position and its decay, which nobody reads any more.
                        of_exponent = torch.mul(flow, states[number], out=states[number + 1])
                        of_steps[:, place] = torch.mul(of_exponent, rates, out=decay[number]).sum(1)
                        summed.addcmul_(of_exponent, steps[:, place, None])
                of_rates += summed.sum(0)
            return of_rates.t(), *of_columns

    return ReadStates


def state_space_dual(
    hidden_states: torch.Tensor,
    dt: torch.Tensor,
    A: torch.Tensor,  # noqa: N803
    B: torch.Tensor,  # noqa: N803
    C: torch.Tensor,  # noqa: N803
    chunk_size: int = _CHUNK,
    D: torch.Tensor | None = None,  # noqa: N803
    dt_bias: torch.Tensor | None = None,
    dt_softplus: bool = False,
    dt_limit: tuple[float, float] = (0.0, float("inf")),
    **_: Any,
) -> torch.Tensor:
    """Mamba-2: inputs [batch, L, heads, P], steps [batch, L, heads], A [heads], B and C [batch, L, groups, N].

    Scores within a chunk are made once for each group; they differ between heads by their decay alone. A chunk is never
    longer than 32: the work within chunks grows with their length, and that of few carried states hardly counts.

    Source: Dao and Gu 2024, section 6 (block decomposition).
    """
    import torch
    from torch.nn import functional

    batch, length, heads, width = hidden_states.shape
    groups, chunk = B.shape[2], min(chunk_size, _CHUNK, length)
    # As few chunks, equally long: 48 positions are two of 24, not 64 with a quarter of padding.
    chunk = -(-length // -(-length // chunk))
    dt = dt if dt_bias is None else dt + dt_bias.to(dt.dtype)
    dt = torch.clamp(functional.softplus(dt) if dt_softplus else dt, *dt_limit).float()
    inputs = hidden_states.float()
    skip = 0 if D is None else D[:, None] * inputs
    padding = -length % chunk

    def chunked(values: torch.Tensor) -> torch.Tensor:
        """[batch, chunks, chunk, ...]."""
        values = functional.pad(values, [0, 0] * (values.ndim - 2) + [0, padding]) if padding else values
        return values.unflatten(1, (-1, chunk))

    exponents = chunked(dt * A.float())
    summed = exponents.cumsum(2)
    weighted = chunked(inputs * dt[..., None])
    before, after = (chunked(part.float()).transpose(2, 3) for part in (B, C))
    # Sums over each segment, not differences of sums from the start of the chunk: of long steps those lose all digits.
    behind = torch.ones(chunk, chunk, dtype=torch.bool, device=dt.device).triu()
    segments = exponents.transpose(2, 3)[..., None].expand(-1, -1, -1, -1, chunk).masked_fill(behind, 0).cumsum(-2)
    decay = segments.masked_fill(behind.triu(1), float("-inf")).exp()
    scores = (after @ before.transpose(-1, -2)).repeat_interleave(heads // groups, dim=2)
    found = ((scores * decay) @ weighted.transpose(2, 3)).transpose(2, 3)
    if summed.shape[1] > 1:
        # The state behind the last chunk is nobody's. Heads of a group share B and C: their inputs lie side by side, so
        # that one product serves them all.
        def by_group(values: torch.Tensor) -> torch.Tensor:
            """[batch, chunks, groups, chunk, heads of the group * P] of [batch, chunks, chunk, heads, P]."""
            return values.unflatten(3, (groups, -1)).flatten(4).transpose(2, 3)

        to_end = decay[:, :-1, :, -1].transpose(2, 3)[..., None]
        states = before[:, :-1].transpose(-1, -2) @ by_group(weighted[:, :-1] * to_end)
        if states.shape[1] > 1:
            whole = summed[:, :-1, -1].exp().unflatten(2, (groups, -1)).repeat_interleave(width, dim=3)
            states = linear_recurrence(whole[:, :, :, None].expand_as(states), states, chunk)
        earlier = (after[:, 1:] @ states).transpose(2, 3).reshape(found[:, 1:].shape)
        found = torch.cat([found[:, :1], found[:, 1:] + summed[:, 1:].exp()[..., None] * earlier], dim=1)
    return found.reshape(batch, -1, heads, width)[:, :length] + skip


def causal_convolution(
    hidden_states: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    activation: str | None = None,
    **_: Any,
) -> torch.Tensor:
    """Convolution of each channel of [batch, channels, L] with its kernel [channels, K] over what came before.

    A sum of K shifted products: torch's grouped convolution takes many times as long on a CPU, most of it backwards.
    """
    from transformers.activations import ACT2FN

    columns = hidden_states.to(weight.dtype).transpose(1, 2)
    found = _shifted_products().apply(columns, weight).transpose(1, 2)
    found = found if bias is None else found + bias[:, None]
    return (found if activation is None else ACT2FN[activation](found)).to(hidden_states.dtype)


@functools.cache
def _shifted_products() -> Any:
    """A function of [batch, L, channels] and kernels [channels, K]: sums are added to in place, where derivatives of
    each product for itself would fill and copy a tensor of that size several times for each of the K."""
    import torch

    class ShiftedProducts(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, columns: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(columns, weight)
            *earlier, last = weight.t().contiguous()
            found = columns * last
            for shift, tap in enumerate(reversed(earlier), 1):
                found[:, shift:].addcmul_(columns[:, :-shift], tap)
            return found

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            (read,), (columns, weight) = gradients, ctx.saved_tensors
            *earlier, last = weight.t().contiguous()
            of_columns, of_taps = read * last, [(read * columns).sum((0, 1))]
            for shift, tap in enumerate(reversed(earlier), 1):
                of_columns[:, :-shift].addcmul_(read[:, shift:], tap)
                of_taps.append((read[:, shift:] * columns[:, :-shift]).sum((0, 1)))
            return of_columns, torch.stack(of_taps[::-1], dim=1)

    return ShiftedProducts
