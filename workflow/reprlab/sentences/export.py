"""Trained encoders as folders that `sentence_transformers.SentenceTransformer` opens, and that hold nothing twice.

Where its own modules can say how texts become vectors, the folder asks for nothing else; else it names one of ours.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reprlab.artifacts.json_files import write_json
from reprlab.models.build import save_model
from reprlab.sentences.early_exit import headless
from reprlab.sentences.encoder import merge_low_rank, save_encoder
from reprlab.sentences.settings import EncoderSettings
from reprlab.sentences.soft_prompts import frozen
from reprlab.sentences.texts import ends_of
from reprlab.text.encoding import ids_behind, piece_ids

_OURS = "reprlab.sentences.sentence_transformer.DecoderEncoder"
_THEIRS = "sentence_transformers.models"


def plain_settings(settings: EncoderSettings) -> EncoderSettings:
    """The settings that remain of an encoder whose decoder is saved as it became: cut, and with its trained weights."""
    known: dict[str, Any] = {"layers": None, "adapter": None}
    return settings.model_copy(
        update=known | ({} if settings.method in ("prompt", "prefix") else {"method": "none"}),
    )


def needs_our_module(settings: EncoderSettings, tokenizer: Any) -> bool:
    """Whether sentence-transformers' modules cannot say how texts become vectors.

    They can where a causal decoder's last state is taken: what is around a text is a matter of the tokenizer, and
    a suffix of vectors one of k tokens more. Their means hold the tokens before a text too, their tokenizers the blanks
    around it; a tokenizer that begins each text with a space does so behind `before` too; and where there is nothing
    around an empty text, ours reads a padding token in its place.
    """
    if settings.method == "prefix" or settings.bidirectional or settings.pooling != "last" or settings.form.stripped:
        return True
    if settings.both_ends or settings.form.echo is not None:
        return True
    if settings.form.before and ids_behind(tokenizer, ["a"]) != piece_ids(tokenizer, ["a"]):
        return True
    return not any(ends_of(tokenizer, settings.form))


def export_encoder(encoder: Any, network: Any, settings: EncoderSettings, folder: Path) -> None:
    """Write the decoder in transformers' own form, without its output layer, and beside it how our module uses it.

    Adapters are added to the weights; vectors of `prompt` and `prefix` are in a file of their own. The folder still
    lacks the tokenizer.

    Args:
        encoder: as `load_encoder` gives it around `network`, which is changed.
        settings: those of the encoder.
    """
    _save_decoder(network, folder)
    save_encoder(encoder, plain_settings(settings), folder)
    _name_modules(folder, [("", _OURS)])


def export_plain(encoder: Any, network: Any, tokenizer: Any, settings: EncoderSettings, folder: Path) -> None:
    """Write the decoder and a tokenizer that puts around each text what belongs there, for an encoder that does not
    need our module. Network and tokenizer are changed."""
    import torch
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    decoder, (head, tail) = headless(network), ends_of(tokenizer, settings.form)
    if settings.method == "prompt":
        # They have ids and no names, so that no text can spell one.
        first = max(tokenizer.get_vocab().values()) + 1
        vectors = list(range(first, first + settings.vectors))
        if len(decoder.get_input_embeddings().weight) <= max(vectors):
            decoder.resize_token_embeddings(max(vectors) + 1, mean_resizing=False)
        with torch.no_grad():
            decoder.get_input_embeddings().weight[vectors] = encoder.prompt
        tail = [*tail, *vectors]
    _save_decoder(network, folder)
    around = {name: ids for name, ids in (("<head>", head), ("<tail>", tail)) if ids}
    backend = tokenizer.backend_tokenizer
    backend.post_processor = TemplateProcessing(
        single=[*(["<head>"] if head else []), "$A", *(["<tail>"] if tail else [])],
        special_tokens=[
            {"id": name, "ids": ids, "tokens": [str(tokenizer.convert_ids_to_tokens(index)) for index in ids]}
            for name, ids in around.items()
        ],
    )
    length = settings.form.max_length + len(head) + len(tail)
    # Of no architecture: those of some models write what is around a text anew when they are opened.
    PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token=tokenizer.pad_token or tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0),
        padding_side="right",
        # A name of a special token is text there too.
        split_special_tokens=True,
        model_max_length=length,
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(folder)
    _name_modules(folder, [("", f"{_THEIRS}.Transformer"), ("1_Pooling", f"{_THEIRS}.Pooling")])
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})
    (folder / "1_Pooling").mkdir()
    pooling = {"pooling_mode_lasttoken": True, "pooling_mode_mean_tokens": False}
    write_json(folder / "1_Pooling/config.json", {"word_embedding_dimension": decoder.config.hidden_size, **pooling})


def _save_decoder(network: Any, folder: Path) -> None:
    decoder = headless(network)
    merge_low_rank(decoder)
    # What was trained in the decoder is in its own file.
    frozen(decoder)
    save_model(decoder, folder)


def _name_modules(folder: Path, modules: list[tuple[str, str]]) -> None:
    named = [{"idx": n, "name": f"{n}", "path": path, "type": kind} for n, (path, kind) in enumerate(modules)]
    write_json(folder / "modules.json", named)
    about = {"model_type": "SentenceTransformer", "similarity_fn_name": "cosine", "prompts": {}}
    write_json(folder / "config_sentence_transformers.json", about)
