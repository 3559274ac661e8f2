"""Frozen copies of code and config."""

import shutil
from pathlib import Path

import pytest
from reprlab.cluster.frozen import checkout_digest, freeze, origin_of
from reprlab.config.load import load_config
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.machine import resolve_dtype

ROOT = Path(__file__).resolve().parents[2]
PLAN = Path(".snakemake/plans/0123456789abcdef.sqlite")


@pytest.fixture
def project(tmp_path):
    """A small checkout with one file of each part, and one that is not part."""
    names = ("Snakefile", "workflow/rules/a.smk", "workflow/reprlab/b.py", "config/c.yaml", "resources/published/d.tsv")
    for name in (*names, "results/x.tsv", "workflow/reprlab/__pycache__/b.pyc", "config/.c.yaml.swp"):
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text(name)
    return tmp_path / "project"


def test_the_copy_holds_code_and_config_and_knows_its_origin(project):
    run = project / "runs/nano"
    copy = freeze(project, run, {"scale": "nano"}, "float32", checkout_digest(project), run / PLAN)
    assert copy.is_relative_to(run)
    files = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    assert files == {
        *("Snakefile", "workflow/rules/a.smk", "workflow/reprlab/b.py", "config/c.yaml", "resources/published/d.tsv"),
        "frozen.json",
    }
    assert (copy / "Snakefile").stat().st_mtime_ns == (project / "Snakefile").stat().st_mtime_ns
    origin = origin_of(copy)
    assert (origin.root, origin.run_folder, origin.plan) == (project, run, run / PLAN)
    assert origin.config == {"scale": "nano"}
    assert origin_of(project) is None
    assert checkout_digest(copy) == checkout_digest(project)


def test_equal_code_and_config_share_a_copy_and_others_do_not(project):
    planned = checkout_digest(project)
    first = freeze(project, project, {"seed": 1}, "float32", planned, PLAN)
    assert freeze(project, project, {"seed": 1}, "float32", planned, PLAN) == first
    assert freeze(project, project, {"seed": 2}, "float32", planned, PLAN) != first
    (project / "Snakefile").write_text("edited")
    assert checkout_digest(first) == planned
    assert freeze(project, project, {"seed": 1}, "float32", checkout_digest(project), PLAN) != first


def test_an_edit_while_the_run_is_planned_is_refused(project):
    planned = checkout_digest(project)
    (project / "config/c.yaml").write_text("edited")
    with pytest.raises(ReprlabError, match="edited while the run was planned"):
        freeze(project, project, {}, "float32", planned, PLAN)
    assert not list(project.glob(".snakemake/frozen/*/frozen.json"))


def test_the_config_of_the_copy_is_that_of_the_run(tmp_path):
    for part in ("config", "Snakefile"):
        source, target = ROOT / part, tmp_path / "project" / part
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    project = tmp_path / "project"
    given = load_config(project, {"scale": "nano", "set": "papers.depth.segmentation.passage_words=30"})
    copy = freeze(project, given.run_folder, given.as_dict(), "float32", checkout_digest(project), PLAN)
    assert load_config(copy, origin_of(copy).config).as_dict() == given.as_dict()


def test_auto_is_what_it_was_where_the_run_was_planned(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert resolve_dtype("auto", "auto") == "bfloat16"
    monkeypatch.setenv("REPRLAB_PLANNED_DTYPE", "float32")
    assert resolve_dtype("auto", "auto") == "float32"
    assert resolve_dtype("bfloat16", "auto") == "bfloat16"
