"""Tables, claims and audit of universal-features on hand-made rows."""

import itertools
from pathlib import Path

import pandas
import pytest
from reprlab.config.load import load_config
from reprlab.papers.universal_features.results import RESULTS
from reprlab.planning.paper_plans import make_plan
from reprlab.reporting.audit_records import audit
from reprlab.results.claims import claims_table
from reprlab.results.frame import frame_of
from reprlab.results.neighbour_table import neighbour_rows
from reprlab.results.neighbours import Cell
from reprlab.results.records import Drawn
from reprlab.results.schema import FIXED
from reprlab.results.twins import as_twin
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "resources/published/universal-features"
OPTIONS = {"threshold": 0.8, "patterns": {"assignment": "python ~ ^=$", "exception": "python ~ ^raise$"}}


def frame(rows, scale="mini"):
    settings = RESULTS.settings(scale, [], OPTIONS)
    columns = [*RESULTS.factors, *FIXED]
    filled = pandas.DataFrame([{"reason": "", "scale": scale, "data": "d", **row} for row in rows], columns=columns)
    return frame_of(filled, settings)


def losses(seed, batches):
    values = {("base", "lua"): 4.0, ("lua", "lua"): 3.0, ("stories", "lua"): 5.0, ("merged", "lua"): 3.5,
              ("base", "stories"): 4.0, ("lua", "stories"): 5.0, ("stories", "stories"): 3.0,
              ("merged", "stories"): 3.4}  # fmt: skip
    for (model, corpus), loss in values.items():
        for batch in range(batches):
            about = {"part": "models", "seed": seed, "model": model, "corpus": corpus, "batch": batch}
            sums = {
                "loss_sum": 10
                * (loss + 0.01 * batch + (batch - 0.5) / 50 * (model == corpus) + seed / 1000 * (model != "base")),
                "count": 10,
                "correct": 10 - loss,
            }
            yield from ({**about, "metric": metric, "value": value} for metric, value in sums.items())
    for t, lua, stories in ((0.0, 5, 2), (0.5, 4, 3), (1.0, 2, 5)):
        for corpus, correct in (("lua", lua), ("stories", stories)):
            about = {"part": "models", "seed": seed, "model": "sweep", "corpus": corpus, "batch": 0, "t": t}
            for metric, value in (("loss_sum", 30.0), ("count", 10), ("correct", correct + 0.01 * seed)):
                yield {**about, "metric": metric, "value": value}


SHARES = {
    ("", "base", "lua"): 40.0, ("", "base", "stories"): 30.0, ("other autoencoder", "base", "base_again"): 60.0,
    ("other autoencoder", "lua", "lua_again"): 70.0, ("unrelated model", "unrelated", "lua"): 5.0,
    ("unrelated model", "unrelated", "stories"): 6.0, ("other seed across", "base", "lua_again"): 25.0,
    ("neurons", "base_neurons", "lua_neurons"): 20.0, ("neurons", "base_neurons", "stories_neurons"): 10.0,
    ("shuffled", "base", "lua"): 0.0,
}  # fmt: skip


# What a random dictionary has of the same pairs: little depends on the base, and two agree in more.
TWIN = {
    ("", "base", "lua"): 50.0, ("", "base", "stories"): 46.0, ("other autoencoder", "base", "base_again"): 80.0,
    ("unrelated model", "unrelated", "lua"): 40.0, ("unrelated model", "unrelated", "stories"): 44.0,
    ("other seed across", "base", "lua_again"): 44.0,
}  # fmt: skip


def flows(seed, shares=None, dictionary="trained"):
    for (control, parent, child), share in (shares or SHARES).items():
        about = {"part": "flow", "seed": seed, "positions": "all", "match": "many", "threshold": 0.8}
        about["dictionary"] = dictionary
        names = {"control": control, "parent": parent, "child": child}
        counts = {"parent_alive": 100, "persisting": share, "disappeared": 100 - share, "child_alive": 90}
        counts |= {"matched": share, "emerged": 90 - share, "share_parent": share + seed, "share_child": share}
        yield from ({**about, **names, "metric": metric, "value": value} for metric, value in counts.items())


