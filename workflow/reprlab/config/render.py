"""Write the commented YAML files and the JSON schema from the settings models.

`python -m reprlab.config.render --check` says which files differ (exit status 1), `--write` writes them. The base of a
paper's file and its comments come from the models alone; what stands from `scales:` on is kept as it is.
"""

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from reprlab.config.load import WORKFLOW_FILE, paper_file
from reprlab.config.papers import PAPERS
from reprlab.config.runtime import SCALES, WorkflowSettings
from reprlab.config.settings import Settings, Source
from reprlab.config.yaml_text import parse_scalar

SCHEMA_FILE = "config/schema.json"
_WIDTH = 120
_SCALES = "\nscales:\n"
_WORKFLOW_HEADER = """\
# What to build, at which scale, and how. The manual is config/README.md.
# `--configfile FILE` and `--config key=value` go over this file; papers' own settings are in config/papers/.
"""
_PAPER_HEADER = """\
# Settings of the paper `{slug}` as published, then what each smaller scale changes.
# {title}
# Above `scales:` this file is written by `python -m reprlab.config.render --write` from the models in
# workflow/reprlab/config/papers/. Each key says what it is and where its value comes from.
"""


def expected_files(root: Path) -> dict[str, str]:
    """The text that each generated file should have, by its path below `root`."""
    files = {WORKFLOW_FILE: render_workflow(), SCHEMA_FILE: render_schema()}
    for slug, model in PAPERS.items():
        files[paper_file(slug)] = render_paper(slug, model, _scales_text(root / paper_file(slug)))
    return files


def render_workflow() -> str:
    """The text of config.yaml."""
    lines = [*_modeline("schema.json"), *_WORKFLOW_HEADER.splitlines(), *_fields(WorkflowSettings(), 0, None)]
    return "\n".join(lines) + "\n"


def render_paper(slug: str, model: type[Settings], scales: str) -> str:
    """The text of a paper's file: the base from `model`, then the text `scales`."""
    title = (model.__doc__ or "").strip().splitlines()[0]
    header = _PAPER_HEADER.format(slug=slug, title=title)
    lines = [*_modeline(f"../schema.json#/$defs/{slug}"), *header.splitlines(), *_fields(model(), 0, None)]
    return "\n".join(lines) + "\n" + scales


