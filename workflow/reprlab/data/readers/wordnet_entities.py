"""Words of WordNet inside held-out glosses, tagged with their topic: silver labels on real text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources, segmented_sentences
from reprlab.data.wordnet_glosses import read_synsets
from reprlab.registry.dataset_entries import Split, SplitSettings
from reprlab.runtime.errors import ReprlabError

_TOKENS = re.compile(r"\w+|[^\w\s]")


class Settings(BaseModel):
    """Which words, and which documents."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: str
    """Member with the synsets."""
    topics: list[str] = Field(min_length=1)
    """Topics that are tagged, in capitals."""
    held_out: list[Split] = ["test"]
    """Splits of the corpus that are used: never one that is pre-trained on."""
    least_letters: int = Field(default=3, ge=1)
    """A word with fewer is tagged nowhere: symbols of elements."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each sentence, B and I of a topic where a word has this topic in all its senses as a noun.

    The longest word is taken from left to right, written as WordNet writes it.

    Raises:
        ReprlabError: the file is not WordNet's, or no segmented sentences were given.
    """
    from reprlab.concepts.matching import ConceptMatcher

    if not sources.documents:
        raise ReprlabError("no segmented sentences were given (--documents)")
    topics: dict[str, set[str]] = defaultdict(set)
    for synset in read_synsets(sources.archive.member(settings.data)):
        for word in synset.words:
            topics[word].add(synset.topic)
    alone = {word: next(iter(found)) for word, found in topics.items() if len(found) == 1}
    chosen = {
        word: topic for word, topic in alone.items() if topic in settings.topics and len(word) >= settings.least_letters
    }
    matcher = ConceptMatcher(sorted(chosen))
    for path in sources.documents:
        table = segmented_sentences(path, ["document", "split", "sentences"])
        for row in table.to_pylist():
            for number, sentence in enumerate(row["sentences"] if row["split"] in settings.held_out else []):
                tokens = _TOKENS.findall(sentence)
                tags = ["O"] * len(tokens)
                start, length = matcher.spans(matcher.numbers(token.lower() for token in tokens))
                for first, words in zip(start.tolist(), length.tolist(), strict=True):
                    topic = chosen.get(" ".join(tokens[first : first + words]), "").upper()
                    if topic:
                        tags[first : first + words] = [f"B-{topic}", *[f"I-{topic}"] * (words - 1)]
                if tokens:
                    name = row["document"]
                    yield {"id": f"{name}-{number}", "group": name, "tokens": tokens, "tags": tags}
