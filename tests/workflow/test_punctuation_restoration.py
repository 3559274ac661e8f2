"""punctuation-restoration at nano: from text to the scores of every model, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv

from tests.nano import PARTS
from tests.plans import rerun_counts

SLUG = "punctuation-restoration"
PART = PARTS[SLUG]
pytestmark = pytest.mark.reads(SLUG)
TABLES = [f"results/punctuation-restoration/{name}.tsv" for name in ("table1", "table6")]
SCORED = {"score_seq2seq": 4, "tabulate_paper": 2}
ANSWERED = {"generate_seq2seq": 4, **SCORED}
EDITS = {
    "finetuning.learning_rate=0.01": {
        "train_seq2seq": 2,
        "generate_seq2seq": 2,
        "score_seq2seq": 2,
        "tabulate_paper": 1,
    },
    "generation.beams=1": ANSWERED,
    "measures=upstream": {"tabulate_paper": 2},
    "restoration.learning_rate=0.01": {
        "train_seq2seq": 2,
        "generate_seq2seq": 3,
        "score_seq2seq": 3,
        "tabulate_paper": 2,
    },
    "discriminative.learning_rate=0.01": {},
}


def test_every_model_is_scored_and_published_rows_say_why_they_are_empty(made):
    first = read_tsv(made.nano / TABLES[0]).set_index(["task", "train_set"])
    assert first.loc[("ner", "conll03"), ["t5_f1", "pr_f1", "delta_pr"]].notna().all()
    assert "internal data" in first.loc[("ner", "econ_mner"), "note"].iloc[0]
    sixth = read_tsv(made.nano / TABLES[1]).set_index("size")
    assert sixth.loc["t5_nano", ["f1", "skipped", "trivial"]].notna().all() and sixth.loc["t5_nano", "steps"] == 4


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(edit):
    assert rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", *TABLES) == EDITS[edit]
