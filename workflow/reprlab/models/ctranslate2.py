"""Encoders of Whisper out of files of CTranslate2 (OpenNMT/CTranslate2, `python/ctranslate2/specs/model_spec.py`)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.models.build import build_from_config
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError, first_line

if TYPE_CHECKING:
    import numpy as np
    import torch

_TYPES = ("<f4", "i1", "<i2", "<i4", "<f2")
_OLDEST, _NEWEST = 3, 6
_PROJECTIONS = "qkv"
# In transformers: in the file, below `encoder/layer_<i>/`.
_LAYER = {
    "self_attn.out_proj": "self_attention/linear_1",
    "self_attn_layer_norm": "self_attention/layer_norm",
    "fc1": "ffn/linear_0",
    "fc2": "ffn/linear_1",
    "final_layer_norm": "ffn/layer_norm",
}


def read_variables(parts: Sequence[Path]) -> dict[str, np.ndarray]:
    """The variables of a model file by name, as they are stored; `parts` are the pieces that it was cut into.

    Little-endian: u32 version, name of the specification, u32 revision, u32 count; of each variable its name, u8 rank,
    u32 dimensions, u8 type, u32 bytes, and these. A text is a u16 length and that many bytes, the last of them 0.

    Raises:
        ReprlabError: the file is not one, or ends early.
    """
    import numpy as np

    content, place = b"".join(part.read_bytes() for part in parts), 0

    def take(form: str) -> Any:
        nonlocal place
        (value,) = struct.unpack_from(form, content, place)
        place += struct.calcsize(form)
        return value

    def text() -> str:
        nonlocal place
        length = take("<H")
        place += length
        return content[place - length : place - 1].decode()

    found: dict[str, np.ndarray] = {}
    try:
        version = take("<I")
        if not _OLDEST <= version <= _NEWEST:
            raise ValueError(f"version {version} of the format, {_OLDEST} to {_NEWEST} are known")
        text(), take("<I")
        for _ in range(take("<I")):
            name, shape = text(), [take("<I") for _ in range(take("<B"))]
            kind, size = np.dtype(_TYPES[take("<B")]), take("<I")
            found[name] = np.frombuffer(content, kind, size // kind.itemsize, place).reshape(shape)
            place += size
    except (struct.error, ValueError, IndexError) as error:
        raise ReprlabError(
            f"{parts[0]}: not a model of CTranslate2 ({first_line(error)}); delete it and run again"
        ) from None
    return found


def whisper_encoder(entry: ModelEntry, parts: Sequence[Path]) -> Any:
    """The encoder of a Whisper model in transformers' class, in float32.

    Raises:
        ReprlabError: the file is damaged, or has other sizes than the entry.
    """
    variables = read_variables(parts)
    model = build_from_config(entry)
    try:
        model.load_state_dict(_state(variables, model.config.encoder_layers), strict=True)
    except KeyError as error:
        raise ReprlabError(f"{parts[0]}: lacks {error}; the entry in models.yaml is that of another model") from None
    except RuntimeError as error:
        raise ReprlabError(f"{parts[0]}: does not fit its entry in models.yaml ({first_line(error)})") from None
    return model


def _state(variables: dict[str, np.ndarray], layers: int) -> dict[str, torch.Tensor]:
    import numpy as np
    import torch

    def tensor(name: str) -> torch.Tensor:
        return torch.from_numpy(variables[name].astype(np.float32))

    def pair(ours: str, theirs: str) -> dict[str, torch.Tensor]:
        weight, bias = ("gamma", "beta") if theirs.endswith("layer_norm") else ("weight", "bias")
        return {f"{ours}.weight": tensor(f"{theirs}/{weight}"), f"{ours}.bias": tensor(f"{theirs}/{bias}")}

    state = {"embed_positions.weight": tensor("encoder/position_encodings/encodings")}
    for ours, theirs in (("conv1", "conv1"), ("conv2", "conv2"), ("layer_norm", "layer_norm")):
        state |= pair(ours, f"encoder/{theirs}")
    for number in range(layers):
        below = f"encoder/layer_{number}"
        for ours, theirs in _LAYER.items():
            state |= pair(f"layers.{number}.{ours}", f"{below}/{theirs}")
        # Queries, keys and values stand one above the other; keys have no bias of their own.
        stacked = pair("all", f"{below}/self_attention/linear_0")
        for name, weight, bias in zip(
            _PROJECTIONS, stacked["all.weight"].chunk(3), stacked["all.bias"].chunk(3), strict=True
        ):
            state[f"layers.{number}.self_attn.{name}_proj.weight"] = weight.clone()
            if name != "k":
                state[f"layers.{number}.self_attn.{name}_proj.bias"] = bias.clone()
    return state
