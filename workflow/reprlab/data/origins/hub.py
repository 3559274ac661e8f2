"""The Hugging Face hub: a file of a data set repository at a pinned revision, or its first rows; no script is run."""

import re
import shutil
from pathlib import Path
from typing import Any

from reprlab.data.origins.errors import OriginError
from reprlab.data.origins.slices import write_first_rows
from reprlab.hub.answers import free_space, reason
from reprlab.hub.revisions import is_commit
from reprlab.registry.dataset_entries import ArchiveFile

_SECONDS = 20.0
_SPEC = re.compile(r"^(?P<repository>[\w.-]+(/[\w.-]+)?)@(?P<revision>[\w./-]+?)(:(?P<path>.+))?$")
FOLDER = "hub"
"""Folder of the client below the incoming one: it holds what goes on after a broken transfer."""


def fetch(spec: str, file: ArchiveFile, folder: Path) -> Path:
    """Download `spec` ("repository@revision" or "repository@revision:path") into `folder`."""
    match = _SPEC.match(spec)
    if not match:
        raise OriginError(f"{spec!r} is not repository@revision or repository@revision:path")
    target = folder / file.stored
    repository, revision = match["repository"], match["revision"]
    # The commit at which the branch of the specification is taken.
    own, _, commit = (file.revision or "").rpartition("@")
    revision = commit if own == repository and is_commit(commit) else revision
    if file.rows:
        files = {"data_files": match["path"] or file.file, "revision": revision}
        return write_first_rows(file, target, repository, **files)
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    name = match["path"] or file.file
    place: dict[str, Any] = {"revision": revision, "repo_type": "dataset"}
    try:
        size = get_hf_file_metadata(hf_hub_url(repository, name, **place), timeout=_SECONDS).size or 0
        if size > (free := shutil.disk_usage(folder).free):
            raise OriginError(free_space(size, folder, free))
        # The hub's client goes on with a broken download of its own accord.
        path = hf_hub_download(repository, name, local_dir=folder / FOLDER, **place)
    except OriginError:
        raise
    except Exception as error:
        # The client raises a family of classes of several libraries; each means that this origin cannot deliver.
        raise OriginError(reason(error, repository, revision, "dataset")) from None
    shutil.move(path, target)
    return target
