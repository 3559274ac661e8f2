"""What becomes of an encoder's input embedding while it is fine-tuned, and of the data that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprlab.models.pema import PartialVocabulary, adapt_embedding, restore_embedding
from reprlab.runtime.errors import ReprlabError
from reprlab.training.embedding_settings import EmbeddingWay, Factorised, TrimmedRows
from reprlab.training.finetuned_models import keep_model, keep_reduced_model
from reprlab.training.finetuning_heads import EncoderHead, HeadSplit

Fresh = Callable[[], Any]
"""Loads the network as it was before training: the matrix need not be in memory meanwhile."""


class Whole:
    """The matrix as it is, trained whole."""

    vocabulary: PartialVocabulary | None = None
    """The tokens that keep a row; None: all."""

    def trained(self, split: Any) -> Any:
        """A split as it is trained on."""
        return split

    def scored(self, split: Any) -> Any:
        """A split as it is predicted, after `finish`."""
        return split

    def keep(self, network: Any, tokenizer: Path, folder: Path) -> None:
        """Save the trained model, before `finish`, so that `from_pretrained` opens it."""
        keep_model(network, tokenizer, folder)

    def finish(self, network: Any, fresh: Fresh) -> None:
        """Make of a trained network, in place, the one that predicts."""


@dataclass(frozen=True, kw_only=True)
class _Rows(Whole):
    """The rows of some tokens are trained, and are whole again before predictions."""

    task: EncoderHead
    vocabulary: PartialVocabulary

    def trained(self, split: HeadSplit) -> HeadSplit:
        return self.task.renumbered(split, self.vocabulary)

    def keep(self, network: Any, tokenizer: Path, folder: Path) -> None:
        keep_reduced_model(network, self.vocabulary, folder)

    def finish(self, network: Any, fresh: Fresh) -> None:
        restore_embedding(network, self.vocabulary, fresh().get_input_embeddings().weight)


@dataclass(frozen=True, kw_only=True)
class _Trimmed(_Rows):
    """The rows of some tokens are all that is left."""

    unknown: int
    """The id that stands for every token without a row."""

    def scored(self, split: HeadSplit) -> HeadSplit:
        return self.task.renumbered(split, self.vocabulary, self.unknown)

    def finish(self, network: Any, fresh: Fresh) -> None:
        """Nothing comes back."""


class _Product(Whole):
    """Two matrices are trained; their product predicts and is kept."""

    def keep(self, network: Any, tokenizer: Path, folder: Path) -> None:
        import copy

        from reprlab.models.factorised import multiply_embedding

        whole = copy.deepcopy(network)
        multiply_embedding(whole)
        keep_model(whole, tokenizer, folder)


def reduce_embedding(task: Any, encoded: Mapping[str, Any], way: EmbeddingWay | None, network: Any) -> Whole:
    """Make of the input embedding of a network, in place, what is trained; returns how data and model are read.

    Args:
        task: what gives the network its data, an `EncoderHead` where `way` is given.
        encoded: splits by name.
        way: None leaves everything as it is.

    Raises:
        ReprlabError: the matrix cannot be reduced so.
    """
    if way is None or not isinstance(task, EncoderHead):
        return Whole()
    if isinstance(way, Factorised):
        from reprlab.models.factorised import factorise_embedding

        factorise_embedding(network, way.rank)
        return _Product()
    splits = [encoded[split] for split in way.splits]
    vocabulary = task.partial_vocabulary(splits, len(network.get_input_embeddings().weight))
    unknown = task.tokenizer.unk_token_id
    if isinstance(way, TrimmedRows) and unknown is None:
        raise ReprlabError(
            "trimmed embedding: the tokenizer has no unknown token, which would stand for all that has no row; "
            "choose another model, or a way that leaves the vocabulary as it is"
        )
    adapt_embedding(network, vocabulary)
    rows: dict[str, Any] = {"task": task, "vocabulary": vocabulary}
    return _Trimmed(**rows, unknown=unknown) if isinstance(way, TrimmedRows) else _Rows(**rows)