def whole(batches=2):
    rows = [row for seed in (0, 1) for row in (*losses(seed, batches), *flows(seed), *flows(seed, TWIN, "random"))]
    for seed, (dictionary, less) in itertools.product((0, 1), (("trained", 0.0), ("random", 0.2))):
        of = {"seed": seed, "dictionary": dictionary}
        known = [
            (0.9 - 2 * less, "persisting"),
            (0.85 - 2 * less, "persisting"),
            (0.4, "disappeared"),
            (0.5, "disappeared"),
        ]
        for feature, (score, group) in enumerate(known):
            about = {"part": "interpretation", **of, "model": "lua", "feature": feature, "group": group}
            for metric, value in (("score", score + 0.01 * seed), ("score_other", 0.1)):
                rows.append({**about, "explainer": "token statistics", "metric": metric, "value": value})
        for group, value in (("persisting", 50.0 + seed - 50 * less), ("disappeared", 20.0), ("tokens", 30.0)):
            about = {"part": "formatting", **of, "parent": "base", "child": "lua", "group": group}
            rows.append(
                {**about, "metric": "format_share", "value": value, "low": value - 5, "high": value + 5, "n": 9}
            )
    return frame(rows)


def test_a_link_stands_beside_its_controls_and_its_twin():
    found = RESULTS.table("fig2_feature_flow").make(whole())
    edge = found[(found["edge"] == "base-lua") & (found["seed"] == 0)].iloc[0]
    assert (edge["share_parent"], edge["again"], edge["floor"]) == (40, 65, 5)
    assert (edge["random"], edge["random_again"], edge["random_floor"]) == (50, 80, 40)
    assert (edge["other_seed"], edge["neurons"], edge["shuffled"]) == (25, 20, 0)
    assert edge["persisting"] + edge["disappeared"] == edge["parent_alive"]


def sweeps(seed, points, batches=6):
    """Sums of a way to merge at each point: a loss for the even batches, which choose, and one for the odd ones."""
    for (way, t), (even, odd) in points.items():
        for corpus, batch in itertools.product(("lua", "stories"), range(batches)):
            about = {"part": "models", "seed": seed, "model": way, "t": t, "corpus": corpus, "batch": batch}
            loss = (odd if batch % 2 else even) + 0.01 * batch * (1 + (way == "ties")) + (corpus == "lua")
            yield from ({**about, "metric": metric, "value": value} for metric, value in
                        (("loss_sum", 10 * loss), ("count", 10)))  # fmt: skip


def test_a_way_to_merge_is_judged_where_it_did_not_choose():
    """The point that the odd batches prefer is not the chosen one, and their losses at the chosen one are compared."""
    points = {
        ("sweep", 0.2): (3.0, 2.0),
        ("sweep", 0.5): (2.0, 3.0),
        ("ties", 1.0): (1.0, 2.4),
        ("ties", 2.0): (4.0, 1.0),
    }
    rows = [row for seed in (0, 1) for row in sweeps(seed, points)]
    found = RESULTS.table("merging_ways").make(frame(rows)).set_index(["way", "seed"])
    assert (found.loc[("slerp", 0), "at"], found.loc[("ties", 0), "at"]) == (0.5, 1.0)
    assert found.loc[("ties", 0), ["lua_loss", "stories_loss"]].tolist() == pytest.approx([3.46, 2.46])
    assert found["less_slerp"].tolist() == pytest.approx([0, -0.57] * 2)
    (claim,) = claims_table([one for one in RESULTS.claims if one.id == "F17"], frame(rows), {}).to_dict("records")
    assert claim["verdict"] == "supported" and claim["estimate"] == pytest.approx(-0.57)
    worse = [row for seed in (0, 1) for row in sweeps(seed, points | {("ties", 1.0): (1.0, 3.5)})]
    (claim,) = claims_table([one for one in RESULTS.claims if one.id == "F17"], frame(worse), {}).to_dict("records")
    assert claim["verdict"] == "not supported"


def test_a_way_to_merge_is_a_neighbour_of_slerp(tmp_path):
    """Its row has the losses of both at their points, which differ by what the claim finds."""
    points = {("sweep", 0.5): (2.0, 3.0), ("ties", 1.0): (1.0, 2.4), ("ties", 2.0): (4.0, 1.0)}
    rows = [row for seed in (0, 1) for row in sweeps(seed, points)]
    rows += [
        {"part": "sizes", "seed": 0, "model": way, "t": 1.0, "metric": "parameters", "value": 50}
        for way in ("ties", "dare")
    ]
    cells = {one.id: [Cell()] for one in RESULTS.neighbours}
    found = {row["claim"]: row for row in neighbour_rows("p", RESULTS, frame(rows), cells, tmp_path)}
    assert list(found) == ["F15", "F16", "F17", "F18"] and found["F15"]["note"] == "not run at scale mini"
    ties = found["F17"]
    # Odd batches, of which the third has 0.03 more, or twice that; Lua has 1 more than stories.
    assert (ties["method_value"], ties["neighbour_value"]) == pytest.approx((3.53, 2.96))
    assert ties["difference"] == pytest.approx(-0.57) and ties["verdict"] == "ahead" and ties["better"] == "lower"
    assert (ties["seeds"], ties["neighbour_parameters"], ties["method_parameters"]) == (2, 50, None)
    assert ties["unit"] == "batch within 2 seeds" and ties["method"] == "slerp" and "Yadav" in ties["neighbour"]
    assert ties["margin"] == 0.01


