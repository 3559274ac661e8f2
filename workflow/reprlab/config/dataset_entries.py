"""Former place of `reprlab.registry.dataset_entries`, for readers of users that were written for 0.1.0."""

import warnings

from reprlab.registry.dataset_entries import ArchiveEntry, CorpusEntry, SplitSettings, TaskEntry

__all__ = ["ArchiveEntry", "CorpusEntry", "SplitSettings", "TaskEntry"]

warnings.warn(
    "reprlab.config.dataset_entries is now reprlab.registry.dataset_entries; import from there",
    DeprecationWarning,
    stacklevel=2,
)
