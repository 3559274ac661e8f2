"""Coreference chains in the texts of mentions (Table 5): what is appended, what reads it."""

from pathlib import Path

import numpy as np
import pytest
from event_samples import document
from finetune_fixtures import make_tokenizer
from reprlab.config.load import load_config
from reprlab.data.event_rows import Mention, event_row
from reprlab.events.documents import event_document
from reprlab.events.encodings import COREFERENCE, MARKERS, mention_texts
from reprlab.events.generative import pair_inputs
from reprlab.events.pairs import LabelledPairs
from reprlab.events.settings import EventSelection
from reprlab.papers.event_relations.plan import add_jobs
from reprlab.planning.plan import Plan
from reprlab.text.model_tokenizers import load_tokenizer

ROOT = Path(__file__).parents[2]


def test_a_chain_of_three_names_the_other_two_in_textual_order() -> None:
    mentions = [Mention("c", (6,), "", 4), Mention("a", (0,), "", 4), Mention("b", (2, 4), "", 4), Mention("d", (5,))]
    row = event_row("d", "g", [["hit", "and", "struck", "it", "down", "fell", "blow"]], mentions, [], "x")
    assert mention_texts(event_document({**row, "split": "train"}), "trigger", chains=True) == [
        "<m> hit </m> <coref> struck down, blow",
        "<m> struck down </m> <coref> hit, blow",
        "<m> fell </m>",
        "<m> blow </m> <coref> hit, struck down",
    ]


@pytest.mark.parametrize("chains", [True, False])
def test_a_generative_classifier_reads_the_chains_of_both_mentions(tmp_path: Path, chains: bool) -> None:
    make_tokenizer(tmp_path)
    tokenizer = load_tokenizer(tmp_path)
    tokenizer.add_special_tokens({"extra_special_tokens": list(MARKERS)}, replace_extra_special_tokens=False)
    # Mentions 0 and 2 corefer.
    pairs = LabelledPairs(np.array([[0, 2], [0, 1], [1, 2], [1, 3]]), np.zeros(4, dtype=np.int64))
    inputs = pair_inputs(tokenizer, [document()], [pairs], EventSelection(chains=chains), 64)
    mark = tokenizer.convert_tokens_to_ids(COREFERENCE)
    counts = [int((inputs.pad(np.array([row]), -1) == mark).sum()) for row in range(len(inputs))]
    assert counts == ([2, 1, 1, 0] if chains else [0, 0, 0, 0])


def test_every_stage_of_table_5_reads_chains_and_no_other_job_does() -> None:
    plan = Plan()
    add_jobs(plan, load_config(ROOT, {"scale": "paper"}))
    for stage in ("train_retriever", "rank_partners", "train_pair_classifier", "classify_pairs"):
        with_chains = {key for key, job in plan.jobs[stage].items() if '"chains": true' in job.settings["settings"]}
        assert with_chains == {key for key in plan.jobs[stage] if "_chains" in key} != set(), stage
    for retriever in ("roberta_ft", "sbert_ft"):
        for fold in range(5):
            ranked = f"{retriever}/event_storyline_v0_9/wrapped_chains.fold{fold}"
            classified = f"t5/event_storyline_v0_9/{retriever}.wrapped_chains.fold{fold}.k5"
            job = plan.jobs["train_pair_classifier"][classified]
            # The classifier with chains is behind the retriever with chains.
            assert ranked in str(job.inputs["rankings"]) and ranked in plan.jobs["train_retriever"]
