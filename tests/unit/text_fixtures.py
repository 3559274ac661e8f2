"""Prose in the manner of Jane Austen, made on the spot, and tables of it for the tests of text and objectives."""

from pathlib import Path

import numpy as np
import pyarrow
from reprlab.artifacts.tables import write_parquet

SUBJECTS = [
    "Mrs. Bennet",
    "Mr. Darcy",
    "Elizabeth",
    "her youngest sister",
    "the colonel",
    "Miss Bingley",
    "a gentleman of fortune",
    "their aunt",
]
VERBS = [
    "could not but admire",
    "had long suspected",
    "was soon persuaded of",
    "spoke with great warmth of",
    "was heartily tired of",
    "wrote to Mr. Collins concerning",
    "had never before considered",
    "laughed at",
]
OBJECTS = [
    "the civility of such an invitation",
    "a ball at Netherfield",
    "the prospect from the parlour window",
    "so much good sense",
    "an attachment formed in Hertfordshire",
    "the weather",
    "every thing that was amiable",
    "the expense of four horses",
]
ENDS = ["", ", and said so", "; but nobody listened", " before the first of March", ", though with little hope"]


def sentence(rng: np.random.Generator) -> str:
    """One sentence of the manner."""
    parts = [words[int(rng.integers(len(words)))] for words in (SUBJECTS, VERBS, OBJECTS, ENDS)]
    text = f"{parts[0]} {parts[1]} {parts[2]}{parts[3]}."
    return text[0].upper() + text[1:]


def prose(documents: int, seed: int = 0) -> list[str]:
    """Documents of 1 to 30 sentences in paragraphs."""
    rng = np.random.Generator(np.random.Philox(key=seed))
    texts = []
    for _ in range(documents):
        paragraphs = [
            " ".join(sentence(rng) for _ in range(int(rng.integers(1, 11)))) for _ in range(int(rng.integers(1, 4)))
        ]
        texts.append("\n\n".join(paragraphs))
    return texts


def write_documents(path: Path, texts: list[str]) -> Path:
    """A documents table: every fifth text is validation, the others train."""
    table = pyarrow.table(
        {
            "id": [f"d{i}" for i in range(len(texts))],
            "text": texts,
            "source": ["novel"] * len(texts),
            "split": ["validation" if i % 5 == 4 else "train" for i in range(len(texts))],
        }
    )
    write_parquet(path, table.replace_schema_metadata({"reprlab": '{"title": "Prose made for a test"}'}))
    return path
