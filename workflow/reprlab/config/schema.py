"""The JSON schema of the config for editors, `config/schema.json`: types from the settings models, words and published
values from the YAML files.

`python -m reprlab.config.schema --write` writes it, `--check` says whether it is current (exit status 1 if not).
"""

import argparse
import functools
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from reprlab.config.papers import APART, PAPERS
from reprlab.config.runtime import SCALES, WorkflowSettings
from reprlab.config.variations import Variation
from reprlab.settings.descriptions import description
from reprlab.settings.errors import groups_of, model_at
from reprlab.settings.yaml_comments import comments
from reprlab.settings.yaml_text import parse_yaml

SCHEMA_FILE = "config/schema.json"
_REFERENCES = "#/$defs/{model}"


def render_schema(root: Path) -> str:
    """The text of the schema: config.yaml and user files at its root, the papers' files under `$defs`."""
    # Papers have models of the same name: together they get names that tell them apart.
    files: list[type[BaseModel]] = [WorkflowSettings, *PAPERS.values(), Variation]
    models = dict.fromkeys(one for model in files for one in groups_of(model))
    names, schema = models_json_schema([(model, "validation") for model in models], ref_template=_REFERENCES)
    definitions = schema["$defs"]
    own = {model: definitions[names[model, "validation"]["$ref"].rpartition("/")[2]] for model in models}
    for model, definition in own.items():
        for field, entry in definition.get("properties", {}).items():
            if words := description(model, field):
                entry.setdefault("description", words)
    for slug, model in PAPERS.items():
        text = (root / f"config/papers/{slug}.yaml").read_text(encoding="utf-8")
        for path, words in comments(text).items():
            group = model_at(model, path[:-1])
            if path[0] not in APART and group is not None and path[-1] in group.model_fields:
                own[group]["properties"][path[-1]].setdefault("description", words)
        base = {key: value for key, value in parse_yaml(text, name=slug).values.items() if key not in APART}
        scales = {
            "type": "object",
            "additionalProperties": False,
            "description": "What each smaller scale changes.",
            "properties": {scale: names[model, "validation"] for scale in SCALES if scale != "paper"},
        }
        varied = {
            "type": "array",
            "description": "What is varied to see whether verdicts turn: results/<paper>/sensitivity.tsv.",
            "items": names[Variation, "validation"],
        }
        paper = own[model]
        properties = {**paper["properties"], "scales": scales, "sensitivity": varied}
        definitions[slug] = {**paper, "properties": properties, "default": base}
    top = own[WorkflowSettings]
    top["properties"]["papers"] = {
        "type": "object",
        "additionalProperties": False,
        "description": "Changes of papers' settings, over those of the scale.",
        "properties": {slug: names[model, "validation"] for slug, model in PAPERS.items()},
    }
    top["properties"]["set"] = {
        "description": "Dotted edits, such as papers.depth.pretraining.batch_size=8, separated by commas.",
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    }
    found = {**top, "$defs": definitions, "$schema": "http://json-schema.org/draft-07/schema#"}
    return _one_line_a_definition(_without_required(found))


def published_as_shipped(root: Path) -> Mapping[str, Mapping[str, Any]]:
    """The base of each paper's file as it was when the schema was written; empty where there is no schema."""
    path = root / SCHEMA_FILE
    return _published(path.read_text(encoding="utf-8")) if path.exists() else {}


@functools.lru_cache(maxsize=2)
def _published(schema: str) -> Mapping[str, Mapping[str, Any]]:
    try:
        definitions = json.loads(schema)["$defs"]
        return {slug: definitions[slug]["default"] for slug in PAPERS if slug in definitions}
    except (ValueError, KeyError, TypeError):
        return {}  # it serves editors and a warning: a broken one stops no run


def _without_required(node: Any) -> Any:
    # Every file holds a part of the settings only; what is missing comes from the layer below.
    if isinstance(node, dict):
        return {key: _without_required(value) for key, value in node.items() if key not in ("required", "title")}
    return [_without_required(item) for item in node] if isinstance(node, list) else node


def _one_line_a_definition(schema: dict[str, Any]) -> str:
    """Short, and still with a difference that can be read when one setting changes."""
    definitions = schema.pop("$defs")
    parts = [f"{json.dumps(key)}: {_compact(value)}" for key, value in sorted(schema.items())]
    lines = ",\n".join(f"  {json.dumps(name)}: {_compact(value)}" for name, value in sorted(definitions.items()))
    return "{\n" + ",\n".join([f'"$defs": {{\n{lines}\n}}', *parts]) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def main(arguments: list[str] | None = None) -> int:
    """Check or write the schema; returns the exit status."""
    from reprlab.runtime.files import write_text

    parser = argparse.ArgumentParser(prog="python -m reprlab.config.schema", description=__doc__)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="say whether the schema is current")
    mode.add_argument("--write", action="store_true", help="write it")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[3], help="folder that holds config/")
    options = parser.parse_args(arguments)
    path, text = options.root / SCHEMA_FILE, render_schema(options.root)
    current = path.exists() and path.read_text(encoding="utf-8") == text
    if not current and options.write:
        write_text(path, text)
    if not current:
        sys.stdout.write(f"{SCHEMA_FILE}: {'written' if options.write else 'not current; run with --write'}\n")
    return int(not current and options.check)


if __name__ == "__main__":
    sys.exit(main())
