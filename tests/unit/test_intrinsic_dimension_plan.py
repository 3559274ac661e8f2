"""The plan of the paper on intrinsic dimension: states are collected once, and an edit touches what it should."""

import json
import re
from pathlib import Path

import pytest
from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.representation_jobs import add_states
from reprlab.representations.settings import CollectSettings
from reprlab.representations.token_clouds import TokenClouds
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).parents[2]
SHARED = "results/shared"
PAPER = "papers.intrinsic-dimension"
DATASETS = {"mini": {"id_sst2", "id_cola", "id_tweets", "id_editorials", "id_topics"}, "nano": {"id_sst2"}}


def jobs(scale, *edits):
    plan = make_plan(
        load_config(ROOT, {"scale": scale, "build": ["intrinsic-dimension"], **({"set": list(edits)} if edits else {})})
    )
    return {
        f"{stage} {key}": job
        for stage, jobs in plan.jobs.items()
        for key, job in jobs.items()
        if stage in ("build_prompts", "train_adapter", "collect_states", "estimate_dimension", "build_model")
        or key.startswith("intrinsic-dimension")
    }


def changed(before, after):
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}


def test_grid_at_paper_scale():
    found = jobs("paper")
    keys = [name.split() for name in found]
    # 4 models x 8 sets x 5 shots, 2 x 3 x 5 further shots, 1 x 3 x 10 unique; 2 x 8 x 2 ladders, 4 x 8 comparisons.
    # The drawn model reads none and five on all of these sets.
    assert sum(stage == "collect_states" for stage, _ in keys) == 160 + 30 + 30 + 32 + 32 + 2 * (8 + 3)
    assert sum(stage == "train_adapter" for stage, _ in keys) == 16 + 32
    ladder = found["train_adapter llama_3_8b/id_mmlu/sft_945"].settings["settings"]
    assert '"ladder": [0, 62, 124, 186, 248, 310, 372, 434, 496, 558, 620, 682, 744, 806, 868, 930, 945]' in ladder


def test_published_numbers_of_demonstrations():
    """T10: the authors' figure shows a k = 7, which is in no grid of the paper."""
    paper = load_config(ROOT, {"scale": "paper"}).papers["intrinsic-dimension"]
    assert paper.comparison.shots == [0, 1, 2, 5, 10]
    assert paper.icl_dynamics.shots == paper.icl_unique.shots == [0, 1, 2, 5, 10, 12, 14, 16, 18, 20]


@pytest.mark.parametrize("scale", ["nano", "mini", "small", "paper"])
def test_states_are_collected_once_for_all_estimators_and_accuracies(scale):
    """TwoNN, Levina-Bickel and GRIDE read the arrays, accuracies the answers, of one and the same pass."""
    found = jobs(scale)
    collections = {name.split()[1]: job for name, job in found.items() if name.startswith("collect_states")}
    estimates = {name.split()[1]: job for name, job in found.items() if name.startswith("estimate_dimension")}
    # It reads states/<key>/layers, an output of the collection of this key, and nothing else.
    layers = {key: {"states": f"{SHARED}/states/{key}/layers"} for key in collections}
    assert {key: job.inputs for key, job in estimates.items()} == layers
    for job in estimates.values():
        kinds = [one["kind"] for one in json.loads(job.settings["settings"])["estimators"]]
        assert sorted(kinds) == ["gride", "levina_bickel", "two_nn", "two_nn_ml"]
    passes = [json.dumps([dict(job.inputs), job.settings["settings"]]) for job in collections.values()]
    assert len(set(passes)) == len(passes), "no two collections run one model on the same prompts in the same way"

    read = set(found["gather_results intrinsic-dimension"].inputs["inputs"])
    read -= {path for path in read if path.startswith(f"{SHARED}/token_clouds/")}
    assert read >= {f"{SHARED}/dimensions/{key}.tsv" for key in collections}, "every estimate is read"
    # What is collected in the other arithmetic alone is not an answer to be scored.
    scores = {
        f"{SHARED}/states/{key}/scores.tsv"
        for key, job in collections.items()
        if '"limit": null' in job.settings["settings"]
    }
    baselines = {path for path in read if path.startswith(f"{SHARED}/prompt_baselines/")}
    assert baselines and read - {f"{SHARED}/dimensions/{key}.tsv" for key in collections} - baselines == scores


