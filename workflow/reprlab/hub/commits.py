"""The commit that a branch of a repository is taken at: that of the lock file, else that of the first fetch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.artifacts.kept import Kept
from reprlab.hub.answers import reason
from reprlab.hub.revisions import is_commit
from reprlab.runtime.errors import ReprlabError

_SECONDS = 20.0
LOCK_FILE = "hub.lock.json"
ORIGIN_FILE = "origin.json"
"""In a folder that is made from repositories of the hub: these, with the commits that were taken."""


def known_commit(cache: Path, repository: str, revision: str, kind: str = "model") -> str:
    """The commit that a branch was fetched at before, without asking the hub; empty where it was not."""
    if is_commit(revision):
        return revision
    kept, by = _record(cache, repository, revision, kind)
    if (noted_before := kept.read(by)) is not None:
        return str(noted_before)
    # Where models were fetched by other programs, as for machines without a network, the hub's own cache has it.
    from huggingface_hub import constants

    folder = f"{kind}s--{repository.replace('/', '--')}"
    noted = Path(constants.HF_HUB_CACHE) / folder / "refs" / revision
    found = noted.read_text(encoding="ascii").strip() if noted.is_file() else ""
    return found if is_commit(found) else ""


def commit_of(cache: Path, repository: str, revision: str, kind: str = "model") -> str:
    """The commit of a revision; that of a branch is asked for once and then kept in `cache`.

    Raises:
        ReprlabError: the hub does not say.
    """
    found = known_commit(cache, repository, revision, kind) or ask(repository, revision, kind)
    kept, by = _record(cache, repository, revision, kind)
    if not is_commit(revision) and kept.read(by) is None:
        kept.keep(by, found)
    return found


def ask(repository: str, revision: str, kind: str = "model") -> str:
    """The commit that a revision is at now, by the hub.

    Raises:
        ReprlabError: the hub does not say.
    """
    from huggingface_hub import HfApi

    try:
        found = HfApi().repo_info(repository, revision=revision, repo_type=kind, timeout=_SECONDS).sha
    except Exception as error:
        # The client raises a family of classes of several libraries; each means that the hub did not answer.
        raise ReprlabError(f"{repository}@{revision}: {reason(error, repository, revision, kind)}") from error
    if not found or not is_commit(found):
        raise ReprlabError(f"{repository}@{revision}: the hub names no commit; name one in place of {revision}")
    return found


def beside(registry: Path) -> Path:
    """The lock file beside a registry."""
    return registry.with_name(LOCK_FILE)


def read_lock(path: Path) -> dict[str, str]:
    """The lock file: commits by `models/owner/name@branch` and `datasets/owner/name@branch`; empty where there is none.

    Raises:
        ReprlabError: it is not such a file.
    """
    if not path.is_file():
        return {}
    found = read_json(path)
    if not isinstance(found, dict) or not all(isinstance(one, str) and is_commit(one) for one in found.values()):
        raise ReprlabError(f"{path}: not a lock file of commits by repository and branch; run make pin again")
    return found


def note_commits(folder: Path, commits: Mapping[str, str]) -> None:
    """Write `origin.json` into a folder that was made from repositories at these commits."""
    write_json(folder / ORIGIN_FILE, dict(commits))


def _record(cache: Path, repository: str, revision: str, kind: str) -> tuple[Kept, dict[str, str]]:
    folder = cache / "hub" / f"{kind}s--{repository.replace('/', '--')}"
    by = {"repository": repository, "kind": kind, "revision": revision}
    return Kept(folder, "the commit of a branch", f"{revision.replace('/', '--')}.json"), by
