"""Automated interpretation: explain a feature by samples of tokens, simulate it by the explanation, compare.

An explainer sees one half of the sample's blocks and is scored on the other. Statistics of tokens do it without any
language model: the mean activation of each token is explanation and simulation in one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from reprlab.features.comparison import best_links
from reprlab.features.description import token_texts
from reprlab.features.sample import TokenSample
from reprlab.features.settings import InterpretationSettings
from reprlab.features.sparse import SparseFeatures
from reprlab.inference.chat import converse
from reprlab.inference.chat_settings import ChatSettings
from reprlab.inference.written_forms import best_by_text, without_fence
from reprlab.runtime.errors import ReprlabError

LEVELS = 10
TOKEN_STATISTICS = "token statistics"  # noqa: S105 (not a secret)
_SHOWN = 5


def quantised(values: np.ndarray, lowest: float, highest: float, *, clip: bool = True) -> np.ndarray:
    """Activations on the scale 0 to 9, floor(10 (a - min) / (max - min)); without `clip` the highest is 10."""
    span = highest - lowest
    levels = np.floor(LEVELS * (values - lowest) / span) if span > 0 else np.zeros(values.shape)
    highest_level = LEVELS - 1 if clip else LEVELS
    return np.minimum(levels, highest_level).astype(np.int64)


def restored(levels: np.ndarray, lowest: float, highest: float) -> np.ndarray:
    """The middle of each level: (q + 0.5) / 10 (max - min) + min."""
    return (levels + 0.5) / LEVELS * (highest - lowest) + lowest


def choose_samples(
    activations: np.ndarray, ids: np.ndarray, settings: InterpretationSettings, random: np.random.Generator
) -> np.ndarray:
    """Blocks that show what a feature does, without repeats, strongest first.

    Those of the highest activations, some of each lower interval of the range, some at random, and some that hold a
    token of the highest activations but activate less.

    Args:
        activations: [B, L] of one feature.
        ids: [B, L] tokens.
    """
    peaks = activations.max(axis=1)
    order = np.argsort(-peaks, kind="stable")
    level = quantised(peaks, 0.0, float(peaks.max(initial=0.0)))
    chosen: list[int] = list(order[: settings.top])
    for lower in range(LEVELS - 2, -1, -1):
        chosen += list(order[level[order] == lower][: settings.lower])
    chosen += list(random.permutation(len(peaks))[: settings.random])
    top = order[: settings.top]
    tokens = ids[top, activations[top].argmax(axis=1)]
    others = np.setdiff1d(np.flatnonzero(np.isin(ids, tokens).any(axis=1)), chosen)
    chosen += list(random.permutation(others)[: settings.same_tokens])
    return np.array(list(dict.fromkeys(chosen)), dtype=np.int64)


@dataclass(frozen=True)
class Feature:
    """Activations of one feature on samples, each [n, L], with the tokens as text."""

    number: int
    activations: np.ndarray
    ids: np.ndarray
    tokens: list[list[str]]


class Explainer(Protocol):
    """Explains features and simulates them by the explanation."""

    name: str

    def explain(self, features: Sequence[Feature]) -> list[Any]:
        """An explanation of each feature."""
        ...

    def simulate(self, explanations: Sequence[Any], features: Sequence[Feature]) -> list[np.ndarray]:
        """Activations [n, L] that each explanation expects of the samples of a feature, on any scale."""
        ...

    def words(self, explanation: Any) -> str:
        """An explanation for people."""
        ...


class TokenStatistics:
    """The mean activation of each token of the explained half, and that mean again; unseen tokens are nought."""

    name = TOKEN_STATISTICS

    def __init__(self, texts: Mapping[int, str]) -> None:
        self.texts = texts

    def explain(self, features: Sequence[Feature]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Tokens in ascending order, and the mean of each."""
        found = []
        for feature in features:
            tokens, place = np.unique(feature.ids, return_inverse=True)
            sums = np.bincount(place.ravel(), weights=feature.activations.ravel())
            found.append((tokens, sums / np.bincount(place.ravel())))
        return found

    def simulate(self, explanations: Sequence[Any], features: Sequence[Feature]) -> list[np.ndarray]:
        """The mean of each token."""
        found = []
        for (tokens, means), feature in zip(explanations, features, strict=True):
            place = np.minimum(np.searchsorted(tokens, feature.ids), len(tokens) - 1)
            found.append(np.where(tokens[place] == feature.ids, means[place], 0.0))
        return found

    def words(self, explanation: Any) -> str:
        """The tokens with the highest means."""
        tokens, means = explanation
        highest = np.argsort(-means, kind="stable")[:_SHOWN]
        return " ".join(repr(self.texts[int(tokens[one])]) for one in highest if means[one] > 0)


