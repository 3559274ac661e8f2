"""What an answer of the hub means, in one line with the remedy that fits it."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

from reprlab.runtime.errors import first_line

_KINDS = {"model": "", "dataset": " --repo-type dataset"}
_SECONDS = {"429": "a few minutes", "503": "a few minutes"}


def reason(error: Exception, repository: str, revision: str, kind: str = "model", path: str = "") -> str:
    """Why the hub did not give a file, and what to do about it.

    Args:
        error: what the hub's client or the file system raised.
        repository: `owner/name`.
        revision: the commit, tag or branch that was asked for.
        kind: "model" or "dataset".
        path: the only file that is needed, where it is one.
    """
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    command = f"hf download {repository}{path and f' {path}'} --revision {revision}{_KINDS[kind]}"
    status = str(getattr(getattr(error, "response", None), "status_code", ""))
    unreached = f"the hub cannot be reached ({first_line(_cause(error))})"
    offline = f"{unreached}; check the network, or fetch it elsewhere into the hub's cache: {command}"
    if _full(error):
        return f"the disk is full ({first_line(_cause(error))}); free some space, or move the hub's cache with HF_HOME"
    match error:
        case GatedRepoError():
            page = f"accept its licence on the page of {repository}"
            if status == "403":
                return f"this login may not read it; {page}, wait until it is granted, and run the same command again"
            return f"its licence must be accepted; {page}, then log in with `hf auth login`"
        case RepositoryNotFoundError():
            return "there is no such repository, or it is private; check the name, or log in with `hf auth login`"
        case RevisionNotFoundError():
            return f"it has no revision {revision}; name a commit that its page lists"
        case LocalEntryNotFoundError():
            return offline
        case EntryNotFoundError():
            return f"it has no such file at {revision} ({first_line(error)}); name another revision"
    if status == "429":
        return (
            f"the hub asks to wait {_retry_after(error)}; then run the same command again, or log in for a higher limit"
        )
    if status.startswith("5"):
        return f"the hub answered {status}; wait {_SECONDS.get(status, 'a minute')} and run the same command again"
    if status in ("401", "403"):
        return "the login is not accepted; log in again with `hf auth login`"
    if status:
        return f"the hub answered {status} ({first_line(error)[:160]})"
    if isinstance(error, OSError) and "onsistency check" in str(error):
        return "the transfer broke off; run the same command again, which goes on where it stopped"
    return offline


def free_space(needed: int, folder: Path, free: int) -> str:
    """The line for files that do not fit on a disk; sizes in bytes."""
    gigabytes = 1e9
    lacking = (needed - free) / gigabytes
    return (
        f"needs {needed / gigabytes:.1f} GB and {folder} has {free / gigabytes:.1f} GB; free {lacking:.1f} GB, or move "
        "it to another disk"
    )


def _full(error: BaseException) -> bool:
    return any(isinstance(one, OSError) and one.errno in (errno.ENOSPC, errno.EDQUOT) for one in _chain(error))


def _chain(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found:
        found.append(current)
        current = current.__cause__ or current.__context__
    return found


def _cause(error: BaseException) -> Exception:
    """The first error of a chain, which says most: a refused connection rather than a file that is not there."""
    last: Any = next((one for one in reversed(_chain(error)) if isinstance(one, Exception) and str(one)), error)
    return last  # type: ignore[no-any-return]


def _retry_after(error: BaseException) -> str:
    response: Any = getattr(error, "response", None)
    seconds = "" if response is None else str(response.headers.get("Retry-After", ""))
    return f"{seconds} s" if seconds.isdigit() else _SECONDS["429"]
