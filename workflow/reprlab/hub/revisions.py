"""Commits of repositories as registries and the lock file name them: apart from what asks the hub, for many stages read
registries alone."""

import re
from collections.abc import Mapping

COMMIT = re.compile(r"[0-9a-f]{40}")


def is_commit(revision: str) -> bool:
    """Whether a revision is a commit, which never moves."""
    return COMMIT.fullmatch(revision) is not None


def locked(revision: str, repository: str, commits: Mapping[str, str], kind: str = "model") -> str:
    """The commit that the lock file has for a branch; the revision itself where it has none."""
    return commits.get(lock_key(repository, revision, kind), revision)


def lock_key(repository: str, revision: str, kind: str = "model") -> str:
    """The key of a branch in the lock file."""
    return f"{kind}s/{repository}@{revision}"