class ChatExplainer:
    """A chat model behind an OpenAI-compatible endpoint (section C of the paper, as its code asks)."""

    def __init__(self, settings: InterpretationSettings, chat: ChatSettings, cache: Path) -> None:
        self.settings, self.chat, self.cache = settings, chat, cache
        self.name = chat.model

    def explain(self, features: Sequence[Feature]) -> list[str]:
        """The model's completion of a sentence about each feature."""
        example = [_message("user", _WORKED), _message("assistant", _ANSWERED)]
        asked = [
            [_message("system", self.settings.explain), *example, _message("user", explain_prompt(feature))]
            for feature in features
        ]
        return [without_fence(answer.text) for answer in converse(asked, self.chat, self.cache)]

    def simulate(self, explanations: Sequence[Any], features: Sequence[Feature]) -> list[np.ndarray]:
        """Levels 0 to 9: for each distinct token the digit that the model finds likeliest."""
        asked, places = [], []
        for explanation, feature in zip(explanations, features, strict=True):
            tokens, first, place = np.unique(feature.ids, return_index=True, return_inverse=True)
            texts = _texts(feature, first)
            asked += [self._score_prompt(explanation, text) for text in texts]
            places.append((len(tokens), place))
        one_token = self.chat.model_copy(update={"max_tokens": 1})
        answers = converse(asked, one_token, self.cache, likeliest=LEVELS)
        found, end = [], 0
        for (count, place), feature in zip(places, features, strict=True):
            levels = np.array([likeliest_digit(answer.first) for answer in answers[end : end + count]])
            end += count
            found.append(levels[place].reshape(feature.ids.shape).astype(float))
        return found

    def words(self, explanation: Any) -> str:
        """The explanation."""
        return str(explanation)

    def _score_prompt(self, explanation: str, token: str) -> list[dict[str, str]]:
        worked: list[dict[str, str]] = []
        for description, example, score in _SCORED:
            worked += [_message("user", _score_question(description, example)), _message("assistant", str(score))]
        question = _message("user", _score_question(explanation, token))
        return [_message("system", self.settings.simulate), *worked, question]


def explain_prompt(feature: Feature) -> str:
    """The samples of a feature, a line for each token: its text and its level."""
    highest = float(feature.activations.max(initial=0.0))
    lines = [f"Feature #{feature.number}", "Activations:"]
    for tokens, levels in zip(feature.tokens, quantised(feature.activations, 0.0, highest), strict=True):
        lines += ["<sample start>"]
        lines += [f"{token!r}\t{level}" for token, level in zip(tokens, levels.tolist(), strict=True)]
        lines += ["<sample end>"]
    lines += [
        "",
        f"Explain the behaviour of Feature #{feature.number}, without mentioning specific examples of tokens, by "
        'completing the sentence "This feature looks mainly for"',
    ]
    return "\n".join(lines)


def likeliest_digit(first: dict[str, float]) -> int:
    """The digit with the highest log-probability; 0 where no digit is among the likeliest tokens."""
    digits = {text: value for text, value in best_by_text(first).items() if text in set("0123456789")}
    return int(max(digits, key=digits.__getitem__)) if digits else 0


def agreement(simulated: np.ndarray, true: np.ndarray) -> float:
    """Pearson correlation of simulated and true activations; NaN where one of them does not vary."""
    one, two = simulated.ravel().astype(np.float64), true.ravel().astype(np.float64)
    one, two = one - one.mean(), two - two.mean()
    norms = np.sqrt((one @ one) * (two @ two))
    return float(one @ two / norms) if norms > 0 else float("nan")


