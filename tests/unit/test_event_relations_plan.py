"""Documents and seeds of event relations, as they are planned."""

import json
from pathlib import Path

import pytest
from reprlab.config.load import load_config
from reprlab.papers.event_relations.plan import add_jobs
from reprlab.planning.plan import Plan

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
    (job,) = plan.jobs["build_model"].values()
    assert job.inputs["tokenizer"] == "results/shared/model_tokenizers/minilm_l6"
    assert list(plan.jobs["extract_tokenizer"]) == ["minilm_l6"]


def test_claims_wait_for_the_documents_behind_their_scores() -> None:
    """Also that of a figure's title, which is judged on the rows of its table."""
    plan = Plan()
    add_jobs(plan, load_config(ROOT, {"scale": "nano"}))
    stages = ("rank_partners", "classify_pairs")
    ranked, classified = ({plan.outputs(stage, key)["counts"] for key in plan.jobs[stage]} for stage in stages)
    assert set(plan.jobs["test_claims"]["event-relations"].inputs["after"]) == ranked | classified
    assert set(plan.jobs["plot_figure"]["event-relations/figure_recall"].inputs["after"]) == ranked
    assert "after" not in plan.jobs["plot_figure"]["event-relations/figure3"].inputs


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
        f".wrapped.fold0.k{k}": [0, 1] for k in (3, 5, 10)
    }
    assert seeds[".trigger.fold0.k5"] == seeds[".wrapped_chains.fold0.k5"] == [0]
