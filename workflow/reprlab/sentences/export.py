"""Trained encoders as folders that `sentence_transformers.SentenceTransformer` opens, and that hold nothing twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reprlab.artifacts.json_files import write_json
from reprlab.models.build import save_model
from reprlab.sentences.early_exit import headless
from reprlab.sentences.encoder import merge_low_rank, save_encoder
from reprlab.sentences.settings import EncoderSettings
from reprlab.sentences.soft_prompts import frozen

_MODULE = "reprlab.sentences.sentence_transformer.DecoderEncoder"


def plain_settings(settings: EncoderSettings) -> EncoderSettings:
    """What is left to say of an encoder whose decoder is saved as it became: cut, and with its trained weights."""
    known: dict[str, Any] = {"layers": None, "adapter": None}
    return settings.model_copy(
        update=known | ({} if settings.method in ("prompt", "prefix") else {"method": "none"}),
    )


def export_encoder(encoder: Any, network: Any, settings: EncoderSettings, folder: Path) -> None:
    """Write the decoder in transformers' own form, without its output layer, and beside it how texts become vectors.

    Adapters are added to the weights; vectors of `prompt` and `prefix` stand in a file of their own. The folder still
    lacks the tokenizer.

    Args:
        encoder: as `load_encoder` gives it around `network`, which is changed.
        settings: those of the encoder.
    """
    decoder, plain = headless(network), plain_settings(settings)
    merge_low_rank(decoder)
    # What was trained in the decoder is in its own file.
    frozen(decoder)
    save_model(decoder, folder)
    save_encoder(encoder, plain, folder)
    write_json(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": _MODULE}])
    about = {"model_type": "SentenceTransformer", "similarity_fn_name": "cosine", "prompts": {}}
    write_json(folder / "config_sentence_transformers.json", about)