def test_the_sweep_names_its_axis_and_stands_beside_the_base():
    found = RESULTS.table("fig5_slerp_sweep").make(whole())
    assert set(found["axis"]) == {"t: 0 = Lua, 1 = stories"} and set(found["t"]) == {0.0, 0.5, 1.0}
    row = found[(found["t"] == 0.5) & (found["corpus"] == "lua") & (found["seed"] == 0)].iloc[0]
    assert (row["accuracy"], row["loss"], row["baseline_accuracy"]) == pytest.approx((40, 3.0, 60))


def case(name, models):
    for model, partner in models.items():
        about = {"seed": 0, "case": name, "model": model, "partner": partner}
        for metric, value in (("r", 0.9), ("mass_share", 80.0), ("token_share", 2.0)):
            yield {**about, "part": "cases", "feature": 3, "metric": metric, "value": value}
        for place, token in enumerate(["x", " =", "\n        ", "$1"]):
            level = 100.0 if token == " =" else 0.0
            yield {**about, "part": "contexts", "context": 0, "place": place, "token": token, "metric": "activation",
                   "value": level}  # fmt: skip


def test_a_case_study_is_shown_token_by_token():
    rows = frame([*case("assignment", {"base": 3, "lua": 5, "stories": 6, "merged": 7})])
    found = RESULTS.table("fig3_universal_feature").make(rows)
    assert found[found["token"] == " ="]["activation"].tolist() == [100] * 4
    assert set(found["sought"]) == {"python ~ ^=$"} and set(found["r"]) == {0.9} and len(found) == 16
    drawn = RESULTS.figure("fig3_universal_feature").draw(found, Drawn("mini", {}))
    words = [text.get_text() for text in drawn.axes[0].texts]
    assert any(word.startswith("lua: feature 5, r = 0.90") for word in words) and words.count("↵    ") == 4
    # Boxes of every token; the one that fires is the strongest.
    strengths = [patch.get_alpha() for patch in drawn.axes[0].patches]
    assert len(strengths) == 16 and strengths.count(max(strengths)) == 4
    lost = RESULTS.table("fig4_lost_feature").make(rows)
    assert lost["note"].notna().all() and RESULTS.figure("fig4_lost_feature").draw(lost, Drawn("mini", {}))


def test_figure_2_says_share_controls_and_twin():
    shown = whole()
    rows = shown.select(part="flow", control="", child="lua", dictionary="trained").to_dict("records")
    further = (("lua", "merged"), ("stories", "merged"))
    edges = [{**row, "parent": one, "child": two} for row in rows for one, two in further]
    both = frame_of(pandas.concat([shown.rows, pandas.DataFrame(edges)]), RESULTS.settings("mini", [], OPTIONS))
    table = RESULTS.table("fig2_feature_flow").make(both)
    drawn = RESULTS.figure("fig2_feature_flow").draw(table, Drawn("mini", {}))
    words = " ".join(text.get_text() for text in drawn.axes[0].texts)
    assert "base: 100 alive" in words and "random dictionary 50 %" in words
    assert "floor 6 %\nanother autoencoder 66 %" in words


def verdicts(rows):
    return claims_table(RESULTS.claims, rows, {}).set_index("id")


def test_claims_find_what_the_rows_hold():
    found = verdicts(whole())
    values = found["estimate"].to_dict()
    assert values["F1"] == pytest.approx(-0.9995) and values["F4"] == pytest.approx(1.0005)
    assert values["F5"] == pytest.approx(0.4) and values["F6"] == pytest.approx(10)
    # Less the same of the random dictionary: 48 persist, 6 more than the floor, 32 fewer than between two of them.
    assert values["F7"] == pytest.approx(35 - 48) and values["F8"] == pytest.approx(29.5 - 6)
    assert values["F9"] == pytest.approx(-25 + 32) and values["F10"] == pytest.approx(15 - 6)
    assert values["F11"] == pytest.approx(20) and values["F12"] == pytest.approx(10)
    assert values["F13"] == pytest.approx(0.4) and values["F14"] == pytest.approx(0.2)
    assert found.loc["F1", "verdict"] == "supported" and found.loc["F8", "unit"] == "feature within 2 seeds"


