"""Made-up prose: a page of it trains tokenizers, and rows of data sets are made of it."""

import random

WORDS = [
    "the", "a", "small", "old", "cat", "dog", "boat", "river", "book", "house", "garden", "child", "reads", "sees",
    "finds", "crosses", "loves", "paints", "slowly", "paper", "window", "music", "green", "winter", "bridge", "carries",
    "under", "near", "behind", "with", "letter", "number", "seven", "school", "teacher", "asks", "answers", "train",
]  # fmt: skip
# Nouns that texts of medicine have and others do not.
MEDICAL = ["protein", "gene", "patient", "tumor", "receptor", "kinase", "therapy", "enzyme", "tissue", "antibody"]
NAMES = ["Anna", "Smith", "London", "Paris", "Jones", "Maria", "Boston", "Peter", "Vienna", "Clara"]
# Words of answers and labels, so that tokenizers know them as wholes as the published ones mostly do.
ANSWERS = [
    "unacceptable", "acceptable", "entailment", "neutral", "contradiction", "positive", "negative", "yes", "no", "true",
    "false", "First", "Second", "Third", "Fourth", "Fifth", "sentence",
]  # fmt: skip
# Further words of labels, and all of them: Llama-3's vocabulary has each as a whole.
WHOLE = [*ANSWERS, "World", "Sports", "Business", "Science"]


def sentence(rng: random.Random, shortest: int = 4, longest: int = 9) -> str:
    """A sentence; a splitter takes a single letter before a full stop for an initial, so none ends with an article."""
    words = rng.choices(WORDS, k=rng.randint(shortest, longest) - 1)
    if rng.random() < 0.3:
        words[rng.randrange(len(words))] = rng.choice(NAMES)
    return " ".join([*words, rng.choice(WORDS[2:])]).capitalize() + "."


def passage(rng: random.Random, sentences: int = 8) -> str:
    """Some sentences."""
    return " ".join(sentence(rng) for _ in range(sentences))


def abstract(rng: random.Random, sentences: int = 30) -> str:
    """Sentences of medicine, some two hundred words."""
    return " ".join(
        f"The {rng.choice(MEDICAL)} of the {rng.choice(MEDICAL)} is {rng.choice(WORDS[2:])}." for _ in range(sentences)
    )


def page() -> list[str]:
    """The lines that tokenizers are trained on, always the same."""
    rng = random.Random(0)
    return [*(passage(rng, 2) for _ in range(120)), *(f"{word}." for word in (*ANSWERS, *NAMES)), "0 1 2 3 4 5 6 7 8 9"]
