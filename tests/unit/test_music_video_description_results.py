"""What music-video-description declares of its neighbours: claims and rows on made-up scores."""

import json
from pathlib import Path

import pandas
import pytest
from reprlab.config.load import load_config
from reprlab.papers.music_video_description.results import RESULTS
from reprlab.planning.paper_plans import make_plan
from reprlab.results.claims import claims_table
from reprlab.results.frame import frame_of
from reprlab.results.neighbour_table import neighbour_rows
from reprlab.results.neighbours import Cell, NeighbourSettings
from reprlab.results.schema import FIXED
from reprlab.results.sources import GatherSettings

ROOT = Path(__file__).parents[2]
SLUG = "music-video-description"


def scored(values, seeds=range(5)):
    """BLEU-4 by section and inputs; each seed adds to it, and the prefix a little more."""
    rows = [
        {
            "part": "scores", "section": section, "inputs": inputs, "seed": seed, "metric": metric, "n": 16,
            "value": value + seed + (section == "prefix") * seed / 9 - 50 * (metric != "bleu4"), "low": value - 5,
            "high": value + 5, "data": "d", "scale": "mini", "reason": "",
        }
        for (section, inputs), value in values.items()
        for seed in seeds
        for metric in ("bleu4", "rouge_f1")
    ]  # fmt: skip
    found = pandas.DataFrame(rows).reindex(columns=[*RESULTS.factors, *FIXED])
    return frame_of(found, RESULTS.settings("mini", [], {}))


VALUES = {("main", "1234"): 50.0, ("ablation", "234"): 90.0, ("adaptor", "1234"): 30.0, ("prefix", "1234"): 40.0,
          ("baseline", "1234"): 1.0, ("sanity", "1234"): 20.0}  # fmt: skip


def test_a_prefix_is_held_against_adaptor_with_lora_and_against_the_adaptor_alone(tmp_path):
    """The mean over seeds 0 to 4 of what the prefix has more is 2/9."""
    frame = scored(VALUES)
    claims = claims_table(RESULTS.claims, frame, {}).set_index("id")
    assert claims["estimate"][["M10", "M11"]].tolist() == pytest.approx([-10 + 2 / 9, 10 + 2 / 9])
    assert claims["verdict"][["M10", "M11"]].tolist() == ["not supported", "supported"]
    cells = {one.id: [Cell()] for one in RESULTS.neighbours}
    rows = {row["claim"]: row for row in neighbour_rows(SLUG, RESULTS, frame, cells, tmp_path)}
    assert [(claim, row["verdict"], row["method"]) for claim, row in rows.items()] == [
        ("M10", "behind", "adaptor and LoRA"), ("M11", "ahead", "the adaptor alone"),
    ]  # fmt: skip
    for claim, method in (("M10", 52.0), ("M11", 32.0)):
        row = rows[claim]
        assert (row["method_value"], row["neighbour_value"]) == pytest.approx((method, 42 + 2 / 9))
        assert row["difference"] == pytest.approx(row["neighbour_value"] - method) and "Merullo" in row["neighbour"]
        assert (row["unit"], row["seeds"], row["better"]) == ("seed", 5, "higher")


def test_without_its_rows_a_neighbour_says_that_it_is_not_run(tmp_path):
    frame = scored({("main", "1234"): 50.0})
    found = list(neighbour_rows(SLUG, RESULTS, frame, {one.id: [Cell()] for one in RESULTS.neighbours}, tmp_path))
    assert [row["note"] for row in found] == ["not run at scale mini"] * 2


def test_both_have_the_updates_rates_and_seeds_of_the_main_row_and_jobs_of_their_own():
    plan = make_plan(load_config(ROOT, {"scale": "mini", "build": [SLUG]}))
    gathered = GatherSettings.model_validate_json(plan.jobs["gather_results"][SLUG].settings["settings"])
    for section in ("prefix", "adaptor"):
        entries = gathered.entries_of({"part": ["scores"], "section": [section], "metric": ["bleu4"]})
        assert sorted(entry.path.name for entry in entries) == [f"1234_{section}_s{seed}.tsv" for seed in (0, 1)]
    folder = "smollm2_135m_instruct/scores_and_hold_music"
    main, alone, prefix = (
        json.loads(plan.jobs[stage][f"{folder}/description_1234{name}_s0"].settings["settings"])
        for stage, name in (("train_describer", ""), ("train_describer", "_adaptor"), ("train_prefix", ""))
    )
    assert {**main, "adapter": None} == alone and main["adapter"]
    assert all(main[name] == prefix[name] for name in ("task", "inputs", "max_length", "engine", "epochs"))
    starts = [key for key, job in plan.jobs["train_prefix"].items() if "start" not in job.inputs]
    assert starts == [f"{folder}/caption_1_s{seed}" for seed in (0, 1)]
    (table,) = plan.jobs["gather_neighbours"].values()
    cells = NeighbourSettings.model_validate_json(table.settings["settings"]).papers[SLUG]
    ((beside,), (alone,)) = cells["prefix_beside_main"], cells["prefix_beside_adaptor"]
    assert [{one.split("/")[0] for one in side} for side in (beside.method, beside.rival)] == [
        {"train_describer", "describe_tracks"}, {"train_prefix", "describe_by_prefix"},
    ]  # fmt: skip
    assert beside.rival == alone.rival and len(beside.rival) == 6 and len(alone.method) == 6
