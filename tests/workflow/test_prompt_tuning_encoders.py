"""prompt-tuning-encoders at nano: from definitions to its tables, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv

from tests.checkouts import copy_project, job_counts

SET = "papers.prompt-tuning-encoders"
ONE = f"set={SET}.compared=[lm]"
TABLE = "results/prompt-tuning-encoders/table1.tsv"
# Rows of the table: the raw decoder, all weights, two adapters (one after MNTP), five soft prompts, one of others.
EVERY = {"train_encoder": 8, "evaluate_encoder": 8, "tabulate_paper": 1}
EDITS = {
    "training.temperature=0.1": EVERY,
    "training.recipes.soft.learning_rates=[0.01]": {"train_encoder": 5, "evaluate_encoder": 5, "tabulate_paper": 1},
    "mntp.mask_probability=0.3": {"post_train": 1, "train_encoder": 1, "evaluate_encoder": 1, "tabulate_paper": 1},
    "evaluation.draws=3": {"evaluate_encoder": 10, "tabulate_paper": 1},
    "lora.dropout=0.2": {"count_encoders": 1, "train_encoder": 2, "evaluate_encoder": 2, "tabulate_paper": 1},
    "warm_start.learning_rate=0.001": {"pretrain_lm": 1, "post_train": 1, **EVERY, "evaluate_encoder": 9},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A fresh copy in which the table was made from nothing but downloads."""
    checkout = copy_project(tmp_path_factory.mktemp("prompt_tuning") / "project")
    checkout.run("--cores", "2", "--config", "scale=nano", ONE, "--", TABLE, timeout=900)
    return checkout


def test_the_table_has_the_raw_decoder_and_what_was_trained(made):
    found = read_tsv(made.nano / TABLE).set_index(["encoder", "size"])
    assert set(found["method"]) == {"none", "full", "lora", "prompt", "prefix", "published"} and len(found) == 10
    assert found["average"].between(-100, 100).all() and set(found["scale"]) == {"nano"}
    assert found.loc[("none", 0), "steps"] == 0 and found.loc[("spt_uni_eosp", 1), "steps"] > 0
    # 32 numbers of 55,456 and themselves.
    assert found.loc[("spt_uni_eosp", 1), "params_percent"] == pytest.approx(0.0576701)
    assert (made.nano / "results/shared/post_trained/lm/prompt_tuning/model/model.safetensors").is_file()


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(made, edit):
    done = made.run("--dry-run", "--cores", "2", "--config", "scale=nano", f"{ONE}; {SET}.{edit}", "--", TABLE)
    assert job_counts(done.stdout + done.stderr) == EDITS[edit]


def test_an_encoder_is_exported_where_it_is_asked_for(made):
    """That after MNTP, with adapters: its decoder is not the one that the others start from."""
    exported = "results/shared/sentence_transformers"
    assert not (made.nano / exported).exists()
    target = f"{exported}/lm/prompt_tuning_lora_bi_1_seed_0"
    made.run("--cores", "1", "--config", "scale=nano", ONE, "--", target)
    (folder,) = (made.nano / exported).glob("*/*")
    assert {"config.json", "encoder.json", "model.safetensors", "modules.json", "tokenizer.json"} <= {
        path.name for path in folder.iterdir()
    }
