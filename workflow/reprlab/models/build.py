"""Models from registry entries and from folders, by narrow imports: each architecture loads only its own modules."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.json_files import read_json
from reprlab.models.learned_positions import refuse_longer_texts
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError, first_line, raise_if_machine_is_short
from reprlab.runtime.storage import storage_errors

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

# Stem of the class names in transformers, and the ending of the class that is built, by the name in the registry.
_ARCHITECTURES = {
    "t5": ("T5", "ForConditionalGeneration"),
    "bert": ("Bert", "Model"),
    "bert_mlm": ("Bert", "ForMaskedLM"),
    "distilbert": ("DistilBert", "Model"),
    "roberta": ("Roberta", "Model"),
    "xlm_roberta": ("XLMRoberta", "Model"),
    "deberta_v2": ("DebertaV2", "Model"),
    "mpnet": ("MPNet", "Model"),
    "electra": ("Electra", "Model"),
    "bart": ("Bart", "Model"),
    "wav2vec2": ("Wav2Vec2", "Model"),
    "ast": ("AST", "Model"),
    "gpt2": ("GPT2", "LMHeadModel"),
    "llama": ("Llama", "ForCausalLM"),
    "mistral": ("Mistral", "ForCausalLM"),
    "qwen2": ("Qwen2", "ForCausalLM"),
    "phi3": ("Phi3", "ForCausalLM"),
    "olmo": ("Olmo", "ForCausalLM"),
    "opt": ("OPT", "ForCausalLM"),
    "mamba": ("Mamba", "ForCausalLM"),
    "mamba2": ("Mamba2", "ForCausalLM"),
}
# They hear: they have neither tokenizer nor vocabulary.
SPEECH = ("whisper_encoder", "wav2vec2", "ast")
# Encoders of encoder-decoders, saved alone.
_ENCODERS = {
    "bart_encoder": ("Bart", "Encoder"),
    "t5_encoder": ("T5", "Stack"),
    "whisper_encoder": ("Whisper", "Encoder"),
}
# The class named in a saved config.json: the registry's name for it.
_SAVED_AS = {stem + ending: name for name, (stem, ending) in (_ARCHITECTURES | _ENCODERS).items()}
# Read by the DeBERTa model from its configuration, whose class does not declare them.
_UNDECLARED = {"deberta_v2": {"position_buckets", "norm_rel_ebd", "share_att_key"}}


def architecture_classes(architecture: str) -> tuple[Any, Any]:
    """Configuration and model class of a registry architecture; only that architecture's modules are imported."""
    import transformers

    # A name of the package is looked up when it is asked for, in that architecture's own modules.
    stem, ending = (_ARCHITECTURES | _ENCODERS)[architecture]
    config_class = getattr(transformers, f"{stem}Config")
    if architecture in _ENCODERS:
        # The package does not name these itself; their whole models' module does.
        return config_class, getattr(sys.modules[getattr(transformers, f"{stem}Model").__module__], stem + ending)
    return config_class, getattr(transformers, stem + ending)


def build_from_config(entry: ModelEntry, vocab_size: int | None = None, seed: int | None = None) -> PreTrainedModel:
    """A randomly initialised model of the entry's architecture.

    Args:
        entry: registry entry; its origin is not looked at.
        vocab_size: rows of the embedding in place of the entry's.
        seed: seed of the weights; None leaves the global generator as it is (the meta device draws nothing).

    Raises:
        ReprlabError: the entry has a key that the transformers configuration lacks, or a value it refuses.
    """
    import torch

    config_class, model_class = architecture_classes(entry.architecture)
    if seed is not None:
        torch.manual_seed(seed)
    model = model_class(configuration(config_class, entry, vocab_size))
    if entry.architecture == "t5" and not entry.tie_output:
        _give_t5_its_own_output(model)
    return model


