"""Pretrained models of the hub: what its repository holds is held against the registry before any of it is used."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reprlab.artifacts.json_files import read_json
from reprlab.hub.commits import commit_of, note_commits
from reprlab.hub.snapshots import adapter_files, fetch_files, model_files
from reprlab.models.build import SPEECH, architecture_classes, build_from_config, quiet_transformers, save_model
from reprlab.registry.models import HubOrigin, ModelEntry
from reprlab.runtime.errors import ReprlabError, first_line, raise_if_machine_is_short

# What the registry sets otherwise than what is published, on purpose.
_OURS = {"t5": {"dropout_rate"}}
# Types of model whose layers are those of another one where a setting of their config.json is null.
_SAME_LAYERS = {("mistral", "llama"): "sliding_window"}
# Names of weights in repositories that were made before the name was changed in transformers, and the name since.
_OLD_NAMES = {r"^backbone\.embedding\.": "backbone.embeddings."}
# Buffers that old checkpoints hold and that are computed now; they are no weights.
_COMPUTED = (".position_ids", ".inv_freq", ".attn.bias", ".attn.masked_bias", ".num_batches_tracked")
_NAMED = 3


def save_from_hub(entry: ModelEntry, origin: HubOrigin, folder: Path, cache: Path, seed: int = 0) -> None:
    """Fetch a revision, check it, and write model, tokenizer and `origin.json` into `folder`, in float32 safetensors.

    Args:
        entry: the registry entry; its numbers and its shapes are what the repository must hold.
        origin: its origin.
        folder: where it is written.
        cache: the download cache, which remembers the commits of branches.
        seed: of the parts that the entry names as new.

    Raises:
        ReprlabError: the hub does not give it, or it is not what the entry says: a number of its config, a weight that
            is missing, of another shape or of a layer that the entry lacks, or a tokenizer with more ids than rows.
    """
    from reprlab.text.model_tokenizers import save_snapshot_tokenizer

    speech = entry.architecture in SPEECH
    commit = commit_of(cache, origin.repository, origin.revision)
    where = f"{origin.repository}@{commit}"
    snapshot = fetch_files(origin.repository, commit, lambda names: model_files(names, tokenizer=not speech))
    check_config(entry, read_json(snapshot / "config.json"), where)
    model = open_published(entry, snapshot, where, origin.new_parts, seed)
    commits = {origin.repository: commit}
    if origin.adapter:
        commits[origin.adapter] = commit_of(cache, origin.adapter, origin.adapter_revision)
        adapter = fetch_files(origin.adapter, commits[origin.adapter], adapter_files)
        _merge_adapter(model, adapter, f"{origin.adapter}@{commits[origin.adapter]}", origin.repository)
    _set_registry_numbers(model, entry)
    save_model(model, folder)
    if not speech:
        rows = model.get_input_embeddings().weight.shape[0]
        save_snapshot_tokenizer(snapshot, folder, where, rows)
    note_commits(folder, commits)


def check_config(entry: ModelEntry, published: Mapping[str, Any], where: str) -> None:
    """Compare each number of an entry that a published config.json has too.

    Raises:
        ReprlabError: one differs.
    """
    config_class, _ = architecture_classes(entry.architecture)
    wanted = config_class.model_type
    found = published.get("model_type", wanted)
    same = _SAME_LAYERS.get((found, wanted), "")
    if found != wanted and not (same in published and published[same] is None):
        raise ReprlabError(f"{where}: config.json: model_type is {published['model_type']}, by models.yaml {wanted}")
    other = config_class.attribute_map
    names = {
        key: (key, other.get(key, key), *(one for one, two in other.items() if two == key)) for key in entry.config
    }
    for key, value in entry.config.items():
        if key in _OURS.get(entry.architecture, ()):
            continue
        found = next((published[name] for name in names[key] if published.get(name) is not None), None)
        if found is not None and not _equal(found, value):
            raise ReprlabError(f"{where}: config.json: {key} is {found} and models.yaml has {value}; correct the entry")


def _equal(found: Any, value: Any) -> bool:
    if isinstance(found, list):
        # pos_att_type of DeBERTa is a list in some repositories and a text with bars in others.
        found = "|".join(map(str, found))
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (found, value))
    return math.isclose(found, value, rel_tol=1e-9) if numbers else found == value


def open_published(entry: ModelEntry, snapshot: Path, where: str, new: Iterable[str], seed: int) -> Any:
    """The model in a folder of published files, whose weights are all those that the entry's architecture has.

    Raises:
        ReprlabError: weights are missing, have other shapes, or belong to layers that the entry lacks.
    """
    import torch
    from safetensors import SafetensorError

    _, model_class = architecture_classes(entry.architecture)
    quiet_transformers()
    torch.manual_seed(seed)
    try:
        # Old repositories hold nothing but a pickle: its tensors are read, its code is not run.
        model, about = model_class.from_pretrained(
            snapshot, dtype=torch.float32, local_files_only=True, weights_only=True, trust_remote_code=False,
            output_loading_info=True, ignore_mismatched_sizes=True, key_mapping=_OLD_NAMES,
        )  # fmt: skip
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise_if_machine_is_short(error)
        raise ReprlabError(f"{where}: its files cannot be read ({first_line(error)}); name another revision") from error
    new = tuple(new)
    drawn = [name for name in about["missing_keys"] if _part(model, name).startswith(new)] if new else []
    lacking = set(about["missing_keys"]) - set(drawn)
    remedy = "they would be drawn at random: correct the entry's numbers, or name them in its origin's new_parts"
    _refuse(where, "lacks", lacking, remedy)
    shapes = [f"{name} {_shape(found)} in place of {_shape(own)}" for name, found, own in about["mismatched_keys"]]
    _refuse(where, "has other shapes:", shapes, "correct the entry")
    own = {name for name, _ in model.base_model.named_children()}
    further = {
        name for name in about["unexpected_keys"]
        if _part(model, name).partition(".")[0] in own and not name.endswith(_COMPUTED)
    }  # fmt: skip
    _refuse(where, "has weights that the entry's architecture lacks:", further, "correct the entry")
    _check_shapes(model, entry, where)
    return model


def _part(model: Any, name: str) -> str:
    return name.removeprefix(f"{model.base_model_prefix}.")


def _shape(size: Any) -> str:
    return "x".join(map(str, size))


def _refuse(where: str, what: str, names: Iterable[str], remedy: str) -> None:
    ordered = sorted(names)
    if not ordered:
        return
    shown = ", ".join(ordered[:_NAMED])
    more = f" and {len(ordered) - _NAMED} more" if len(ordered) > _NAMED else ""
    raise ReprlabError(f"{where}: {what} {shown}{more}; {remedy}")


def _check_shapes(model: Any, entry: ModelEntry, where: str) -> None:
    """Hold names and shapes of all weights against those of a model that is built from the entry's numbers."""
    import torch

    with torch.device("meta"):
        wanted = {name: tuple(value.shape) for name, value in build_from_config(entry).named_parameters()}
    found = {name: tuple(value.shape) for name, value in model.named_parameters()}
    for name in sorted(wanted.keys() | found.keys()):
        if found.get(name) != wanted.get(name):
            raise ReprlabError(
                f"{where}: {name} is {_shape(found.get(name, ()))} there and {_shape(wanted.get(name, ()))} by "
                "models.yaml; correct the entry"
            )