def test_a_second_paper_that_asks_for_the_same_states_shares_their_job():
    plan = make_plan(load_config(ROOT, {"scale": "mini", "build": ["intrinsic-dimension"]}))
    key = "smollm2_135m_instruct/id_sst2/icl_0"
    job, count = plan.jobs["collect_states"][key], len(plan.jobs["collect_states"])
    inputs = [job.inputs["model"], job.inputs["tokenizer"], job.inputs["prompts"]]
    settings = CollectSettings.model_validate_json(job.settings["settings"])
    assert add_states(plan, key, *inputs, settings) == f"{SHARED}/states/{key}/items.parquet"
    assert len(plan.jobs["collect_states"]) == count and plan.jobs["collect_states"][key] is job
    with pytest.raises(ReprlabError, match="two papers give it different settings"):
        add_states(plan, key, *inputs, settings.model_copy(update={"batch_tokens": settings.batch_tokens * 2}))


@pytest.mark.parametrize(("own", "other"), [("bfloat16", "float32"), ("float32", "bfloat16")])
def test_precision_is_sampled_whatever_the_machine_computes_in(own, other):
    found = jobs("mini", f"numerics.dtype={own}")
    table = json.loads(found["tabulate_paper intrinsic-dimension/precision"].settings["gather"])
    entries = [one for one in table["entries"] if "path" in one]
    dtypes = {Path(one["path"]).stem: (one["factors"]["dtype"], one["where"]["subset"]) for one in entries}
    assert dtypes == {"icl_0": (own, "first 100"), f"icl_0_{other}": (other, "all")}
    samples = [job for key, job in found.items() if re.match(rf"collect_states .*/icl_0_{other}$", key)]
    assert len(samples) == len(DATASETS["mini"])
    for job in samples:
        settings = CollectSettings.model_validate_json(job.settings["settings"])
        assert settings.dtype == other and settings.limit == 100


@pytest.mark.parametrize("scale", ["nano", "mini", "small"])
def test_zero_shot_prompts_alone_are_read_more_than_once(scale):
    found = jobs(scale)
    read = [name for name in found if name.startswith("collect_states") and "_drawn/" not in name]
    prompts = [found[name].inputs["prompts"] for name in read]
    # The zero-shot prompts are read without adapter, with adapters, and in float32; no other prompts are read twice.
    assert sorted(path for path in set(prompts) if prompts.count(path) > 1) == sorted(
        path for path in set(prompts) if path.endswith("/validation_0.parquet")
    )


@pytest.mark.parametrize("dataset", ["sst2", "tweets"])
def test_a_template_touches_its_data_set_alone(dataset):
    before, after = jobs("mini"), jobs("mini", f"{PAPER}.data.datasets.{dataset}.template='{{text}} Well?'")
    touched = changed(before, after)
    own = {name for name in before if name.startswith(f"build_prompts id_{dataset}/")}
    assert touched & own
    # The control for shared demonstrations keeps its own template, and so makes zero-shot prompts of its own.
    assert all(f" id_{dataset}/" in name or "/id_sst2/" in name or " intrinsic-dimension" in name for name in touched)
    files = {
        f"results/shared/prompts/{name.split()[1]}.parquet" for name in touched if name.startswith("build_prompts")
    }
    readers = {name for name, job in after.items() if files.intersection(map(str, job.inputs.values()))}
    assert readers and all(f"/id_{dataset}/" in name for name in readers)


@pytest.mark.parametrize(
    ("edit", "stages"),
    [
        ("estimation.estimators.two_nn.discard=0.2", {"estimate_dimension"}),
        ("estimation.norm=upstream", {"tabulate_paper", "plot_figure", "gather_results"}),
        ("collection.label_ids=bare", {"collect_states"}),
        ("finetuning.rank=8", {"train_adapter", "estimate_cost"}),
        ("data.demonstration_seed=7", {"build_prompts", "tabulate_paper", "plot_figure", "gather_results"}),
    ],
)
def test_an_edit_touches_its_stages(edit, stages):
    touched = changed(jobs("mini"), jobs("mini", f"{PAPER}.{edit}"))
    assert {name.split()[0] for name in touched} == stages


