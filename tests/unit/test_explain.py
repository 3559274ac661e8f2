"""Why jobs would run: the settings with both values, the modules of the code, and what follows from them."""

import dataclasses
from pathlib import Path

import pytest
from reprlab.planning.plan import Job, Plan
from reprlab.planning.run_plan import RunPlan
from reprlab.preflight.explain import explain, main, report
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import write_text
from reprlab.runtime.seals import Making, sign_results
from reprlab.runtime.stale import contents

ROOT = Path(__file__).resolve().parents[2]
MODEL = "results/shared/models/b"


def plan_of(mask: float) -> RunPlan:
    plan = Plan()
    tokenizer = plan.add("train_tokenizer", "a", Job(settings={"settings": {"corruption": {"mask": mask}}}))["out"]
    plan.add("build_model", "b", Job(inputs={"tokenizer": tokenizer}, settings={"seed": 1}))
    return RunPlan(plan, ROOT)


def edit(plan: RunPlan, key: tuple[str, str], **parts) -> None:
    plan.jobs[key] = dataclasses.replace(plan.jobs[key], **parts)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A run in which both jobs were made."""
    monkeypatch.chdir(tmp_path)
    plan = plan_of(0.3)
    plan.write(tmp_path)
    for job in plan.jobs.values():
        sign_results(Making(job.digest, plan.path.name, contents(job, Path())))
        write_text(Path(job.outputs["out"]), "made")
    yield plan
    sign_results(Making())


def test_nothing_changed_and_nothing_runs(made, tmp_path) -> None:
    assert report(explain(plan_of(0.3), tmp_path, [MODEL])).startswith("Nothing to be done")


def test_a_changed_setting_is_named_with_both_values_and_what_follows(made, tmp_path) -> None:
    found = explain(plan_of(0.5), tmp_path, [MODEL])
    assert found == {
        "train_tokenizer": {"settings.corruption.mask: 0.3 -> 0.5": ["a"]},
        "build_model": {"what it reads is made again": ["b"]},
    }


def test_changed_code_is_named_by_its_modules(made, tmp_path) -> None:
    plan = plan_of(0.3)
    code = plan.jobs["build_model", "b"].code
    edit(plan, ("build_model", "b"), code={**code, "reprlab.models.build": "edited"})
    assert explain(plan, tmp_path, [MODEL]) == {"build_model": {"code of models.build": ["b"]}}


def test_what_was_never_made_and_what_nobody_knows_is_said(made, tmp_path) -> None:
    Path("results/shared/tokenizers/a").unlink()
    Path("results/.seals/shared/models/b.json").unlink()
    found = explain(plan_of(0.3), tmp_path, [MODEL])
    assert found == {
        "train_tokenizer": {"not made yet": ["a"]},
        "build_model": {"nothing says which job made it": ["b"]},
    }


def test_what_is_missing_and_needed_by_nothing_that_runs_is_not_made(made, tmp_path) -> None:
    Path("results/shared/tokenizers/a").unlink()
    assert explain(plan_of(0.3), tmp_path, [MODEL]) == {}
    assert explain(plan_of(0.3), tmp_path, ["results/shared/tokenizers/a"]) == {
        "train_tokenizer": {"not made yet": ["a"]}
    }


def test_an_edit_reaches_what_was_made_through_what_was_deleted_since(made, tmp_path) -> None:
    Path("results/shared/tokenizers/a").unlink()
    assert explain(plan_of(0.5), tmp_path, [MODEL]) == {
        "train_tokenizer": {"not made yet": ["a"]},
        "build_model": {"what it reads is made again": ["b"]},
    }


def test_a_result_edited_by_hand_is_named(made, tmp_path) -> None:
    Path("results/shared/tokenizers/a").write_text("mine")
    edited = "results/shared/tokenizers/a is not what its stage wrote: edited or cut off"
    other = "made from another results/shared/tokenizers/a than the one that is there"
    assert explain(plan_of(0.3), tmp_path, [MODEL]) == {
        "train_tokenizer": {edited: ["a"]},
        "build_model": {other: ["b"]},
    }


def test_a_plan_that_was_deleted_is_said(made, tmp_path) -> None:
    made.path.unlink()
    found = explain(plan_of(0.5), tmp_path, [MODEL])
    assert found["train_tokenizer"] == {"made by a job of a plan that is not kept": ["a"]}


def test_a_target_that_no_job_makes_is_refused_with_the_nearest(made, tmp_path, capsys, monkeypatch) -> None:
    with pytest.raises(ReprlabError, match="did you mean 'results/shared/models/b'"):
        explain(plan_of(0.3), tmp_path, ["results/shared/modles/b"])
    monkeypatch.chdir(ROOT)
    assert main(["results/depth/gleu.tsv", "--scale", "nano"]) == 1
    assert "did you mean 'results/depth/glue.tsv'?" in capsys.readouterr().err
    assert main(["--set", "papers.depth.loss.sentence_weigth=5"]) == 1
    assert "sentence_weight" in capsys.readouterr().err
