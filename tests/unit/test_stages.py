"""Declarations of stages: each has a module, and nothing of it is said twice."""

import inspect
import itertools
import re
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from reprlab.config.papers import PAPERS
from reprlab.planning.stage import Stage
from reprlab.planning.stages import STAGES, by_name, wildcard_constraints
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).resolve().parents[2]
MODULES = {path.stem for path in (ROOT / "workflow/reprlab/stages").glob("[a-z]*.py")}
DECLARED = pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)


def test_each_module_is_declared_and_each_declaration_has_a_module():
    assert set(STAGES) == MODULES


@DECLARED
def test_outputs_are_parameters_of_the_function(stage):
    function = getattr(import_module(f"reprlab.stages.{stage.name}"), stage.name)
    assert set(stage.outputs) - {"provenance"} <= set(inspect.signature(function).parameters)


@DECLARED
def test_the_pattern_of_a_first_output_names_all_wildcards(stage):
    for text in (stage.message, *stage.outputs.values()):
        assert set(re.findall(r"{(\w+)}", text)) <= set(stage.wildcards), text


@DECLARED
def test_what_the_report_of_the_engine_shows_has_a_caption(stage):
    assert (ROOT / f"workflow/report/{stage.name}.rst").is_file() == bool(stage.heading)


def test_every_file_has_one_stage():
    """As the engine finds it: a pattern with its wildcards' constraints against a file of each other pattern."""
    constraints = wildcard_constraints(PAPERS)

    patterns = [(stage.name, pattern) for stage in STAGES.values() for pattern in stage.outputs.values()]
    for (name, pattern), (other, made) in itertools.product(patterns, patterns):
        path = re.sub(r"{(\w+)}", lambda found: "depth" if found[1] == "paper" else "x1", made)
        allowed = re.sub(r"\\{(\w+)\\}", lambda found: f"(?:{constraints[found[1]]})", re.escape(pattern))
        assert bool(re.fullmatch(allowed, path)) == (name == other and pattern == made), (pattern, path)


def test_a_table_is_none_that_another_stage_writes():
    table = re.compile(wildcard_constraints(PAPERS)["table"])
    for name in ("claims", "error_sample", "case_study", "preview_depth"):
        assert not table.fullmatch(name), name
    for name in ("table1", "claims_by_task", "costs"):
        assert table.fullmatch(name), name


def test_two_stages_of_one_name_are_refused():
    stage = Stage("count", "Count", {"out": "results/count.tsv"})
    with pytest.raises(ReprlabError, match="count: two stages"):
        by_name([stage, Stage("count", "Count again", {"out": "results/again.tsv"})])


@pytest.mark.parametrize("profile", ["slurm", "generic-cluster"])
def test_what_can_use_a_gpu_has_its_resources_in_each_cluster_profile(profile):
    """The machine that submits has no GPU, so that the rule's own number is 0 there."""
    given = yaml.safe_load((ROOT / "profiles" / profile / "profile.yaml").read_text())["set-resources"]
    assert set(given) == {stage.name for stage in STAGES.values() if stage.gpu}
    assert all("gpu" in resources for resources in given.values())
    assert {rule for rule, resources in given.items() if resources["gpu"] == 0} == {"estimate_dimension"}


def test_job_arrays_are_those_of_the_slurm_profile():
    arrays = yaml.safe_load((ROOT / "profiles/slurm/profile.yaml").read_text())["slurm-array-jobs"]
    assert set(arrays.split(", ")) == {stage.name for stage in STAGES.values() if stage.array}


def test_a_user_of_snakemake_has_two_short_files_of_rules_to_read():
    rules = {path.name: len(path.read_text().splitlines()) for path in (ROOT / "workflow/rules").iterdir()}
    assert set(rules) == {"common.smk", "jobs.smk"} and max(rules.values()) < 150
    assert len((ROOT / "workflow/Snakefile").read_text().splitlines()) < 60
