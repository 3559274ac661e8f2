"""The registry of models: architecture numbers with their source, and where weights come from."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from reprlab.hub.revisions import locked
from reprlab.registry.dataset_entries import Name
from reprlab.settings.errors import registry_error
from reprlab.settings.yaml_text import read_with_anchors

_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)


class ScratchOrigin(BaseModel):
    """Weights are drawn at random by the architecture's own rule."""

    model_config = _STRICT

    kind: Literal["scratch"]
    position_scale: float = Field(default=1.0, gt=0)
    """Learned positions are drawn this many times as wide as the architecture's rule has them."""

    tokenizer: Name | None = None
    """Model of a package whose tokenizer it has, where its paper trains none."""


class PackageOrigin(BaseModel):
    """Weights lie in an archive of `datasets.yaml`."""

    model_config = _STRICT

    kind: Literal["package"]
    archive: str
    """Name of the archive."""
    format: Literal["safetensors", "gguf", "ctranslate2"]
    """`safetensors`: members are copied as they are; `gguf`: dequantised once and saved as `dtype`; `ctranslate2`: the
    encoder of a Whisper model, in float32."""
    members: dict[str, str] = Field(min_length=1)
    """File name in the model folder: path of the member in the archive."""
    continued: dict[str, str] = {}
    """Archive: member whose bytes follow those of the only member, for files that were cut to fit a package."""
    dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    """Type of the saved weights of a `gguf` model."""
    new_head: bool = False
    """Whether the layers behind the packaged ones are drawn at random, where the architecture has some."""

    @field_validator("members")
    @classmethod
    def _plain_names(cls, members: dict[str, str]) -> dict[str, str]:
        for name in members:
            if PurePosixPath(name).name != name:
                raise ValueError(f"{name!r} must be a file name without folders")
        return members


class HubOrigin(BaseModel):
    """Weights lie in a repository of the Hugging Face hub."""

    model_config = _STRICT

    kind: Literal["hub"]
    repository: str
    """`owner/name`."""
    revision: str
    """Commit, tag or branch."""
    adapter: str = ""
    """Repository with low-rank adapters in peft's form that are merged into the weights; empty: none."""
    adapter_revision: str = ""
    """Its commit, tag or branch."""
    new_parts: list[str] = []
    """Beginnings of the names of weights that the repository lacks and that are drawn at random: a pooler that no stage
    reads. Any other missing weight is an error."""


Origin = Annotated[ScratchOrigin | PackageOrigin | HubOrigin, Field(discriminator="kind")]


class ModelEntry(BaseModel):
    """One model."""

    model_config = _STRICT

    architecture: Literal[
        "t5", "bart", "bert", "bert_mlm", "distilbert", "electra", "roberta", "xlm_roberta", "deberta_v2", "mpnet",
        "whisper_encoder", "wav2vec2", "ast", "gpt2", "opt", "llama", "mistral", "qwen2", "phi3", "olmo", "mamba",
        "mamba2",
    ]  # fmt: skip
    """Class of configuration and model in transformers."""
    config: dict[str, bool | int | float | str]
    """Numbers of the architecture, by the names of the transformers configuration."""
    source: str
    """Where the numbers come from."""
    tie_output: bool
    """Whether the output layer is the input embedding."""
    origin: Origin
    """Where the weights come from."""
    licence: str = ""
    """Licence of the weights; empty for random ones."""

    @property
    def is_complete(self) -> bool:
        """Whether all its weights come from where it was trained: none is drawn at random."""
        return self.origin.kind != "scratch" and not getattr(self.origin, "new_head", False)

    def pinned(self, commits: Mapping[str, str]) -> "ModelEntry":
        """The entry with the commits of a lock file in place of the branches that its origin names."""
        origin = self.origin
        if not isinstance(origin, HubOrigin):
            return self
        revisions = {
            "revision": locked(origin.revision, origin.repository, commits),
            "adapter_revision": locked(origin.adapter_revision, origin.adapter, commits),
        }
        return self.model_copy(update={"origin": origin.model_copy(update=revisions)})

    @property
    def learned_positions(self) -> int | None:
        """Tokens that its learned positions reach; None where it has none, or its configuration does not say."""
        name, unused = _LEARNED_POSITIONS.get(self.architecture, ("", 0))
        return int(self.config[name]) - unused if name in self.config else None


_GATED = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
LINEAR_LAYERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("llama", "mistral", "qwen2", "olmo"), _GATED),
    "phi3": ("qkv_proj", "o_proj", "gate_up_proj", "down_proj"),
    "opt": ("q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"),
    "gpt2": ("c_attn", "c_proj", "c_fc"),
}
"""Names of the linear layers within the layers of a decoder, by architecture: those that can have adapters."""

# Where the number of learned positions stands in the configuration, and how many of them no token has.
_LEARNED_POSITIONS = {
    **dict.fromkeys(("bert", "bert_mlm", "distilbert", "electra", "bart", "opt"), ("max_position_embeddings", 0)),
    **dict.fromkeys(("roberta", "xlm_roberta", "mpnet"), ("max_position_embeddings", 2)),
    "gpt2": ("n_positions", 0),
}


def load_models(path: Path) -> dict[str, ModelEntry]:
    """Read `models.yaml`.

    Raises:
        ReprlabError: the file is missing, not YAML, or an entry is not valid.
    """
    try:
        return TypeAdapter(dict[Name, ModelEntry]).validate_python(read_with_anchors(path))
    except ValidationError as error:
        raise registry_error(error, dict[Name, ModelEntry], f"{path}: ") from None