def test_another_seed_adds_its_conditions_and_touches_no_other():
    before, after = jobs("mini"), jobs("mini", f"{PAPER}.replication.seeds=[1, 9]")
    touched = changed(before, after)
    new = {name.replace("smollm2_135m_instruct/", "") for name in touched if name.endswith("_seed9") or "9_val" in name}
    assert new == {
        "build_prompts id_sst2/validation_2_seed9", "train_adapter id_sst2/sft_80_seed9",
        "collect_states id_sst2/icl_2_seed9", "collect_states id_sst2/sft_80_seed9_validation",
        "estimate_dimension id_sst2/icl_2_seed9", "estimate_dimension id_sst2/sft_80_seed9_validation",
    }  # fmt: skip
    results = {f"{stage} intrinsic-dimension" for stage in ("gather_results", "estimate_cost")}
    results.add("tabulate_paper intrinsic-dimension/seeds")
    assert len(touched) == len(new) + len(results) and results < touched


def test_a_seed_moves_demonstrations_and_adapters_but_not_the_prompts_asked():
    found = jobs("mini")
    settings = {
        seed: json.loads(found[f"build_prompts id_sst2/validation_2{seed}"].settings["settings"])
        for seed in ("", "_seed1")
    }
    assert {key for key in settings[""] if settings[""][key] != settings["_seed1"][key]} == {"seed"}
    runs = [f"train_adapter smollm2_135m_instruct/id_sst2/sft_80{seed}" for seed in ("", "_seed1")]
    engines = [json.loads(found[name].settings["settings"])["engine"] for name in runs]
    assert [engine["seed"] for engine in engines] == [42, 1]
    with pytest.raises(ReprlabError, match="42 is the seed of the main run"):
        load_config(ROOT, {"set": f"{PAPER}.replication.seeds=[42]"})


def test_another_number_of_demonstrations_adds_its_collections():
    before, after = jobs("mini"), jobs("mini", f"{PAPER}.comparison.shots=[0, 1, 2, 3, 5]")
    touched = changed(before, after)
    new = {name for name in touched if name.split()[0] in ("build_prompts", "collect_states", "estimate_dimension")}
    assert new == {
        f"{stage} {key}"
        for dataset in DATASETS["mini"]
        for stage, key in (
            ("build_prompts", f"{dataset}/validation_3"),
            ("collect_states", f"smollm2_135m_instruct/{dataset}/icl_3"),
            ("estimate_dimension", f"smollm2_135m_instruct/{dataset}/icl_3"),
        )
    }


def test_a_random_model_needs_a_corpus_for_its_tokenizer():
    with pytest.raises(ReprlabError, match=r"scratch\.corpus is null, but llama_nano is drawn at random"):
        jobs("nano", f"{PAPER}.data.scratch.corpus=null")


@pytest.mark.parametrize("scale", ["nano", "mini", "small", "paper"])
def test_tokens_of_single_prompts_are_those_of_the_comparison(scale):
    """The prompts with demonstrations, the same model and its drawn twin, one pass for both."""
    config = load_config(ROOT, {"scale": scale, "build": ["intrinsic-dimension"]})
    paper, plan = config.papers["intrinsic-dimension"], make_plan(config)
    wanted, found = paper.neighbours.token_geometry, plan.jobs["measure_token_clouds"]
    models = {*wanted.models, paper.comparison.drawn}
    assert set(found) == {f"{model}/id_{name}/icl_5" for model in models for name in wanted.datasets}
    known = {name for name, entry in paper.data.datasets.items() if entry.dataset}
    assert set(wanted.datasets) == known and set(wanted.models) <= set(paper.comparison.models)
    for key, job in found.items():
        collected = plan.jobs["collect_states"][key]
        assert {name: job.inputs[name] for name in job.inputs} == {name: collected.inputs[name] for name in job.inputs}
        settings = TokenClouds.model_validate_json(job.settings["settings"])
        assert settings.estimator.kind == "two_nn" and settings.tokens == wanted.tokens
        assert settings.dtype == json.loads(collected.settings["settings"])["dtype"]


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ("estimator=two", "neighbours.token_geometry.estimator names two; estimation.estimators has two_nn"),
        ("neighbours=96", "neighbours: 96 of 96 tokens; lower it, or raise tokens"),
        ("datasets=[mmlu]", "neighbours.token_geometry.datasets names mmlu"),
    ],
)
def test_tokens_of_single_prompts_that_cannot_be_measured_are_refused(edit, says):
    with pytest.raises(ReprlabError, match=re.escape(says)) as error:
        load_config(ROOT, {"scale": "mini", "set": f"{PAPER}.neighbours.token_geometry.{edit}"})
    assert "\n" not in str(error.value)
