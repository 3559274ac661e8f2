"""Forms of a soft prompt that is trained as something else than its vectors: residual and decomposed prompts.

The encoder around the prompt is that of plain soft prompts, bit by bit; what is kept of a training are the vectors that
the form gives, so that nothing that reads an encoder knows of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.sentences.settings import ContrastiveTraining, EncoderSettings

if TYPE_CHECKING:
    import torch

_STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
_PROMPT = "prompt"


class ResidualPrompt(BaseModel):
    """P + up(relu(down(P))), one network for all vectors (Razdaibiedina et al. 2023).

    P starts as a plain prompt does, the network as torch's linear layers do. With `up` at 0 it is the plain prompt.
    """

    model_config = _STRICT

    kind: Literal["residual"] = "residual"
    """Which form it is."""
    width: int = Field(ge=1)
    """Numbers between the two maps."""
    layer_norm: bool
    """Whether what is added to P is normalised, behind the second map."""

    def trained(self, vectors: int, dimensions: int) -> int:
        """Numbers that are trained, of a prompt [vectors, dimensions]."""
        network = 2 * dimensions * self.width + self.width + dimensions
        return vectors * dimensions + network + (2 * dimensions if self.layer_norm else 0)


class DecomposedPrompt(BaseModel):
    """P = A B of rank b (Xiao et al. 2023); with A the identity it is the plain prompt B."""

    model_config = _STRICT

    kind: Literal["decomposed"] = "decomposed"
    """Which form it is."""
    rank: int = Field(ge=1)
    """b."""
    spread: float = Field(gt=0)
    """Both factors start evenly drawn between this and its negative."""

    def trained(self, vectors: int, dimensions: int) -> int:
        """Numbers that are trained, of a prompt [vectors, dimensions]."""
        return vectors * self.rank + self.rank * dimensions


PromptForm = Annotated[ResidualPrompt | DecomposedPrompt, Field(discriminator="kind")]


class PromptTraining(ContrastiveTraining):
    """Training of a soft prompt in another form than its vectors."""

    form: PromptForm
    """What is trained in their place."""


def reparametrise(encoder: Any, form: PromptForm, seed: int) -> Any:
    """The encoder, whose prompt [k, d] is computed from what the form trains wherever it is read; it is changed.

    Args:
        encoder: as `build_encoder` gives it for the method prompt.
        seed: of what is drawn at the start; the vectors of a residual prompt keep theirs.
    """
    import torch
    from torch.nn.utils import parametrize

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _residual(form, encoder.prompt) if form.kind == "residual" else _decomposed(form)
        parametrize.register_parametrization(encoder, _PROMPT, network)
    return encoder


def fold(folder: Path, form: PromptForm, settings: EncoderSettings) -> None:
    """Put the vectors that a trained form gives in its place, in the folder that `save_encoder` wrote: then it is that
    of a plain prompt. Its files may be links to another's, and are not written into."""
    import torch
    from safetensors.torch import load_file

    from reprlab.sentences.encoder import save_encoder

    (path,) = folder.glob("*.safetensors")
    weights = load_file(path)
    sides = [f"parametrizations.{_PROMPT}.original{side}" for side in ("", "0", "1")]
    first, *others = (weights[name] for name in sides if name in weights)
    shape = (len(first), others[0].shape[1]) if others else first.shape
    holder: Any = torch.nn.Module()
    holder.register_parameter(_PROMPT, torch.nn.Parameter(torch.zeros(shape)))
    reparametrise(holder, form, 0).load_state_dict(weights)
    plain = torch.nn.Module()
    plain.register_parameter(_PROMPT, torch.nn.Parameter(holder.prompt.detach().clone()))
    for file in folder.iterdir():
        file.unlink()
    save_encoder(plain, settings, folder)


def _residual(form: ResidualPrompt, prompt: torch.Tensor) -> Any:
    import torch

    dimensions = prompt.shape[1]

    class Residual(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.down, self.up = torch.nn.Linear(dimensions, form.width), torch.nn.Linear(form.width, dimensions)
            self.norm = torch.nn.LayerNorm(dimensions) if form.layer_norm else torch.nn.Identity()

        def forward(self, vectors: torch.Tensor) -> torch.Tensor:
            # As the prompt itself: in bfloat16 a small update would round away.
            with torch.autocast(vectors.device.type, enabled=False):
                found: torch.Tensor = vectors + self.norm(self.up(self.down(vectors).relu()))
            return found

    return Residual()


def _decomposed(form: DecomposedPrompt) -> Any:
    import torch

    class Decomposed(torch.nn.Module):
        def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
            with torch.autocast(left.device.type, enabled=False):
                return left @ right

        def right_inverse(self, vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            # The source draws both factors: how a prompt of low rank starts is a part of the method.
            shapes = (len(vectors), form.rank), (form.rank, vectors.shape[1])
            left, right = (torch.empty(shape).uniform_(-form.spread, form.spread) for shape in shapes)
            return left, right

    return Decomposed()
