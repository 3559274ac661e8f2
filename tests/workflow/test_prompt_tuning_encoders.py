"""prompt-tuning-encoders at nano: from definitions to its tables, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv
from reprlab.planning.reruns import needed_jobs

from tests.nano import PARTS
from tests.plans import plan_of, rerun_counts

SLUG = "prompt-tuning-encoders"
PART = PARTS[SLUG]
pytestmark = pytest.mark.reads(SLUG)
TABLE = "results/prompt-tuning-encoders/table1.tsv"
# Rows of the table: the raw decoder, all weights, two adapters (one after MNTP), five soft prompts, one of others, one
# of words alone.
EVERY = {"train_encoder": 8, "evaluate_encoder": 8, "tabulate_paper": 1}
EDITS = {
    "training.temperature=0.1": EVERY,
    "training.recipes.soft.learning_rates=[0.01]": {"train_encoder": 5, "evaluate_encoder": 5, "tabulate_paper": 1},
    # After MNTP the tokenizer is the decoder's own.
    "training.length=12": {"tokenize_triples": 1, **EVERY},
    "evaluation.length=22": {**EVERY, "evaluate_encoder": 9},
    "mntp.mask_probability=0.3": {"post_train": 1, "train_encoder": 1, "evaluate_encoder": 1, "tabulate_paper": 1},
    "evaluation.draws=3": {"evaluate_encoder": 10, "evaluate_text_baselines": 1, "tabulate_paper": 1},
    "lora.dropout=0.2": {"count_encoders": 1, "train_encoder": 2, "evaluate_encoder": 2, "tabulate_paper": 1},
    "warm_start.learning_rate=0.001": {"pretrain_lm": 1, "post_train": 1, **EVERY, "evaluate_encoder": 9},
}


def test_the_table_has_the_raw_decoder_and_what_was_trained(made):
    found = read_tsv(made.nano / TABLE).set_index(["encoder", "size"])
    assert set(found["method"]) == {"none", "full", "lora", "prompt", "prefix", "published", "tfidf"}
    assert len(found) == 11
    assert found["average"].between(-100, 100).all() and set(found["scale"]) == {"nano"}
    assert found.loc[("none", 0), "steps"] == 0 and found.loc[("spt_uni_eosp", 1), "steps"] > 0
    # 32 numbers of 55,456 and themselves.
    assert found.loc[("spt_uni_eosp", 1), "params_percent"] == pytest.approx(0.0576701)
    assert (made.nano / "results/shared/post_trained/lm/prompt_tuning/model/model.safetensors").is_file()


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(edit):
    assert rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", TABLE) == EDITS[edit]


def test_an_encoder_is_exported_where_it_is_asked_for(made):
    plan = plan_of(SLUG, PART.edits)
    assert "export_encoder" not in {job.stage for job in needed_jobs(plan, [SLUG])}
    (folder,) = (made.nano / "results/shared/sentence_transformers").glob("*/*")
    assert {"config.json", "encoder.json", "model.safetensors", "modules.json", "tokenizer.json"} <= {
        path.name for path in folder.iterdir()
    }
