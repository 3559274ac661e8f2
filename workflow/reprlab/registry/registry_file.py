"""Reading a registry: a YAML file of named entries in sections."""

from pathlib import Path
from typing import Any

from reprlab.runtime.errors import ReprlabError
from reprlab.settings.yaml_text import read_yaml

_MOST_SHARDS = 100_000
_MANIFEST = ("file", "sha256", "bytes")


def read_entries(path: Path, sections: tuple[str, ...]) -> dict[str, Any]:
    """The file as nested dictionaries; each entry of a section gets its key as `name`, and `shards` are written out.

    An item `manifest: PATH` of an archive's files stands for the files that this table beside the registry lists.

    Raises:
        ReprlabError: the file is missing, not YAML, or not a mapping, or a manifest is missing or no table.
    """
    raw = read_yaml(path).values
    if not raw:
        raise ReprlabError(f"{path}: expected the keys {', '.join(sections)}")
    for section in sections:
        entries = raw.get(section)
        if isinstance(entries, dict):
            raw[section] = {key: _complete(key, value, path.parent) for key, value in entries.items()}
    return raw


def _complete(name: str, entry: Any, folder: Path) -> Any:
    if not isinstance(entry, dict):
        return entry
    named = {"name": name, **entry}
    if isinstance(named.get("files"), list):
        named["files"] = [file for given in named["files"] for file in _written_out(given, folder)]
    return named


def _written_out(file: Any, folder: Path) -> list[Any]:
    if isinstance(file, dict) and list(file) == ["manifest"]:
        return _manifest(folder / str(file["manifest"]))
    return _shards(file)


def _manifest(path: Path) -> list[Any]:
    """The files that a manifest lists, a line each: path, sha256 and bytes, tab-separated."""
    files = []
    try:
        # A file's name may hold a character at which str.splitlines would cut.
        lines = [(number, line) for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1) if line]
    except (OSError, UnicodeDecodeError) as error:
        raise ReprlabError(f"{path}: a manifest of the data registry cannot be read ({error})") from None
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) != len(_MANIFEST) or not cells[-1].isdecimal():
            raise ReprlabError(f"{path}: line {number}: expected {', '.join(_MANIFEST)}, tab-separated")
        files.append({**dict(zip(_MANIFEST, cells, strict=True)), "bytes": int(cells[-1])})
    return files


def _shards(file: Any) -> list[Any]:
    """The files that one item with `shards: N` stands for: `{}` in its name becomes 00000 to N-1."""
    if not isinstance(file, dict) or not isinstance(file.get("shards"), int):
        return [file]
    if not 1 <= file["shards"] <= _MOST_SHARDS:
        return [file]  # validation refuses the unknown key
    rest = {key: value for key, value in file.items() if key not in ("file", "shards")}
    return [{"file": str(file.get("file")).replace("{}", f"{number:05d}"), **rest} for number in range(file["shards"])]
