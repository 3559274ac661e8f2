"""Models of the Hugging Face hub that a setting names without an entry of models.yaml: `hub:owner/name@revision`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from reprlab.artifacts.json_files import read_json
from reprlab.hub.answers import reason
from reprlab.registry.models import HubOrigin, ModelEntry
from reprlab.runtime.errors import ReprlabError, first_line

PREFIX = "hub:"
_NAMED = re.compile(r"hub:(?P<repository>[A-Za-z0-9][\w.-]*/[\w.-]+)@(?P<revision>\w[\w./-]*)")
# Architectures of one kind can take each other's place in a setting; every other one stands for itself.
_KINDS = (
    {"gpt2", "opt", "llama", "mistral", "qwen2", "phi3", "olmo"},
    {"bert", "distilbert", "electra", "roberta", "xlm_roberta", "deberta_v2", "mpnet"},
    {"whisper_encoder", "wav2vec2"},
)
# The registry's names for a type of model in transformers, where they are not the same word.
_TYPES = {"bert": ("bert", "bert_mlm"), "whisper": ("whisper_encoder",), "audio-spectrogram-transformer": ("ast",)}
# Layers that published folders often lack and that no stage reads.
_UNREAD = {
    "roberta": ["pooler."], "xlm_roberta": ["pooler."], "mpnet": ["pooler."], "wav2vec2": ["masked_spec_embed"],
}  # fmt: skip
_SECONDS = 20.0
_KNOWN: tuple[str, ...] = get_args(ModelEntry.model_fields["architecture"].annotation)


@dataclass(frozen=True)
class HubModel:
    """A model as a setting names it."""

    repository: str
    revision: str

    def __str__(self) -> str:
        return f"{PREFIX}{self.repository}@{self.revision}"

    @property
    def name(self) -> str:
        """Its name in the registry and in paths: small letters, digits and `_`, told apart by a digest."""
        words = re.sub(r"[^a-z0-9]+", "_", self.repository.lower()).strip("_")[:40]
        return f"hub_{words}_{hashlib.sha256(str(self).encode()).hexdigest()[:8]}"


def parse(text: str) -> HubModel:
    """The model that a text names.

    Raises:
        ReprlabError: it has no revision, or is of another form.
    """
    if found := _NAMED.fullmatch(text):
        return HubModel(found["repository"], found["revision"])
    lacks = "has no revision" if "@" not in text else "is not of this form"
    raise ReprlabError(
        f"{lacks}; write hub:owner/name@revision, the revision a commit, so that the model stays the same"
    )


def entry_of(model: HubModel, beside: Iterable[str], registry: Mapping[str, ModelEntry]) -> ModelEntry:
    """A registry entry with the numbers of the model's config.json, which comes from the hub or from its cache here.

    Args:
        model: the model.
        beside: entries whose place it takes; it must be of the same kind as one of them; without any: of any kind.
        registry: the entries of models.yaml.

    Raises:
        ReprlabError: config.json cannot be had, or no entry of models.yaml is of this architecture and kind.
    """
    from transformers import AutoConfig

    path = _config_file(model)
    written = read_json(path)
    try:
        config = AutoConfig.from_pretrained(path.parent, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise ReprlabError(
            f"its config.json is none of transformers ({first_line(error)}); name another model"
        ) from None
    known = [name for name in _TYPES.get(config.model_type, (config.model_type.replace("-", "_"),)) if name in _KNOWN]
    taken = {registry[name].architecture for name in beside if name in registry}
    fitting = [name for name in known if not taken or taken & _kind(name)]
    if not fitting:
        wanted = sorted({one for architecture in taken for one in _kind(architecture)}) or _KNOWN
        raise ReprlabError(
            f"is of the architecture {config.model_type}, and this setting takes {', '.join(wanted)}; name a model of "
            f"{'that architecture' if len(wanted) == 1 else 'one of them'}"
        )
    architecture = next((name for name in fitting if name in taken), fitting[0])
    alike = next((one for one in registry.values() if one.architecture == architecture), None)
    if alike is None:
        raise ReprlabError(
            f"is of the architecture {architecture}, of which models.yaml has no entry that names its numbers"
        )
    numbers = {name: getattr(config, name, None) for name in alike.config}
    return ModelEntry(
        architecture=architecture,  # type: ignore[arg-type]
        config={name: value for name, value in numbers.items() if isinstance(value, bool | int | float | str)},
        source=f"{model.repository} config.json, {model.revision}",
        # As it is written: some classes change it when they read it, and those of speech have none.
        tie_output=bool(written.get("tie_word_embeddings", getattr(config, "tie_word_embeddings", False))),
        origin=HubOrigin(
            kind="hub", repository=model.repository, revision=model.revision, new_parts=_UNREAD.get(architecture, [])
        ),
        licence=f"that of {model.repository} on the hub",
    )


def _kind(architecture: str) -> set[str]:
    return next((kind for kind in _KINDS if architecture in kind), {architecture})


def _config_file(model: HubModel) -> Path:
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url, try_to_load_from_cache

    repository, revision, name = model.repository, model.revision, "config.json"
    if isinstance(found := try_to_load_from_cache(repository, name, revision=revision), str):
        return Path(found)
    try:
        # Where there is no network this says so at once; the download tries again for half a minute.
        get_hf_file_metadata(hf_hub_url(repository, name, revision=revision), timeout=_SECONDS)
        return Path(hf_hub_download(repository, name, revision=revision))
    except Exception as error:
        # The client raises a family of classes of several libraries; each means that the hub did not give the file.
        said = reason(error, repository, revision, path=name)
        raise ReprlabError(f"its config.json is not in the hub's cache here and cannot be fetched: {said}") from None
