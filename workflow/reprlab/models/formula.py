"""Closed-form parameter counts, for planning: no torch, no network. A test holds them against the meta device."""

from collections.abc import Iterable, Mapping

# Architectures whose classifiers are counted.
ENCODERS = ("distilbert", "bert", "roberta", "xlm_roberta", "deberta_v2")

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


def llama_parameters(config: Config, vocab_size: int, tied: bool) -> int:
    """Parameters of a Llama with the numbers of `config` (names as in transformers' LlamaConfig), tied ones once.

    No projection has a bias; each block has two scales of normalisation, and one stands before the output.
    """
    width, layers = int(config["hidden_size"]), int(config["num_hidden_layers"])
    weights = sum(rows * columns for rows, columns in _llama_sizes(config).values())
    return vocab_size * width * (1 if tied else 2) + layers * (weights + 2 * width) + width


def adapter_parameters(config: Config, rank: int, targets: Iterable[str]) -> int:
    """Parameters of low-rank adapters on the named projections of every block of a Llama: r (inputs + outputs) each.

    A name that no projection has counts nothing; training refuses it.
    """
    sizes = _llama_sizes(config)
    return int(config["num_hidden_layers"]) * rank * sum(sum(sizes.get(target, ())) for target in targets)


def _llama_sizes(config: Config) -> dict[str, tuple[int, int]]:
    """Inputs and outputs of the projections of a block."""
    width, inside = int(config["hidden_size"]), int(config["intermediate_size"])
    heads = int(config["num_attention_heads"])
    narrow = width // heads * int(config.get("num_key_value_heads", heads))
    return {
        "q_proj": (width, width),
        "k_proj": (width, narrow),
        "v_proj": (width, narrow),
        "o_proj": (width, width),
        "gate_proj": (width, inside),
        "up_proj": (width, inside),
        "down_proj": (inside, width),
    }


def classifier_parameters(architecture: str, config: Config, labels: int) -> int:
    """Parameters of an encoder with a head for `labels` classes, as transformers builds it.

    Every projection has a bias, every normalisation a scale and a shift. DistilBERT has no token types and names of its
    own; DeBERTa has relative positions, one table for all blocks, in place of absolute ones; all have one dense layer
    before the classes, be it called pooler or head.

    Raises:
        KeyError: the architecture is not one of these.
    """
    short = architecture == "distilbert"
    width = int(config["dim" if short else "hidden_size"])
    inside = int(config["hidden_dim" if short else "intermediate_size"])
    layers = int(config["n_layers" if short else "num_hidden_layers"])
    positions = int(config["max_position_embeddings"])
    tables = {
        "distilbert": positions,
        "bert": positions + int(config.get("type_vocab_size", 0)),
        "roberta": positions + int(config.get("type_vocab_size", 0)),
        "xlm_roberta": positions + int(config.get("type_vocab_size", 0)),
        # Buckets in both directions, and their normalisation, as large as two rows.
        "deberta_v2": 2 * int(config.get("position_buckets", 0)) + 2,
    }[architecture]
    block = 4 * (width * width + width) + 2 * width * inside + inside + width + 4 * width
    embeddings = (int(config["vocab_size"]) + tables + 2) * width
    return embeddings + layers * block + width * width + width + labels * (width + 1)
