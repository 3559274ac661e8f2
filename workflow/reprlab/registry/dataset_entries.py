"""The entries of the data registry: archives, corpora and tasks."""

import hashlib
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from reprlab.hub.revisions import is_commit
from reprlab.plugins import load_plugin
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.errors import registry_error

SPLITS = ("train", "validation", "test")
ORIGIN_SCHEMES = ("pypi", "debian", "npm", "hub", "github", "local", "web")

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$")]
GitDigest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
# A commit, or the hub's own conversion to Parquet or the main branch, where only that is known; with the repository's
# name, so that two repositories never share a place in the cache.
Revision = Annotated[
    str,
    StringConstraints(
        pattern=r"^([0-9a-f]{40}|[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+@([0-9a-f]{40}|refs/convert/parquet|main))$"
    ),
]
Md5 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Split = Literal["train", "validation", "test"]


def _known_scheme(origin: str) -> str:
    scheme, separator, rest = origin.partition(":")
    # A folder of the user's may have a space in its name.
    unfit = r"[\r\n\t\x00]" if scheme == "local" else r"[\s\x00]"
    if scheme not in ORIGIN_SCHEMES or not separator or not rest or re.search(unfit, origin):
        raise ValueError(f"an origin is one of {', '.join(ORIGIN_SCHEMES)} followed by a colon and a specification")
    return origin


def _safe_path(path: str) -> str:
    parts = path.split("/")
    if path.startswith("/") or any(part in ("", ".", "..") for part in parts) or "\\" in path or "\x00" in path:
        raise ValueError("a path inside an archive is relative and holds no '..'")
    return path