def _merge_adapter(model: Any, adapter: Path, where: str, base: str) -> None:
    """Merge published adapters, in place; those of LLM2Vec are saved from the decoder without its output layer.

    Raises:
        ReprlabError: an adapter fits no layer, a layer has none that should, or they change nothing.
    """
    from peft import PeftConfig, get_peft_model, load_peft_weights, set_peft_model_state_dict

    def sums() -> list[float]:
        return [value.double().sum().item() for value in model.parameters()]

    before = sums()
    try:
        config = PeftConfig.from_peft_type(**read_json(adapter / "adapter_config.json"))
        adapted = get_peft_model(model.base_model, config)
        result: Any = set_peft_model_state_dict(adapted, load_peft_weights(str(adapter), device="cpu"))
    except (OSError, ValueError, RuntimeError) as error:
        raise ReprlabError(
            f"{where}: its adapters do not fit {base} ({first_line(error)}); name another model"
        ) from error
    _refuse(
        where, "has adapters for layers that are not there:", result.unexpected_keys, f"they are not those of {base}"
    )
    _refuse(where, "lacks", (name for name in result.missing_keys if "lora_" in name), f"they are not those of {base}")
    adapted.merge_and_unload()
    if sums() == before:
        raise ReprlabError(f"{where}: its adapters change no layer of {base}; name another model")


def _set_registry_numbers(model: Any, entry: ModelEntry) -> None:
    """Apply what the registry sets otherwise than the saved config, as DEPTH's dropout of 0."""
    if entry.architecture == "t5":
        import torch

        rate = float(entry.config["dropout_rate"])
        model.config.dropout_rate = rate
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = rate
