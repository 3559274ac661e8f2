"""Prose out of MediaWiki mark-up: paragraphs without templates, tables, references, lists and link targets."""

import html
import re

_REMOVED_ELEMENTS = (
    "ref|math|gallery|timeline|score|source|syntaxhighlight|code|pre|imagemap|table|chem|hiero|graph|poem"
)
_EMPTY_ELEMENT = re.compile(rf"<(?:{_REMOVED_ELEMENTS}|references)\b[^<>]*/>", re.IGNORECASE)
_OPENING = re.compile(rf"<({_REMOVED_ELEMENTS})\b[^<>]*>", re.IGNORECASE)
_CLOSING = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in _REMOVED_ELEMENTS.split("|")}
_INNERMOST_TEMPLATE = re.compile(r"\{\{([^{}]*)\}\}")
_INNERMOST_TABLE = re.compile(r"\{\|(?:(?!\{\||\|\}).)*\|\}", re.DOTALL)
# The address is possessive: giving characters back finds no further match, but takes quadratic time to find none.
_EXTERNAL_LINK = re.compile(r"\[(?:[a-z]+:)?//[^\s\]]*+\s*+([^\[\]]*)\]", re.IGNORECASE)
_INNERMOST_LINK = re.compile(r"\[\[([^\[\]]*)\]\]")
_DROPPED_LINK = re.compile(r"^\s*(?:file|image|media|category|[a-z]{2,3}(?:-[a-z]+)?)\s*:", re.IGNORECASE)
_HEADING = re.compile(r"^(={2,6}) ?(.*?) ?\1$")
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

# MediaWiki itself stops at a depth of 100; without a bound, text made for it would take quadratic time.
_DEEPEST = 100

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
    text = _without_comments(wikitext)
    text = _EMPTY_ELEMENT.sub("", text)
    text = _without_elements(text)
    text = _repeat(_INNERMOST_TEMPLATE, _template, text)
    text = _repeat(_INNERMOST_TABLE, lambda match: "\n\n", text)
    text = _EXTERNAL_LINK.sub(r"\1", text)
    text = _repeat(_INNERMOST_LINK, _link, text)
    text = _MAGIC_WORD.sub("", text)
    blocks = (_clean(" ".join(block)) for block in _blocks(text))
    return [block for block in blocks if len(block.split()) >= min_words]


def _without_comments(text: str) -> str:
    parts, position = [], 0
    # One expression for the whole comment would look for the end of each unclosed one through the rest of the text.
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[position:start])
        position = end + 3
    return "".join([*parts, text[position:]])


def _without_elements(text: str) -> str:
    parts, position = [], 0
    unclosed: set[str] = set()
    for opening in _OPENING.finditer(text):
        name = opening[1].lower()
        if opening.start() < position or name in unclosed:
            continue
        closing = _CLOSING[name].search(text, opening.end())
        if closing is None:
            unclosed.add(name)
            continue
        parts.append(text[position : opening.start()])
        position = closing.end()
    return "".join([*parts, text[position:]])


def _repeat(pattern: re.Pattern[str], replacement: object, text: str) -> str:
    """Replace innermost occurrences until none is left, so that nesting is resolved."""
    for _ in range(_DEEPEST):
        text, count = pattern.subn(replacement, text)  # type: ignore[call-overload]
        if not count:
            break
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
        # With single spaces the expression cannot try many ways to share them out.
        heading = _HEADING.match(" ".join(line.split())) if line.lstrip().startswith("==") else None
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
