"""Settings that are read only beside others: what the papers' schemas say of them."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel
from reprlab.config.conditions import condition
from reprlab.config.load import leaves, load_config
from reprlab.config.papers import PAPERS
from reprlab.preflight.edits import check_edits
from reprlab.settings import base as t
from reprlab.settings.errors import groups_of, holds_entries, model_at

ROOT = Path(__file__).parents[2]


class Rate(t.Settings):
    steps: int
    epochs: int
    batch_size: int


class Pretraining(t.Settings):
    batch_size: Annotated[int, t.ReadBeside(".steps=null; loss.sentence_weight=2")]
    steps: int


class Finetuning(t.Settings):
    tasks: Annotated[
        dict[str, Rate],
        t.ReadBeside(".epochs=null", of="steps"),
        t.ReadBeside(".steps=null; pretraining.batch_size", of="cola.epochs"),
    ]


class Ablation(t.Settings):
    enabled: bool
    steps: int
    input_length: Annotated[int, t.ReadBeside("")]


class Paper(t.Settings):
    pretraining: Pretraining
    finetuning: Finetuning
    int8_bug: Annotated[Ablation, t.ReadBeside("int8_bug.enabled=true")]


@pytest.mark.parametrize(
    ("setting", "edits"),
    [
        ("pretraining.batch_size", ["pretraining.steps=null", "loss.sentence_weight=2"]),
        ("pretraining.steps", []),
        ("finetuning.tasks.cola.steps", ["finetuning.tasks.cola.epochs=null"]),
        ("finetuning.tasks.mnli.steps", ["finetuning.tasks.mnli.epochs=null"]),
        # The conditions of a key stand for themselves.
        (
            "finetuning.tasks.cola.epochs",
            ["finetuning.tasks.cola.steps=null", "pretraining.steps=null", "loss.sentence_weight=2"],
        ),
        ("finetuning.tasks.mnli.epochs", []),
        # Never beside itself.
        ("int8_bug.enabled", []),
        ("int8_bug.input_length", []),
        ("int8_bug.steps", ["int8_bug.enabled=true"]),
        ("no.such.setting", []),
    ],
)
def test_conditions_are_of_a_key_or_of_names_below_it(setting: str, edits: list[str]) -> None:
    assert condition(Paper, tuple(setting.split("."))) == edits


def marks_of(model: type[BaseModel]) -> Iterator[t.ReadBeside]:
    for group in set(groups_of(model)):
        for field in group.model_fields.values():
            yield from (mark for mark in field.metadata if isinstance(mark, t.ReadBeside))


@pytest.mark.parametrize("slug", PAPERS)
def test_what_is_marked_is_a_setting_and_names_settings(slug: str) -> None:
    settings = load_config(ROOT, {"scale": "paper"}).papers[slug].model_dump(mode="json")
    paths = [path for path, _ in leaves(settings)]
    for mark in marks_of(PAPERS[slug]):
        if mark.of:
            assert any(fnmatchcase(".".join(path), f"*.{mark.of}*") for path in paths), mark
    for edit in {edit for path in paths for edit in condition(PAPERS[slug], path)}:
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
