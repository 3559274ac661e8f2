"""reverse-probing at nano: from prose to the scores of frozen encoders, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv

from tests.checkouts import copy_project, job_counts

SET = "papers.reverse-probing"
ONE = f"set={SET}.singles=[bert, coref]; {SET}.cells.single=[mean_full, attention_full]"
TABLES = [f"results/reverse-probing/{name}.tsv" for name in ("table1", "sources")]
PROBED = {"probe_coreference": 6, "tabulate_paper": 2}
TRAINED = {"train_coreference": 1, "embed_documents": 1}
EDITS = {
    "probe.head_learning_rate=0.01": PROBED,
    "encoder.head_learning_rate=0.01": {**TRAINED, "probe_coreference": 2, "tabulate_paper": 2},
    "head.hidden=4": {**TRAINED, **PROBED},
    "segments.singletons=true": {
        "build_coreference": 1, "link_names": 1, "train_coreference": 1, "embed_documents": 3, **PROBED,
    },
    "attention_width=64": {"probe_coreference": 3, "tabulate_paper": 1},
    "similarity.seed=1": {},
    "tasks.ner.learning_rate=0.01": {},
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A fresh copy in which both tables were made from nothing but downloads."""
    checkout = copy_project(tmp_path_factory.mktemp("probing") / "project")
    checkout.run("--cores", "2", "--config", "scale=nano", ONE, "--", *TABLES, timeout=900)
    return checkout


def test_frozen_sources_stand_beside_the_trained_one_the_untrained_one_and_rules(made):
    first = read_tsv(made.nano / TABLES[0]).set_index("combo")
    assert first.loc[["bert", "coref", "random"], ["mean_full", "attention_full"]].notna().all(axis=None)
    assert set(first["data"]) == {"Silver chains of repeated names in Jane Austen's novels"}
    sources = read_tsv(made.nano / TABLES[1]).set_index("combo")
    assert {"bert", "coref", "random", "coref_scratch", "repeated names", "names and pronouns"} <= set(sources.index)
    # Silver chains are repeated names: a rule that links these must nearly solve them.
    assert sources.loc["repeated names", "f1"] > 60


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(made, edit):
    done = made.run("--dry-run", "--cores", "2", "--config", "scale=nano", f"{ONE}; {SET}.{edit}", "--", *TABLES)
    assert job_counts(done.stdout + done.stderr) == EDITS[edit]
