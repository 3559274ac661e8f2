"""The rules err no more often than docs/calibration.md says, and the page says what the simulation gives."""

import inspect
import json
import re
from dataclasses import astuple
from pathlib import Path

import pytest
import torch
from reprlab import statistics
from reprlab.geometry.estimators import two_nn
from reprlab.geometry.neighbours import nearest_distances
from reprlab.statistics import calibration, over_halves
from reprlab.statistics.calibration import (
    DOCUMENT,
    MARKS,
    SEED,
    SIMULATIONS,
    STANDING_HEAD,
    generator,
    renewed,
    row,
    simulate,
)
from reprlab.statistics.calibration_cases import cases
from reprlab.statistics.calibration_standing import draw_scores, settings, standing_row
from scipy.stats import binom

GOLDEN = Path(__file__).parent / "golden" / "calibration_cases.json"
PAGE = DOCUMENT.read_text(encoding="utf-8")
NOMINAL = 0.025
RULES = [case for case in cases() if not case.reference]
FIRST = list({case.name: case for case in reversed(RULES)}.values())


def table(mark: str) -> list[list[str]]:
    lines = PAGE.partition(mark + "\n")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def allowed(simulations: int, tests: int) -> float:
    """The share that a rule with 2.5 % exceeds in one of 100 runs of all tests together."""
    return float(binom.ppf(1 - 0.01 / tests, simulations, NOMINAL)) / simulations


def percent(cell: str) -> float:
    return float(cell.removesuffix(" %")) / 100


def drawn():
    """One estimate of every case without and with the effect, and every study of the table of standing."""
    found = []
    for place, case in enumerate(cases()):
        known = (case.draw(generator(f"{place} {truth}"), truth) for truth in case.truths)
        numbers = [[round(one, 6) for one in (estimate.value, estimate.low, estimate.high)] for estimate in known]
        found.append([case.name, case.units, case.effect, str(case.rule), case.reference, numbers])
    for one in settings():
        scores = draw_scores(generator(str(one)), one) + draw_scores(generator(str(one)), one, trained=False)
        found.append([str(one), [[round(float(part), 6) for part in score] for score in map(astuple, scores)]])
    return found


def test_every_simulated_study_is_the_one_of_the_page():
    """A change of a study changes rows of the page: write both again, this file by running this module."""
    known = json.loads(GOLDEN.read_text(encoding="utf-8"))
    found = json.loads(json.dumps(drawn()))
    assert len(found) == len(known)
    for one, other in zip(found, known, strict=True):
        assert one[:-1] == other[:-1]
        assert one[-1] == [pytest.approx(row, abs=1e-5, nan_ok=True) for row in other[-1]], one[:2]


def test_each_table_is_below_its_own_mark(monkeypatch):
    monkeypatch.setattr(calibration, "cases", lambda: [RULES[0], next(case for case in cases() if case.reference)])
    found = calibration.tables(2)
    assert list(found) == list(MARKS)
    rules, references = (found[mark].splitlines() for mark in MARKS[:2])
    assert rules[-1].startswith(f"| {RULES[0].name} | {RULES[0].units} |") and len(rules) == len(references) == 3
    assert not references[-1].startswith(f"| {RULES[0].name} |")
    assert found[MARKS[2]].startswith(STANDING_HEAD) and len(found[MARKS[2]].splitlines()) == 2 + len([*settings()])


@pytest.mark.parametrize("case", FIRST, ids=[case.name for case in FIRST])
def test_false_support_is_rare(case):
    assert simulate(case, 300, seed=1).false_support <= allowed(300, len(FIRST))


def test_the_simulation_finds_what_errs():
    old = next(case for case in cases() if case.name.startswith("percentile bootstrap") and case.units == "2")
    assert simulate(old, 300).false_support > 0.15


@pytest.mark.parametrize(
    ("name", "units"),
    [("`mean_over_units`", "2"), ("`share_of_signs`", "6"), ("`proportion`, above 0.5", "30"), ("`slope`", "5")],
)
def test_rows_of_the_page_are_those_of_the_simulation(name, units):
    case = next(case for case in RULES if (case.name, case.units) == (name, units))
    assert row(case, simulate(case)) in PAGE.splitlines()


def test_a_row_of_standing_is_that_of_the_simulation():
    one = next(one for one in settings() if (one.seeds, one.examples) == (1, 100))
    assert standing_row(one, SIMULATIONS, generator) in PAGE.splitlines()


def test_the_page_has_every_case_and_no_rule_errs_more_than_it_may():
    found = table(MARKS[0])
    assert [(cells[0], cells[1]) for cells in found] == [(case.name, case.units) for case in RULES]
    most = allowed(SIMULATIONS, len(found))
    assert {tuple(cells[:3]) for cells in found if percent(cells[2]) > most + 0.0005} == set()
    assert f"{SIMULATIONS:,} data sets for each row and truth, seed {SEED}" in PAGE


def test_above_comes_up_rarely_where_nothing_was_learned():
    rows = [cells for cells in table(MARKS[2]) if cells[2].startswith(("nothing", "no better"))]
    most = allowed(SIMULATIONS, 2 * len(rows))
    assert len(rows) == sum(one.what.startswith(("nothing", "no better")) for one in settings())
    assert [cells for cells in rows if max(map(percent, cells[4:6])) > most + 0.0005] == []


@pytest.mark.parametrize("width", [2, 8])
def test_halves_cover_the_dimension_of_points(width):
    """TwoNN is not a mean of points: a half has other neighbours. Its halves spread more than the mean's, not less."""
    rng = generator(f"two_nn {width}")
    found = []
    for _ in range(120):
        points = torch.as_tensor(rng.normal(size=(100, width)))
        halves = [_two_nn(points[rng.permutation(100)[:50]]) for _ in range(5)]
        found.append(over_halves(_two_nn(points), halves, "point"))
    # Of the mean over data sets: what the estimator is off by from the width is its own affair.
    truth = sum(one.value for one in found) / len(found)
    held = sum(one.low <= truth <= one.high for one in found)
    assert held >= binom.ppf(0.005, len(found), 0.95)


def _two_nn(points):
    return two_nn(nearest_distances(points, 2)).value


def test_every_rule_is_simulated():
    public = {name for name in statistics.__all__ if inspect.isfunction(getattr(statistics, name))}
    named = set(re.findall(r"`(\w+)`", " ".join(case.name for case in RULES))) | {"standing"}
    # They judge, say that there is no interval, infer nothing, or are a part of `within`.
    assert public - named == {"judge", "no_interval", "count_exactly", "every_unit", "mean_of_shared"}


def test_tables_are_replaced_to_the_next_empty_line_and_nothing_else():
    text = f"a\n\n{MARKS[2]}\n| old |\n| older |\n\nb\n"
    assert renewed(text, {MARKS[2]: STANDING_HEAD + "| 1 |\n"}) == f"a\n\n{MARKS[2]}\n{STANDING_HEAD}| 1 |\n\nb\n"


if __name__ == "__main__":
    GOLDEN.write_text("[\n" + ",\n".join(json.dumps(one) for one in drawn()) + "\n]\n", encoding="utf-8")
