"""The settings of a run as it uses them, whole, with what differs from the published ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.config.load import leaves
from reprlab.runtime.files import write_text

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.settings.yaml_text import Key

FILE = "results/settings.yaml"
CHANGES = ("paper", "setting", "published", "here")
_HEADER = """\
# All settings of this run. A setting that differs from the published one says so. To run the same again:
# snakemake --cores 2 --configfile {file} -- results/report.html
"""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


def resolved(config: LoadedConfig) -> dict[str, Any]:
    """Plain values of the workflow and of the papers that the run builds."""
    values = config.as_dict()
    return {**values, "papers": {slug: config.plain(slug) for slug in config.workflow.build}}


def changes(config: LoadedConfig) -> list[list[str]]:
    """Settings of the built papers that are not as published, as (paper, setting, published value, value here).

    A setting that one side does not have is empty there.
    """
    return [[path[0], ".".join(path[1:]), was, now] for path, (was, now) in _changed(config).items()]


def _changed(config: LoadedConfig) -> dict[Key, tuple[str, str]]:
    found: dict[Key, tuple[str, str]] = {}
    for slug in config.workflow.build:
        was, now = dict(leaves(config.published[slug].model_dump(mode="json"))), dict(leaves(config.plain(slug)))
        for path in dict.fromkeys([*was, *now]):
            if path in was and path in now and repr(was[path]) == repr(now[path]):
                continue  # nearly all: only those that differ are put in words
            before, here = (scalar(side[path]) if path in side else "" for side in (was, now))
            if before != here:
                found[slug, *path] = before, here
    return found


def write_settings(config: LoadedConfig, run_folder: Path) -> None:
    """Write `results/settings.yaml` into the folder of the run, unless it says the same already."""
    path = run_folder / FILE
    text = settings_text(config)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)


def settings_file(config: LoadedConfig) -> str:
    """The file as a command at the checkout's root names it."""
    folder = config.run_folder
    return (folder.relative_to(config.root) / FILE if folder.is_relative_to(config.root) else folder / FILE).as_posix()


def settings_text(config: LoadedConfig) -> str:
    """YAML that `--configfile` takes back: the same for YAML 1.1 and 1.2."""
    changed = _changed(config).items()
    notes = {("papers", *path): f"published: {was}" if was else "not published" for path, (was, _) in changed}
    return _HEADER.format(file=settings_file(config)) + "\n".join(_lines(resolved(config), (), notes)) + "\n"


def _lines(values: Mapping[str, Any], path: Key, notes: Mapping[Key, str]) -> Iterator[str]:
    for key, value in values.items():
        here = (*path, str(key))
        head = f"{'  ' * len(path)}{_key(str(key))}:"
        if isinstance(value, Mapping) and value:
            yield head
            yield from _lines(value, here, notes)
        else:
            yield f"{head} {scalar(value)}" + (f"  # {notes[here]}" if here in notes else "")


def _key(name: str) -> str:
    return name if _PLAIN.match(name) and name.lower() not in _WORDS else json.dumps(name)


def scalar(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(key))}: {scalar(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(scalar, value)) + "]"
    if isinstance(value, float) and "e" in repr(value) and "." not in repr(value):
        return repr(value).replace("e", ".0e")  # 1e-05 is a text in YAML 1.1
    return json.dumps(value, ensure_ascii=False)