def _texts(feature: Feature, places: np.ndarray) -> list[str]:
    """The tokens at flat places of the samples."""
    length = feature.ids.shape[1]
    return [feature.tokens[place // length][place % length] for place in places.tolist()]


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _score_question(description: str, token: str) -> str:
    return f'Description: "{description}"\nToken: {token!r}'


def _worked_example() -> str:
    tokens = [["x", " =", " '", "a", "'", ";", " y", " =", " 7"], ["say", ' "', "no", '"', " 3", " times", "."]]
    strong = {" '": 8, "'": 8, ' "': 9, '"': 9, " 7": 9, " 3": 9}
    levels = [[strong.get(token, 0) for token in sample] for sample in tokens]
    lines = [f"{token!r}\t{level}" for token, level in zip(tokens[0], levels[0], strict=True)]
    more = [f"{token!r}\t{level}" for token, level in zip(tokens[1], levels[1], strict=True)]
    return "\n".join(
        ["Feature #1002", "Activations:", "<sample start>", *lines, "<sample end>", "<sample start>", *more,
         "<sample end>", "", "Explain the behaviour of Feature #1002, without mentioning specific examples of tokens, "
         'by completing the sentence "This feature looks mainly for"']
    )  # fmt: skip


_WORKED, _ANSWERED = _worked_example(), "single-digit numbers and quotation marks."
_SPACES = "spaces and periods, with a strong emphasis on sequences of multiple spaces."
_SCORED = [("single-digit numbers and quotation marks", "9", 9), (_SPACES, " ", 6), (_SPACES, " " * 8, 9)]


def interpret(
    features: SparseFeatures,
    sample: TokenSample,
    tokenizer: Any,
    links: Path,
    settings: InterpretationSettings,
    cache: Path | None,
) -> list[dict[str, Any]]:
    """A row a feature: see `stages.interpret_features`.

    Raises:
        ReprlabError: the features are of another sample, or a chat model is asked without a folder for its answers.
    """
    if features.sample != sample.identity:
        raise ReprlabError(f"the features are of the sample {features.sample} and not of {sample.identity}")
    if settings.chat is not None and cache is None:
        raise ReprlabError("chat: its answers need --cache, the folder in which they are kept")
    known, _, r = best_links(links, settings.parent, settings.child)
    persisting = dict(zip(known.tolist(), (r >= settings.threshold).tolist(), strict=True))
    random = np.random.Generator(np.random.Philox(key=settings.seed))
    values = features.values.tocsc()
    alive = np.flatnonzero(np.diff(values.indptr) > settings.least_positions)
    chosen = np.sort(random.permutation(alive)[: settings.features])
    texts = token_texts(tokenizer, sample.ids)
    half = random.permutation(len(sample.ids)) < len(sample.ids) // 2
    halves = []
    for part in (half, ~half):
        ids = sample.ids[part]
        rows = []
        for number in chosen.tolist():
            activations = values[:, [number]].toarray().reshape(sample.ids.shape)[part]
            rows.append((activations, choose_samples(activations, ids, settings, random)))
        halves.append((ids, rows))

    def seen(place: int, which: int, whole: bool = False) -> Feature:
        ids, rows = halves[which]
        activations, samples = rows[place]
        shown = slice(None) if whole else samples
        tokens = [] if whole else [[texts[int(one)] for one in block] for block in ids[samples]]
        return Feature(int(chosen[place]), activations[shown], ids[shown], tokens)

    if settings.chat is None:
        explainer: Explainer = TokenStatistics(texts)
    else:
        assert cache is not None
        explainer = ChatExplainer(settings, settings.chat, cache / "answers")
    statistics = settings.chat is None
    places = range(len(chosen))
    explanations = explainer.explain([seen(place, 0, whole=statistics) for place in places])
    scored = [seen(place, 1) for place in places]
    simulated = explainer.simulate(explanations, scored)
    others = explainer.simulate(explanations[1:] + explanations[:1], scored) if len(chosen) > 1 else simulated
    found: list[dict[str, Any]] = []
    for place in places:
        row: dict[str, Any] = {"feature": int(chosen[place]), "explainer": explainer.name}
        row["group"] = "persisting" if persisting.get(int(chosen[place]), False) else "disappeared"
        row["explanation"] = explainer.words(explanations[place])
        row["score"] = agreement(simulated[place], scored[place].activations)
        row["score_other"] = agreement(others[place], scored[place].activations)
        row["score_all"] = float("nan")
        if statistics:
            whole = seen(place, 1, whole=True)
            row["score_all"] = agreement(explainer.simulate([explanations[place]], [whole])[0], whole.activations)
        found.append(row)
    return found
