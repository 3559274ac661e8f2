"""Sparse autoencoders: activations as sparse sums of unit-norm atoms (Bricken et al. 2023)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from reprlab.artifacts.json_files import read_json
from reprlab.features.settings import AutoencoderShape
from reprlab.runtime.errors import ReprlabError, first_line
from reprlab.runtime.storage import storage_errors

if TYPE_CHECKING:
    from torch import Tensor

_WEIGHTS, _CONFIG = "autoencoder.safetensors", "autoencoder.json"
# Distances below this share of the median do not weigh more in the geometric median.
_NEAREST = 1e-6


class SparseAutoencoder(nn.Module):
    """h = ReLU(W_e x + b_e), x_hat = W_d h + b_d, over activations times a stored scale.

    The atoms, the columns of `decoder` [d, K], have unit norm: the part of their gradient that would only lengthen
    them is removed, and `constrain` restores the norm after each update.

    Attributes:
        encoder: [K, d]; encoder_bias: [K]; decoder: [d, K]; decoder_bias: [d].
        scale: activations are multiplied by it before encoding.
        centre: [d] mean of the scaled activations of the start sample.
        idle: [K] updates since each feature last fired.
    """

    scale: Tensor
    centre: Tensor
    idle: Tensor

    def __init__(self, width: int, shape: AutoencoderShape, seed: int = 0) -> None:
        """
        Args:
            width: d, the size of an activation.
            shape: features, loss and start.
            seed: seed of the weights.
        """
        super().__init__()
        self.width, self.shape = width, shape
        random = torch.Generator().manual_seed(seed)

        def kaiming(rows: int, columns: int) -> Tensor:
            # The rule of torch's linear layers: Kaiming uniform with a = sqrt(5) is 1 / sqrt(fan in).
            bound = 1 / math.sqrt(columns)
            return (2 * torch.rand(rows, columns, generator=random) - 1) * bound

        atoms = unit_columns(kaiming(width, shape.features))
        apart = kaiming(shape.features, width)
        self.decoder = nn.Parameter(atoms)
        self.encoder = nn.Parameter(atoms.T.clone() if shape.encoder_start == "atoms" else apart)
        self.encoder_bias = nn.Parameter(torch.zeros(shape.features))
        self.decoder_bias = nn.Parameter(torch.zeros(width))
        self.register_buffer("scale", torch.ones(()))
        self.register_buffer("centre", torch.zeros(width))
        self.register_buffer("idle", torch.zeros(shape.features))
        self.decoder.register_hook(self._without_parallel_part)

    def start_from(self, activations: Tensor) -> None:
        """Set scale, centre and the decoder's bias (the geometric median) by a sample [n, d] of activations.

        Raises:
            ReprlabError: all activations are nought.
        """
        with torch.no_grad():
            if self.shape.normalise:
                norm = activations.norm(dim=1).mean()
                if not norm > 0:
                    raise ReprlabError("sparse autoencoder: the activations of the start sample are all nought")
                self.scale.copy_(math.sqrt(self.width) / norm)
            scaled = activations * self.scale
            self.centre.copy_(scaled.mean(0))
            self.decoder_bias.copy_(geometric_median(scaled))

    def encode(self, activations: Tensor) -> Tensor:
        """Features [n, K] of activations [n, d]."""
        scaled = activations * self.scale
        if self.shape.subtract_bias:
            scaled = scaled - self.decoder_bias
        return torch.relu(nn.functional.linear(scaled, self.encoder, self.encoder_bias))

    def decode(self, features: Tensor) -> Tensor:
        """Activations [n, d] of features [n, K]."""
        return self._reconstruct(features) / self.scale

    def _reconstruct(self, features: Tensor) -> Tensor:
        return nn.functional.linear(features, self.decoder, self.decoder_bias)

    def loss(self, activations: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Mean over tokens of ||x_hat - x||^2 / ||x - centre|| + l1 ||h||_1 over scaled activations [n, d].

        Times d it is what the paper's code minimises, with 1.5 times its coefficient at d = 1,024, K = 16,384 and
        blocks of 24 (specification, section 2), but for the centre, which is not that of each batch here.

        Returns:
            the scalar to minimise, and detached sums for the training loop: L0, reconstruction, idle features.
        """
        features = self.encode(activations)
        scaled = activations * self.scale
        error = (self._reconstruct(features) - scaled).square().sum(1)
        centred = (scaled - self.centre).norm(dim=1).clamp(min=torch.finfo(scaled.dtype).tiny)
        reconstruction = (error / centred).sum()
        total = reconstruction + self.shape.l1 * features.sum()
        count = torch.tensor(len(activations), device=activations.device)
        with torch.no_grad():
            fired = features.gt(0)
            self.idle.copy_(torch.where(fired.any(0), torch.zeros_like(self.idle), self.idle + 1))
            parts = {
                "reconstruction_loss_sum": reconstruction.detach(),
                "reconstruction_count": count,
                "l0_loss_sum": fired.sum(),
                "l0_count": count,
                "unexplained_part": error.sum(),
                "unexplained_whole": (scaled - self.centre).square().sum(),
                "idle_part": self.idle.ge(self.shape.dead_window).sum(),
                "idle_whole": torch.tensor(self.shape.features, device=activations.device),
                "count": count,
            }
        return total / count, parts

    def constrain(self) -> None:
        """Give every atom unit norm again."""
        with torch.no_grad():
            self.decoder.copy_(unit_columns(self.decoder))

    def _without_parallel_part(self, gradient: Tensor) -> Tensor:
        atoms = self.decoder.detach()
        along = (gradient * atoms).sum(0) / atoms.square().sum(0)
        return gradient - atoms * along

    def save(self, folder: Path) -> None:
        """Write weights and shape into an existing folder; the same weights give the same bytes."""
        from safetensors.torch import save_file

        tensors = {name: value.detach().cpu().contiguous() for name, value in self.state_dict().items()}
        with storage_errors():
            save_file(tensors, folder / _WEIGHTS, metadata={"format": "pt"})
        about: dict[str, Any] = {"width": self.width, "shape": self.shape.model_dump()}
        (folder / _CONFIG).write_text(json.dumps(about, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> SparseAutoencoder:
        """Open what `save` wrote.

        Raises:
            ReprlabError: it is not there or damaged.
        """
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        about = read_json(folder / _CONFIG)
        try:
            found = cls(about["width"], AutoencoderShape.model_validate(about["shape"]))
            found.load_state_dict(load_file(folder / _WEIGHTS))
        except (OSError, KeyError, ValueError, RuntimeError, SafetensorError) as error:
            raise ReprlabError(
                f"{folder}: not a readable sparse autoencoder ({first_line(error)}); delete it and run again"
            ) from None
        return found


def unit_columns(matrix: Tensor) -> Tensor:
    """The columns of a matrix divided by their norms."""
    return matrix / matrix.norm(dim=0, keepdim=True).clamp(min=torch.finfo(matrix.dtype).tiny)


def geometric_median(points: Tensor, rounds: int = 1000, tolerance: float = 1e-7) -> Tensor:
    """The point [d] with the least sum of distances to `points` [n, d], by Weiszfeld's rounds in float64.

    Rounds begin at the median of each coordinate and end where a step is `tolerance` of the median distance: a few far
    points move the mean, and what the mean distance says is near, as far as they like.
    """
    exact = points.double()
    found = exact.median(0).values
    for _ in range(rounds):
        distances = (exact - found).norm(dim=1)
        # Of more than half of the points that are the same one the median distance is 0, and they are the median.
        typical = distances.median()
        if not typical > 0:
            break
        weights = 1 / distances.clamp(min=_NEAREST * float(typical))
        moved = weights @ exact / weights.sum()
        step, found = (moved - found).norm(), moved
        if step <= tolerance * typical:
            break
    return found.to(points.dtype)


def parameter_count(width: int, features: int) -> int:
    """Trained numbers: two matrices and two biases."""
    return 2 * width * features + width + features
