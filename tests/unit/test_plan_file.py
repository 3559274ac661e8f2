"""The plan as a file: what it holds, how it is named, what changes a job's digest, and what a stage is called with."""

import dataclasses
import hashlib
import importlib
import inspect
import json
import sqlite3
from pathlib import Path

import pytest
from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.plan import Job, Plan
from reprlab.planning.run_plan import RunPlan
from reprlab.runtime import planned
from reprlab.runtime.cli import run_stage
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.plan_file import Code, PlanFile, PlannedJob, plan_name, write_plan

ROOT = Path(__file__).resolve().parents[2]
SCALES = ["nano", "mini", "small", "paper"]
JOB = PlannedJob("build_model", "t5", {"tokenizer": "a"}, {"out": "b"}, {"seed": 1}, code={"reprlab.x": "0"})


@pytest.mark.parametrize("scale", SCALES)
def test_every_job_says_what_its_stage_needs_and_nothing_that_it_does_not_take(scale: str) -> None:
    plan = RunPlan(make_plan(load_config(ROOT, {"scale": scale})), ROOT)
    assert plan.jobs
    for (stage, key), job in plan.jobs.items():
        function = getattr(importlib.import_module(f"reprlab.stages.{stage}"), stage)
        named = {*job.inputs, *job.settings, *job.neutral, *job.files} - {"after"}
        assert named <= set(inspect.signature(function).parameters), (stage, key)
        arguments = planned.arguments_of(function, job, {"save_every": 5, "device": "cpu", "inference_batch": 2})
        inspect.signature(function).bind(**arguments)


def test_a_written_plan_gives_back_its_jobs_and_is_read_only(tmp_path) -> None:
    jobs, targets = [JOB, dataclasses.replace(JOB, key="other", settings={"seed": 2})], {"depth": ["results/a.tsv"]}
    path = tmp_path / plan_name(jobs, targets)
    write_plan(path, jobs, targets)
    plan = PlanFile(path)
    assert [plan.job("build_model", key) for key in plan.keys("build_model")] == [jobs[1], jobs[0]]
    assert plan.targets == targets
    assert plan.job("build_model", "t5").digest == JOB.digest
    assert not path.stat().st_mode & 0o222
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with pytest.raises(ReprlabError, match="no job 'x' of build_model"):
        plan.job("build_model", "x")


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path, monkeypatch) -> None:
    """SQLite's own error, where a file may not grow."""
    connect = sqlite3.connect

    def on_a_full_disk(path):
        base = connect(path)
        base.execute("PRAGMA max_page_count = 3")
        return base

    monkeypatch.setattr(sqlite3, "connect", on_a_full_disk)
    jobs = [dataclasses.replace(JOB, key=str(number), settings={"text": "x" * 4000}) for number in range(20)]
    with pytest.raises(ReprlabError, match=r"p\.sqlite: the plan cannot be written \(.*full\); free space"):
        write_plan(tmp_path / "plans/p.sqlite", jobs, {})
    assert list(tmp_path.rglob("*.*")) == []


@pytest.mark.parametrize("folder", ["a file", "read-only"])
def test_a_place_where_no_plan_can_be_written_is_one_line(tmp_path, monkeypatch, folder) -> None:
    if folder == "a file":
        (tmp_path / "plans").touch()
    else:
        monkeypatch.setattr(Path, "mkdir", lambda *_, **__: (_ for _ in ()).throw(OSError(30, "Read-only file system")))
    with pytest.raises(ReprlabError, match=r"p\.sqlite: the plan cannot be written"):
        write_plan(tmp_path / "plans/p.sqlite", [JOB], {})


def test_what_a_stage_imports_travels_with_its_plan(tmp_path) -> None:
    code = Code({"reprlab.a": "1"})
    code.distributions = ("jiwer", "rapidfuzz")
    job = dataclasses.replace(JOB, code=code)
    write_plan(tmp_path / "p.sqlite", [job, dataclasses.replace(JOB, key="b")], {})
    plan = PlanFile(tmp_path / "p.sqlite")
    assert plan.job("build_model", "t5").distributions == ["jiwer", "rapidfuzz"]
    assert plan.job("build_model", "b").distributions == []
    assert job.digest == dataclasses.replace(JOB, code={"reprlab.a": "1"}).digest, "a version is told, not a key"


