"""The papers by slug, in the order of the report, with their settings models."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from reprlab.plugins import load_plugin
from reprlab.settings.base import Settings

SLUGS = (
    "depth",
    "vocab-memory",
    "amuro-char",
    "intrinsic-dimension",
    "event-relations",
    "overparameterized-encoders",
    "ssm-rerankers",
    "prompt-tuning-encoders",
    "domain-adaptive-masking",
    "punctuation-restoration",
    "universal-features",
    "reverse-probing",
    "asr-adapters",
    "music-video-description",
)
NEIGHBOURS = "results/neighbours.tsv"
"""The table that some papers fill together."""
APART = ("scales", "sensitivity")
"""Keys of a paper's file that are not settings of its stages."""


@cache
def paper_settings(slug: str) -> type[Settings]:
    """The settings model of a paper: `papers/<slug>/schema.py` defines it, named like the slug."""
    name = "".join(word.capitalize() for word in slug.split("-"))
    found: type[Settings] = getattr(load_plugin("papers", f"{slug}.schema"), f"{name}Settings")
    return found


class ByPaper(Mapping[str, Any]):
    """Something of each paper by its slug, found when it is looked up: a run loads what its own papers need."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        self._find = cache(find)

    def __getitem__(self, slug: str) -> Any:
        if slug not in SLUGS:
            raise KeyError(slug)
        return self._find(slug)

    def __contains__(self, slug: object) -> bool:
        return slug in SLUGS

    def __iter__(self) -> Iterator[str]:
        return iter(SLUGS)

    def __len__(self) -> int:
        return len(SLUGS)


PAPERS: Mapping[str, type[Settings]] = ByPaper(paper_settings)


def papers_needed(targets: Iterable[str], build: Sequence[str]) -> tuple[str, ...]:
    """The papers whose jobs make the targets: a paper's own for its name or a file below `results/<slug>`; those of
    `build` that declare neighbours for the table of these; all of `build` for anything else, which several papers
    share, and where nothing is asked for."""
    found: set[str] = set()
    for target in targets or ("all",):
        if target == NEIGHBOURS:
            # Records are not settings: whoever asks for no table of theirs does not load them.
            from reprlab.results.records import has_neighbours

            found |= set(filter(has_neighbours, build)) or set(build)
            continue
        name = target.removeprefix("results/").partition("/")[0] if target.startswith("results/") else target
        slug = name.replace("_", "-") if name == target else name
        found |= {slug} if slug in SLUGS else set(build)
    return tuple(slug for slug in SLUGS if slug in found)
