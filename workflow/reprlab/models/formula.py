"""Parameters of a T5 in closed form, for planning: no torch, no network. A test holds it against the meta device."""

from collections.abc import Mapping

Config = Mapping[str, bool | int | float | str]


def t5_parameters(config: Config, vocab_size: int, tied: bool) -> int:
    """Parameters of a T5 with the numbers of `config` (names as in transformers' T5Config), tied ones once.

    Attention projects d_model to num_heads x d_kv and back, four matrices a block; the feed-forward part has two
    matrices, or three where it is gated; normalisation has a scale and no bias; relative positions have one table in
    each stack.
    """
    width, heads, buckets = (
        int(config["d_model"]),
        int(config["num_heads"]),
        int(config["relative_attention_num_buckets"]),
    )
    attention = 4 * width * heads * int(config["d_kv"])
    gated = str(config["feed_forward_proj"]).startswith("gated")
    feed_forward = (3 if gated else 2) * width * int(config["d_ff"])
    encoder = int(config["num_layers"]) * (attention + feed_forward + 2 * width)
    decoder = int(config["num_decoder_layers"]) * (2 * attention + feed_forward + 3 * width)
    embeddings = vocab_size * width * (1 if tied else 2)
    return embeddings + encoder + decoder + 2 * buckets * heads + 2 * width
