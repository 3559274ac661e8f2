"""The data registry `config/datasets.yaml`: reading it whole and checking it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from reprlab.hub.revisions import locked
from reprlab.registry.dataset_entries import ArchiveEntry, ArchiveFile, CorpusEntry, Name, TaskEntry, reader_settings
from reprlab.registry.registry_file import read_entries
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.errors import nearest, registry_error


class DatasetRegistry(BaseModel):
    """All that `config/datasets.yaml` declares, by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    archives: dict[Name, ArchiveEntry]
    """Downloads."""
    corpora: dict[Name, CorpusEntry]
    """Running text."""
    tasks: dict[Name, TaskEntry]
    """Labelled examples."""

    def archive(self, name: str) -> ArchiveEntry:
        """The archive called `name`; `ReprlabError` with the nearest name if there is none."""
        return _lookup(self.archives, name, "archives")

    def pinned(self, commits: Mapping[str, str]) -> "DatasetRegistry":
        """The registry with the commits of a lock file in place of the branches that archives name."""
        archives = {name: _pinned(entry, commits) for name, entry in self.archives.items()}
        return self.model_copy(update={"archives": archives})

    def corpus(self, name: str) -> CorpusEntry:
        """The corpus called `name`; `ReprlabError` with the nearest name if there is none."""
        return _lookup(self.corpora, name, "corpora")

    def task(self, name: str) -> TaskEntry:
        """The task called `name`; `ReprlabError` with the nearest name if there is none."""
        return _lookup(self.tasks, name, "tasks")


def _pinned(entry: ArchiveEntry, commits: Mapping[str, str]) -> ArchiveEntry:
    def of(file: ArchiveFile) -> ArchiveFile:
        repository, branch = file.branch or ("", "")
        commit = locked(branch, repository, commits, "dataset")
        return file if commit == branch else file.at(commit)

    # An origin that names a branch is asked for the commit of the file.
    return entry.model_copy(update={"files": [of(file) for file in entry.files]})


def _lookup(entries: dict[str, Any], name: str, where: str) -> Any:
    if name in entries:
        return entries[name]
    raise ReprlabError(f"{where}: {name!r} is not in the data registry{nearest(name, entries)}")


def load_registry(path: Path) -> DatasetRegistry:
    """Read and check a data registry.

    Raises:
        ReprlabError: the file is missing, is not YAML, has an unknown key or a bad value, names an archive or a corpus
            that it does not declare, or gives a reader an option that the reader does not know.
    """
    raw = read_entries(path, ("archives", "corpora", "tasks"))
    try:
        registry = DatasetRegistry.model_validate(raw)
    except ValidationError as error:
        raise registry_error(error, DatasetRegistry, f"{path}: ") from None
    _check_references(path, registry)
    return registry


def _check_references(path: Path, registry: DatasetRegistry) -> None:
    for section, entries in (("corpora", registry.corpora), ("tasks", registry.tasks)):
        for name, entry in entries.items():
            where = f"{path}: {section}.{name}"
            for archive in entry.archives:
                if archive not in registry.archives:
                    raise ReprlabError(
                        f"{where}.archives: {archive!r} is not declared{nearest(archive, registry.archives)}"
                    )
            for corpus in getattr(entry, "documents", []):
                if corpus not in registry.corpora:
                    raise ReprlabError(
                        f"{where}.documents: {corpus!r} is not declared{nearest(corpus, registry.corpora)}"
                    )
            reader_settings(entry, where)
