"""`make list` and `make prune`."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from reprlab.config.load import load_config
from reprlab.planning.encoders import require_encoder
from reprlab.planning.measured import measure
from reprlab.planning.targets import list_targets, main
from reprlab.preflight import __main__ as preflight
from reprlab.reporting import prune, verify
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.locks import enter_run, record_engine
from reprlab.runtime.plan_file import PlannedJob

ROOT = Path(__file__).resolve().parents[2]


def empty_checkout(folder: Path) -> None:
    """What marks a folder as a checkout."""
    (folder / "config").mkdir()
    for name in ("Snakefile", "config/config.yaml"):
        (folder / name).touch()


def test_every_planned_result_is_listed_once():
    rows = list_targets(load_config(ROOT, {"scale": "nano"}))
    names = [row["target"] for row in rows]
    assert len(names) == len(set(names))
    assert {"depth", "results/depth/glue.tsv", "results/depth/audit.tsv", "results/depth/fig_glue.png"} <= set(names)


def test_a_reader_that_stops_early_gets_no_traceback():
    command = [sys.executable, "-m", "reprlab.planning.targets", "--scale", "nano"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as listing:
        listing.stdout.close()
        assert listing.stderr.read() == ""


def test_an_unknown_scale_is_one_line(capsys):
    assert main(["--scale", "minni"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "mini" in error


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """What is pruned here is never the cache of whoever runs the tests."""
    monkeypatch.setenv("REPRLAB_CACHE", str(tmp_path / "cache"))


def test_prune_frees_resume_points_and_members_only(tmp_path, monkeypatch, capsys):
    empty_checkout(tmp_path)
    for name in ("results/work/a/x", "runs/nano/results/work/b/x", "results/depth/glue.tsv", "cache/ab/members/m"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("12345")
    (tmp_path / "cache/ab/file.zip").write_text("zip")
    monkeypatch.chdir(tmp_path / "runs/nano")
    assert prune.main(["--dry-run"]) == 0
    assert (tmp_path / "results/work/a/x").exists()
    assert prune.main([]) == 0
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert left == ["Snakefile", "cache/ab/file.zip", "config/config.yaml", "results/depth/glue.tsv"]
    assert "freed" in capsys.readouterr().out


def run_of_three(root: Path) -> Path:
    """A run with three copies of code and three plans, of which the first made a result."""
    run = root / "runs/nano"
    for age, name in enumerate(("first", "second", "third")):
        for file in (run / f".snakemake/frozen/{name}/Snakefile", run / f".snakemake/plans/{name}.sqlite"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(name)
            os.utime(file.parent if file.name == "Snakefile" else file, (1000 + age, 1000 + age))
    for name, plan in (("glue", "first"), ("gone", "second")):
        seal = run / f"results/.seals/depth/{name}.tsv.json"
        seal.parent.mkdir(parents=True, exist_ok=True)
        made = {"job": "0" * 16, "plan": f"{plan}.sqlite"}
        seal.write_text(json.dumps({"sha256": "", "stamp": "", "made": made}))
    (run / "results/depth").mkdir()
    (run / "results/depth/glue.tsv").write_text("made")
    return run


def test_prune_keeps_the_newest_copy_of_code_and_the_plans_of_results(tmp_path, monkeypatch):
    empty_checkout(tmp_path)
    run = run_of_three(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert prune.main([]) == 0
    assert [path.name for path in (run / ".snakemake/frozen").iterdir()] == ["third"]
    assert {path.name for path in (run / ".snakemake/plans").iterdir()} == {"first.sqlite", "third.sqlite"}


def test_prune_leaves_a_run_that_goes_on(tmp_path, monkeypatch, capsys):
    """This process stands for its engine; afterwards it is one that has died."""
    empty_checkout(tmp_path)
    run = run_of_three(tmp_path)
    for file in (run / "results/work/a/x", tmp_path / "cache/ab/members/m"):
        file.parent.mkdir(parents=True)
        file.write_text("12345")
    monkeypatch.chdir(tmp_path)
    enter_run(run)
    record_engine(run)
    before = sorted(tmp_path.rglob("*"))
    assert prune.main([]) == 0
    assert sorted(tmp_path.rglob("*")) == before
    assert f"{run}: a run goes on here" in capsys.readouterr().out
    (engine,) = run.glob(".snakemake/reprlab_engines/*.json")
    engine.write_text(json.dumps({**json.loads(engine.read_text()), "start": 1}))
    assert prune.main([]) == 0
    assert not (run / "results/work").exists()
    assert not (tmp_path / "cache/ab/members").exists()


@pytest.mark.parametrize("command", [main, prune.main, verify.main, preflight.main])
def test_a_command_acts_on_the_folder_it_is_called_in(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command([]) != 0
    error = capsys.readouterr().err
    assert error.startswith(f"error: {tmp_path}: no checkout") and error.count("\n") == 1


def test_verify_looks_at_the_runs_of_the_folder(tmp_path, monkeypatch, capsys):
    empty_checkout(tmp_path)
    record = tmp_path / "runs/mine/results/depth/glue.provenance.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    monkeypatch.chdir(tmp_path / "config")
    assert verify.main([]) == 1
    assert str(tmp_path / "runs/mine") in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bert/l3prune_seed_O", "ENCODER=bert/l3prune_seed_O: no such encoder at scale nano; did you mean 'bert/l3pr"),
        ("", "give an encoder, ENCODER=<backbone>/<encoder> at scale nano; the first of 1 is bert/l3prune_seed_0"),
    ],
)
def test_an_encoder_that_is_not_planned_is_named_as_it_was_typed(name, said):
    require_encoder("bert/l3prune_seed_0", ["bert/l3prune_seed_0"], "nano")
    with pytest.raises(ReprlabError) as raised:
        require_encoder(name, ["bert/l3prune_seed_0"], "nano")
    assert str(raised.value).startswith(said)


def test_a_forked_job_takes_what_its_log_says(tmp_path):
    """The engine watched a process that waited."""
    plan = SimpleNamespace(jobs={("x", "a"): planned("x", "a", [], "results/a")}, targets={"p": ["results/a"]})
    for folder, ending, text in (("benchmarks", "tsv", "s\tcpu_time\n600\t0.05\n"), ("logs", "log", "")):
        (tmp_path / f"results/{folder}/x").mkdir(parents=True)
        (tmp_path / f"results/{folder}/x/a.{ending}").write_text(text)
    assert measure(tmp_path, plan, "nano")[0]["minutes"] == "10.0"
    (tmp_path / "results/logs/x/a.log").write_text("used 10.0 MB at most, 120.0 CPU seconds\n")
    assert measure(tmp_path, plan, "nano")[0]["minutes"] == "2.0"


def planned(stage, key, inputs, output):
    return PlannedJob(stage, key, inputs={"inputs": inputs}, outputs={"out": output})


def test_a_result_costs_what_all_jobs_behind_it_cost(tmp_path):
    jobs = [
        planned("fetch_archive", "a", [], "results/a.json"),
        planned("build_model", "m", ["results/a.json"], "results/m"),
        planned("tabulate_paper", "p/t", ["results/m"], "results/p/t.tsv"),
        planned("tabulate_paper", "p/u", ["results/m"], "results/p/u.tsv"),
    ]
    plan = SimpleNamespace(
        jobs={(job.stage, job.key): job for job in jobs}, targets={"p": ["results/p/t.tsv", "results/p/u.tsv"]}
    )
    benchmarks = {"build_model/m": "120\t90", "tabulate_paper/p.t": "6\tNA", "fetch_archive/a": "600\t1"}
    for name, values in benchmarks.items():
        file = tmp_path / f"results/benchmarks/{name}.tsv"
        file.parent.mkdir(parents=True)
        file.write_text(f"s\tcpu_time\n{values}\n")
    (tmp_path / "results/m").mkdir()
    (tmp_path / "results/m/weights").write_bytes(bytes(3_000_000))
    (row,) = measure(tmp_path, plan, "nano")
    assert row == {"target": "results/p/t.tsv", "scale": "nano", "minutes": "1.6", "cores": "1", "disk_mb": "3"}


def test_the_list_has_what_was_measured_at_every_scale():
    rows = {row["target"]: row for row in list_targets(load_config(ROOT, {"scale": "mini"}))}
    assert {"nano", "mini", "small"} <= set(rows["depth"])
    assert rows["results/depth/loss_fs.tsv"]["nano"].endswith(" MB")
