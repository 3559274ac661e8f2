"""YAML 1.2 files of the config: safe, without duplicate keys, aliases and tags, and with the line of each key."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.resolver import VersionedResolver

from reprlab.runtime.errors import ReprlabError

Key = tuple[str, ...]

_TAG = "tag:yaml.org,2002:"
_KINDS = ("str", "int", "float", "bool", "null", "seq", "map", "timestamp", "value", "merge")
_READ = ("int", "float", "bool", "null")
_LONGEST_NUMBER = 39
_DEEPEST = 20


@dataclass(frozen=True)
class Document:
    """The values of a YAML file, and the line of each key (from 1)."""

    values: dict[str, Any]
    lines: dict[Key, int] = field(default_factory=dict)


def read_yaml(path: Path, *, name: str | None = None) -> Document:
    """Read a YAML file that holds a mapping; `name` is how messages call the file (default: its path).

    Raises:
        ReprlabError: the file is missing, unreadable, not YAML, or not a mapping; a key is repeated.
    """
    name = name or str(path)
    return parse_yaml(read_text(path, name), name=name)


def read_text(path: Path, name: str) -> str:
    """The text of a file; `ReprlabError` where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ReprlabError(f"{name}: not UTF-8 text") from None
    except OSError as error:
        raise ReprlabError(f"{name}: cannot be read ({error.strerror or error})") from None


def read_with_anchors(path: Path) -> Any:
    """The values of a file of ours, in which entries may share what an anchor names (`<<: *base`).

    Raises:
        ReprlabError: as `read_yaml`.
    """
    return _shallow(_refused(_yaml().load, read_text(path, str(path)), str(path)), str(path))


def read_texts(path: Path) -> Any:
    """The values of a file of ours, each scalar as the text that is there, so that no digit is lost.

    Raises:
        ReprlabError: as `read_yaml`.
    """
    return _shallow(_refused(YAML(typ="base").load, read_text(path, str(path)), str(path)), str(path))


def parse_yaml(text: str, *, name: str) -> Document:
    """Parse YAML text that holds a mapping (or nothing); see `read_yaml`."""
    node = _compose(text, name)
    document = Document({}, {})
    if node is None or (isinstance(node, ScalarNode) and node.tag == f"{_TAG}null"):
        return document
    if not isinstance(node, MappingNode):
        raise ReprlabError(f"{name}: must hold settings as `key: value`, not {_kind(node)}")
    document.values.update(_Builder(name, document.lines).mapping(node, ()))
    return document


def parse_value(text: str, *, name: str) -> Any:
    """Parse one YAML value, such as `3e-4` or `[1, 2]`."""
    node = _compose(text, name)
    return None if node is None else _Builder(name, {}).value(node, ())


def parse_scalar(text: str) -> Any:
    """The value of a plain (unquoted) scalar: null, true, false, a number, or a string (dates are strings)."""
    return _read_scalar(str(_yaml().resolver.resolve(ScalarNode, text, (True, False))), text)


# The same few words and numbers are in all files.
@functools.cache
def _read_scalar(tag: str, text: str) -> Any:
    kind = tag.removeprefix(_TAG)
    # The resolver takes `1_` and `0o9` for numbers; what the constructor refuses, and what is a number
    # for nobody, is text.
    if kind not in _READ or len(text) > _LONGEST_NUMBER:
        return text
    try:
        value = _yaml().constructor.construct_object(ScalarNode(tag, text))
    except (ValueError, LookupError, YAMLError):
        return text
    # A count may be written 1e6, wherever its type is declared.
    return int(value) if kind == "float" and "." not in text and value.is_integer() else value


def read_keys(path: Path, *, name: str) -> dict[str, list[str]]:
    """The keys of a YAML mapping, each with the keys of the mapping below it.

    Raises:
        ReprlabError: the file is missing, unreadable, or not YAML.
    """
    node = _compose(read_text(path, name), name)
    return {key.value: [inner.value for inner, _ in _pairs(value)] for key, value in _pairs(node)}