def test_the_name_of_a_plan_follows_its_content_and_not_the_order(tmp_path) -> None:
    other = dataclasses.replace(JOB, key="other")
    assert plan_name([JOB, other], {}) == plan_name([other, JOB], {})
    assert plan_name([JOB], {}) != plan_name([dataclasses.replace(JOB, settings={"seed": 2})], {})
    assert plan_name([JOB], {}) != plan_name([dataclasses.replace(JOB, neutral={"licence": "MIT"})], {})


@pytest.mark.parametrize(
    "part", [{"settings": {"seed": 2}}, {"inputs": {}}, {"factors": {"k": 1}}, {"files": {"a": "b"}}, {"code": {}}]
)
def test_what_can_change_the_result_changes_the_digest(part) -> None:
    assert dataclasses.replace(JOB, **part).digest != JOB.digest


def test_words_that_are_shown_do_not_change_the_digest() -> None:
    assert dataclasses.replace(JOB, neutral={"licence": "MIT"}).digest == JOB.digest


@pytest.mark.parametrize("damage", ["missing", "text"])
def test_a_plan_that_is_none_is_named(tmp_path, damage: str) -> None:
    path = tmp_path / "plan.sqlite"
    if damage == "text":
        path.write_text("no plan, but longer than the header of a data base: " * 9)
    with pytest.raises(ReprlabError, match=r"plan\.sqlite"):
        PlanFile(path).job("build_model", "t5")


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A plan with one job that counts the parameters of no model, and the folder of its run."""
    monkeypatch.chdir(tmp_path)
    plan = Plan()
    plan.add("count_parameters", "none", Job(settings={"models": {"entries": {}}}))
    run = RunPlan(plan, ROOT)
    run.write(tmp_path)
    return run.path


def call(written: Path, *options: str) -> None:
    from reprlab.stages.count_parameters import count_parameters

    run_stage(count_parameters, ["--plan", str(written), "--job", "none", *options])


def test_a_job_is_shown_as_json(written, capsys) -> None:
    call(written, "--show")
    shown = json.loads(capsys.readouterr().out)
    assert shown["settings"] == {"models": {"entries": {}}}
    assert shown["outputs"] == {"out": "results/shared/model_sizes/none.tsv"}


def test_a_setting_tried_by_hand_needs_a_folder_of_its_own_and_leaves_the_run_alone(written, tmp_path, capfd) -> None:
    with pytest.raises(SystemExit):
        call(written, "--set", "models.entries={}")
    assert "--into" in capfd.readouterr().err
    with pytest.raises(SystemExit):
        call(written, "--set", "models.entry={}", "--into", "trial")
    assert "no such setting; here it has entries" in capfd.readouterr().err
    call(written, "--set", "models.entries={}", "--into", "trial")
    assert (tmp_path / "trial/results/shared/model_sizes/none.tsv").is_file()
    assert not (tmp_path / "results").exists()


def test_edited_code_is_refused_in_one_line(written, monkeypatch, capfd) -> None:
    monkeypatch.setattr("reprlab.runtime.code_digest.tree_digest", lambda module: "edited")
    with pytest.raises(SystemExit):
        call(written)
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("error: count_parameters none: ") and "changed since the run was planned" in line
    assert not Path("results/shared").exists()


@pytest.mark.parametrize("listed", [False, True])
def test_an_edited_file_of_the_checkout_is_refused_where_no_copy_of_it_was_planned(
    monkeypatch, tmp_path, listed
) -> None:
    """A command that is pasted later reads the checkout as it is then."""
    monkeypatch.setattr(planned, "_root", lambda: tmp_path)
    (tmp_path / "names.yaml").write_text("planned")
    digest = hashlib.sha256(b"planned").hexdigest()[:16]
    job = PlannedJob("s", "k", files={"names": {"names.yaml": digest} if listed else f"names.yaml {digest}"})
    planned._require_planned_code(job)
    for change in (lambda path: path.write_text("edited"), lambda path: path.unlink()):
        change(tmp_path / "names.yaml")
        with pytest.raises(ReprlabError, match=r"s k: names\.yaml changed since the run was planned"):
            planned._require_planned_code(job)
    (tmp_path / planned.FROZEN).touch()
    planned._require_planned_code(job)
