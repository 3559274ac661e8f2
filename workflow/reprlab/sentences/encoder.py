"""A decoder as a sentence encoder: built by its settings, saved as what was trained alone, used on texts."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.inference.generation import sorted_batches
from reprlab.models.pooling import pool
from reprlab.objectives.decoder_attention import attention_inputs
from reprlab.runtime.errors import ReprlabError, first_line, raise_if_machine_is_short
from reprlab.runtime.log import get_logger
from reprlab.sentences.early_exit import headless, keep_layers, mean_of_ends
from reprlab.sentences.settings import EncoderSettings, LowRank
from reprlab.sentences.soft_prompts import first_vectors, frozen, prefixed, prompted
from reprlab.sentences.texts import EncodedTexts

if TYPE_CHECKING:
    import numpy as np
    import torch

_WEIGHTS = "trained.safetensors"
_ABOUT = "encoder.json"


def build_encoder(model: Any, settings: EncoderSettings, seed: int) -> Any:
    """The encoder around a decoder, which it changes: a module from a batch of `EncodedTexts` to vectors [B, d].

    Raises:
        ReprlabError: the decoder cannot be cut, or lacks a layer that an adapter names.
    """
    if settings.layers is not None:
        keep_layers(model, int(settings.layers))
    if settings.method == "prompt":
        vectors = first_vectors(model, settings.vectors, settings.start, seed)
        return prompted(model, vectors, settings.position, settings.pooling, bidirectional=settings.bidirectional)
    if settings.method == "prefix":
        return prefixed(model, settings.vectors, settings.pooling, seed)
    if settings.method == "full":
        # The output layer takes no part, and of tied weights none is its own.
        headless(model).requires_grad_(True)
    else:
        frozen(model)
    if settings.adapter is not None:
        add_low_rank(headless(model), settings.adapter, seed)
    return _pooled(headless(model), settings)


def add_low_rank(decoder: Any, settings: LowRank, seed: int) -> list[str]:
    """Give a decoder fresh adapters, whose second matrix is 0; the names of the layers that have one.

    Names that match no layer are told to the log where they are allowed.

    Raises:
        ReprlabError: a name matches no layer, and that was not allowed.
    """
    import torch
    from peft import LoraConfig, inject_adapter_in_model

    config = LoraConfig(
        r=settings.rank, lora_alpha=settings.alpha, lora_dropout=settings.dropout, target_modules=list(settings.targets)
    )
    torch.manual_seed(seed)
    try:
        inject_adapter_in_model(config, decoder)
    except ValueError as error:
        raise ReprlabError(f"adapter targets {', '.join(settings.targets)}: {error}") from None
    adapted = [name for name, module in decoder.named_modules() if hasattr(module, "lora_A")]
    # peft is content when one of the names matches: the others would be left out without a word.
    matched = sorted({name.rpartition(".")[2] for name in adapted})
    missing = sorted(set(settings.targets) - set(matched))
    if missing and not settings.partial:
        raise ReprlabError(
            f"adapter targets: {type(decoder).__name__} has no layer named {', '.join(missing)}; name those of its own "
            "linear layers as targets of its architecture"
        )
    if missing:
        get_logger().info(
            "adapters are in %d layers, named %s; none is named %s",
            len(adapted),
            ", ".join(matched),
            ", ".join(missing),
        )
    return adapted


def merge_low_rank(decoder: Any) -> None:
    """Add the adapters to the weights that they adapt, in place; the decoder is a plain one again."""
    for name, module in list(decoder.named_modules()):
        if hasattr(module, "lora_A"):
            module.merge()
            parent, _, own = name.rpartition(".")
            setattr(decoder.get_submodule(parent), own, module.base_layer)


def _pooled(decoder: Any, settings: EncoderSettings) -> Any:
    import torch

    layer = getattr(decoder, "pooler", None) if settings.pooler else None
    if settings.pooler and layer is None:
        raise ReprlabError(f"pooler: {type(decoder).__name__} has no layer of that name; pool without it")

    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.decoder = decoder

        def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
            attention = batch["attention_mask"]
            inputs = attention_inputs(attention, self.decoder.dtype, bidirectional=settings.bidirectional)
            inputs["input_ids"] = batch["input_ids"]
            if settings.both_ends:
                states = mean_of_ends(self.decoder, **inputs)
            else:
                states = self.decoder(use_cache=False, **inputs).last_hidden_state
            found = pool(states, attention, settings.pooling, batch["text_mask"])
            if layer is None:
                return found
            # As pooling: in bfloat16 vectors would have 8 bits.
            with torch.autocast(found.device.type, enabled=False):
                # It takes the first of several states.
                return layer(found[:, None])

        def train(self, mode: bool = True) -> Any:
            # Encoders are trained without dropout but for the adapters' own, so that the vectors of a step are those
            # that are used later.
            self.training = mode
            self.decoder.eval()
            for module in self.decoder.modules():
                if hasattr(module, "lora_dropout"):
                    module.lora_dropout.train(mode)
            return self

    return Pooled()


def size_of(model: Any) -> tuple[int, int]:
    """Layers of a decoder, and its parameters without the output layer and without adapters."""
    weights = headless(model).named_parameters()
    return model.config.num_hidden_layers, sum(weight.numel() for name, weight in weights if "lora_" not in name)


def trained_weights(encoder: Any) -> dict[str, torch.Tensor]:
    """The trained weights, by name."""
    return {name: value for name, value in encoder.named_parameters() if value.requires_grad}


def save_encoder(encoder: Any, settings: EncoderSettings, folder: Path) -> None:
    """Write the trained weights alone, in float32, and the settings that they belong to."""
    from safetensors.torch import save_file

    from reprlab.artifacts.json_files import write_json
    from reprlab.runtime.storage import storage_errors

    weights = {name: value.detach().float().cpu().contiguous() for name, value in trained_weights(encoder).items()}
    with storage_errors():
        save_file(weights, folder / _WEIGHTS)
    write_json(folder / _ABOUT, settings.model_dump(mode="json"))
    (folder / _WEIGHTS).chmod((folder / _ABOUT).stat().st_mode)


def read_settings(folder: Path) -> EncoderSettings:
    """The settings of a saved encoder.

    Raises:
        ReprlabError: the folder is not an encoder.
    """
    from pydantic import ValidationError

    from reprlab.artifacts.json_files import read_json

    try:
        return EncoderSettings.model_validate(read_json(folder / _ABOUT))
    except (OSError, ValidationError) as error:
        raise _unreadable(folder, error) from None


def _unreadable(folder: Path, error: Exception) -> ReprlabError:
    raise_if_machine_is_short(error)
    return ReprlabError(f"{folder}: not a readable encoder ({first_line(error)}); delete it and run again")


def load_encoder(model: Any, folder: Path, *, both_ends: bool | None = None, layers: int | None = None) -> Any:
    """The encoder that `save_encoder` wrote, around the decoder that it was trained on.

    Args:
        both_ends: that of its use, where it is another one than that of its training.
        layers: those that are kept of the layers that it was trained with; None: all.

    Raises:
        ReprlabError: the folder is not an encoder, or one of another decoder, or of fewer layers.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    settings = read_settings(folder)
    if both_ends is not None:
        settings = settings.model_copy(update={"both_ends": both_ends})
    try:
        weights = load_file(folder / _WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise _unreadable(folder, error) from None
    encoder = build_encoder(model, settings, 0)
    wanted = {name: tuple(value.shape) for name, value in trained_weights(encoder).items()}
    if wanted != {name: tuple(value.shape) for name, value in weights.items()}:
        raise ReprlabError(f"{folder}: its weights are not those of this model; train the encoder on it again")
    encoder.load_state_dict(weights, strict=False)
    if layers is not None:
        keep_layers(model, layers)
    return encoder


def embed(
    encoder: Any,
    texts: EncodedTexts,
    *,
    batch_size: int,
    dtype: str = "float32",
) -> np.ndarray:
    """[texts, d] float32, in batches of similar length; results in the order given, each text read once."""
    import numpy as np
    import torch

    device = next(encoder.parameters()).device
    encoder.eval()
    precision = torch.autocast(device.type, dtype=torch.bfloat16) if dtype == "bfloat16" else contextlib.nullcontext()
    found: np.ndarray | None = None
    with torch.inference_mode(), precision:
        for rows in sorted_batches(texts.ids.lengths, batch_size):
            batch = {name: value.to(device) for name, value in texts.batch(rows).items()}
            vectors = encoder(batch).float().cpu().numpy()
            found = np.empty((len(texts), vectors.shape[1]), dtype=np.float32) if found is None else found
            found[rows] = vectors
    return np.zeros((0, 0), dtype=np.float32) if found is None else found
