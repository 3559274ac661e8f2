"""The papers by slug, in the order of the report, with their settings models."""

from collections.abc import Iterator, Mapping
from functools import cache

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
    "reverse-probing",
)


@cache
def paper_settings(slug: str) -> type[Settings]:
    """The settings model of a paper: `papers/<slug>/schema.py` defines it, named like the slug."""
    name = "".join(word.capitalize() for word in slug.split("-"))
    found: type[Settings] = getattr(load_plugin("papers", f"{slug}.schema"), f"{name}Settings")
    return found


class _Papers(Mapping[str, type[Settings]]):
    """Settings models by slug; a model is imported when it is looked up, so that a run loads only its papers'."""

    def __getitem__(self, slug: str) -> type[Settings]:
        if slug not in SLUGS:
            raise KeyError(slug)
        return paper_settings(slug)

    def __contains__(self, slug: object) -> bool:
        return slug in SLUGS

    def __iter__(self) -> Iterator[str]:
        return iter(SLUGS)

    def __len__(self) -> int:
        return len(SLUGS)


PAPERS: Mapping[str, type[Settings]] = _Papers()
