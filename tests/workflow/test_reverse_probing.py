"""reverse-probing at nano: from prose to the scores of frozen encoders, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv

from tests.nano import PARTS
from tests.plans import rerun_counts

SLUG = "reverse-probing"
PART = PARTS[SLUG]
pytestmark = pytest.mark.reads(SLUG)
TABLES = [f"results/reverse-probing/{name}.tsv" for name in ("table1", "sources")]
# Static embeddings of BERT are among them: its states of layer 0.
PROBED = {"probe_coreference": 7, "tabulate_paper": 2}
TRAINED = {"train_coreference": 1, "embed_documents": 1}
EDITS = {
    "probe.head_learning_rate=0.01": PROBED,
    "encoder.head_learning_rate=0.01": {**TRAINED, "probe_coreference": 2, "tabulate_paper": 2},
    "head.hidden=4": {**TRAINED, **PROBED},
    "segments.singletons=true": {
        "build_coreference": 1, "link_names": 1, "train_coreference": 1, "embed_documents": 4, **PROBED,
    },
    "attention_width=64": {"probe_coreference": 3, "tabulate_paper": 1},
    "similarity.seed=1": {},
    "tasks.ner.learning_rate=0.01": {},
}  # fmt: skip


def test_frozen_sources_stand_beside_the_trained_one_the_untrained_one_and_rules(made):
    first = read_tsv(made.nano / TABLES[0]).set_index("combo")
    assert first.loc[["bert", "coref", "random"], ["mean_full", "attention_full"]].notna().all(axis=None)
    assert set(first["data"]) == {"Silver chains of repeated names in Jane Austen's novels"}
    sources = read_tsv(made.nano / TABLES[1]).set_index("combo")
    assert {"bert", "coref", "random", "coref_scratch", "repeated names", "names and pronouns"} <= set(sources.index)
    # Silver chains are repeated names: a rule that links these must nearly solve them.
    assert sources.loc["repeated names", "f1"] > 60


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(edit):
    assert rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", *TABLES) == EDITS[edit]
