"""Documents and seeds of event relations, as they are planned."""

import json
from pathlib import Path

import pytest
from reprlab.config.load import load_config
from reprlab.papers.event_relations.plan import add_jobs
from reprlab.papers.event_relations.plan_folds import RETRIEVERS
from reprlab.planning import paths
from reprlab.planning.plan import Plan
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).parents[2]
STAGES = ("train_retriever", "rank_partners", "train_pair_classifier", "classify_pairs")


def settings_of(stage: str, **config: str) -> dict[str, dict]:
    plan = Plan()
    add_jobs(plan, load_config(ROOT, config))
    return {key: json.loads(job.settings["settings"]) for key, job in plan.jobs[stage].items()}


@pytest.mark.parametrize("stage", STAGES)
def test_a_retriever_can_have_more_documents_than_what_reads_its_rankings(stage: str) -> None:
    edit = "papers.event-relations.retriever_training.documents=7"
    plain, edited = (settings_of(stage, scale="nano", **given) for given in ({}, {"set": edit}))
    wanted = 7 if stage == "train_retriever" else 4
    assert plain and {given["events"]["limit"] for given in plain.values()} == {4}
    assert {given["events"]["limit"] for given in edited.values()} == {wanted}


def test_a_random_encoder_has_the_tokenizer_that_its_entry_names() -> None:
    plan = Plan()
    add_jobs(plan, load_config(ROOT, {"scale": "nano"}))
    assert set(plan.jobs["build_model"]) == {"bert_events_nano_s0", "t5_events_nano_s0"}
    drawn = {job.inputs["tokenizer"] for job in plan.jobs["build_model"].values()}
    assert drawn == {"results/shared/model_tokenizers/minilm_l6"}
    assert list(plan.jobs["extract_tokenizer"]) == ["minilm_l6"]


def test_claims_wait_for_the_documents_behind_their_scores() -> None:
    """Also that of a figure's title, which is judged on the rows of its table."""
    plan = Plan()
    add_jobs(plan, load_config(ROOT, {"scale": "nano"}))
    stages = ("rank_partners", "classify_pairs")
    ranked, classified = ({plan.outputs(stage, key)["counts"] for key in plan.jobs[stage]} for stage in stages)
    # The nearest in the text are a baseline, which no claim draws from.
    trivial = {one for one in ranked if "/nearest/" in one}
    assert len(trivial) == 1
    assert set(plan.jobs["test_claims"]["event-relations"].inputs["after"]) == (ranked - trivial) | classified
    assert set(plan.jobs["plot_figure"]["event-relations/figure_recall"].inputs["after"]) == ranked - trivial
    assert "after" not in plan.jobs["plot_figure"]["event-relations/figure3"].inputs


@pytest.mark.parametrize("scale", ["mini", "small"])
def test_a_t5_without_a_tokenizer_is_pretrained_before_it_classifies(scale: str) -> None:
    plan = Plan()
    add_jobs(plan, load_config(ROOT, {"scale": scale}))
    ((run, job),) = plan.jobs["pretrain_lm"].items()
    settings = json.loads(job.settings["settings"])
    (step,) = settings["engine"]["ladder"]
    assert settings["objective"] == "t5" and step == settings["engine"]["steps"]
    found = {key: job for key, job in plan.jobs["train_pair_classifier"].items() if key.startswith("t5/")}
    assert {key.split("/")[2].split(".")[0] for key in found} == {"none", *RETRIEVERS}
    for one in found.values():
        assert one.inputs["after"] == [paths.pretrained(run)] and one.settings["model"] == paths.checkpoint(run, step)
        assert one.inputs["tokenizer"] == job.inputs["tokenizer"]


def test_a_published_t5_is_not_pretrained() -> None:
    plan = Plan()
    add_jobs(plan, load_config(ROOT, {"scale": "paper"}))
    assert "pretrain_lm" not in plan.jobs
    found = [job for key, job in plan.jobs["train_pair_classifier"].items() if key.startswith("t5/")]
    assert {job.inputs["model"] for job in found} == {"results/shared/models/t5_large"}


def test_a_t5_without_a_tokenizer_needs_a_text() -> None:
    edit = "papers.event-relations.warm_start.text.corpus=null"
    with pytest.raises(ReprlabError, match=r"^papers.event-relations.warm_start.text.corpus is null, but t5_mini is"):
        add_jobs(Plan(), load_config(ROOT, {"scale": "mini", "set": edit}))


def test_a_corpus_without_chains_has_a_reason_in_their_place() -> None:
    """v1.5 has no chains: its classifiers with chains were planned, and were those without."""
    edit = "papers.event-relations.data.esc.dataset=event_storyline_v1_5"
    known, none = (settings_of("rank_partners", scale="small", **given) for given in ({}, {"set": edit}))
    assert any("chains" in key for key in known) and not any("chains" in key for key in none)


def test_every_number_of_partners_is_classified_with_all_seeds() -> None:
    found = settings_of("classify_pairs", scale="mini")
    start = "roberta/wordnet_events/sbert_ft"
    seeds = {key.removeprefix(start): given["seeds"] for key, given in found.items() if key.startswith(start)}
    assert {key: seeds[key] for key in seeds if key.startswith(".wrapped.")} == {
        f".wrapped.fold0.k{k}": [0, 1, 2, 3] for k in (3, 5, 10)
    }
    assert seeds[".trigger.fold0.k5"] == seeds[".wrapped_chains.fold0.k5"] == [0]
