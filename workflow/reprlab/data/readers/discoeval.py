"""DiscoEval's own files: sentence position (SP) and discourse coherence (DC)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import FaultyRows, Sources, tab_rows
from reprlab.data.splits import normalised, position
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

POSITION_LABELS = ["First sentence", "Second sentence", "Third sentence", "Fourth sentence", "Fifth sentence"]
COHERENCE_LABELS = ["Incoherent", "Coherent"]
LABELS = {"sp": POSITION_LABELS, "dc": COHERENCE_LABELS}
SENTENCES = {"sp": 5, "dc": 6}
_FILES = {"train": "train.txt", "validation": "valid.txt", "test": "test.txt"}


class Settings(BaseModel):
    """Which task, and what to do without a training file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: Literal["sp", "dc"]
    """Sentence position or discourse coherence."""
    folder: str
    """Folder of the files in the repository, such as data/SP/rocstory."""
    train_from_validation: float = Field(default=0, ge=0, lt=1)
    """Without a training file, this share of the texts of the validation file is trained on; 0 means that the training
    file must be there."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a line; the two versions of a DC text form a group.

    Raises:
        ReprlabError: a file is not declared by the archives of the entry, or a line is not in the format.
    """
    own_train = settings.train_from_validation == 0
    for split, name in _FILES.items():
        if split == "train" and not own_train:
            continue
        path = _file(sources, f"{settings.folder}/{name}")
        for row in _examples(path, split, settings.task, sources.faulty):
            resplit = split == "validation" and not own_train
            if resplit and position(splits.seed, row["group"]) < settings.train_from_validation:
                row["split"] = "train"
            yield row


def _file(sources: Sources, name: str) -> Path:
    for archive in sources.archives.values():
        if archive.has_file(name):
            return archive.file(name)
    raise ReprlabError(f"{name}: no archive of this entry declares this file; add it, or set `train_from_validation`")


def _examples(path: Path, split: str, task: str, faulty: FaultyRows) -> Iterator[dict[str, Any]]:
    labels = LABELS[task]
    for number, (label, *sentences) in tab_rows(path, 1 + SENTENCES[task]):
        # isdigit alone takes characters, such as a raised 2, that int refuses.
        if not (label.isascii() and label.isdigit()) or int(label) >= len(labels):
            faulty.leave_out(f"{path}: line {number}: the label {label!r} is none of 0 to {len(labels) - 1}")
            continue
        yield {
            "id": f"{path.stem}-{number}",
            "group": group_of(sentences, task),
            "split": split,
            "sentences": sentences,
            "label": labels[int(label)],
        }


def group_of(sentences: list[str], task: str) -> str:
    """What the versions of one text share: only inner sentences of a DC text are ever replaced, and SP reorders."""
    kept = [sentences[0], sentences[-1]] if task == "dc" else sorted(sentences)
    return normalised("\n".join(kept))
