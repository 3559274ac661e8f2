"""The Hugging Face hub: a file of a data set repository at a pinned revision, or its first rows; no script is run."""

import re
import shutil
from pathlib import Path

from reprlab.data.origins.errors import OriginError
from reprlab.data.origins.slices import write_first_rows
from reprlab.registry.dataset_entries import ArchiveFile

_SPEC = re.compile(r"^(?P<repository>[\w.-]+(/[\w.-]+)?)@(?P<revision>[\w./-]+?)(:(?P<path>.+))?$")
_REASON_LENGTH = 300


def fetch(spec: str, file: ArchiveFile, folder: Path) -> Path:
    """Download `spec` ("repository@revision" or "repository@revision:path") into `folder`."""
    match = _SPEC.match(spec)
    if not match:
        raise OriginError(f"{spec!r} is not repository@revision or repository@revision:path")
    target = folder / file.stored
    if file.rows:
        files = {"data_files": match["path"] or file.file, "revision": match["revision"]}
        return write_first_rows(file, target, match["repository"], **files)
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise OriginError("the package huggingface_hub is not installed") from None
    try:
        # The hub's client resumes a broken download of its own accord.
        path = hf_hub_download(
            match["repository"], match["path"] or file.file, revision=match["revision"], repo_type="dataset",
            local_dir=folder / "hub",
        )  # fmt: skip
    except Exception as error:
        # The client raises a family of classes of several libraries; each means that this origin cannot deliver.
        raise OriginError(f"{type(error).__name__}: {' '.join(str(error).split())[:_REASON_LENGTH]}") from None
    shutil.move(path, target)
    return target
