"""PEMA, Partial Embedding Matrix Adaptation (Williams and Aletras 2025, section 4): train the rows that the data uses.

Before training the input embedding E [V, d] is replaced by its rows of the tokens that occur, E' [u, d], and the data
is renumbered; afterwards the learned rows are written back into E. With a dense Adam and no weight decay a row that is
never read has zero gradient and zero moments, so nothing but memory changes. With decoupled weight decay the unread
rows shrink in ordinary training and stay as they were here; every other number is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import numpy as np
    import torch

UNUSED = -1


@dataclass(frozen=True)
class PartialVocabulary:
    """The ids that keep a row: row i of the partial matrix is row `selected[i]` of the whole one, which has `size`."""

    selected: np.ndarray
    size: int

    @classmethod
    def of_ids(cls, ids: Iterable[np.ndarray], size: int, always: Iterable[int] = ()) -> PartialVocabulary:
        """The ids in `ids` (arrays of any shape) and `always`, in ascending order.

        Raises:
            ReprlabError: an id is not below `size`.
        """
        import numpy as np

        from reprlab.text.token_counts import add_ids

        counts = np.zeros(size, dtype=np.int64)
        for found in ids:
            add_ids(counts, found)
        add_ids(counts, np.fromiter(always, dtype=np.int64))
        return cls(np.flatnonzero(counts), size)

    @property
    def token_map(self) -> np.ndarray:
        """Row of each id in the partial matrix [size]; -1 for ids that have none."""
        import numpy as np

        found = np.full(self.size, UNUSED, dtype=np.int64)
        found[self.selected] = np.arange(len(self.selected))
        return found

    def renumber(self, ids: np.ndarray, unknown: int | None = None) -> np.ndarray:
        """`ids` as rows of the partial matrix, in the same shape; those without a row as that of the id `unknown`.

        Raises:
            ReprlabError: an id has no row there and `unknown` is None; -1 would silently read the last row.
        """
        rows = self.token_map[ids]
        if unknown is not None:
            rows[rows == UNUSED] = self.token_map[unknown]
        if (rows == UNUSED).any():
            missing = int(ids[rows == UNUSED].ravel()[0])
            raise ReprlabError(
                f"partial embedding: token {missing} has no row, because it does not occur in the splits that the rows "
                "were taken from; name the split in its settings, or use the model after its matrix is whole again"
            )
        return rows


def adapt_embedding(model: Any, vocabulary: PartialVocabulary) -> None:
    """Replace the input embedding of a transformers model by its rows of the partial vocabulary, in place.

    Call it before the optimizer is built and before the model is wrapped or compiled. The configuration is not touched.

    Raises:
        ReprlabError: the matrix is shared with another layer, has another size, or its padding row would move.
    """
    import torch

    embedding = model.get_input_embeddings()
    refuse_shared(model, embedding.weight)
    if len(embedding.weight) != vocabulary.size:
        raise ReprlabError(
            f"partial embedding: the matrix has {len(embedding.weight)} rows, the vocabulary was counted for "
            f"{vocabulary.size}"
        )
    padding = [embedding.padding_idx, getattr(model.config, "pad_token_id", None)]
    for pad in {number for number in padding if number is not None}:
        if vocabulary.token_map[pad] != pad:
            raise ReprlabError(
                f"partial embedding: the padding token {pad} would move to {vocabulary.token_map[pad]}, and the model "
                "computes masks and positions from it; keep every id up to it"
            )
    rows = torch.from_numpy(vocabulary.selected).to(embedding.weight.device)
    _set_weight(embedding, embedding.weight.detach()[rows].clone())


def keep_states_whole(
    model: Any, vocabulary: PartialVocabulary, original: Callable[[], torch.Tensor]
) -> Callable[[], None]:
    """Let every `state_dict()` of an adapted model hold the whole matrix, and every `load_state_dict` take one.

    So a Trainer's checkpoints open with plain `from_pretrained`, and it can go back to its best one. The hooks are
    those of the embedding layer: they hold in a wrapped model (`module.` before each name) too.

    Args:
        original: gives the matrix before training [V, d], whose other rows a state gets; it is called at each save, so
            that the matrix need not stay in memory.

    Returns:
        A function that takes the hooks off.
    """
    import torch

    def write_whole(module: Any, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        state[f"{prefix}weight"] = merged_matrix(state[f"{prefix}weight"], vocabulary, original())

    def read_part(module: Any, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        found = state.get(f"{prefix}weight")
        if found is not None and len(found) == vocabulary.size:
            state[f"{prefix}weight"] = found[torch.from_numpy(vocabulary.selected).to(found.device)]

    embedding = model.get_input_embeddings()
    hooks = (
        embedding.register_state_dict_post_hook(write_whole),
        embedding.register_load_state_dict_pre_hook(read_part),
    )

    def take_off() -> None:
        for hook in hooks:
            hook.remove()

    return take_off


def restore_embedding(model: Any, vocabulary: PartialVocabulary, original: torch.Tensor) -> None:
    """Write the trained rows into `original` [V, d] (the matrix before training) and give it back to the model."""
    embedding = model.get_input_embeddings()
    _set_weight(embedding, merged_matrix(embedding.weight, vocabulary, original))


def merged_matrix(partial: torch.Tensor, vocabulary: PartialVocabulary, original: torch.Tensor) -> torch.Tensor:
    """A copy of `original` [V, d] whose selected rows are those of `partial` [u, d], on the device of `partial`.

    Raises:
        ReprlabError: the shapes do not belong together.
    """
    import torch

    if original.shape != (vocabulary.size, partial.shape[1]) or len(partial) != len(vocabulary.selected):
        raise ReprlabError(
            f"partial embedding: a partial matrix {tuple(partial.shape)} does not fit into {tuple(original.shape)}"
        )
    whole = original.detach().to(partial.device, copy=True)
    whole[torch.from_numpy(vocabulary.selected).to(partial.device)] = partial.detach()
    return whole


def kept_always(tokenizer: Any) -> list[int]:
    """Ids that keep their row whether they occur or not: special tokens, and all up to the padding token.

    So the padding token keeps its number (RoBERTa counts positions by it), and batches may be padded later.
    """
    pad = tokenizer.pad_token_id
    return sorted({*tokenizer.all_special_ids, *range(pad + 1 if pad is not None else 0)})


def refuse_shared(model: Any, weight: torch.Tensor) -> None:
    """Raise a `ReprlabError` where the input embedding is another layer's too: its rows could not be changed alone."""
    names = [name for name, parameter in model.named_parameters(remove_duplicate=False) if parameter is weight]
    output = model.get_output_embeddings()
    if len(names) > 1 or (output is not None and output.weight is weight):
        raise ReprlabError(
            f"reduced embedding: {type(model).__name__} uses its input embedding in another layer too (tied weights: "
            f"{', '.join(names)}); use a model with a classification head, or train the whole matrix"
        )


def _set_weight(embedding: Any, weight: torch.Tensor) -> None:
    import torch

    embedding.weight = torch.nn.Parameter(weight, requires_grad=embedding.weight.requires_grad)
    embedding.num_embeddings = len(weight)