def render_schema() -> str:
    """The text of the JSON schema: config.yaml and user files at its root, the papers' files under `$defs`."""
    schema = WorkflowSettings.model_json_schema(ref_template="#/$defs/{model}")
    definitions = schema.setdefault("$defs", {})
    scales = [scale for scale in SCALES if scale != "paper"]
    papers = {}
    for slug, model in PAPERS.items():
        partial = model.model_json_schema(ref_template="#/$defs/{model}")
        definitions.update(partial.pop("$defs", {}))
        definitions[model.__name__] = partial
        papers[slug] = {"$ref": f"#/$defs/{model.__name__}"}
        scale_map = {
            "type": "object",
            "additionalProperties": False,
            "description": "What each smaller scale changes.",
            "properties": dict.fromkeys(scales, papers[slug]),
        }
        definitions[slug] = {**partial, "properties": {**partial["properties"], "scales": scale_map}}
    schema["properties"]["papers"] = {
        "type": "object",
        "additionalProperties": False,
        "description": "Changes of papers' settings, over those of the scale.",
        "properties": papers,
    }
    schema["properties"]["set"] = {
        "description": "Dotted edits, such as papers.depth.pretraining.batch_size=8, separated by commas.",
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    }
    schema["$schema"] = "http://json-schema.org/draft-07/schema#"
    return json.dumps(_without_required(schema), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def leaf_sources(settings: Settings) -> dict[str, Source | None]:
    """The source of every leaf of a paper's base, by its dotted path; None where there is none."""
    return dict(_leaf_sources(settings, "", None))


def _leaf_sources(settings: BaseModel, prefix: str, inherited: Source | None) -> Iterator[tuple[str, Source | None]]:
    for name, info in type(settings).model_fields.items():
        value, source = getattr(settings, name), _source(info, name, inherited)
        if isinstance(value, BaseModel):
            yield from _leaf_sources(value, f"{prefix}{name}.", source)
        elif isinstance(value, dict):
            for key, entry in value.items():
                yield from _leaf_sources(entry, f"{prefix}{name}.{key}.", source)
        else:
            yield f"{prefix}{name}", source


def _source(info: FieldInfo, name: str, inherited: Source | None) -> Source | None:
    own = [item for item in info.metadata if isinstance(item, Source)]
    if own:
        leaves = {key: leaf for item in own for key, leaf in item.leaves.items()}
        return Source("; ".join(item.text for item in own), leaves)
    return inherited.leaves.get(name, inherited) if inherited else None


def _modeline(schema: str) -> list[str]:
    return [f"# yaml-language-server: $schema={schema}"]


def _fields(settings: BaseModel, depth: int, inherited: Source | None, *, comments: bool = True) -> Iterator[str]:
    pad = "  " * depth
    for name, info in type(settings).model_fields.items():
        value, source = getattr(settings, name), _source(info, name, inherited)
        if comments:
            yield from [""] if depth == 0 else []
            yield from _comment(info, None if isinstance(value, BaseModel | dict) else source, pad)
        if isinstance(value, BaseModel):
            yield f"{pad}{name}:"
            yield from _fields(value, depth + 1, source, comments=comments)
        elif isinstance(value, dict):
            yield f"{pad}{name}:"
            yield from _entries(value, depth + 1, source)
        else:
            yield f"{pad}{name}: {_value(value)}"


def _entries(entries: dict[str, Any], depth: int, source: Source | None) -> Iterator[str]:
    """Entries of a mapping by name; the keys are explained in the first."""
    pad = "  " * depth
    for place, (name, entry) in enumerate(entries.items()):
        if isinstance(entry, BaseModel):
            yield f"{pad}{name}:"
            yield from _fields(entry, depth + 1, source, comments=place == 0)
        else:
            yield f"{pad}{name}: {_value(entry)}"


def _comment(info: FieldInfo, source: Source | None, pad: str) -> list[str]:
    text = " ".join((info.description or "").split())
    if source:
        text += f" ({source.text})"
    return textwrap.wrap(
        text, _WIDTH, break_on_hyphens=False, initial_indent=f"{pad}# ", subsequent_indent=f"{pad}#   "
    )


def _value(value: Any) -> str:
    """A value as people write it: flow lists, `1.0e-4`-like numbers as 1e-4, strings quoted only where needed."""
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    plain = yaml.safe_dump(value, default_flow_style=True, width=10**6).removesuffix("...\n").strip()
    return plain if isinstance(parse_scalar(plain), str) else json.dumps(value)


def _number(value: float) -> str:
    # repr gives 0.0001 and 1e-05; people write 1e-4 and 1e-5.
    mantissa, exponent = f"{value:.12e}".split("e")
    short = f"{float(mantissa):g}e{int(exponent)}"
    return short if 0 < abs(value) < 1e-3 and float(short) == value else repr(value)


def _without_required(node: Any) -> Any:
    # Every file holds a part of the settings only; what is missing comes from the layer below.
    if isinstance(node, dict):
        return {key: _without_required(value) for key, value in node.items() if key != "required"}
    return [_without_required(item) for item in node] if isinstance(node, list) else node


def _scales_text(path: Path) -> str:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    place = text.find(_SCALES)
    return text[place:] if place >= 0 else f"{_SCALES.rstrip()} {{}}\n"


def main(arguments: list[str] | None = None) -> int:
    """Check or write the generated files; returns the exit status."""
    from reprlab.runtime.files import write_text

    parser = argparse.ArgumentParser(prog="python -m reprlab.config.render", description=__doc__)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="say which files differ from the models")
    mode.add_argument("--write", action="store_true", help="write the files")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[3], help="folder that holds config/")
    options = parser.parse_args(arguments)
    status = 0
    for name, text in expected_files(options.root).items():
        path = options.root / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if options.write:
            write_text(path, text)
        status = 0 if options.write else 1
        sys.stdout.write(f"{name}: {'written' if options.write else 'differs from the models; run with --write'}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
