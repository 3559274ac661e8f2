"""The papers' files hold every setting once, each with its source, and the schema for editors is current."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from reprlab.config.load import leaves, load_config
from reprlab.config.papers import APART, PAPERS
from reprlab.config.runtime import WorkflowSettings
from reprlab.config.schema import main, render_schema
from reprlab.settings.base import Settings
from reprlab.settings.errors import groups_of, holds_entries
from reprlab.settings.yaml_comments import comments, sources
from reprlab.settings.yaml_text import read_yaml

ROOT = Path(__file__).parents[2]
NEUTRAL = (None, "", "none", [], {}, False, 0, 1.0)


def text_of(slug: str) -> str:
    return (ROOT / f"config/papers/{slug}.yaml").read_text(encoding="utf-8")


def base(slug: str) -> dict:
    values = read_yaml(ROOT / f"config/papers/{slug}.yaml").values
    return {key: value for key, value in values.items() if key not in APART}


@pytest.mark.parametrize("slug", PAPERS)
def test_every_value_of_a_base_has_a_source(slug):
    written = [path for path, _ in leaves(base(slug))]
    found = sources(text_of(slug), PAPERS[slug], written)
    assert [".".join(path) for path in written if path not in found] == []


def test_a_comment_holds_below_and_for_equal_entries_alone():
    text = """\
# Vocabulary. (paper, section 2)
tokenizer:
  # Pieces.
  pieces: 3
loss:
  # Weight.
  sentence_weight: 2
  count_padding_in_loss: true # (upstream code, loss.py)
finetuning:
  tasks:
    cola:
      # Steps. ([decision] enough)
      steps: 3
    sst2: {steps: 4, epochs: 5}
