"""Jobs that differ in numbers alone are one class, of which one runs with all that it reads."""

import functools
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.config.load import load_config
from reprlab.config.papers import SLUGS
from reprlab.config.rehearsal import LARGEST, cut
from reprlab.planning import paths
from reprlab.planning.job_classes import GATHERING, Classes
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.plan import Job, Plan
from reprlab.planning.rehearsal import rehearse
from reprlab.planning.run_plan import RunPlan
from reprlab.planning.stages import STAGES
from reprlab.preflight.rehearse import table_rows
from reprlab.results.gather import require_inputs
from reprlab.results.sources import GatherSettings
from reprlab.runtime.files import write_text
from reprlab.runtime.plan_file import parsed, paths_of

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def config_of(slug: str, scale: str):
    return load_config(ROOT, {"scale": scale}, targets=[slug])


def rehearsal_of(slug: str):
    config = config_of(slug, "rehearsal")
    return rehearse(make_plan(config), config)


def entry(architecture: str, repository: str, layers: int = 2) -> dict:
    config = {"num_layers": layers, "feed_forward_proj": "relu"}
    return {"entry": {"architecture": architecture, "config": config, "origin": {"repository": repository}}}


def tuned(model: str, task: str, seed: int, rate: float = 0.1, template: str = "cola") -> Job:
    inputs = {"after": [model], "examples": task}
    return Job(inputs, {"settings": {"template": template, "learning_rates": [rate], "seed": seed, "steps": None}})


def small_plan() -> Plan:
    """Two T5 of the hub and a BERT; two sets of one reader; seeds, rates and templates."""
    plan = Plan()
    models = [
        plan.add("build_model", name, Job(settings=entry(*about)))["out"]
        for name, about in {"a": ("t5", "x/a"), "b": ("t5", "x/b", 12), "c": ("bert", "x/c")}.items()
    ]
    tasks = [
        plan.add("build_examples", name, Job(settings={"entry": {"name": name, "reader": "glue", "kind": "single"}}))[
            "out"
        ]
        for name in ("one", "two")
    ]
    for place, model in enumerate(models):
        for seed in (1, 2):
            for task, path in zip(("one", "two"), tasks, strict=True):
                plan.add("finetune_model", f"m{place}/{task}/s{seed}", tuned(model, path, seed))
    plan.add("finetune_model", "m0/one/rate", tuned(models[0], tasks[0], 1, rate=0.5))
    plan.add("finetune_model", "m0/one/other", tuned(models[0], tasks[0], 1, template="mnli"))
    return plan


def test_classes_of_a_plan_counted_by_hand() -> None:
    members = Classes(small_plan()).members.values()
    counts = {(jobs[0]): len(jobs) for jobs in members}
    # Each repository and each data set is met; of trainings, each architecture and template.
    assert counts == {
        ("build_model", "a"): 1,
        ("build_model", "b"): 1,
        ("build_model", "c"): 1,
        ("build_examples", "one"): 1,
        ("build_examples", "two"): 1,
        ("finetune_model", "m0/one/s1"): 2 * 2 * 2 + 1,
        ("finetune_model", "m2/one/s1"): 2 * 2,
        ("finetune_model", "m0/one/other"): 1,
    }


def chain(readings: list[tuple[set[int], str, int]]) -> Plan:
    """Models of which each reads earlier ones; a word and a number each."""
    plan, made = Plan(), []
    for place, (read, word, number) in enumerate(readings):
        inputs = [made[one % place] for one in sorted(read)] if place else []
        job = Job({"after": inputs}, {"settings": {"word": word, "number": number}})
        made.append(plan.add("merge_models", f"m{place}", job)["out"])
    return plan


READINGS = st.lists(
    st.tuples(st.sets(st.integers(0, 9), max_size=6), st.sampled_from("ab"), st.integers(0, 3)), min_size=1, max_size=14
)


@given(READINGS)
@settings(deadline=None, max_examples=80)
def test_each_job_has_one_that_stands_for_it_and_each_that_runs_has_its_inputs(readings) -> None:
    plan = chain(readings)
    made = rehearse(plan, config_of("depth", "rehearsal"))
    jobs = {("merge_models", key): job for key, job in made.plan.jobs.get("merge_models", {}).items()}
    for key, own in plan.jobs["merge_models"].items():
        other = made.classes.representative(("merge_models", key))
        assert other in jobs
        assert made.classes.of(other) == made.classes.of(("merge_models", key))
        words = [parsed(job.settings["settings"])["word"] for job in (own, plan.jobs["merge_models"][other[1]])]
        assert words[0] == words[1]
    files = {path for name in jobs for path in plan.outputs(*name).values()}
    assert all(set(paths_of(job.inputs)) <= files for job in jobs.values())