def load_model(folder: Path, dropout: float | None = None) -> PreTrainedModel:
    """Open a model folder in float32.

    Args:
        folder: config.json and safetensors.
        dropout: T5 only: dropout of every layer in place of the configuration's.

    Raises:
        ReprlabError: the folder is not a model folder, of an architecture that the registry does not know, or lacks
            weights.
    """
    import torch
    from safetensors import SafetensorError

    names = read_json(folder / "config.json").get("architectures") or ["none"]
    if names[0] not in _SAVED_AS:
        raise ReprlabError(f"{folder / 'config.json'}: architecture {names[0]} is not one of {', '.join(_SAVED_AS)}")
    if dropout is not None and _SAVED_AS[names[0]] != "t5":
        raise ReprlabError(f"{folder / 'config.json'}: dropout can be set for T5 only, and this is {names[0]}")
    _, model_class = architecture_classes(_SAVED_AS[names[0]])
    own = {} if dropout is None else {"dropout_rate": dropout}
    quiet_transformers()
    try:
        model, about = model_class.from_pretrained(
            folder, dtype=torch.float32, local_files_only=True, use_safetensors=True, trust_remote_code=False,
            output_loading_info=True, **own,
        )  # fmt: skip
    except (OSError, ValueError, SafetensorError) as error:
        raise_if_machine_is_short(error)
        reason = first_line(error)
        raise ReprlabError(f"{folder}: not a readable model folder ({reason}); delete it and run again") from error
    if lacking := sorted(about["missing_keys"]):
        # They would be drawn at random, others at each call.
        raise ReprlabError(f"{folder}: lacks {len(lacking)} weights, {lacking[0]} first; delete it and run again")
    refuse_longer_texts(model)
    return model


def encoder_alone(model: Any) -> Any:
    """The encoder of an encoder-decoder with the embeddings that it shares, which `save_model` saves without the rest.

    Raises:
        ReprlabError: the model has no encoder and decoder apart, or its encoder cannot be opened again.
    """
    if type(model).__name__ in {"".join(names) for names in _ENCODERS.values()}:
        return model
    if not model.config.is_encoder_decoder:
        raise ReprlabError(f"encoder_cls: {type(model).__name__} has no encoder beside a decoder; leave it out")
    encoder = model.get_encoder()
    if type(encoder).__name__ not in _SAVED_AS:
        raise ReprlabError(f"encoder_cls: an encoder of the class {type(encoder).__name__} is not known")
    return encoder


def save_model(model: Any, folder: Path) -> None:
    """Write config and safetensors; the same weights give the same bytes."""
    # A model keeps the path that it was loaded from in its config; it would make equal models differ.
    model.config._name_or_path = ""
    quiet_transformers()
    with storage_errors():
        # By the names that transformers has now, whatever they were where the weights came from.
        model.save_pretrained(folder, save_original_format=False)
    for weights in folder.glob("*.safetensors"):
        # safetensors writes for the owner alone; a shared result is as readable as its config.
        weights.chmod((folder / "config.json").stat().st_mode)


def quiet_transformers() -> None:
    """Keep progress bars and warnings out of the terminal: progress and problems are reported by the stages.

    One warning is wrong for us: opening T5 v1.1 with its own output layer, transformers 5 advises to untie everything.
    """
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()


def configuration(config_class: Any, entry: ModelEntry, vocab_size: int | None) -> PretrainedConfig:
    """The transformers configuration of an entry, `vocab_size` in place of its own where given.

    Raises:
        ReprlabError: the entry has a key that the configuration lacks, or a value it refuses.
    """
    from huggingface_hub.errors import StrictDataclassError

    values: dict[str, Any] = dict(entry.config)
    known = set(config_class().to_dict()) | set(config_class.attribute_map)
    known |= _UNDECLARED.get(entry.architecture, set())
    for key in values:
        if key not in known:
            raise ReprlabError(f"models.yaml: config.{key}: {config_class.__name__} has no such setting")
    if vocab_size is not None:
        values["vocab_size"] = vocab_size
    if entry.architecture == "t5":
        # transformers 5 leaves this unset in a fresh T5Config, and shifting labels needs it.
        values["decoder_start_token_id"] = 0
    try:
        # For T5 a False here means "v1.1": outputs are not scaled. transformers 5 ties the weights all the same.
        return config_class(**values, tie_word_embeddings=entry.tie_output)
    except (TypeError, ValueError, StrictDataclassError) as error:
        raise ReprlabError(f"models.yaml: {config_class.__name__} refuses the entry ({error})") from error


def _give_t5_its_own_output(model: Any) -> None:
    """Untie `lm_head` alone.

    Setting `tie_word_embeddings` to False on the config of transformers 5 would also untie encoder and decoder
    embeddings (296,926,464 parameters for v1.1 base in place of 247,577,856).
    """
    import torch

    weight = torch.empty_like(model.shared.weight)
    # The initialisation that transformers gives an untied T5 output layer.
    torch.nn.init.normal_(weight, mean=0.0, std=model.config.initializer_factor)
    model.lm_head.weight = torch.nn.Parameter(weight)
    model.all_tied_weights_keys.pop("lm_head.weight")
