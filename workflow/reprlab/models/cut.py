"""Registry entries cut in depth and width: every class, gate, tie and vocabulary stays, the numbers become small."""

from __future__ import annotations

from reprlab.registry.models import ModelEntry, PackageOrigin

LAYERS = 3
"""The least that an area under a curve over layers is of."""
_HEADS = 4
_HEAD = 8
_WIDTH = _HEADS * _HEAD
_INNER = 2 * _WIDTH
_STATES = 16
_EXPAND = 2
_LAYERS = frozenset(
    ["num_layers", "num_decoder_layers", "num_hidden_layers", "n_layers", "n_layer", "encoder_layers", "decoder_layers"]
)
_WIDTHS = frozenset(["d_model", "hidden_size", "dim", "n_embd", "embedding_size", "word_embed_proj_dim"])
_INNERS = frozenset(
    ["d_ff", "intermediate_size", "hidden_dim", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "n_inner"]
)
_ATTENTION_HEADS = frozenset(
    ["num_heads", "num_attention_heads", "n_heads", "n_head", "encoder_attention_heads", "decoder_attention_heads"]
)


def cut_entry(entry: ModelEntry, layers: int = LAYERS) -> ModelEntry:
    """The entry with `layers` layers at most, states 32 wide, four heads of 8, and inner layers 64 wide.

    Proportions that choose a code path stay: queries that share keys still do, embeddings that are narrower than states
    still are. The vocabulary, positions and every switch stay. A packaged model stays whole: its weights are files.
    """
    if isinstance(entry.origin, PackageOrigin):
        return entry
    config = {name: _cut(name, value, entry, layers) for name, value in entry.config.items()}
    return entry.model_copy(update={"config": config})


def _cut(name: str, value: bool | int | float | str, entry: ModelEntry, layers: int) -> bool | int | float | str:
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    config = entry.config
    if name in _LAYERS:
        return min(value, layers)
    if name in _WIDTHS:
        states = config.get("hidden_size", value)
        return min(value, _WIDTH if value == states else _WIDTH // 2)
    if name == "pooler_hidden_size":
        return min(value, _WIDTH)
    if name in _INNERS:
        return min(value, _INNER)
    if name in _ATTENTION_HEADS:
        if entry.architecture == "mamba2":
            # Its heads lie in a state that is `expand` times as wide.
            return int(config.get("expand", _EXPAND)) * min(int(config["hidden_size"]), _WIDTH) // _HEAD
        return min(value, _HEADS)
    if name == "num_key_value_heads":
        return min(value, _HEADS if value == config.get("num_attention_heads") else _HEADS // 2)
    if name in ("d_kv", "head_dim"):
        return min(value, _HEAD)
    if name == "state_size":
        return min(value, _STATES)
    return value
