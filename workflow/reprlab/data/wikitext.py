"""Prose out of MediaWiki mark-up: paragraphs without templates, tables, references, lists and link targets."""

import html
import re

_REMOVED_ELEMENTS = (
    "ref|math|gallery|timeline|score|source|syntaxhighlight|code|pre|imagemap|table|chem|hiero|graph|poem"
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_EMPTY_ELEMENT = re.compile(rf"<(?:{_REMOVED_ELEMENTS}|references)\b[^<>]*/>", re.IGNORECASE)
_ELEMENT = re.compile(rf"<({_REMOVED_ELEMENTS})\b[^<>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_INNERMOST_TEMPLATE = re.compile(r"\{\{([^{}]*)\}\}")
_INNERMOST_TABLE = re.compile(r"\{\|(?:(?!\{\||\|\}).)*\|\}", re.DOTALL)
_EXTERNAL_LINK = re.compile(r"\[(?:[a-z]+:)?//[^\s\]]*\s*([^\[\]]*)\]", re.IGNORECASE)
_INNERMOST_LINK = re.compile(r"\[\[([^\[\]]*)\]\]")
_DROPPED_LINK = re.compile(r"^\s*(?:file|image|media|category|[a-z]{2,3}(?:-[a-z]+)?)\s*:", re.IGNORECASE)
_HEADING = re.compile(r"^(={2,6})\s*(.*?)\s*\1\s*$")
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_QUOTES = re.compile(r"'{2,5}")
_MAGIC_WORD = re.compile(r"__[A-Z]+__")
_NOT_PROSE = ("*", "#", ":", ";", "|", "!", "{", "}", "----", "[[", "]]")
_SPACE_BEFORE = re.compile(r"\s+([,.;:!?)])")
_NOTE_NUMBER = re.compile(r"\[\d+\]")
_EMPTY_BRACKETS = re.compile(r"\(\s*[,;:.]*\s*\)")
_AFTER_BRACKET = re.compile(r"\(\s*[,;:]\s*")
_BEFORE_BRACKET = re.compile(r"\s*[,;:]\s*\)")

# Sections that hold lists and references, not prose.
_APPENDICES = {
    "see also", "references", "external links", "further reading", "notes", "bibliography", "footnotes", "sources",
    "citations", "works cited", "notes and references", "references and notes", "gallery", "discography", "filmography",
}  # fmt: skip
# Templates that stand for words of the sentence: name to the number of the argument that is shown.
_SHOWN_ARGUMENT = {"nowrap": 1, "lang": 2, "transl": -1, "nobr": 1, "em": 1, "smallcaps": 1, "abbr": 1, "quote": 1}
_UNIT_TEMPLATES = ("convert", "cvt")
_DASHES = {"ndash": "–", "mdash": "—", "spaced ndash": " – ", "snd": " – ", "nbsp": " ", "'": "'", "!": "|"}


def paragraphs(wikitext: str, min_words: int) -> list[str]:
    """The paragraphs of prose of at least `min_words` words, in order, without mark-up."""
    text = _COMMENT.sub("", wikitext)
    text = _EMPTY_ELEMENT.sub("", text)
    text = _ELEMENT.sub("", text)
    text = _repeat(_INNERMOST_TEMPLATE, _template, text)
    text = _repeat(_INNERMOST_TABLE, lambda match: "\n\n", text)
    text = _EXTERNAL_LINK.sub(r"\1", text)
    text = _repeat(_INNERMOST_LINK, _link, text)
    text = _MAGIC_WORD.sub("", text)
    blocks = (_clean(" ".join(block)) for block in _blocks(text))
    return [block for block in blocks if len(block.split()) >= min_words]


def _repeat(pattern: re.Pattern[str], replacement: object, text: str) -> str:
    """Replace innermost occurrences until none is left, so that nesting of any depth is resolved."""
    count = 1
    while count:
        text, count = pattern.subn(replacement, text)  # type: ignore[call-overload]
    return text


def _template(match: re.Match[str]) -> str:
    arguments = [part.strip() for part in match[1].split("|")]
    name = arguments[0].lower()
    if name in _DASHES:
        return _DASHES[name]
    plain = [argument for argument in arguments[1:] if "=" not in argument]
    if name in _UNIT_TEMPLATES and len(plain) >= 2:
        return " ".join(plain[:2])
    shown = _SHOWN_ARGUMENT.get(name)
    if shown is None or not plain or shown > len(plain):
        return ""
    return plain[-1] if shown < 0 else plain[shown - 1]


def _link(match: re.Match[str]) -> str:
    target, separator, label = match[1].partition("|")
    if target.startswith(":"):
        return label or target[1:]
    if _DROPPED_LINK.match(target):
        return ""
    return label.rpartition("|")[2] if separator else target


def _blocks(text: str) -> list[list[str]]:
    """Runs of lines that are prose; headings, lists and blank lines end a run, appendices are left out."""
    blocks: list[list[str]] = [[]]
    appendix_level = 0
    for line in text.split("\n"):
        heading = _HEADING.match(line.strip())
        if heading:
            level = len(heading[1])
            if not appendix_level or level <= appendix_level:
                appendix_level = level if heading[2].lower() in _APPENDICES else 0
            blocks.append([])
        elif not line.strip() or line.lstrip().startswith(_NOT_PROSE) or line.startswith(" "):
            blocks.append([])
        elif not appendix_level:
            blocks[-1].append(line.strip())
    return [block for block in blocks if block]


def _clean(text: str) -> str:
    text = _LINE_BREAK.sub(" ", text)
    text = _TAG.sub("", text)
    text = _QUOTES.sub("", html.unescape(html.unescape(text)))
    text = _TAG.sub("", text)
    for leftover in ("{{", "}}", "[[", "]]", "{|", "|}"):
        text = text.replace(leftover, "")
    text = _NOTE_NUMBER.sub("", text)
    text = _AFTER_BRACKET.sub("(", " ".join(text.split()))
    text = _EMPTY_BRACKETS.sub("", _BEFORE_BRACKET.sub(")", text))
    return _SPACE_BEFORE.sub(r"\1", " ".join(text.split())).strip()
