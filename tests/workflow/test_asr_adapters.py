"""asr-adapters at nano: from packaged recordings to error rates, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv

from tests.nano import PARTS
from tests.plans import rerun_counts

SLUG = "asr-adapters"
PART = PARTS[SLUG]
pytestmark = pytest.mark.reads(SLUG)
TABLES = [f"results/asr-adapters/{name}.tsv" for name in ("ablation_norm", "controls")]
TRAINED = {"train_recogniser": 5, "tabulate_paper": 2}
EDITS = {
    "training.head_learning_rate=0.01": TRAINED,
    "cell.minutes=0.3": TRAINED,
    "methods.lora.tuning.inner=4": {"train_recogniser": 1, "tabulate_paper": 1},
    "ablation=[ff]": {"tabulate_paper": 1},
    "symbols=30": {},
}


def test_recognisers_stand_beside_constant_answers_a_head_alone_and_a_drawn_encoder(made):
    ablation, controls = (read_tsv(made.nano / table) for table in TABLES)
    assert {"ff", "ff_fast"} == set(ablation["method"])
    assert {"head", "lora"} <= set(controls["method"]) and controls["model"].nunique() > 1
    for found in (ablation, controls):
        rates = found[found["metric"].isin(["wer", "cer"])]
        assert len(rates) and rates["value"].notna().all() and (rates["value"] >= 0).all()
        assert found["baseline"].notna().any()


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(edit):
    assert rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", *TABLES) == EDITS[edit]
