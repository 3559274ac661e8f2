"""The generated files equal what the models say, and every published value has a source."""

import json
from pathlib import Path

import jsonschema
import pytest
from reprlab.config.load import leaves
from reprlab.config.papers import PAPERS
from reprlab.config.render import expected_files, leaf_sources, main, render_workflow
from reprlab.config.runtime import WorkflowSettings
from reprlab.config.yaml_text import parse_yaml, read_yaml

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", sorted(expected_files(ROOT)))
def test_generated_files_are_up_to_date(name):
    assert (ROOT / name).read_text(encoding="utf-8") == expected_files(ROOT)[name], (
        "run `python -m reprlab.config.render --write`"
    )


@pytest.mark.parametrize("slug", PAPERS)
def test_the_base_reads_back_as_the_models_defaults(slug):
    values = dict(read_yaml(ROOT / f"config/papers/{slug}.yaml").values)
    values.pop("scales")
    assert values == PAPERS[slug]().model_dump(mode="json")


def test_the_workflow_file_reads_back_as_the_defaults():
    assert parse_yaml(render_workflow(), name="x").values == WorkflowSettings().model_dump(mode="json")


@pytest.mark.parametrize("slug", PAPERS)
def test_every_leaf_of_a_base_has_a_source(slug):
    sources = leaf_sources(PAPERS[slug]())
    assert set(sources) == {".".join(path) for path, _ in leaves(PAPERS[slug]().model_dump(mode="json"))}
    assert [path for path, source in sources.items() if source is None or len(source.text) < 8] == []
    assert all(s.text.startswith(("paper, ", "upstream code, ", "[decision] ")) for s in sources.values())


def test_sources_of_single_leaves_go_over_those_of_their_group():
    sources = leaf_sources(PAPERS["depth"]())
    assert sources["pretraining.runs.cpt.steps"].text.startswith("paper")
    assert sources["pretraining.runs.cpt.horizon_steps"].text.startswith("upstream code")
    assert sources["finetuning.tasks.ni.eval_modes"].text.startswith("[decision]")


@pytest.mark.parametrize("model", [WorkflowSettings, *PAPERS.values()])
def test_every_key_is_described(model):
    seen, missing = set(), []

    def walk(settings):
        for name, info in type(settings).model_fields.items():
            value = getattr(settings, name)
            if not info.description:
                missing.append(f"{type(settings).__name__}.{name}")
            for inner in [value, *(value.values() if isinstance(value, dict) else [])]:
                if hasattr(inner, "model_fields_set") and type(inner) not in seen:
                    seen.add(type(inner))
                    walk(inner)

    walk(model())
    assert missing == []


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
    first = (ROOT / f"config/papers/{slug}.yaml").read_text(encoding="utf-8").splitlines()[0]
    assert first == f"# yaml-language-server: $schema=../schema.json#/$defs/{slug}"


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


def test_write_keeps_the_scales_and_mends_the_base(tmp_path, capsys):
    paper = tmp_path / "config/papers/depth.yaml"
    paper.parent.mkdir(parents=True)
    scales = "\nscales:\n  # why\n  nano: {loss: {sentence_weight: 5}} # because\n"
    paper.write_text("loss: {sentence_weight: 7}\n" + scales, encoding="utf-8")
    assert main(["--check", "--root", str(tmp_path)]) == 1
    assert "config/papers/depth.yaml: differs" in capsys.readouterr().out
    assert main(["--write", "--root", str(tmp_path)]) == 0
    assert main(["--check", "--root", str(tmp_path)]) == 0
    assert paper.read_text(encoding="utf-8").endswith(scales)
    assert "sentence_weight: null" in paper.read_text(encoding="utf-8")
