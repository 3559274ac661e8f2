"""FLOPs and memory of encoder-decoders, from their sizes.

A matrix product of n x k and k x m is 2nkm FLOPs. Counted are the weights (2 FLOPs for each weight and token, hence the
2N forward and 6N in training of Kaplan et al. 2020, section 2.1) and the two products of attention over the context,
which that rule leaves out (as in Hoffmann et al. 2022, appendix F). The backward pass costs twice the forward pass.
Embedding look-ups, normalisation, softmax and the optimizer are not counted. A test holds the count against PyTorch's.
"""

from reprlab.reporting.cost_layout import Shape

# Bytes of a parameter in training: weight, gradient and both moments of AdamW in float32.
_BYTES_OF_PARAMETER = 16
_GIGABYTE = 1e9


def forward_flops(shape: Shape, encoder_tokens: float, decoder_tokens: float) -> float:
    """FLOPs of one example through encoder, decoder and output layer."""
    attention = 4 * shape.width * shape.inner
    feed_forward = (3 if shape.gated else 2) * shape.width * shape.feed_forward
    encoder_block = 2 * (attention + feed_forward) * encoder_tokens + 4 * shape.inner * encoder_tokens**2
    # Cross attention: queries and outputs are made for decoder tokens, keys and values for encoder tokens.
    crossed = attention * (decoder_tokens + encoder_tokens)
    decoder_block = (
        2 * (attention + feed_forward) * decoder_tokens
        + crossed
        + 4 * shape.inner * decoder_tokens * (decoder_tokens + encoder_tokens)
    )
    output = 2 * shape.width * shape.vocabulary * decoder_tokens
    return shape.encoder_layers * encoder_block + shape.decoder_layers * decoder_block + output


def training_flops(shape: Shape, encoder_tokens: float, decoder_tokens: float) -> float:
    """FLOPs of one example, forward and backward."""
    return 3 * forward_flops(shape, encoder_tokens, decoder_tokens)


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
        return 2 * shape.width + 4 * shape.inner + 2 * shape.heads * context

    encoder = shape.encoder_layers * encoder_tokens * (attention(encoder_tokens) + feed_forward)
    decoder = (
        shape.decoder_layers
        * decoder_tokens
        * (attention(decoder_tokens) + attention(encoder_tokens) - 2 * shape.inner + feed_forward)
    )
    crossed = shape.decoder_layers * encoder_tokens * 2 * shape.inner
    logits = decoder_tokens * shape.vocabulary * (number_bytes + 8)
    return examples * ((encoder + decoder + crossed) * number_bytes + logits)


def memory_gb(
    shape: Shape,
    parameters: int,
    examples: int,
    encoder_tokens: float,
    decoder_tokens: float,
    number_bytes: int,
    *,
    training: bool,
) -> float:
    """Memory of one device in GB: parameters, optimizer and activations of a part of the batch.

    Without training the weights stand in float32, and one block's activations and the logits at a time.
    """
    activations = activation_bytes(shape, examples, encoder_tokens, decoder_tokens, number_bytes)
    if training:
        casts = parameters * number_bytes if number_bytes == 2 else 0
        return (parameters * _BYTES_OF_PARAMETER + casts + activations) / _GIGABYTE
    logits = examples * decoder_tokens * shape.vocabulary * (number_bytes + 8)
    blocks = shape.encoder_layers + shape.decoder_layers
    return (parameters * 4 + logits + (activations - logits) / blocks) / _GIGABYTE
