"""Results that the settings leave empty: nothing feeds them, and they must be made all the same."""

import functools
import importlib
import inspect
import json

import pytest
from checkouts import ROOT
from reprlab.artifacts.tables import read_tsv
from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.runtime.cli import run_stage
from reprlab.stages.plot_figure import plot_figure
from reprlab.stages.tabulate_paper import tabulate_paper

SCALES = ("paper", "small", "mini", "nano")
# `auto` becomes one or the other, by the machine that plans.
DTYPES = ("float32", "bfloat16")


@functools.lru_cache(maxsize=2)
def planned(scale, dtype="float32"):
    return make_plan(load_config(ROOT, {"scale": scale, "set": [f"numerics.dtype={dtype}"]}))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", SCALES)
def test_a_stage_that_gets_no_files_asks_for_none(scale, dtype):
    """An empty list leaves no option on the command line: the stage must not demand it."""
    empty = {
        (stage, name)
        for stage, jobs in planned(scale, dtype).jobs.items()
        for job in jobs.values()
        for name, files in job.inputs.items()
        if not isinstance(files, str) and not files
    }
    demanded = set()
    for stage, name in empty:
        function = getattr(importlib.import_module(f"reprlab.stages.{stage}"), stage)
        parameter = inspect.signature(function).parameters.get(name)
        if parameter is not None and parameter.default is inspect.Parameter.empty:
            demanded.add((stage, name))
    assert not demanded


def run(function, *arguments):
    with pytest.raises(SystemExit) as ended:
        run_stage(function, [str(one) for one in arguments])
    assert ended.value.code == 0


EMPTY = {
    "depth/int8_bug": "ablations.int8_bug.enabled is false",
    "depth/padding_in_loss": "ablations.padding_in_loss.enabled is false",
    "intrinsic-dimension/precision": "collection.precision_items is 0",
    "intrinsic-dimension/seeds": "replication.seeds is empty",
    "punctuation-restoration/table2": "internal data of the authors",
}


def test_the_empty_tables_of_paper_scale_are_known():
    jobs = planned("paper").jobs["tabulate_paper"]
    assert {key for key, job in jobs.items() if not job.inputs["inputs"]} == set(EMPTY)


@pytest.mark.parametrize("key", EMPTY)
def test_an_empty_table_gives_its_reason_and_is_drawn(key, tmp_path):
    plan = planned("paper")
    slug, table = key.split("/")
    module = slug.replace("-", "_")
    out = tmp_path / f"{table}.tsv"
    settings = {f"--{name}": value for name, value in plan.jobs["tabulate_paper"][key].settings.items()}
    given = [
        part
        for name, value in settings.items()
        for part in (name, value if isinstance(value, str) else json.dumps(value))
    ]
    run(tabulate_paper, "--paper", module, "--table", table, *given, "--out", out)
    frame = read_tsv(out)
    assert len(frame) == 1 and set(frame["scale"]) == {"paper"} and EMPTY[key] in frame["note"].iloc[0]
    published = [part for path in (ROOT / "resources/published" / slug).glob("*.tsv") for part in ("--published", path)]
    jobs = plan.jobs["plot_figure"]
    figures = [name for name, job in jobs.items() if job.inputs["tables"] == [f"results/{slug}/{table}.tsv"]]
    assert figures == ([key] if slug == "depth" else [])
    for name in figures:
        png, svg, pdf = (tmp_path / f"figure.{ending}" for ending in ("png", "svg", "pdf"))
        run(plot_figure, "--paper", module, "--figure", name.partition("/")[2], "--tables", out, *published,
            "--scale", "paper", "--png", png, "--svg", svg, "--pdf", pdf)  # fmt: skip
        assert any(word in svg.read_text() for word in ("not run", "false", EMPTY[key]))
