"""Memory of transformers, from their sizes: no library counts what a backward pass keeps before it runs."""

from reprlab.reporting.cost_layout import Shape

# Bytes of a parameter in training: weight, gradient and both moments of AdamW in float32.
_BYTES_OF_PARAMETER = 16
_BYTES_OF_WEIGHT = 4
_GIGABYTE = 1e9


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
