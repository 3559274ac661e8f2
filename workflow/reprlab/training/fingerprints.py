"""Identity of a run: what its result depends on, and nothing else."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel


def run_fingerprint(code: str, settings: BaseModel, inputs: Iterable[Path]) -> str:
    """Digest of the code's fingerprint, the settings and the content of the input files (not their dates)."""
    digest = hashlib.sha256(f"{code}\n{settings.model_dump_json()}\n".encode())
    for path in sorted(inputs):
        with path.open("rb") as handle:
            digest.update(f"{path.name} {hashlib.file_digest(handle, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()