def _pairs(node: Any) -> list[Any]:
    return list(node.value) if isinstance(node, MappingNode) else []


def _compose(text: str, name: str) -> Node | None:
    return _refused(_nodes, text, name)


def _refused(read: Callable[[str], Any], text: str, name: str) -> Any:
    """The result of `read` on the text, or one line that says why it fails."""
    try:
        return read(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}" if mark else ""
        raise ReprlabError(f"{name}{where}: not valid YAML ({_flat(error.problem or error.context)})") from None
    # ValueError: a date that does not exist; TypeError: a mapping as a key.
    except (YAMLError, ValueError, TypeError) as error:
        raise ReprlabError(f"{name}: not valid YAML ({_flat(error)})") from None
    except RecursionError:
        raise ReprlabError(f"{name}: nested too deeply") from None


def _shallow(values: Any, name: str) -> Any:
    """The values, unless they are so deep that whatever walks through them would fail."""
    level, known = [values], set[int]()
    for _ in range(_DEEPEST + 1):
        below = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        # What an anchor names is walked through once.
        level = [one for each in below for one in each if id(one) not in known]
        known.update(map(id, level))
    if level:
        raise ReprlabError(f"{name}: nested too deeply")
    return values


def _flat(text: Any) -> str:
    return " ".join(str(text).split())


@functools.lru_cache(maxsize=32)
def _nodes(text: str) -> Node | None:
    # The engine and its checks read the same files several times; nothing changes the nodes.
    return _yaml().compose(text)


class _Resolver(VersionedResolver):
    """Looks up once for a document by which version's rules it is read, not for every scalar."""

    @functools.cached_property
    def versioned_resolver(self) -> Any:
        return super().versioned_resolver


@functools.cache
def _yaml() -> YAML:
    parser = YAML(typ="safe")
    parser.Resolver = _Resolver
    return parser


class _Builder:
    """Python values out of YAML nodes; fills `lines`."""

    def __init__(self, name: str, lines: dict[Key, int]) -> None:
        self.name = name
        self.lines = lines
        self.seen: set[int] = set()

    def value(self, node: Node, path: Key) -> Any:
        tag = self._checked(node, path)
        if isinstance(node, MappingNode):
            return self.mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*path, str(place))) for place, item in enumerate(node.value)]
        return _read_scalar(tag, node.value)

    def mapping(self, node: MappingNode, path: Key) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if not isinstance(key_node, ScalarNode) or key == "<<":
                raise self._error(key_node, "a key must be a plain name")
            here = (*path, key)
            if key in values:
                raise self._error(key_node, f"{'.'.join(here)} is given twice (first in line {self.lines[here]})")
            self.lines[here] = key_node.start_mark.line + 1
            values[key] = self.value(value_node, here)
        return values

    def _checked(self, node: Node, path: Key) -> str:
        """The tag of a node that may be here."""
        if id(node) in self.seen:
            raise self._error(node, "YAML aliases are not supported; write the value out")
        self.seen.add(id(node))
        if len(path) > _DEEPEST:
            raise self._error(node, "nested too deeply")
        tag = _tag(node)
        if tag.removeprefix(_TAG) not in _KINDS:
            raise self._error(node, f"the tag {tag} is not supported")
        return tag

    def _error(self, node: Node, problem: str) -> ReprlabError:
        return ReprlabError(f"{self.name}, line {node.start_mark.line + 1}: {problem}")


def _tag(node: Node) -> str:
    # The library decodes every tag letter by letter; those that it resolves itself have nothing to decode.
    own = node.ctag.suffix if node.ctag.handle is None else None
    return str(node.tag) if own is None or "%" in own else own


def _kind(node: Node) -> str:
    return "a list" if isinstance(node, SequenceNode) else repr(str(node.value)[:40])
