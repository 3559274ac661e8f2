"""What claims about learnt objects are judged against, and that nothing unlearnt supports them."""

import itertools

import numpy as np
import pandas
import pytest
from reprlab.config.papers import SLUGS
from reprlab.results.chance import supported_by_twins
from reprlab.results.claims import Claim, claims_table
from reprlab.results.contrasts import Paired
from reprlab.results.frame import FIRST, Frame, Option, frame_of
from reprlab.results.records import PaperResults, records_of
from reprlab.results.schema import FIXED, Factor, Metric
from reprlab.results.twins import Twin, as_twin, check_twins
from reprlab.runtime.errors import ReprlabError
from reprlab.statistics import ABOVE_ZERO

FACTORS = {
    name: Factor(about=name, kind=kind) for name, kind in (("model", "text"), ("step", "whole"), ("seed", "whole"))
}
RECORDS = PaperResults(FACTORS, {"f1": Metric(about="f1", unit="percent", better="higher")}, [])
# A learnt model that is better than a drawn one, which is better than the same model read otherwise.
VALUES = {"learnt": 60.0, "drawn": 40.0, "other reading": 20.0}


def frame(values=VALUES, options=None) -> Frame:
    rows = [
        {"model": model, "step": step, "seed": seed, "metric": "f1", "unit": "percent", "n": 50,
         "value": value + seed + step, "low": value + seed + step - 2, "high": value + seed + step + 2}
        for (model, value), step, seed in itertools.product(values.items(), (0, 5), (1, 2))
    ]  # fmt: skip
    table = pandas.DataFrame(rows).reindex(columns=[*FACTORS, *FIXED])
    return frame_of(table, RECORDS.settings("mini", [], options or {}))


DRAWN = Twin(("1",), "the drawn model", learned={"model": "learnt"}, rows={"model": "drawn"})


def claim(second: str) -> Claim:
    find = Paired({"metric": "f1"}, {"model": "learnt"}, {"model": second}, "seed", "example")
    return Claim("1", "it is better", "points", ABOVE_ZERO, find)


def test_a_claim_that_what_learnt_nothing_supports_is_refused():
    assert supported_by_twins([claim("drawn")], frame(), [DRAWN]) == []
    (found,) = supported_by_twins([claim("other reading")], frame(), [DRAWN])
    assert found.claim == "1" and found.why.startswith("supported in 10 of 10 draws of the drawn model")
    # A twin that nobody ran protects nobody.
    alone = frame({"learnt": 60.0, "other reading": 20.0})
    assert (
        supported_by_twins([claim("other reading")], alone, [DRAWN])[0].why == "its twin, the drawn model, has no rows"
    )


def test_rows_of_the_twin_stand_under_the_learnt_name():
    def value(found, **where):
        return found.select(**where)["value"].tolist()

    found = as_twin(DRAWN, frame())
    assert value(found, model="learnt") == value(found, model="drawn") == [41, 42, 46, 47]
    assert value(found, model="other reading") == [21, 22, 26, 27] and len(found.rows) == 12
    # What is None may have any value: every step is the twin's first.
    first = Twin(("1",), "no update", learned={"model": Option("name")}, rows={"step": FIRST})
    found = as_twin(first, frame(options={"name": "learnt"}))
    assert value(found, model="learnt", step=5) == value(found, model="learnt", step=0) == [61, 62]
    # Drawn anew it moves within its interval, and no further.
    moved = as_twin(DRAWN, frame(), np.random.default_rng(0)).select(model="learnt")["value"] - [41, 42, 46, 47]
    assert 0.05 < moved.abs().mean() < 3


def test_claims_say_their_twin_or_why_there_is_none():
    claims = [claim("drawn"), Claim("2", "it is", "points", ABOVE_ZERO, claim("drawn").find)]
    nothing = Twin(("2",), why_not="time, whatever is learnt")
    found = claims_table(claims, frame(), {}, [DRAWN, nothing])
    assert found["twin"].tolist() == ["the drawn model", "none: time, whatever is learnt"]
    check_twins([DRAWN, nothing], ["1", "2"])
    for twins, problem in (
        ([DRAWN], "claim 2 neither has a twin nor says why not"),
        ([DRAWN, nothing, Twin(("2",), why_not="x")], "claim 2 has two twins"),
        ([DRAWN, nothing, Twin(("3",), why_not="x")], "a twin of 3: there is no such claim"),
        ([DRAWN, Twin(("2",))], "the twin of 2 has a name with its rows, or a reason"),
        ([DRAWN, Twin(("2",), "a name without rows")], "the twin of 2 has a name with its rows, or a reason"),
    ):
        with pytest.raises(ReprlabError, match=problem):
            check_twins(twins, ["1", "2"])


@pytest.mark.parametrize("slug", SLUGS)
def test_every_claim_of_a_paper_has_a_twin_or_says_why_not(slug):
    records = records_of(slug.replace("-", "_"))
    check_twins(records.twins, [one.id for one in records.claims])
    for twin in records.twins:
        for where in (twin.learned, twin.rows):
            records._check_choice(slug, where)
