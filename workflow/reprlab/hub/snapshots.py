"""Files of a model's repository at one commit, in the hub's own cache: its weights once, config and tokenizer."""

from __future__ import annotations

import fnmatch
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from reprlab.hub.answers import free_space, reason
from reprlab.runtime.errors import ReprlabError

# The first kind that a repository has is taken: published folders often hold the same weights several times.
_WEIGHTS = (
    ("model.safetensors",),
    ("model.safetensors.index.json", "model-*-of-*.safetensors"),
    ("pytorch_model.bin",),
    ("pytorch_model.bin.index.json", "pytorch_model-*-of-*.bin"),
)
_ADAPTERS = (("adapter_model.safetensors",), ("adapter_model.bin",))
TOKENIZER = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.txt",
    "vocab.json", "merges.txt", "spiece.model", "spm.model", "tokenizer.model", "sentencepiece.bpe.model",
    "chat_template.jinja",
)  # fmt: skip
CONFIG = ("config.json", "generation_config.json")
_SECONDS = 20.0


def model_files(names: Sequence[str], *, tokenizer: bool = True) -> list[str]:
    """The files of a repository that make a model: config, one copy of the weights, and its tokenizer.

    Raises:
        ReprlabError: it has no weights that are read here.
    """
    return _chosen(names, _WEIGHTS, (*CONFIG, *(TOKENIZER if tokenizer else ())), "config.json")


def adapter_files(names: Sequence[str]) -> list[str]:
    """The files of a repository that make an adapter of peft.

    Raises:
        ReprlabError: it has no weights that are read here.
    """
    return _chosen(names, _ADAPTERS, ("adapter_config.json",), "adapter_config.json")


def tokenizer_files(names: Sequence[str]) -> list[str]:
    """The files of a repository that make a tokenizer; the config says of which model it is.

    Raises:
        ReprlabError: it has none.
    """
    found = [name for name in names if name in TOKENIZER]
    if not found:
        raise ReprlabError(f"it has no tokenizer; one of {', '.join(TOKENIZER[:3])} and the like is needed")
    return [*found, *(name for name in names if name == "config.json")]


def _chosen(names: Sequence[str], weights: Sequence[Sequence[str]], beside: Sequence[str], needed: str) -> list[str]:
    if needed not in names:
        raise ReprlabError(f"it has no {needed}; name another repository or revision")
    for patterns in weights:
        found = [name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
        if patterns[0] in names:
            return [*found, *(name for name in names if name in beside)]
    shown = ", ".join(sorted(name for name in names if name.endswith((".bin", ".h5", ".msgpack", ".safetensors"))))
    raise ReprlabError(
        f"it has no weights that are read here ({shown or 'none'}); it needs {' or '.join(w[0] for w in weights)}"
    )


def fetch_files(repository: str, commit: str, choose: Callable[[Sequence[str]], list[str]]) -> Path:
    """The folder with the chosen files of a repository at a commit; only what the hub's cache lacks is downloaded.

    Args:
        repository: `owner/name`.
        commit: the commit.
        choose: a function from the names of its files to those that are wanted.

    Raises:
        ReprlabError: the hub does not give them, or the disk has no room for them.
    """
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    where = f"{repository}@{commit}"
    disable_progress_bars()
    try:
        info = HfApi().model_info(repository, revision=commit, files_metadata=True, timeout=_SECONDS)
        sizes = {one.rfilename: one.size or 0 for one in info.siblings or []}
    except Exception as error:
        # Whatever the client raises, what is here already is as good.
        return _cached(repository, commit, choose, error)
    wanted = _choice(choose, list(sizes), where)
    cache = Path(constants.HF_HUB_CACHE)
    needed = sum(sizes[name] for name in wanted if not _is_here(repository, commit, name))
    existing = next(folder for folder in (cache, *cache.parents) if folder.exists())
    if needed > (free := shutil.disk_usage(existing).free):
        raise ReprlabError(f"{where}: {free_space(needed, cache, free)}")
    try:
        folder = Path(snapshot_download(repository, revision=commit, allow_patterns=wanted))
    except Exception as error:
        raise ReprlabError(f"{where}: {reason(error, repository, commit)}") from error
    for name in wanted:
        size = (folder / name).stat().st_size if (folder / name).is_file() else -1
        if sizes[name] and size != sizes[name]:
            raise ReprlabError(
                f"{where}: {name} has {max(size, 0)} bytes in the hub's cache and {sizes[name]} on the hub; "
                f"delete it there (`hf cache rm {repository}`) and run the same command again"
            )
    return folder


def _cached(repository: str, commit: str, choose: Callable[[Sequence[str]], list[str]], error: Exception) -> Path:
    """The folder in the hub's own cache, where all that is chosen is there, whatever else the repository holds."""
    from huggingface_hub import constants

    where = f"{repository}@{commit}"
    folder = Path(constants.HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}" / "snapshots" / commit
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    if not names:
        raise ReprlabError(f"{where}: {reason(error, repository, commit)}") from error
    _choice(choose, names, f"{where}: in the hub's cache here")
    return folder


def _is_here(repository: str, commit: str, name: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(repository, name, revision=commit), str)


def _choice(choose: Callable[[Sequence[str]], list[str]], names: list[str], where: str) -> list[str]:
    try:
        return list(choose(names))
    except ReprlabError as error:
        raise ReprlabError(f"{where}: {error}") from None
