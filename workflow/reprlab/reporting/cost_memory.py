"""Memory of a job, from what PyTorch counts on its meta device before it runs (`models.flops.kept_bytes`)."""

# Bytes of a parameter in training: weight, gradient and both moments of AdamW in float32.
_BYTES_OF_PARAMETER = 16
_BYTES_OF_WEIGHT = 4
_GIGABYTE = 1e9


def logits_bytes(places: float, vocabulary: int, number_bytes: int) -> float:
    """Bytes of logits at this many places, and of their softmax and its gradient in float32."""
    return places * vocabulary * (number_bytes + 8)


def weights_gb(parameters: int) -> float:
    """Memory of the weights alone, in float32."""
    return parameters * _BYTES_OF_WEIGHT / _GIGABYTE


def training_gb(parameters: int, added: int, activations: float, number_bytes: int) -> float:
    """Memory of one device in GB: parameters, optimizer and activations of a part of the batch, without recomputation.

    Args:
        parameters: of the model. added: those of adapters or a prompt, beside which the model is frozen: frozen weights
            have neither gradient nor moments; 0: all of the model is trained.
        activations: bytes that are kept for the backward pass, of logits too.
        number_bytes: of a number of the arithmetic; weights are cast to shorter ones.
    """
    casts = parameters * number_bytes if number_bytes == 2 else 0
    held = added * _BYTES_OF_PARAMETER + parameters * (_BYTES_OF_WEIGHT if added else _BYTES_OF_PARAMETER)
    return (held + casts + activations) / _GIGABYTE


def inference_gb(parameters: int, activations: float) -> float:
    """Memory of one device in GB without training: weights in float32, and the given bytes beside them."""
    return weights_gb(parameters) + activations / _GIGABYTE
