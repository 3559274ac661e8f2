"""prompt-tuning-encoders at nano: from definitions to its tables, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv

from tests.checkouts import copy_project, job_counts

SET = "papers.prompt-tuning-encoders"
GRID = f"set={SET}.compared=[lm]; {SET}.backbones.lm.grid={{spt_uni_eosp: [1], spt_mntp_eosp: [1]}}"
TABLE = "results/prompt-tuning-encoders/table1.tsv"
# The raw decoder and all weights fine-tuned are rows as well.
EVALUATE = {"evaluate_encoder": 4, "tabulate_paper": 1}
TRAIN = {"train_encoder": 3, **EVALUATE}
EDITS = {
    "training.temperature=0.1": TRAIN,
    "training.recipes.soft.learning_rates=[0.01]": {"train_encoder": 2, "evaluate_encoder": 2, "tabulate_paper": 1},
    "mntp.mask_probability=0.3": {
        "post_train": 1, "train_encoder": 1, "evaluate_encoder": 1, "tabulate_paper": 1,
    },
    "evaluation.draws=3": EVALUATE,
    "lora.alpha=16": {},
    "warm_start.learning_rate=0.001": {"pretrain_lm": 1, "post_train": 1, **TRAIN},
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A fresh copy in which the table was made from nothing but downloads."""
    checkout = copy_project(tmp_path_factory.mktemp("prompt_tuning") / "project")
    checkout.run("--cores", "2", "--config", "scale=nano", GRID, "--", TABLE, timeout=900)
    return checkout


def test_the_table_has_the_raw_decoder_and_what_was_trained(made):
    found = read_tsv(made.nano / TABLE).set_index(["encoder", "size"])
    assert set(found.index) == {("none", 0), ("full", 0), ("spt_uni_eosp", 1), ("spt_mntp_eosp", 1)}
    assert found["average"].between(-100, 100).all() and set(found["scale"]) == {"nano"}
    assert found.loc[("none", 0), "steps"] == 0 and found.loc[("spt_uni_eosp", 1), "steps"] > 0
    # 32 numbers of 55,456 and themselves.
    assert found.loc[("spt_uni_eosp", 1), "params_percent"] == pytest.approx(0.0576701)
    assert (made.nano / "results/shared/post_trained/lm/prompt_tuning/model/model.safetensors").is_file()


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(made, edit):
    done = made.run("--dry-run", "--cores", "2", "--config", "scale=nano", f"{GRID}; {SET}.{edit}", "--", TABLE)
    assert job_counts(done.stdout + done.stderr) == EDITS[edit]
