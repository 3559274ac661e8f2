"""The plan of adapters for speech: each method trains what it says itself, before what all methods share."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from reprlab.config.load import load_config
from reprlab.papers.asr_adapters.plan import add_jobs
from reprlab.planning.plan import Plan

ROOT = Path(__file__).parents[2]
METHODS = "papers.asr-adapters.methods"


@cache
def tunings(edits: str = "", scale: str = "paper") -> dict[str, dict[str, Any]]:
    """What each recogniser trains, by its key."""
    plan = Plan()
    add_jobs(plan, load_config(ROOT, {"scale": scale, "set": edits}))
    return {key: json.loads(job.settings["settings"])["tuning"] for key, job in plan.jobs["train_recogniser"].items()}


def method_of(key: str) -> str:
    """Name of the method in a key, before the minutes."""
    return "_".join(part for part in key.rpartition("/")[2].partition("min")[0].split("_")[:-1])


def changed(edits: str, scale: str = "paper") -> dict[str, dict[str, Any]]:
    """The keys of what is trained otherwise, or anew, with what changed."""
    before, after = tunings("", scale), tunings(edits, scale)
    return {
        key: {name: value for name, value in own.items() if value != before.get(key, {}).get(name)}
        for key, own in after.items()
        if own != before.get(key)
    }


@pytest.mark.parametrize("scale", ["mini", "paper"])
@pytest.mark.parametrize("name, value", [("depth", 3), ("initial_scale", 0.5)])
def test_a_method_has_its_own_depth_and_start(name: str, value: float, scale: str) -> None:
    found = changed(f"{METHODS}.ff_fast.tuning.{name}={value}", scale)
    assert found == {key: {name: value} for key in tunings("", scale) if method_of(key) == "ff_fast"}
    assert found


def test_the_start_that_methods_share_holds_where_a_method_has_none() -> None:
    edits = f"papers.asr-adapters.training.initial_scale=0.1; {METHODS}.conv.tuning.initial_scale=1.0"
    found = {(method_of(key), tuning["initial_scale"]) for key, tuning in tunings(edits).items()}
    assert {("conv", 1.0), ("ff", 0.1), ("conv_slow", 0.1)} <= found
    assert {scale for method, scale in found if method != "conv"} == {0.1}


def test_depths_are_swept_whatever_the_methods_own_is() -> None:
    def swept(edits: str) -> set[int]:
        return {one["depth"] for key, one in tunings(edits).items() if key.startswith("xls_r_2b/masri_speech/ff_3")}

    deeper = f"{METHODS}.ff.tuning.depth=3"
    assert swept("") == swept(deeper) == set(range(2, 9))
    # The key without a depth is that of the method as it is.
    key = "xls_r_2b/masri_speech/ff_3000min_s100"
    assert (tunings()[key]["depth"], tunings(deeper)[key]["depth"]) == (2, 3)
