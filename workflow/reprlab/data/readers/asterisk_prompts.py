"""Telephone prompts of Asterisk: a list of transcripts, and a recording for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.audio.decoding import decode
from reprlab.audio.transcripts import TranscriptSettings, normalised
from reprlab.data.sources import Sources
from reprlab.data.text_files import streamed_rows
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import get_logger


class Settings(BaseModel):
    """Where transcripts and recordings lie, and which recordings are read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    texts: str
    """Member of the first archive: a gzipped line `key: text` for each prompt, comments after `;`."""
    sounds: str
    """Folder of the second archive that holds `key.kind`."""
    kind: Literal["g722", "wav", "gsm"] = "g722"
    """Format of the recordings."""
    shortest: float = Field(default=0.4, ge=0)
    """Seconds of the shortest recording."""
    longest: float = Field(default=6.0, gt=0)
    """Seconds of the longest one; a few of a minute would fill the memory of a batch."""
    text: TranscriptSettings = TranscriptSettings()
    """How transcripts are written."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each prompt of the wanted length; prompts that say the same are one group.

    Raises:
        ReprlabError: the list cannot be read, or a recording is damaged or silent.
    """
    texts, sounds = sources.archives.values()
    left_out: Counter[str] = Counter()
    # In Italian a key and its file differ in case.
    files = {
        path.as_posix().partition(f"{settings.sounds}/")[2].rpartition(".")[0].lower(): path
        for path in sounds.members(f"{settings.sounds}/*.{settings.kind}")
    }
    for key, said in sorted(_listed(texts.member(settings.texts)).items()):
        text, path = normalised(said, settings.text), files.get(key.lower())
        if not text or path is None:
            left_out["without words" if not text else "without recording"] += 1
            continue
        with sources.row():
            sound = decode(path)
            if not settings.shortest <= sound.seconds <= settings.longest:
                left_out["too short or too long"] += 1
                continue
            sound.require_content()
            yield {
                "id": key,
                "group": text,
                "text": text,
                "seconds": sound.seconds,
                "rate": sound.rate,
                "kind": settings.kind,
                "audio": path.read_bytes(),
            }
    get_logger().info(
        "%s: left out %s", settings.sounds, ", ".join(f"{count} {why}" for why, count in left_out.items())
    )


def _listed(path: Any) -> dict[str, str]:
    """Transcripts by key; of two with one key the last counts."""
    try:
        lines = [row for _, row in streamed_rows(path, zipped=True)]
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ReprlabError(f"{path}: not a gzipped list of transcripts ({error}); fetch it again") from None
    pairs = (line.partition(":") for line in lines if ":" in line and not line.startswith(";"))
    return {key.strip(): text.strip() for key, _, text in pairs}
