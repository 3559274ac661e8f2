"""FLOPs and memory of transformers, from their sizes.

A matrix product of n x k and k x m is 2nkm FLOPs. Counted are the weights (2 FLOPs for each weight and token, hence the
2N forward and 6N in training of Kaplan et al. 2020, section 2.1) and the two products of attention over the context,
which that rule leaves out (as in Hoffmann et al. 2022, appendix F); a causal mask saves nothing in this count. The
backward pass costs twice the forward pass, and once where a weight is frozen. Embedding look-ups, normalisation,
softmax and the optimizer are not counted. A test holds the count against PyTorch's.
"""

from reprlab.reporting.cost_layout import Shape

# Bytes of a parameter in training: weight, gradient and both moments of AdamW in float32.
_BYTES_OF_PARAMETER = 16
_BYTES_OF_WEIGHT = 4
_GIGABYTE = 1e9


def forward_flops(shape: Shape, encoder_tokens: float, decoder_tokens: float) -> float:
    """FLOPs of one example through encoder, decoder and output layer."""
    return sum(_products(shape, encoder_tokens, decoder_tokens))


def training_flops(shape: Shape, encoder_tokens: float, decoder_tokens: float, *, adapter_parameters: int = 0) -> float:
    """FLOPs of one example, forward and backward.

    With adapters the model's weights are frozen: their backward pass is the gradient of the input alone, while both
    factors of the products over the context keep theirs. An adapter is a weight that every token of the encoder meets.
    """
    weights, context = _products(shape, encoder_tokens, decoder_tokens)
    if not adapter_parameters:
        return 3 * (weights + context)
    return 2 * weights + 3 * context + 6 * adapter_parameters * encoder_tokens


def _products(shape: Shape, encoder_tokens: float, decoder_tokens: float) -> tuple[float, float]:
    """Forward FLOPs of products with weights, and of those over the context."""
    queries, keys = 2 * shape.width * shape.inner, 2 * shape.width * shape.key_value
    block = queries + keys + (3 if shape.gated else 2) * shape.width * shape.feed_forward
    # Cross attention: queries and outputs are made for decoder tokens, keys and values for encoder tokens.
    crossed = queries * decoder_tokens + keys * encoder_tokens
    weights = (
        shape.encoder_layers * 2 * block * encoder_tokens
        + shape.decoder_layers * 2 * (block * decoder_tokens + crossed)
        + 2 * shape.width * shape.vocabulary * decoder_tokens
    )
    pairs = shape.encoder_layers * encoder_tokens**2 + shape.decoder_layers * decoder_tokens * (
        decoder_tokens + encoder_tokens
    )
    return weights, 4 * shape.inner * pairs


def activation_bytes(
    shape: Shape, examples: int, encoder_tokens: float, decoder_tokens: float, number_bytes: int
) -> float:
    """Bytes that the backward pass needs of the forward pass, without recomputation.

    Counted by block, in numbers a token: the inputs of each normalisation and projection, queries, keys, values, the
    attention weights before and after the softmax (the count of Korthikanti et al. 2022, section 4, for T5's blocks
    without dropout), and logits with their softmax in float32.
    """
    feed_forward = 2 * shape.width + (4 if shape.gated else 2) * shape.feed_forward

    def attention(context: float) -> float:
        return 2 * shape.width + 2 * shape.inner + 2 * shape.key_value + 2 * shape.heads * context

    encoder = shape.encoder_layers * encoder_tokens * (attention(encoder_tokens) + feed_forward)
    decoder = (
        shape.decoder_layers
        * decoder_tokens
        * (attention(decoder_tokens) + attention(encoder_tokens) - 2 * shape.key_value + feed_forward)
    )
    crossed = shape.decoder_layers * encoder_tokens * 2 * shape.key_value
    logits = decoder_tokens * shape.vocabulary * (number_bytes + 8)
    return examples * ((encoder + decoder + crossed) * number_bytes + logits)


def weights_gb(parameters: int) -> float:
    """Memory of the weights alone, in float32."""
    return parameters * _BYTES_OF_WEIGHT / _GIGABYTE


def memory_gb(
    shape: Shape,
    parameters: int,
    examples: int,
    encoder_tokens: float,
    decoder_tokens: float,
    number_bytes: int,
    *,
    training: bool,
    adapter_parameters: int = 0,
    keeps_states: bool = False,
) -> float:
    """Memory of one device in GB: parameters, optimizer and activations of a part of the batch.

    Without training the weights stand in float32, and one block's activations and the logits at a time, with the
    states of every layer where they are collected. Frozen weights have neither gradient nor moments.
    """
    activations = activation_bytes(shape, examples, encoder_tokens, decoder_tokens, number_bytes)
    if training:
        casts = parameters * number_bytes if number_bytes == 2 else 0
        trained = adapter_parameters or parameters
        frozen = parameters if adapter_parameters else 0
        held = trained * _BYTES_OF_PARAMETER + frozen * _BYTES_OF_WEIGHT
        return (held + casts + activations) / _GIGABYTE
    logits = examples * decoder_tokens * shape.vocabulary * (number_bytes + 8)
    blocks = shape.encoder_layers + shape.decoder_layers
    states = (shape.encoder_layers + 1) * examples * encoder_tokens * shape.width * number_bytes if keeps_states else 0
    return (parameters * _BYTES_OF_WEIGHT + logits + (activations - logits) / blocks + states) / _GIGABYTE
