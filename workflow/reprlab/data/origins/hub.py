"""The Hugging Face hub: a file of a data set repository at a pinned revision, or its first rows; no script is run."""

import difflib
import re
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

from reprlab.data.origins.errors import OriginError
from reprlab.data.origins.slices import write_first_rows
from reprlab.hub.answers import free_space, reason
from reprlab.hub.revisions import is_commit
from reprlab.registry.dataset_entries import ArchiveFile

_SECONDS = 20.0
_NAMED = 3
_SPEC = re.compile(r"^(?P<repository>[\w.-]+(/[\w.-]+)?)@(?P<revision>[\w./-]+?)(:(?P<path>.+))?$")
_NUMBERED = re.compile(r"(?P<folder>.+/)(?P<number>\d{4})\.parquet")
FOLDER = "hub"
"""Folder of the client below the incoming one: it holds what goes on after a broken transfer."""


def fetch(spec: str, file: ArchiveFile, folder: Path) -> Path:
    """Download `spec` ("repository@revision" or "repository@revision:path") into `folder`."""
    match = _SPEC.match(spec)
    if not match:
        raise OriginError(f"{spec!r} is not repository@revision or repository@revision:path")
    target = folder / file.stored
    repository, revision = match["repository"], match["revision"]
    revision = _commit(file, repository) or revision
    if file.rows:
        files = {"data_files": match["path"] or file.file, "revision": revision}
        return write_first_rows(file, target, repository, **files)
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import EntryNotFoundError

    name = match["path"] or file.file
    asked: dict[str, str] = {"repository": repository, "revision": revision, "kind": "dataset"}
    place: dict[str, Any] = {"revision": revision, "repo_type": "dataset"}
    try:
        size = get_hf_file_metadata(hf_hub_url(repository, name, **place), timeout=_SECONDS).size or 0
        if size > (free := shutil.disk_usage(folder).free):
            raise OriginError(free_space(size, folder, free))
        # The hub's client goes on with a broken download of its own accord.
        path = hf_hub_download(repository, name, local_dir=folder / FOLDER, **place)
    except OriginError:
        raise
    except EntryNotFoundError as error:
        raise OriginError(_instead(name, repository, revision) or reason(error, **asked)) from None
    except Exception as error:
        # The client raises a family of classes of several libraries; each means that this origin cannot deliver.
        raise OriginError(reason(error, **asked)) from None
    shutil.move(path, target)
    return target


def _instead(name: str, repository: str, revision: str) -> str:
    """What a repository has in place of a file that it lacks; empty where it does not say."""
    from huggingface_hub import HfApi

    try:
        there = HfApi().list_repo_files(repository, revision=revision, repo_type="dataset")
    except Exception:
        # The client says so too of a file that it cannot reach.
        return ""
    if name in there:
        return ""
    nearest = ", ".join(difflib.get_close_matches(name, there, _NAMED, 0))
    return f"it has no {name} at {revision}; nearest are {nearest}; correct the entry, or name another revision"


def unlisted(spec: str, file: ArchiveFile, listed: Collection[str]) -> str:
    """The file in which the hub's conversion of a split goes on behind `file`, where that is not among those listed.

    The conversion numbers a split's files without saying how many there are: a split that has grown by one would lose
    it in silence. Empty where there is none, and for names of another form.
    """
    match, numbered = _SPEC.match(spec), _NUMBERED.fullmatch(file.file)
    if not match or not numbered:
        return ""
    following = f"{numbered['folder']}{int(numbered['number']) + 1:04d}.parquet"
    if following in listed:
        return ""
    from huggingface_hub import HfApi

    revision = _commit(file, match["repository"]) or match["revision"]
    try:
        found = HfApi().get_paths_info(match["repository"], [following], revision=revision, repo_type="dataset")
    except Exception as error:
        raise OriginError(reason(error, match["repository"], revision, "dataset")) from None
    return found[0].path if found else ""


def _commit(file: ArchiveFile, repository: str) -> str:
    """The commit at which a branch of this repository is taken; empty where the file names none."""
    own, _, commit = (file.revision or "").rpartition("@")
    return commit if own == repository and is_commit(commit) else ""
