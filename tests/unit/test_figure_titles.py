"""Titles of figures: the words of a claim by its verdict, and the same verdict as in the table of claims."""

import importlib
import re

import depth_inputs
import pandas
import pytest
from reprlab.config.papers import SLUGS
from reprlab.results.claims import Claim
from reprlab.results.frame import frame_of
from reprlab.results.records import Figure, PaperResults, Table, records_of
from reprlab.results.schema import FIXED
from reprlab.results.titles import sentence, title_of
from reprlab.runtime.errors import ReprlabError
from reprlab.statistics import ABOVE_ZERO, Estimate


def _module(slug):
    return importlib.import_module(f"test_{slug}_results")


def _by_name(slug):
    return lambda _: _module(slug).frame()


def _amuro(folder):
    module = _module("amuro_char")
    return module.frame(folder, module.score_rows())


def _dimensions(_):
    module = _module("intrinsic_dimension")
    rows = [
        *module.all_rows(),
        *module.all_rows({name: level + 1 for name, level in module.LEVELS.items()}, dataset="tweets"),
    ]
    return module.frame(rows, "paper")


FRAMES = {
    "depth": lambda folder: depth_inputs.frame(depth_inputs.everything(folder)),
    "amuro-char": _amuro,
    "intrinsic-dimension": _dimensions,
    "vocab-memory": lambda _: _module("vocab_memory").frame(_module("vocab_memory").all_rows(), "paper"),
    "universal-features": lambda _: _module("universal_features").whole(),
    **{
        slug: _by_name(slug.replace("-", "_"))
        for slug in (
            "domain-adaptive-masking", "event-relations", "overparameterized-encoders", "prompt-tuning-encoders",
            "punctuation-restoration", "reverse-probing", "ssm-rerankers",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("slug", FRAMES)
def test_a_title_has_the_verdict_of_the_table_of_claims(slug, tmp_path):
    records, frame = records_of(slug.replace("-", "_")), FRAMES[slug](tmp_path)
    judged = 0
    for figure in (one for one in records.figures if one.claim):
        claim = records.claim(figure.claim)
        there, here = (claim.row(one, {}) for one in (frame, frame.narrowed(records.table(figure.table).where)))
        judged += "estimate" in there
        for name in ("verdict", "estimate", "low", "high"):
            assert str(here.get(name)) == str(there.get(name)), (figure.name, name)
    assert judged


@pytest.mark.parametrize("slug", SLUGS)
def test_a_title_is_a_sentence_of_one_or_two_lines(slug):
    records = records_of(slug.replace("-", "_"))
    said = [sentence(records.claim(one.claim).claim if one.claim else one.caption) for one in records.figures]
    assert all(len(one.split()) > 1 and len(one) < 160 and not re.search(r"_|\(Fig|section", one) for one in said)


def found(value, low, high, scale="mini"):
    """The title where the claim's estimate is so."""
    rows = pandas.DataFrame({"metric": ["accuracy"], "value": [1.0]}).reindex(columns=["model", *FIXED])
    estimate = Estimate(value, low, high, 5, "seed", "over seeds, 95%")
    claim = Claim("C1", "reading helps (section 4)", "accuracy", ABOVE_ZERO, lambda _: estimate)
    table, figure = Table("t", "T", lambda frame: frame.rows), Figure("f", "Accuracy (Figure 3).", "t", print, "C1")
    records = PaperResults({}, {}, [table], [claim], [figure])
    frame = frame_of(rows.assign(scale=scale), records.settings(scale, [], {}))
    return title_of(records, figure, scale, frame)


def test_a_title_says_what_is_seen():
    assert found(2.0, 1.0, 3.0) == "Reading helps (mini)"
    assert found(-2.0, -3.0, -1.0) == "Not seen at mini: Reading helps"
    assert found(1.0, -1.0, 3.0) == "Undecided at mini: Reading helps"


def test_where_nothing_is_judged_the_caption_is_the_title():
    assert found(2.0, 1.0, 3.0, "nano") == "Accuracy (nano)"
    figure = Figure("f", "Accuracy (Figure 3).", "t", print)
    assert title_of(PaperResults({}, {}, [], [], [figure]), figure, "mini") == "Accuracy (mini)"


def test_a_figure_of_a_claim_that_does_not_exist_is_refused():
    table, figure = Table("t", "T", lambda frame: frame.rows), Figure("f", "F", "t", print, "C9")
    with pytest.raises(ReprlabError, match="C9: there is no such claim"):
        PaperResults({}, {}, [table], [], [figure]).check("mine", [])
