"""Settings that are read only beside others: what comments of the papers' files say of them."""

from pathlib import Path

import pytest
from reprlab.config.conditions import conditions
from reprlab.config.load import leaves, load_config
from reprlab.config.papers import PAPERS
from reprlab.preflight.edits import check_edits
from reprlab.settings.errors import holds_entries, model_at

ROOT = Path(__file__).parents[2]
TEXT = """\
pretraining:
  # Read beside `.steps=null; loss.sentence_weight=2`. (paper)
  batch_size: 8
  steps: 3
# Tasks. Of `steps`, read beside `.epochs=null`. Of `cola.epochs`, read beside `.steps=null;
#   pretraining.batch_size`.
finetuning:
  tasks:
    cola: {steps: 3}
ablations:
  # Read beside `ablations.int8_bug.enabled=true`.
  int8_bug:
    enabled: false
    steps: 3
    # Read beside nothing.
    input_length: 5
"""


def test_conditions_are_of_a_key_or_of_names_below_it() -> None:
    wanted = {
        "pretraining.batch_size": ["pretraining.steps=null", "loss.sentence_weight=2"],
        "pretraining.steps": None,
        "finetuning.tasks.cola.steps": ["finetuning.tasks.cola.epochs=null"],
        "finetuning.tasks.mnli.steps": ["finetuning.tasks.mnli.epochs=null"],
        # Of equal entries as well only where it is said of all.
        "loss.mnli.batch_size": None,
        # The conditions of a key stand for themselves.
        "finetuning.tasks.cola.epochs": [
            "finetuning.tasks.cola.steps=null", "pretraining.steps=null", "loss.sentence_weight=2",
        ],
        "finetuning.tasks.mnli.epochs": None,
        # Never beside itself.
        "ablations.int8_bug.enabled": None,
        "ablations.int8_bug.input_length": None,
        "ablations.int8_bug.steps": ["ablations.int8_bug.enabled=true"],
    }  # fmt: skip
    found = conditions(TEXT, [tuple(name.split(".")) for name in wanted])
    assert found == {tuple(name.split(".")): edits for name, edits in wanted.items() if edits}


@pytest.mark.parametrize("slug", PAPERS)
def test_what_is_said_is_of_a_setting_and_names_settings(slug: str) -> None:
    text = (ROOT / f"config/papers/{slug}.yaml").read_text(encoding="utf-8")
    settings = load_config(ROOT, {"scale": "paper"}).papers[slug].model_dump(mode="json")
    named = conditions(text, [path for path, _ in leaves(settings)])
    assert bool(named) == ("read beside" in text.lower())
    for edit in {edit for edits in named.values() for edit in edits}:
        # Whether the value is one as well is seen where such settings are tried, in test_planning.py.
        path = tuple(edit.partition("=")[0].split("."))
        group = model_at(PAPERS[slug], path[:-1])
        assert holds_entries(PAPERS[slug], path[:-1]) or (group is not None and path[-1] in group.model_fields), edit


def test_preflight_notes_an_edit_that_nothing_reads() -> None:
    edits = (
        "papers.depth.ablations.int8_bug.steps=7; papers.depth.pretraining.seeds=[1, 2]; seed=3; "
        "papers.depth.ablations.packing_lr.steps=9"
    )
    config = load_config(ROOT, {"scale": "paper", "set": edits})
    (found,) = check_edits(config, edits)
    assert (found.check, found.status, found.subject) == ("setting", "note", "papers.depth.ablations.int8_bug.steps")
    assert found.message.endswith("at scale paper it is read beside papers.depth.ablations.int8_bug.enabled=true")
    # Together with what it is read beside it changes jobs.
    edits += "; papers.depth.ablations.int8_bug.enabled=true"
    assert list(check_edits(load_config(ROOT, {"scale": "paper", "set": edits}), edits)) == []
