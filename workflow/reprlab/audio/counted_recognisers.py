"""Speech encoders as they are counted, on the meta device."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reprlab.audio.settings import Tuning
from reprlab.models.counted_models import ALONE, CountedModel, Powers, split_parameters

if TYPE_CHECKING:
    import torch

# Samples from frame to frame at the end of wav2vec 2.0's convolutions, and those that the first frame sees besides.
_STRIDE, _BEFORE = 320, 80


@dataclass(frozen=True)
class CountedRecogniser(CountedModel):
    """A speech encoder as it is tuned, without the head of some dozen symbols; lengths are frames."""

    tuning: Tuning = field(kw_only=True)
    """What is trained."""

    def key(self) -> Hashable:
        """See `CountedModel`."""
        return super().key(), self.tuning.model_dump_json()

    def powers(self, network: Any, training: bool) -> Powers:
        """See `CountedModel`."""
        return ALONE

    def network(self) -> Any:
        """See `CountedModel`."""
        import torch

        from reprlab.audio.adapters import tune

        with torch.device("meta"):
            network = super().network()
            tune(network, self.tuning)
        # Blocks that are left out and frames that are masked are drawn, which needs values.
        network.config.layerdrop, network.config.apply_spec_augment = 0.0, False
        return network

    def parameters(self, network: Any) -> tuple[int, int]:
        """See `CountedModel`."""
        return split_parameters(network, adapted=self.tuning.method != "full")

    def run(self, network: Any, examples: int, encoder: int, decoder: int, training: bool) -> torch.Tensor:
        """See `CountedModel`."""
        import torch

        from reprlab.audio.recognition import spectrogram_states

        if self.entry.architecture == "whisper_encoder":
            mel = torch.zeros((examples, network.config.num_mel_bins, 2 * encoder), device="meta")
            return spectrogram_states(network, mel).sum()
        samples = torch.zeros((examples, _STRIDE * encoder + _BEFORE), device="meta")
        found: torch.Tensor = network(samples).last_hidden_state.sum()
        return found

    def outputs(self, network: Any) -> int:
        """See `CountedModel`."""
        return 0
