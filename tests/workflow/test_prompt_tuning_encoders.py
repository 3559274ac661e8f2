"""prompt-tuning-encoders at nano: from definitions to its tables, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv
from reprlab.config.papers import NEIGHBOURS
from reprlab.planning.reruns import needed_jobs

from tests.nano import PARTS
from tests.plans import plan_of, rerun_counts

SLUG = "prompt-tuning-encoders"
PART = PARTS[SLUG]
pytestmark = pytest.mark.reads(SLUG)
TABLE = "results/prompt-tuning-encoders/table1.tsv"
# Rows of the table: the raw decoder, all weights, two adapters (one after MNTP), five soft prompts, two of them in
# another form, one of others, one of words alone.
EVERY = {"train_encoder": 8, "train_prompt": 2, "evaluate_encoder": 10, "tabulate_paper": 1}
FORM = {"count_encoders": 1, "train_prompt": 1, "evaluate_encoder": 1, "tabulate_paper": 1}
EDITS = {
    "training.temperature=0.1": EVERY,
    "training.recipes.soft.learning_rates=[0.01]": {
        "train_encoder": 5, "train_prompt": 2, "evaluate_encoder": 7, "tabulate_paper": 1,
    },
    # After MNTP the tokenizer is the decoder's own.
    "training.length=12": {"tokenize_triples": 1, **EVERY},
    "evaluation.length=22": {**EVERY, "evaluate_encoder": 11},
    "mntp.mask_probability=0.3": {"post_train": 1, "train_encoder": 1, "evaluate_encoder": 1, "tabulate_paper": 1},
    "evaluation.draws=3": {"evaluate_encoder": 12, "evaluate_text_baselines": 1, "tabulate_paper": 1},
    "lora.dropout=0.2": {"count_encoders": 1, "train_encoder": 2, "evaluate_encoder": 2, "tabulate_paper": 1},
    "warm_start.learning_rate=0.001": {"pretrain_lm": 1, "post_train": 1, **EVERY, "evaluate_encoder": 11},
    # Of a neighbour its own rows alone.
    "neighbours.residual.width=9": FORM,
    "neighbours.decomposed.spread=0.1": FORM,
}  # fmt: skip


def test_the_table_has_the_raw_decoder_and_what_was_trained(made):
    found = read_tsv(made.nano / TABLE).set_index(["encoder", "size"])
    assert set(found["method"]) == {
        "none",
        "full",
        "lora",
        "prompt",
        "prefix",
        "residual",
        "decomposed",
        "published",
        "tfidf",
    }
    assert len(found) == 13
    assert found["average"].between(-100, 100).all() and set(found["scale"]) == {"nano"}
    assert found.loc[("none", 0), "steps"] == 0 and found.loc[("spt_uni_eosp", 1), "steps"] > 0
    # 32 numbers of 55,456 and themselves.
    assert found.loc[("spt_uni_eosp", 1), "params_percent"] == pytest.approx(0.0576701)
    assert (made.nano / "results/shared/post_trained/lm/prompt_tuning/model/model.safetensors").is_file()


def test_neighbours_stand_beside_the_plain_prompt_of_as_many_vectors(made):
    found = read_tsv(made.nano / NEIGHBOURS).query("paper == @SLUG").set_index("claim")
    assert [*found.index] == ["P11", "P12"]
    assert set(found["measure"]) == {"mean score of all data sets, percent, size 2"}
    # 2 vectors of 32 numbers; with a network of width 8 and its norm; of rank 1.
    assert set(found["method_parameters"]) == {2 * 32}
    assert found["neighbour_parameters"].tolist() == [2 * 32 + 2 * 32 * 8 + 8 + 32 + 2 * 32, 2 + 32]
    gap = found["neighbour_value"] - found["method_value"]
    assert found["difference"].tolist() == pytest.approx(gap.tolist(), abs=1e-3)
    assert found["verdict"].isna().all() and found["seeds"].eq(1).all()
    assert found["neighbour_cpu_seconds"].gt(0).all() and found["method_cpu_seconds"].gt(0).all()


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
