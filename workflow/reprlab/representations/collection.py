"""Last-token hidden states and label logits of every prompt, in one pass, written as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.representations.files import layer_file
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.progress import track
from reprlab.runtime.storage import storage_errors

if TYPE_CHECKING:
    import numpy as np
    import torch


def collect_states(
    model: Any, prompts: Sequence[Sequence[int]], label_ids: Sequence[int], folder: Path, batch_tokens: int
) -> np.ndarray:
    """Write `layer-LL.npy` [N, d] for the embedding and every block, rows in the order of the prompts.

    Prompts of similar length share a batch and are padded on the left; positions count from the first real token, so
    that padding changes nothing, with absolute positions either. What lies in memory is one batch.

    Args:
        model: a causal language model of transformers, on its device, in the arithmetic that is wanted.
        prompts: token ids of each prompt, none empty.
        label_ids: tokens whose logits are kept.
        folder: an existing folder.
        batch_tokens: tokens of a batch, padding included; a longer prompt is a batch of its own.

    Returns:
        Logits [N, labels] float32 at the last position, from the last state and the rows of the output layer.

    Raises:
        ReprlabError: a state is not finite.
    """
    import numpy as np
    import torch

    model.eval()
    device = next(model.parameters()).device
    batches = list(batches_by_length([len(prompt) for prompt in prompts], batch_tokens))
    logits = np.zeros((len(prompts), len(label_ids)), dtype=np.float32)
    # In float32 also where the model runs in bfloat16, whose logits have steps of an eighth and hence many ties.
    output_rows = model.get_output_embeddings().weight[list(label_ids)].detach().float()
    layers: list[np.memmap] = []
    with torch.inference_mode(), storage_errors():
        for rows in track(batches, "collecting"):
            inputs = {name: value.to(device) for name, value in left_padded([prompts[row] for row in rows]).items()}
            # Without the output layer: its matrix is the largest, and of its logits only a few are wanted. (Applied to
            # the last positions alone, a frozen matrix would even be copied for each of them.)
            output = model.base_model(**inputs, output_hidden_states=True, use_cache=False)
            last = torch.stack([layer[:, -1].float() for layer in output.hidden_states])
            logits[rows] = (last[-1] @ output_rows.T).cpu().numpy()
            states = last.cpu().numpy()
            if not np.isfinite(states).all():
                raise ReprlabError(
                    f"{folder}: the states of item {rows[0]} or its batch are not finite; use dtype float32"
                )
            layers = layers or _create(folder, len(states), (len(prompts), states.shape[2]))
            for target, values in zip(layers, states, strict=True):
                target[rows] = values
        for target in layers:
            target.flush()
    return logits


def batches_by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Rows of each batch, longest first, so that a lack of memory shows at once."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: (-lengths[row], row)):
        if batch and (len(batch) + 1) * lengths[batch[0]] > batch_tokens:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def left_padded(prompts: Sequence[Sequence[int]]) -> dict[str, torch.Tensor]:
    """`input_ids`, `attention_mask` and `position_ids` [B, T].

    The mask is made from lengths and not by looking for the padding id: a prompt may hold that id itself.
    """
    import torch

    longest = max(len(prompt) for prompt in prompts)
    ids = torch.zeros((len(prompts), longest), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, longest - len(prompt) :] = torch.tensor(prompt)
        mask[row, longest - len(prompt) :] = 1
    return {"input_ids": ids, "attention_mask": mask, "position_ids": (mask.cumsum(1) - 1).clamp(min=0)}


def _create(folder: Path, layers: int, shape: tuple[int, int]) -> list[Any]:
    import numpy as np

    return [
        np.lib.format.open_memmap(layer_file(folder, layer), mode="w+", dtype=np.float32, shape=shape)
        for layer in range(layers)
    ]