"""
    depth = PAPERS["depth"]
    wanted = [
        ("tokenizer", "pieces"), ("loss", "sentence_weight"), ("loss", "count_padding_in_loss"),
        ("finetuning", "tasks", "cola", "steps"), ("finetuning", "tasks", "sst2", "steps"),
        ("finetuning", "tasks", "sst2", "epochs"), ("finetuning", "steps"),
    ]  # fmt: skip
    assert sources(text, depth, wanted) == {
        wanted[0]: "(paper, section 2)",
        wanted[2]: "(upstream code, loss.py)",
        wanted[3]: "([decision] enough)",
        wanted[4]: "([decision] enough)",
    }
    assert comments(text)["loss", "sentence_weight"] == "Weight."


def test_the_comment_below_a_text_of_lines_is_that_of_the_next_key():
    text = "a: >-\n  text\n# Of b.\nb: 3\nc: {x: 3,\n  y: 4} # behind\nd: |\n  text\n\n# Of e.\ne: 5\n"
    assert comments(text) == {("b",): "Of b.", ("c",): "behind", ("e",): "Of e."}


@pytest.mark.parametrize("slug", PAPERS)
def test_models_of_papers_hold_no_published_value(slug):
    """What a default of theirs may say is "nothing", and in equal entries alone: all else is written in the file."""
    filled = {
        f"{model.__name__}.{name}": info.default
        for model in groups_of(PAPERS[slug])
        if issubclass(model, Settings)
        for name, info in model.model_fields.items()
        if not info.is_required() and name in model.__annotations__ and info.default not in NEUTRAL
    }
    known = {"PromptedDataset.template": "{text}", "PromptedDataset.validation_splits": ["validation"]}
    assert {name: default for name, default in filled.items() if known.get(name) != default} == {}


@pytest.mark.parametrize("slug", PAPERS)
def test_nothing_of_a_base_is_filled_in_silently(slug):
    """A stage's model has defaults: in a paper's group each of its keys is written all the same."""
    written = {path for path, _ in leaves(base(slug))}
    resolved = leaves(load_config(ROOT).published[slug].model_dump(mode="json"))
    filled = [path for path, _ in resolved if path not in written]
    entries = [path for path in filled if any(holds_entries(PAPERS[slug], path[:i]) for i in range(1, len(path)))]
    assert [path for path in filled if path not in entries] == []


@pytest.mark.parametrize("slug", PAPERS)
def test_every_key_is_described(slug):
    """By its comment, or, in a group with one, by its name; the keys of a group of a stage by the stage."""
    words = set(comments(text_of(slug)))
    bare = [
        ".".join(path)
        for path, _ in leaves(base(slug))
        if not any(path[:length] in words for length in range(2 if len(path) > 1 else 1, len(path) + 1))
        and (path[0],) not in words
    ]
    assert bare == []


def test_the_workflow_file_reads_back_as_the_defaults():
    """config.yaml shows what holds when it is empty."""
    assert read_yaml(ROOT / "config/config.yaml").values == WorkflowSettings().model_dump(mode="json")
    words = comments((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    assert {(name,) for name in WorkflowSettings.model_fields} <= set(words)


def test_the_schema_is_current():
    assert (ROOT / "config/schema.json").read_text(encoding="utf-8") == render_schema(ROOT), (
        "run `python -m reprlab.config.schema --write`"
    )


@pytest.fixture(scope="module")
def schema() -> dict:
    return json.loads((ROOT / "config/schema.json").read_text(encoding="utf-8"))


def problems(schema: dict, definition: str, values: object) -> list[str]:
    part = {**schema, **schema["$defs"][definition]} if definition else schema
    return [error.message for error in jsonschema.Draft7Validator(part).iter_errors(values)]


@pytest.mark.parametrize("slug", PAPERS)
def test_the_schema_accepts_the_files(slug, schema):
    jsonschema.Draft7Validator.check_schema(schema)
    assert problems(schema, slug, read_yaml(ROOT / f"config/papers/{slug}.yaml").values) == []
    assert problems(schema, "", read_yaml(ROOT / "config/config.yaml").values) == []
    assert text_of(slug).splitlines()[0] == f"# yaml-language-server: $schema=../schema.json#/$defs/{slug}"
    assert schema["$defs"][slug]["default"] == base(slug)


def test_the_schema_has_the_words_of_the_file(schema):
    told = schema["$defs"]["LengthSettings"]["properties"]["input"]["description"]
    assert told == "Tokens of the encoder input; longer passages are truncated. (paper, appendix A.1, point 2)"


@pytest.mark.parametrize(
    "values",
    [
        {"lenghts": {}},
        {"lengths": {"input": "many"}},
        {"corruption": {"mask_probability": 2}},
        {"scales": {"tiny": {}}},
        {"scales": {"mini": {"finetuning": {"tasks": {"cola": {"metric": "matthew"}}}}}},
    ],
)
def test_the_schema_refuses_mistakes(values, schema):
    assert problems(schema, "depth", values)


def test_the_schema_takes_parts_of_settings(schema):
    user = {"scale": "nano", "set": "a=1", "papers": {"depth": {"finetuning": {"tasks": {"cola": {"steps": 3}}}}}}
    assert problems(schema, "", user) == []
    assert problems(schema, "", {**user, "papers": {"dept": {}}})


def test_the_command_says_whether_the_schema_is_current_and_writes_it(tmp_path, capsys):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    assert main(["--check", "--root", str(tmp_path)]) == 0
    paper = tmp_path / "config/papers/depth.yaml"
    text = paper.read_text(encoding="utf-8").replace("mask_probability: 0.3", "mask_probability: 0.2")
    paper.write_text(text, encoding="utf-8")
    assert main(["--check", "--root", str(tmp_path)]) == 1
    assert capsys.readouterr().out == "config/schema.json: not current; run with --write\n"
    assert main(["--write", "--root", str(tmp_path)]) == 0
    assert main(["--check", "--root", str(tmp_path)]) == 0
    assert paper.read_text(encoding="utf-8") == text
