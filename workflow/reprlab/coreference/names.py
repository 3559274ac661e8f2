"""Names in running words: runs of capitalised words, and the pronouns that may stand for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from reprlab.coreference.rows import Mention

_WORDS = re.compile(r"(?:Mr|Mrs|Dr|St)\.|\w+(?=['’]s\b)|['’]s\b|\w+(?:[-'’]\w+)*|[^\w\s]")
MALE, FEMALE = "male", "female"
_TITLES = {
    **dict.fromkeys(["Mr.", "Sir", "Lord", "Captain", "Colonel", "Dr.", "Uncle", "Admiral"], MALE),
    **dict.fromkeys(["Mrs.", "Miss", "Lady", "Madam", "Aunt"], FEMALE),
}
PRONOUNS = {
    **dict.fromkeys(["he", "him", "his", "himself"], MALE),
    **dict.fromkeys(["she", "her", "hers", "herself"], FEMALE),
}


def words_of(sentence: str) -> list[str]:
    """Words and punctuation of a sentence; a genitive 's is a word of its own, a title keeps its full stop."""
    return _WORDS.findall(sentence)


def is_capitalised(word: str) -> bool:
    """Whether it begins with a capital and is longer than one letter, as names are and `I` is not."""
    return len(word) > 1 and word[0].isupper() and any(map(str.islower, word))


def title_gender(name: str) -> str:
    """Gender that the title in front of a name tells; empty where there is none."""
    return _TITLES.get(name.partition(" ")[0], "")


def name_runs(words: Sequence[str], is_name: Callable[[str], bool]) -> list[Mention]:
    """First and last place of each maximal run of names, a title in front included; a title alone is not a name."""
    found: list[Mention] = []
    start = -1
    for place, word in enumerate([*words, ""]):
        if start < 0 and word and (is_name(word) or word in _TITLES):
            start = place
        elif start >= 0 and not is_name(word):
            if any(is_name(one) and one not in _TITLES for one in words[start:place]):
                found.append((start, place - 1))
            start = place if word in _TITLES else -1
    return found
