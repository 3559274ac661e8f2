"""The hub that serves the published layouts, and the registries of a checkout that is pointed at it."""

from __future__ import annotations

import fnmatch
import functools
import hashlib
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from reprlab.hub.commits import beside, read_lock
from reprlab.hub.revisions import is_commit
from reprlab.registry.datasets import DatasetRegistry, load_registry
from reprlab.registry.models import HubOrigin, ModelEntry, load_models

from tests.published_hub.archives import ARCHIVES, punkt
from tests.published_hub.layouts import CODE, build_model_repository, layouts, served_entry
from tests.published_hub.repository_files import NUMBERS, repository_file
from tests.published_hub.server import BRANCHES, Content, Hub

TOKEN = "hf_" + "t" * 34
"""A login that every licence was accepted with."""


class PublishedHub(Hub):
    """Every repository that `config` names, in its published layout; each is made when it is first asked for.

    Args:
        folder: what is made is kept in it and found again.
        config: the folder with `models.yaml` and `datasets.yaml`.
    """

    def __init__(self, folder: Path, config: Path) -> None:
        self.folder, self.config = folder, config
        self.published: dict[str, ModelEntry] = load_models(config / "models.yaml")
        """The registry as it is, not cut."""
        self.data: DatasetRegistry = load_registry(config / "datasets.yaml")
        self._lock_file = read_lock(beside(config / "datasets.yaml"))
        self._kept = folder / "revisions.json"
        self._revisions: dict[str, str] = json.loads(self._kept.read_text()) if self._kept.is_file() else {}
        self._lock = threading.Lock()
        punkt(folder / "nltk_data")
        # Answers of chat models are known by its address.
        kept = folder / "port.txt"
        super().__init__(folder / "repositories", _free(int(kept.read_text())) if kept.is_file() else 0)
        kept.write_text(self.address.rpartition(":")[2])

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which the hub's clients and the project reach this hub and nothing else."""
        return {
            "HF_ENDPOINT": self.address, "HF_HOME": str(self.folder / "huggingface"), "HF_TOKEN": TOKEN,
            "REPRLAB_MIRROR": str(self.folder / "mirror"), "NLTK_DATA": str(self.folder / "nltk_data"),
            "OPENAI_BASE_URL": f"{self.address}/v1", "OPENAI_API_KEY": "sk-of-this-hub",
        }  # fmt: skip

    @property
    def models(self) -> dict[str, ModelEntry]:
        """The registry that fits what is served: each entry cut."""
        return {name: served_entry(entry) for name, entry in self.published.items()}

    def write_registries(self, config: Path) -> None:
        """Rewrite `models.yaml` and `datasets.yaml` of a checkout's `config` so that they fit what is served.

        Models are cut. Archives of the hub stay as they are; those of other public places name local files, or files
        of the mirror, with their digests; numbers of rows that the registry knows become the served ones.
        """
        models = {name: entry.model_dump(mode="json") for name, entry in self.models.items()}
        (config / "models.yaml").write_text(yaml.safe_dump(models, sort_keys=False), encoding="utf-8")
        path = config / "datasets.yaml"
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        for name, archive in raw["archives"].items():
            if name in ARCHIVES:
                archive.update(self._redirected(name))
        for section in ("corpora", "tasks"):
            for entry in raw[section].values():
                options = entry.get("options") or {}
                for (reader, key), served in NUMBERS.items():
                    if entry["reader"] == reader and options.get(key) is not None:
                        options[key] = served(options[key])
        path.write_text(yaml.safe_dump(raw, sort_keys=False, allow_unicode=True), encoding="utf-8")

    def _redirected(self, name: str) -> dict[str, Any]:
        """Where an archive of another place is had, and the digests of its files, which are made here."""
        entry = self.data.archive(name)
        files = ARCHIVES[name](entry)
        scheme, _, spec = entry.origins[0].partition(":")
        if scheme == "github":
            place = self.folder / "mirror/github" / spec.partition("@")[0]
            origins = list(entry.origins)
        else:
            place = self.folder / "local" / name
            origins = [f"local:{place}"]
        listed = []
        for file, content in files.items():
            path = place / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            listed.append({"file": file, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)})
        if entry.listed:
            # The lists name further files, which are known by the revision of theirs.
            named = {file.file: file for file in entry.files}
            listed = [{"file": one, "revision": named[one].revision} for one in files if one in named]
        return {"origins": origins, "files": listed}

    def prepare(self, repository: str, revision: str = "main") -> Path:
        """The folder of a model's repository at a revision, made now if it is not there: the largest, XLM-V, takes
        eight seconds, and a busy machine more than the twenty that clients wait for an answer."""
        return build_model_repository(repository, revision, self.published, self.folder / "models")

    # What the server asks.

    def has(self, kind: str, repository: str) -> bool:
        return repository in (self._model_repositories if kind == "models" else self._data_repositories)

    def refuses(self, repository: str, token: str) -> bool:
        found = layouts().get(repository)
        return repository in self.gated or bool(found and found.gated and token != TOKEN)

    def commit_of(self, repository: str, revision: str) -> str:
        """The commit of a revision; that of a branch can be asked for from then on."""
        commit = revision
        if not is_commit(revision):
            commit = hashlib.sha1(f"{repository}@{revision}".encode(), usedforsecurity=False).hexdigest()
        key = f"{repository}@{commit}"
        if self._revisions.get(key) != revision:
            # Whoever was told of a commit may ask for it when this hub is started again.
            self._revisions[key] = revision
            self._kept.write_text(json.dumps(self._revisions))
        return commit

    def version(self, kind: str, repository: str, revision: str) -> tuple[str, Mapping[str, Content]] | None:
        known = (self._model_repositories if kind == "models" else self._data_repositories)[repository]
        named = self._revisions.get(f"{repository}@{revision}", revision)
        pinned = {one for key, one in self._lock_file.items() if key.startswith(f"{kind}/{repository}@")}
        if named not in known | pinned and named not in BRANCHES and not self._is_branch(repository, named):
            return None
        commit = self.commit_of(repository, named)
        with self._lock:
            return commit, self._model(repository, named) if kind == "models" else self._files(repository)

    def _is_branch(self, repository: str, revision: str) -> bool:
        found = layouts().get(repository)
        return bool(found and any(fnmatch.fnmatchcase(revision, one) for one in found.branches))

    def _model(self, repository: str, revision: str) -> dict[str, Content]:
        folder = self.prepare(repository, revision)
        paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
        return {name: path for name, path in paths.items() if not name.startswith(".")}

    def _files(self, repository: str) -> Mapping[str, Content]:
        return _MadeFiles(repository, self._names[repository], self.folder / "data" / CODE)

    @functools.cached_property
    def _model_repositories(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for entry in self.published.values():
            if isinstance(entry.origin, HubOrigin):
                found.setdefault(entry.origin.repository, set()).add(entry.origin.revision)
                if entry.origin.adapter:
                    found.setdefault(entry.origin.adapter, set()).add(entry.origin.adapter_revision)
        return {repository: revisions for repository, revisions in found.items() if repository in layouts()}

    @functools.cached_property
    def _data_repositories(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for entry in self.data.archives.values():
            for origin in entry.origins:
                if origin.startswith("hub:"):
                    repository, _, revision = origin.removeprefix("hub:").partition("@")
                    found.setdefault(repository, set()).add(revision)
        return found

    @functools.cached_property
    def _names(self) -> dict[str, list[str]]:
        """Files of each data set's repository, by the archives that name them."""
        found: dict[str, list[str]] = {}
        for entry in self.data.archives.values():
            for origin in entry.origins:
                if origin.startswith("hub:"):
                    names = found.setdefault(origin.removeprefix("hub:").partition("@")[0], ["README.md"])
                    names += [file.file for file in entry.files if file.file not in names]
        return found


def _free(port: int) -> int:
    """The port if nothing holds it, else 0: any."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return 0
    return port


class _MadeFiles(Mapping[str, Content]):
    """Files of a data set's repository, made when they are read."""

    def __init__(self, repository: str, names: list[str], folder: Path) -> None:
        self.repository, self.names, self.folder = repository, names, folder / repository

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> Content:
        if name not in self.names:
            raise KeyError(name)
        path = self.folder / name
        if not path.is_file():
            content = b"a card\n" if name == "README.md" else repository_file(self.repository, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            # Two requests may make it at once; each sees a whole one.
            made = path.with_name(f".{path.name}.{threading.get_ident()}")
            made.write_bytes(content)
            made.replace(path)
        return path


@contextmanager
def published_hub(folder: Path, config: Path | None = None) -> Iterator[PublishedHub]:
    """A hub on this machine with the published layouts.

    Args:
        folder: what is made is kept in it; given again, it is found again.
        config: the folder of the registries; by default that of this checkout.
    """
    with PublishedHub(folder, config or Path(__file__).resolve().parents[2] / "config") as hub:
        yield hub
