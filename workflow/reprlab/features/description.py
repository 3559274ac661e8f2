"""What features fire on: case studies by the text of tokens, and how much of a feature is formatting."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.evaluation.bootstrap import mean_interval
from reprlab.features.comparison import best_links
from reprlab.features.sample import TokenSample
from reprlab.features.settings import CaseStudy, DescriptionSettings
from reprlab.features.sparse import SparseFeatures

_LETTER = re.compile(r"\w")


def token_texts(tokenizer: Any, ids: np.ndarray) -> dict[int, str]:
    """The text of each distinct token, with the space before it."""
    distinct = np.unique(ids).tolist()
    pieces = tokenizer.convert_ids_to_tokens(distinct)
    # SentencePiece marks the space; a byte-level vocabulary writes bytes as letters and is decoded.
    marked = any("▁" in piece for piece in pieces)
    texts = [
        piece.replace("▁", " ") if marked else tokenizer.decode([one])
        for one, piece in zip(distinct, pieces, strict=True)
    ]
    return dict(zip(distinct, texts, strict=True))


@dataclass
class Description:
    """What is known of the features of a lineage on its sample."""

    settings: DescriptionSettings
    sample: TokenSample
    texts: dict[int, str]
    links: Path

    def __post_init__(self) -> None:
        self.features = {
            name: SparseFeatures.load(path).values.tocsc() for name, path in self.settings.features.items()
        }
        self.flat = self.sample.ids.ravel()
        self.corpora = np.repeat(self.sample.corpus, self.sample.ids.shape[1])
        self.lineage = (self.settings.base, *self.settings.children, self.settings.merged)
        self._linked: dict[tuple[str, str], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def linked(self, parent: str, child: str) -> dict[int, tuple[int, float]]:
        """Best partner and correlation of each alive feature of a parent in a child."""
        key = (parent, child)
        if key not in self._linked:
            self._linked[key] = best_links(self.links, parent, child)
        return {int(one): (int(two), float(r)) for one, two, r in zip(*self._linked[key], strict=True)}

    def mass(self, model: str, which: np.ndarray, within: np.ndarray | None = None) -> np.ndarray:
        """[K] share of each feature's activation that falls on the positions `which`, of that `within`."""
        values = self.features[model]
        counted = np.ones(len(self.flat), dtype=bool) if within is None else within
        total = np.asarray(counted.astype(float) @ values).ravel()
        part = np.asarray((counted & which).astype(float) @ values).ravel()
        return np.divide(part, total, out=np.zeros_like(total), where=total > 0)

    def matching(self, pattern: str) -> np.ndarray:
        """[positions] bool: tokens whose text matches."""
        wanted = re.compile(pattern)
        ids = [one for one, text in self.texts.items() if wanted.search(text.strip())]
        return np.isin(self.flat, ids)

    def formatting(self) -> Iterator[dict[str, Any]]:
        """Mean share of activation on tokens without letter or digit, of features that persist in a child or do not."""
        plain = [one for one, text in self.texts.items() if not _LETTER.search(text)]
        where = np.isin(self.flat, plain)
        share = self.mass(self.settings.base, where)
        for child in self.settings.children:
            linked = self.linked(self.settings.base, child)
            kept = np.array([linked[one][1] >= self.settings.threshold for one in linked], dtype=bool)
            known = np.array(list(linked), dtype=np.int64)
            for group, rows in (("persisting", known[kept]), ("disappeared", known[~kept])):
                about = {"parent": self.settings.base, "child": child, "group": group}
                value, low, high = mean_interval(100 * share[rows]) if len(rows) else (float("nan"),) * 3
                yield {**about, "metric": "format_share", "value": value, "low": low, "high": high, "n": len(rows)}
            yield {"parent": self.settings.base, "child": child, "group": "tokens", "metric": "format_share",
                   "value": 100 * float(where.mean()), "low": "", "high": "", "n": len(where)}  # fmt: skip

    def case(self, name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Links of a case study, and the tokens of its contexts; both are empty where no feature is such a one."""
        case = self.settings.cases[name]
        within = self.corpora == self.sample.corpora.index(case.corpus)
        tokens = self.matching(case.pattern)
        masses = {model: self.mass(model, tokens, within) for model in self.lineage}
        share = masses[self.settings.base]
        fired = np.asarray(within.astype(float) @ (self.features[self.settings.base] > 0)).ravel()
        share[fired <= self.settings.least_positions] = 0
        # A feature that fires on such tokens no more than on others is not one of them; a universal one fires in each
        # model more on them.
        usual = float(tokens[within].mean())
        chains = {one: chain for one, chain in self._chains(case).items() if share[one] > usual}
        if case.kind == "universal":
            chains = {
                one: chain
                for one, chain in chains.items()
                if all(masses[model][partner] > usual for model, (partner, _) in chain.items())
            }
        if not chains:
            return [], []
        feature = max(chains, key=lambda one: (share[one], -one))
        shown = {self.settings.base: (feature, 1.0), **chains[feature]}
        about = {"case": name, "feature": feature, "corpus": case.corpus}
        links = [
            {**about, "model": model, "partner": partner, "r": r,
             "mass_share": 100 * float(masses[model][partner]),
             "token_share": 100 * usual}
            for model, (partner, r) in shown.items()
        ]  # fmt: skip
        return links, list(self._contexts(name, shown, within))

    def _chains(self, case: CaseStudy) -> dict[int, dict[str, tuple[int, float]]]:
        """Of each feature of the base that fits: its partner in each other model, and the correlation of that link."""
        base, (first, second), merged = self.settings.base, self.settings.children, self.settings.merged
        threshold = self.settings.threshold
        one, two = self.linked(base, first), self.linked(base, second)
        if case.kind == "lost":
            return {feature: {first: link} for feature, link in one.items() if link[1] < threshold}
        ends = {name: self.linked(name, merged) for name in (first, second)}
        found = {}
        for feature in one.keys() & two.keys():
            links = {first: one[feature], second: two[feature]}
            last = [ends[name].get(partner, (-1, -1.0)) for name, (partner, _) in links.items()]
            weakest = min(r for _, r in (*links.values(), *last))
            if weakest >= threshold and last[0][0] == last[1][0]:
                found[feature] = {**links, merged: min(last, key=lambda end: end[1])}
        return found

    def _contexts(self, name: str, shown: dict[str, tuple[int, float]], within: np.ndarray) -> Iterator[dict[str, Any]]:
        length = self.sample.ids.shape[1]
        feature = shown[self.settings.base][0]
        activation = self.features[self.settings.base][:, [feature]].toarray().ravel() * within
        peaks = activation.reshape(-1, length).max(axis=1)
        blocks = np.argsort(-peaks, kind="stable")[: self.settings.contexts]
        for model, (partner, _) in shown.items():
            values = self.features[model][:, [partner]].toarray().ravel()
            levels = (100 * values / max(float(values.max()), np.finfo(float).tiny)).reshape(-1, length)
            for context, block in enumerate(blocks.tolist()):
                for place, (token, level) in enumerate(zip(self.sample.ids[block], levels[block], strict=True)):
                    yield {"case": name, "model": model, "partner": partner, "context": context, "place": place,
                           "token": self.texts[int(token)], "activation": float(level)}  # fmt: skip