def test_the_random_dictionary_supports_no_claim_on_itself():
    """The learnt features replaced by the twin's own: what is left is nothing, whatever the twin is."""
    (twin,) = [twin for twin in RESULTS.twins if "F8" in twin.claims]
    found = claims_table(RESULTS.claims, as_twin(twin, whole()), {}, RESULTS.twins).set_index("id")
    assert found.loc[list(twin.claims), "estimate"].abs().max() < 1e-9
    assert not (found.loc[list(twin.claims), "verdict"] == "supported").any()
    assert found.loc["F8", "twin"] == "a random dictionary of equal number and density"
    assert found.loc["F6", "twin"].startswith("none: ")


def test_a_claim_without_rows_has_a_reason():
    found = verdicts(frame([]))
    assert (found["verdict"] == "inconclusive").all() and found["note"].str.len().gt(0).all()


def test_comparison_turns_the_axis_of_the_released_sweep_round():
    own = RESULTS.own(whole())
    row = pandas.Series({"t": "0.5", "source": "s"})
    assert RESULTS.printed["sweep"].find(own, row, "lua_accuracy").ours == "0.4005"
    beyond = RESULTS.printed["sweep"].find(own, pandas.Series({"t": "1.01", "source": "s"}), "lua_loss")
    assert not beyond.ours and beyond.note == "not run at scale mini"
    card = RESULTS.printed["cards"].find(own, pandas.Series({"model": "lua", "source": "s"}), "loss")
    assert card.ours == "3.0055"
    assert RESULTS.printed["figures"].find(own, row, "value").note.startswith("the paper could not be read here")


def test_the_audit_agrees_but_for_what_the_sources_say_wrong():
    given = [*PUBLISHED.glob("*.tsv"), PUBLISHED / "printed.yaml"]
    rows = audit("universal_features", given, ROOT / "config/models.yaml")
    differ = {row.id for row in rows if row.verdict == "differs"}
    assert differ == {"8.1", "5.12c"}
    # The other items are known answers of the library: tests/unit/test_universal_features_known_answers.py.
    assert {row.id.rstrip("abcdefghi") for row in rows} >= {f"5.{number}" for number in (1, 11, 12)}
    assert audit("universal_features", given, ROOT / "config/models.yaml", only="5.1b") == [
        row for row in rows if row.id == "5.1b"
    ]


def test_persistence_has_a_curve_of_the_twin():
    found = RESULTS.table("persistence").make(whole()).set_index(["edge", "control"])["share_parent"]
    assert found["base-lua", "lineage"] == 40.5 and found["base-lua", "random dictionary"] == 50.5
    assert found["base-lua", "other random dictionary"] == 80.5


def test_a_case_without_a_feature_says_so():
    other = frame([*case("exception", {"base": 3, "lua": 5})])
    found = RESULTS.table("fig3_universal_feature").make(other)
    assert found["note"].item().startswith("no feature that is sought") and len(found) == 1


def test_each_seed_shows_its_own_partner():
    rows = [*case("exception", {"base": 3, "lua": 5})]
    rows += [{**row, "seed": 1, "partner": row["partner"] + 10} for row in rows]
    drawn = RESULTS.figure("fig4_lost_feature").draw(
        RESULTS.table("fig4_lost_feature").make(frame(rows)), Drawn("mini", {})
    )
    words = [text.get_text() for text in drawn.axes[0].texts]
    assert any("base: feature 3 (seed 0)" in word for word in words) and any(
        "feature 13 (seed 1)" in word for word in words
    )
    assert any(word.startswith("lua: feature 15, r = 0.90") for word in words)


def test_a_model_without_a_gated_mlp_is_refused_when_planning():
    config = load_config(
        ROOT, {"scale": "mini", "set": "papers.universal-features.model=gpt2", "build": ["universal-features"]}
    )
    with pytest.raises(ReprlabError, match=r"papers\.universal-features\.model: gpt2 has no gated MLP"):
        make_plan(config)
