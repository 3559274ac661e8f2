"""What an edit reruns, answered by two plans in memory."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.plan import Job, Plan
from reprlab.planning.reruns import needed_jobs, reruns, wanted_jobs
from reprlab.planning.run_plan import RunPlan
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).resolve().parents[2]


def model(number: int) -> str:
    return f"results/shared/models/m{number}"


def graph_of(readings: list[set[int]], edited: set[int] = frozenset()) -> RunPlan:
    """Models of which each reads earlier ones; `edited` ones have another seed."""
    plan = Plan()
    for number, read in enumerate(readings):
        job = Job(
            {"receipts": [model(one % number) for one in sorted(read)] if number else []}, {"seed": number in edited}
        )
        plan.add("build_model", f"m{number}", job)
    return RunPlan(plan, ROOT)


GRAPHS = st.lists(st.sets(st.integers(0, 7), max_size=3), min_size=1, max_size=8)


@given(GRAPHS, st.sets(st.integers(0, 7)), st.integers(0, 7))
@settings(deadline=None, max_examples=60)
def test_what_runs_is_what_was_edited_and_all_that_reads_it(readings, edited, target) -> None:
    target %= len(readings)
    before, after = graph_of(readings), graph_of(readings, edited)

    def sources(number: int) -> set[int]:
        read = {one % number for one in readings[number]} if number else set()
        return {number}.union(*(sources(one) for one in read))

    expected = {f"m{one}" for one in sources(target) if sources(one) & edited}
    found = [key for _, key in reruns(before, after, [model(target)])]
    assert set(found) == expected and len(found) == len(expected)
    assert reruns(before, before, [model(target)]) == []
    place = {job.key: place for place, job in enumerate(needed_jobs(after, [model(target)]))}
    assert sorted(found, key=place.__getitem__) == found and set(place) == {f"m{one}" for one in sources(target)}


def test_a_job_that_was_not_planned_before_runs() -> None:
    assert reruns(graph_of([set()]), graph_of([set(), {0}]), [model(1)]) == [("build_model", "m1")]


def test_a_target_that_no_job_makes_is_refused_with_the_nearest() -> None:
    plan = graph_of([set(), {0}])
    with pytest.raises(ReprlabError, match=r"modles/m1: no job makes it; did you mean 'results/shared/models/m1'"):
        reruns(plan, plan, ["results/shared/modles/m1"])


def test_what_a_command_needs_by_other_names() -> None:
    plan = graph_of([set(), {0}, {0}])
    assert [job.key for job in wanted_jobs(plan, ["./results/shared/models/m1"])] == ["m0", "m1"]
    assert wanted_jobs(plan, ["build_model", "results/shared/modles/m1"]) == []
    report = Plan()
    report.add("write_report", "all", Job())
    assert [job.stage for job in wanted_jobs(RunPlan(report, ROOT), [])] == ["write_report"]
    assert [job.stage for job in wanted_jobs(RunPlan(report, ROOT), ["write_report"])] == ["write_report"]


def test_an_edit_of_a_real_paper_reruns_its_stages_alone() -> None:
    def plan_of(*edits: str) -> RunPlan:
        config = load_config(ROOT, {"scale": "nano", "build": ["depth"], "set": list(edits)})
        return RunPlan(make_plan(replace(config, papers={"depth": config.papers["depth"]})), ROOT)

    before, after = plan_of(), plan_of("papers.depth.error_sample.seed=1")
    for target in ("all", "depth"):
        found = Counter(stage for stage, _ in reruns(before, after, [target]))
        assert found == {"sample_predictions": 1, **({"write_report": 1} if target == "all" else {})}
    assert reruns(before, after, ["results/depth/glue.tsv"]) == []
