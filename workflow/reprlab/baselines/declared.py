"""The baselines of each kind of answer. A task gets all of its kind; a paper may add to them and leaves none out."""

from __future__ import annotations

from typing import Literal

AnswerKind = Literal[
    "class",
    "choice",
    "score",
    "tags",
    "text",
    "description",
    "names",
    "triples",
    "items",
    "roles",
    "boundaries",
    "restored",
    "relation",
    "partners",
    "ranking",
    "vectors",
    "labelled vectors",
    "transcript",
    "track label",
    "clusters",
    "probed clusters",
]
BaselineName = Literal[
    "majority",
    "random",
    "tfidf",
    "char_tfidf",
    "word_majority",
    "next_word",
    "constant",
    "slot",
    "lead",
    "nearest",
    "copy",
]
"""Those that are fitted on tables of examples (`baselines.examples`)."""

_VECTORS = ("random vectors", "word TF-IDF", "character n-grams")
_RULES = ("repeated names", "names and pronouns")
_TEXT = ("majority", "constant", "slot", "lead", "nearest", "copy")
STATIC = "static embeddings"

_DECLARED: dict[AnswerKind, tuple[str, ...]] = {
    # One of a few labels: the commonest, and logistic regression on TF-IDF of words and of characters.
    "class": ("majority", "tfidf", "char_tfidf"),
    # The place of the right choice: the best place, the longest choice, the one with most words of the question.
    "choice": ("majority", "longest", "most words in common"),
    # A number: the mean, and the cosine of two texts by TF-IDF of words and of characters.
    "score": ("majority", "tfidf", "char_tfidf"),
    # A tag for each word: the commonest, the word's, that of the word before another word (by its shape where unseen).
    "tags": ("majority", "word_majority", "next_word"),
    # Free text: the commonest answer, one text fitted on all, the commonest form with the input's first word, the
    # input's first words, the answer to the nearest input, the input itself.
    "text": _TEXT,
    # A text about something that is not a text, such as a piece of music: also with what it was told in words.
    "description": ("another track's", "constant", "nearest", "nearest with its lyrics"),
    "names": ("nothing", "word_majority", "next_word"),
    "triples": ("nothing", "known_items"),
    "items": ("nothing", "word_majority", "next_word", "known_items"),
    "roles": ("nothing", "known_items"),
    "boundaries": ("copy", "rule"),
    "restored": ("copy", "word_majority", "next_word"),
    # The relation of two events: always the commonest, none, or that of the pair of words in training.
    "relation": ("majority relation", "no relation", "pair of words"),
    # Events that may be related to one: in a random order, or the nearest in the text.
    "partners": ("random order", "nearest in the text"),
    "ranking": ("random order", "bm25"),
    "vectors": _VECTORS,
    "labelled vectors": (*_VECTORS, "most frequent label"),
    "transcript": ("nothing", "most common", "duration alone"),
    "track label": ("best constant",),
    "clusters": _RULES,
    # Heads on frozen states are also compared with heads on the embeddings below the first layer.
    "probed clusters": (*_RULES, STATIC),
}
_OF_EXAMPLES: dict[str, AnswerKind] = {
    "single": "class",
    "pair": "class",
    "sentences": "class",
    "similarity": "score",
    "tags": "tags",
    "text_to_text": "text",
}
_OF_PAIRS: dict[str, AnswerKind] = {
    "restoration": "restored",
    "chunking": "tags",
    "pos": "tags",
    "ner": "names",
    "openie": "triples",
    "relations": "triples",
    "multitask": "items",
    "srl": "roles",
    "sbd": "boundaries",
}


def declared(answer: AnswerKind) -> tuple[str, ...]:
    """The names of all baselines of a kind of answer."""
    return _DECLARED[answer]


def answer_of(kind: str) -> AnswerKind | None:
    """The kind of answer of a kind of examples (`data.schema`); None where examples of it are not answered so."""
    return _OF_EXAMPLES.get(kind)


def answer_of_pairs(task: str) -> AnswerKind:
    """The kind of answer of a task that is written as pairs of texts (`structure.formats`)."""
    return _OF_PAIRS[task]
