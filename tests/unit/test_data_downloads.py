"""The default data as the registries serve it, against the counts that were measured. Needs a network and pip."""

from pathlib import Path

import pytest
from reprlab.data.archives import Archive
from reprlab.data.documents import documents_of
from reprlab.data.downloads import obtain, write_receipt
from reprlab.data.examples import examples_of
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import Limits
from reprlab.registry.datasets import load_registry

pytestmark = pytest.mark.slow
REGISTRY = Path(__file__).parents[2] / "config" / "datasets.yaml"


def fetched(name: str, folder: Path) -> Sources:
    entry = load_registry(REGISTRY).archive(name)
    write_receipt(entry, [obtain(entry, entry.files[0], folder)], folder / "receipt.json")
    return Sources({name: Archive.open(folder, folder / "receipt.json")})


def test_wikipedia_sample(tmp_path: Path) -> None:
    rows = list(documents_of(load_registry(REGISTRY).corpus("wikipedia_sample"), fetched("gensim", tmp_path)))
    # 106 articles, of which 10 are disambiguation pages or lists without prose.
    assert len(rows) == 96
    assert sum(len(row["text"].split()) for row in rows) == pytest.approx(402_000, rel=0.01)
    assert not any(mark in row["text"] for row in rows for mark in ("{{", "}}", "[[", "]]", "<ref", "'''"))


def test_movie_snippets(tmp_path: Path) -> None:
    rows = examples_of(load_registry(REGISTRY).task("movie_snippets"), fetched("vader", tmp_path), Limits())
    # 5,242 and 5,326 sentences with a mean that is not zero, less two duplicates.
    assert [sum(row["label"] == label for row in rows) for label in ("positive", "negative")] == [5241, 5325]
