"""What is said in a recording, as a recogniser writes it: small letters, apostrophes and single spaces."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from pydantic import BaseModel, ConfigDict

_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "´": "'", "ʼ": "'"})
# Joiners change how Bengali is drawn, not what is said.
_JOINERS = re.compile("[\u200b-\u200d\ufeff]")
# Stage directions stand in round brackets; square ones hold what is said, or a sign.
_ASIDE = re.compile(r"\([^)]*\)")
# Tags of transcribers: between angles or braces, behind `&=`, and some names between square brackets, stars or pluses
# or behind `#` and `%`. Punctuation that is read as a tag (GigaSpeech) and noises are not words; what a tag says that
# was not understood is not known.
_TAG = re.compile(
    r"<[^<>]*>|\{[^{}]*\}|&=\S+"
    r"|\[(?P<square>[^\[\]]*)\]|\*+(?P<star>[^*]*)\*+|\+\+(?P<plus>[^+]*)\+\+|(?<!\w)[#%](?P<sign>[a-z]+)"
)
_NOISES = {
    "applause", "background", "beep", "breath", "breathing", "click", "cough", "coughing", "crosstalk", "cry",
    "foreign", "hesitation", "laugh", "laughing", "laughter", "lipsmack", "lip-smack", "mumble", "music", "noise",
    "overlap", "pause", "sigh", "sil", "silence", "sneeze", "sniff", "static", "throat", "vocalized-noise",
    "vocalized_noise",
}  # fmt: skip
_UNKNOWN = {"unk", "unknown", "unintelligible", "inaudible", "indistinct", "unclear", "xxx", "pii", "redacted"}
_WHOLE = re.compile(r"\s*(\[[^\]]*\]|\([^)]*\))[\s.]*")


class TranscriptSettings(BaseModel):
    """How transcripts are written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    alphabet: Literal["LATIN", "CYRILLIC", "BENGALI"] = "LATIN"
    """A transcript with letters of another one is left out, as Unicode names them."""
    fold_accents: bool = False
    """Letters without their marks, where the transcripts were typed without most of them."""


def normalised(text: str, settings: TranscriptSettings) -> str:
    """The transcript in NFKC and small letters; empty where nothing is said, or what is said is not known.

    Nothing is said in a text that is wholly in brackets; numerals may be read in several ways, and letters of another
    alphabet were not read out. Tags of transcribers (`<COMMA>`, `{laugh}`, `[noise]`) are not words, and of a text with
    one that says that a word was not understood (`<unk>`) it is not known what is said.
    """
    if _WHOLE.fullmatch(text):
        return ""
    text = unicodedata.normalize("NFKC", _JOINERS.sub("", text)).translate(_QUOTES).lower()
    tags = [_name_of(found[0]) for found in _TAG.finditer(text)]
    if any(name in _UNKNOWN for name in tags):
        return ""
    text = _TAG.sub(_without_tag, text)
    if any(char.isnumeric() for char in text):
        return ""
    if settings.fold_accents:
        text = "".join(char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
    kept = []
    for char in _ASIDE.sub(" ", text):
        # Vowel signs are marks and belong to the word.
        spoken = unicodedata.category(char)[0] in "LM"
        if spoken and char.isalpha() and not unicodedata.name(char, "").startswith(settings.alphabet):
            return ""
        kept.append(char if spoken or char == "'" else " ")
    words = (word.strip("'") for word in "".join(kept).split())
    return " ".join(word for word in words if word)


def _name_of(tag: str) -> str:
    return tag.strip("<>{}[]*+#%&=/ ")


def _without_tag(found: re.Match[str]) -> str:
    """Nothing for a tag; words between square brackets, stars or pluses or behind a sign that name no noise are said,
    and stay."""
    words = _name_of(found[0]).split()
    is_noise = any(word in _NOISES or word.removesuffix("s") in _NOISES for word in words)
    return found[0] if found.lastgroup and not is_noise else " "