@given(READINGS)
@settings(deadline=None, max_examples=30)
def test_other_numbers_are_the_same_classes(readings) -> None:
    other = [(read, word, number + 7) for read, word, number in readings]
    assert set(Classes(chain(readings)).members) == set(Classes(chain(other)).members)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_rehearsal_has_the_classes_of_the_published_plan(slug: str) -> None:
    published = Classes(make_plan(config_of(slug, "paper")))
    made = rehearsal_of(slug)
    assert set(published.members) == set(made.classes.members)
    for stage, jobs in made.plan.jobs.items():
        for key, job in jobs.items():
            makers = [made.classes.maker_of(path) for path in paths_of(job.inputs)]
            assert all(one is None or one[0][1] in made.plan.jobs[one[0][0]] for one in makers), (stage, key)
            if STAGES[stage].asks:
                raise AssertionError(f"{stage} {key} would ask a paid endpoint")
            if stage in GATHERING and "entries" in (gathered := parsed(job.settings.get("settings", "{}"))):
                require_inputs(GatherSettings.model_validate(gathered), [Path(path) for path in paths_of(job.inputs)])
    standing = {members[0] for members in made.classes.members.values()}
    assert all(name in made.refused or name[1] in made.plan.jobs[name[0]] for name in standing)
    # All that runs is asked for by the paper's name.
    targets = set(made.plan.targets[slug])
    runs = [(stage, key) for stage, jobs in made.plan.jobs.items() for key in jobs]
    assert {path for name in runs for path in made.plan.outputs(*name).values()} == targets


def test_the_plan_of_a_rehearsal_is_written_like_any_other(tmp_path) -> None:
    made = rehearsal_of("vocab-memory")
    plan = RunPlan(made.plan, ROOT)
    plan.write(tmp_path)
    assert (tmp_path / plan.path).is_file()


def test_what_costs_or_must_be_brought_is_said_with_what_waits_for_it() -> None:
    refused = rehearsal_of("universal-features").refused
    assert [name[0] for name in refused] == ["interpret_features"] * 2
    assert all(why.startswith("paid endpoint api.openai.com") for why in refused.values())
    refused = rehearsal_of("reverse-probing").refused
    assert "LDC2013T19" in refused["fetch_archive", "conll2012_english_v4"]
    waiting = [why for why in refused.values() if why.startswith("needs fetch_archive conll2012_english_v4")]
    assert len(waiting) > 50


def test_the_table_says_of_each_class_what_became_of_it(tmp_path) -> None:
    plan = chain([(set(), "a", 0), ({0}, "b", 1), ({1}, "c", 2), (set(), "d", 3), (set(), "e", 4), (set(), "f", 5)])
    made = replace(rehearse(plan, config_of("depth", "rehearsal")), refused={("merge_models", "m5"): "paid"})
    config = replace(config_of("depth", "rehearsal"), home=tmp_path)
    for key, text in {"m0": "a line\nerror: no space on the disk\n", "m3": "a line\n"}.items():
        write_text(config.run_folder / paths.log("merge_models", key), text)
    counts = {made.classes.of(("merge_models", "m1")): 7}
    rows = table_rows(config, made, counts)
    assert [(row["job"], row["jobs"], row["result"]) for row in rows] == [
        ("m0", 1, "no space on the disk"),
        ("m1", 7, "needs merge_models m0, which failed"),
        ("m2", 1, "needs merge_models m0, which failed"),
        ("m3", 1, f"failed without a word; look into {paths.log('merge_models', 'm3')}"),
        ("m4", 1, "was not started"),
        ("m5", 1, "not rehearsed: paid"),
    ]


def test_an_endpoint_of_this_machine_is_asked(monkeypatch) -> None:
    config = load_config(
        ROOT,
        {"scale": "rehearsal", "set": "papers.universal-features.interpretation.chat.base_url=http://localhost:1/v1"},
        targets=["universal-features"],
    )
    made = rehearse(make_plan(config), config)
    assert not made.refused
    assert len(made.plan.jobs["interpret_features"]) == 2


def test_a_cut_keeps_what_is_no_number_or_small(monkeypatch) -> None:
    values = {
        "steps": 1000, "epochs": 3.0, "batch_size": None, "learning_rate": 0.001, "ladder": [5, 10, 20],
        "runs": {"fs": {"steps": 2}, "cpt": {"ladder": [7]}}, "large": [{"steps": 9, "language": "bn"}],
        "packing": True, "length": 256, "generation": {"length": 256, "beams": 4},
        "tested": [0, 1, 2], "values": [0.1, 0.2, 0.3],
    }  # fmt: skip
    assert cut(values) == {
        "steps": 2, "epochs": 1.0, "ladder": [1, 2], "runs": {"cpt": {"ladder": [2]}},
        "large": [{"steps": 2, "language": "bn"}], "generation": {"length": 16}, "tested": [0],
        "values": [0.1, 0.2],
    }  # fmt: skip


def test_every_rule_is_one_of_a_published_setting() -> None:
    def names(value):
        if isinstance(value, dict):
            below = {f"{group}.{name}" for group, one in value.items() if isinstance(one, dict) for name in one}
            return set(value).union(below, *map(names, value.values()))
        return set().union(*map(names, value)) if isinstance(value, list) else set()

    known = set().union(*(names(config_of(slug, "paper").plain(slug)) for slug in SLUGS))
    assert set(LARGEST) <= known


def test_a_cut_is_over_the_edits_of_the_user() -> None:
    config = load_config(
        ROOT, {"scale": "rehearsal", "set": "papers.depth.pretraining.runs.fs.steps=500000"}, targets=["depth"]
    )
    assert config.papers["depth"].pretraining.runs.fs.steps == 2
    assert config.run_folder == ROOT / "runs/rehearsal"
