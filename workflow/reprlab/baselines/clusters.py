"""Coreference that needs no training: the same name again is the same person."""

from __future__ import annotations

from collections.abc import Callable

from reprlab.coreference.names import PRONOUNS, is_capitalised, name_runs, title_gender
from reprlab.coreference.rows import AnnotatedText, Mention

_FIRST_PERSON = {"i", "me", "my", "mine", "myself"}


def linked_by_rule(text: AnnotatedText, *, pronouns: bool) -> list[list[Mention]]:
    """Chains that need no training: the same name again is the same person.

    A name is a run of capitalised words that are written so within a sentence, too. With `pronouns`, he and she and
    their forms belong to the name that was read last and is not known for the other gender, and I and its forms are one
    chain.
    """
    inside = {word for sentence in text.sentences for word in sentence[1:] if is_capitalised(word)}
    words, chains = text.words, dict[str, list[Mention]]()
    runs = {start: (start, end) for start, end in name_runs(words, inside.__contains__)}
    gender, last = dict[str, str](), list[str]()
    for place, word in enumerate(words):
        form = word.lower()
        if place in runs:
            start, end = runs[place]
            name = " ".join(words[start : end + 1])
            chains.setdefault(name, []).append((start, end))
            gender.setdefault(name, title_gender(name))
            last = [name, *(one for one in last if one != name)]
        elif pronouns and form in PRONOUNS:
            fitting = [name for name in last if gender[name] in ("", PRONOUNS[form])]
            if fitting:
                gender[fitting[0]] = PRONOUNS[form]
                chains[fitting[0]].append((place, place))
        elif pronouns and form in _FIRST_PERSON:
            chains.setdefault("i", []).append((place, place))
    return [chain for chain in chains.values() if len(chain) > 1]


RULES: dict[str, Callable[[AnnotatedText], list[list[Mention]]]] = {
    "repeated names": lambda text: linked_by_rule(text, pronouns=False),
    "names and pronouns": lambda text: linked_by_rule(text, pronouns=True),
}
"""What needs no training, by name."""