Origin = Annotated[str, AfterValidator(_known_scheme)]
MemberPath = Annotated[str, AfterValidator(_safe_path)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ArchiveFile(_Strict):
    """One downloaded file, known by its content: by sha256, else by md5 or git's digest, else by a pinned revision."""

    file: MemberPath
    """Name of the file; in a repository, its path there."""
    sha256: Sha256 | None = None
    """Digest that the content must have; anything else is refused and deleted."""
    md5: Md5 | None = None
    """The same by md5, where only that is published."""
    git_blob: GitDigest | None = None
    """Git's own digest of the file, where only that is known."""
    revision: Revision | None = None
    """Commit that fixes the content, where no digest of the file is known: such a file is not verified."""
    bytes: int | None = Field(default=None, gt=0)
    """Size of the file; needed with a sha256."""
    rows: int | None = Field(default=None, gt=0)
    """Only this many first rows of the file at a revision, streamed and kept as JSON lines."""

    @model_validator(mode="after")
    def _has_one_identity(self) -> "ArchiveFile":
        if sum(value is not None for value in (self.sha256, self.md5, self.git_blob, self.revision)) != 1:
            raise ValueError("a file has exactly one of sha256, md5, git_blob and revision")
        if self.sha256 is not None and self.bytes is None:
            raise ValueError("a file with a sha256 has its size in bytes")
        if self.rows is not None and self.revision is None:
            raise ValueError("rows are taken from a file at a revision; a digest is that of the whole file")
        return self

    @property
    def branch(self) -> tuple[str, str] | None:
        """Repository of the hub and its branch, where that is all that is known of the revision."""
        repository, at, branch = (self.revision or "").rpartition("@")
        return (repository, branch) if at and not is_commit(branch) else None

    def at(self, commit: str) -> "ArchiveFile":
        """The same file at a commit of its repository."""
        repository, _, _ = (self.revision or "").rpartition("@")
        return self.model_copy(update={"revision": f"{repository}@{commit}"})

    @property
    def digest(self) -> str:
        """The identity of the content, and the name of its folder in the cache."""
        if self.revision is not None:
            part = f":{self.rows}" if self.rows else ""
            return hashlib.sha256(f"{self.revision}:{self.file}{part}".encode()).hexdigest()
        return self.sha256 or self.md5 or self.git_blob or ""

    @property
    def stored(self) -> str:
        """Its name in that folder."""
        name = self.file.rpartition("/")[2]
        return f"{name}.first-{self.rows}.jsonl" if self.rows else name


class ArchiveEntry(_Strict):
    """Something to download: one package, or files of one repository at one commit."""

    name: Name
    """The key in the registry."""
    version: str
    """Version of the package or commit of the repository."""
    origins: list[Origin] = Field(min_length=1)
    """Where it can be had, in the order in which they are tried."""
    files: list[ArchiveFile] = Field(min_length=1)
    """The files; a package has one."""
    listed: str | None = None
    """The files above hold a name a line; the file that this template gives for it ("tasks/{}.json") belongs too."""
    members: list[MemberPath] = []
    """Members to unpack, `*` matches any text; `outer.tar.gz!inner` is a member of an archive in the archive."""
    member_limit: int = Field(default=256 * 2**20, gt=0)
    """No unpacked member may be larger than this many bytes, nor all of them together than eight times as many."""
    licence: str
    """Licence of the text inside, shown in the report."""
    homepage: str
    """Where the data is described."""
    purpose: str
    """Its purpose."""
    unverified: str = ""
    """What could not be looked at when the entry was made; preflight checks such an archive first."""


class Wanted(_Strict):
    """The part of an archive that a run reads."""

    files: list[ArchiveFile] = []
    """Its files, or the first rows of them; none means all of the archive."""

    def of(self, entry: ArchiveEntry) -> ArchiveEntry:
        """The archive with these files alone."""
        return entry.model_copy(update={"files": self.files, "listed": None}) if self.files else entry


class SplitFile(_Strict):
    """A file of a repository that fills a split."""

    file: str
    """Path in the repository."""
    split: Split
    """The split that it fills."""


class SplitSettings(_Strict):
    """Shares of the groups (documents, pairs, …) that go to each split, by a hash of seed and group."""

    seed: int = 0
    """Another seed is another split."""
    train: float = Field(default=0.8, ge=0, le=1)
    """Share of the groups in the train split."""
    validation: float = Field(default=0.1, ge=0, le=1)
    """Share of the groups in the validation split."""
    test: float = Field(default=0.1, ge=0, le=1)
    """Share of the groups in the test split."""

    @model_validator(mode="after")
    def _sums_to_one(self) -> "SplitSettings":
        if abs(self.train + self.validation + self.test - 1) > 1e-9:
            raise ValueError("the shares of train, validation and test must sum to 1")
        return self


class _Dataset(_Strict):
    name: Name
    """The key in the registry."""
    title: str
    """The true name of the data, printed in every table that uses it."""
    revision: str
    """Raised by hand when the meaning of the entry changes, or the revision of the upstream data."""
    reader: Name
    """Module of `reprlab/data/readers` that reads it."""
    archives: list[Name] = []
    """Archives that the reader opens."""
    options: dict[str, Any] = {}
    """Settings of the reader, checked against its `Settings`."""
    faulty_rows: int = Field(default=0, ge=0)
    """Rows of the published set that are known not to be examples: so many are left out, one more is an error."""
    splits: SplitSettings = SplitSettings()
    """How groups are split where the data has no split of its own."""
    licence: str
    """Licence of the text, shown in the report."""
    homepage: str
    """Where the data is described."""
    purpose: str
    """Its purpose."""


class CorpusEntry(_Dataset):
    """Running text: documents for pre-training."""


LABELLED_KINDS = ("single", "pair", "sentences", "tags", "events")


BaselineName = Literal["majority", "random", "tfidf", "copy", "word_majority"]
# What needs no model, by kind of examples; a row must beat all of it to be above the trivial. Rankings and rated pairs
# are compared with random vectors and character n-grams instead, where their encoders are scored.
_BASELINES: dict[str, tuple[BaselineName, ...]] = {
    "single": ("majority", "tfidf"),
    "pair": ("majority", "tfidf"),
    "sentences": ("majority", "random"),
    "similarity": ("majority", "tfidf"),
    "tags": ("majority", "word_majority"),
    "text_to_text": ("majority", "copy"),
}


class TaskEntry(_Dataset):
    """Labelled examples. `kind` decides the columns (see `reprlab/data/schema.py`)."""

    kind: Literal[
        "single",
        "pair",
        "sentences",
        "tags",
        "similarity",
        "span_qa",
        "ranking",
        "text_to_text",
        "choice",
        "chat",
        "events",
        "coreference",
        "passages",
        "triples",
        "roles",
        "speech",
    ]
    """Which columns the examples have."""
    role: str
    """The column of the published tables that this data fills."""
    labels: list[str] = []
    """The label set in order; a label outside it is an error."""
    baselines: list[BaselineName] | None = None
    """Answers without a model that a row must beat to be above the trivial; null: those of its kind."""
    documents: list[Name] = []
    """Corpora whose segmented sentences the reader is given."""
    note: str = ""
    """The note for a reader of the table (stand-in, own split, ...)."""

    def trivial(self) -> list[BaselineName]:
        """Its baselines; empty where examples of its kind have none."""
        return list(_BASELINES.get(self.kind, ())) if self.baselines is None else self.baselines

    @model_validator(mode="after")
    def _labels_fit_kind(self) -> "TaskEntry":
        if self.kind in LABELLED_KINDS and len(set(self.labels)) < 2:
            raise ValueError(f"a task of kind {self.kind} lists at least two different labels")
        if self.kind not in LABELLED_KINDS and self.labels:
            raise ValueError(f"a task of kind {self.kind} has no labels")
        return self


class Limits(_Strict):
    """Largest number of examples kept in each split; None keeps all. The kept ones are the first by hash order."""

    train: int | None = Field(default=None, ge=1)
    """Examples kept for training."""
    validation: int | None = Field(default=None, ge=1)
    """Examples kept for validation."""
    test: int | None = Field(default=None, ge=1)
    """Examples kept for testing."""


def part_of(entry: CorpusEntry) -> Callable[[list[ArchiveFile]], list[ArchiveFile]] | None:
    """The archive's files that the reader of `entry` reads with these options; None where it always reads all."""
    part = getattr(load_plugin("data.readers", entry.reader), "part", None)
    settings = reader_settings(entry)
    return (lambda files: part(files, settings)) if part else None


def reader_settings(entry: CorpusEntry | TaskEntry, where: str = "") -> Any:
    """The options of `entry` as the `Settings` of its reader.

    Raises:
        ReprlabError: the reader does not exist or refuses an option.
    """
    where = where or entry.name
    try:
        reader = load_plugin("data.readers", entry.reader)
        return reader.Settings.model_validate(entry.options)
    except ReprlabError as error:
        raise ReprlabError(f"{where}.reader: {error}") from None
    except ValidationError as error:
        raise registry_error(error, reader.Settings, f"{where}.options.") from None
