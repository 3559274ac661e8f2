"""PEMA for any trainer: an adapted model with its data in a folder, and the whole model out of what was trained.

`finetune_model` adapts and trains in one process, and keeps the reduced model where it is asked to.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import write_parquet
from reprlab.evaluation.examples import TRAIN
from reprlab.models.build import save_model
from reprlab.models.pema import restore_embedding
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_directory
from reprlab.text.tokenizer_folder import copy_tokenizer
from reprlab.training.embedding_settings import PartialRows
from reprlab.training.embedding_ways import reduce_embedding
from reprlab.training.finetuned_models import read_vocabulary, save_reduced, write_vocabulary
from reprlab.training.finetuning import prepare_task
from reprlab.training.finetuning_encoding import Ragged
from reprlab.training.finetuning_heads import EncoderHead
from reprlab.training.finetuning_settings import FinetuneSettings

if TYPE_CHECKING:
    import numpy as np


def pema_adapt(model: Path, tokenizer: Path, examples: Path, settings: FinetuneSettings, out: Path) -> None:
    """Write what any trainer of an encoder needs to train the rows that the data uses.

    `out` gets `model`, with its new head and `u` rows, that `from_pretrained` opens; `<split>.parquet` for each split
    of `embedding.splits`, with `input_ids` (rows of the partial matrix), `token_type_ids` and `labels`; and
    `vocabulary.safetensors`: `selected` [u], the token of each row, and `token_map` [V], the row of each token or -1.

    Raises:
        ReprlabError: the settings train no partial embedding.
    """
    import pyarrow
    import torch

    prepared = prepare_task(examples, tokenizer, settings)
    torch.manual_seed(settings.engine.seed)
    network: Any = prepared.task.load(model, settings.dropout)
    task, way = prepared.task, settings.embedding
    if not isinstance(way, PartialRows) or not isinstance(task, EncoderHead):
        raise ReprlabError("pema_adapt: embedding names no split; give it kind partial, train and what is predicted")
    vocabulary = reduce_embedding(task, prepared.encoded, way, network).vocabulary
    assert vocabulary is not None
    with atomic_directory(out) as folder:
        save_reduced(network, vocabulary, folder / "model")
        write_vocabulary(vocabulary, folder)
        for split in dict.fromkeys([TRAIN, *way.splits]):
            data = task.renumbered(prepared.encoded[split], vocabulary)
            arrays = {"input_ids": data.inputs, "token_type_ids": data.types, "labels": data.targets}
            write_parquet(
                folder / f"{split}.parquet",
                pyarrow.table({name: _column(values) for name, values in arrays.items()}),
            )


def pema_restore(trained: Path, adapted: Path, original: Path, tokenizer: Path, out: Path) -> None:
    """Write the whole model, with its tokenizer: the rows of `trained` in the matrix of `original`.

    Args:
        trained: the model of `pema_adapt` after training, saved with `save_pretrained`.
        adapted: the folder that `pema_adapt` made, or that of a reduced model which `finetune_model` kept.
        original: the model that it was made from.

    Raises:
        ReprlabError: the folders do not belong together.
    """
    import torch
    import transformers

    vocabulary = read_vocabulary(adapted)
    config = transformers.AutoConfig.from_pretrained(trained, local_files_only=True, trust_remote_code=False)
    options: dict[str, Any] = {"dtype": torch.float32, "local_files_only": True}
    network = getattr(transformers, config.architectures[0]).from_pretrained(
        trained, use_safetensors=True, trust_remote_code=False, **options
    )
    whole = transformers.AutoModel.from_pretrained(original, use_safetensors=True, trust_remote_code=False, **options)
    restore_embedding(network, vocabulary, whole.get_input_embeddings().weight)
    network.config.vocab_size = vocabulary.size
    with atomic_directory(out) as folder:
        save_model(network, folder)
        copy_tokenizer(tokenizer, folder)


def _column(values: np.ndarray | Ragged) -> Any:
    """A column of numbers, or of lists of them."""
    import pyarrow

    if isinstance(values, Ragged):
        return pyarrow.LargeListArray.from_arrays(values.offsets, values.flat)
    return pyarrow.array(values)
