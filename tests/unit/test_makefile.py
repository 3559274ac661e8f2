"""`make`: what the user gives reaches the engine as it was typed, and any paper or file is asked of the engine."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Stands where the installed programs do, and writes down what it was given.
RECORDER = f"""#!{sys.executable}
import json, pathlib, sys
with pathlib.Path("given.jsonl").open("a", encoding="utf-8") as handle:
    handle.write(json.dumps(sys.argv[1:]) + "\\n")
"""


@pytest.fixture
def given(tmp_path):
    """Run make on a copy of the Makefile; what the programs were given, one list a call."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    for folder in ("envs", "config"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    programs = tmp_path / ".venv/bin"
    programs.mkdir(parents=True)
    for name in ("snakemake", "python"):
        (programs / name).write_text(RECORDER)
        (programs / name).chmod(0o755)
    (tmp_path / ".venv/.installed").touch()
    (tmp_path / ".venv/.installed-audio").touch()

    def run(*arguments, status=0, **variables):
        record = tmp_path / "given.jsonl"
        record.unlink(missing_ok=True)
        done = subprocess.run(
            ["make", "CORES=1", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={"PATH": "/usr/bin:/bin", **variables},
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        made = {path.name for path in tmp_path.iterdir()} - {"given.jsonl", ".venv"}
        assert made == {"Makefile", "pyproject.toml", "envs", "config"}, "a value was run as a command"
        run.said = done.stdout + done.stderr
        return [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []

    return run


@pytest.mark.parametrize(
    "value",
    [
        "run=zz'; touch f; echo '",
        "a.b=$HOME $(touch f) $(shell touch f) $$x ${y} `touch f`",
        'papers.depth.finetuning.tasks.sst2.template="review: {text}, it\'s \\"so\\""',
        "a.b=1;\nc.d='# no comment'",
        "a.b=x\\",
        "a.b = [1, 2] ",
    ],
)
@pytest.mark.parametrize("target", ["results/depth/glue.tsv", "all", "depth"])
def test_a_value_reaches_the_engine_as_it_was_typed(given, value, target):
    assert given(target, f"SET={value}") == [["--cores", "1", "--config", f"set={value}", "--", target]]
    assert given(target, SET=value) == [["--cores", "1", "--config", f"set={value}", "--", target]]
    (call,) = given(target, f"SET={value}", f"SCALE={value}")
    assert call == ["--cores", "1", "--config", f"scale={value}", f"set={value}", "--", target]


@pytest.mark.parametrize("target", ["depth", "vocab-memory", "vocab_memory", "to-come", "results/depth/gleu.tsv"])
def test_any_target_is_asked_of_the_engine(given, target):
    assert given(target) == [["--cores", "1", "--", target]]


def test_a_target_is_no_command(given):
    (call,) = given("results/it's")
    assert call[-1] == "results/it's"


def test_preflight_takes_settings(given):
    value = "papers.depth.finetuning.tasks.sst2.template='{txt}'"
    (call,) = given("preflight", "SCALE=mini", f"SET={value}", "PAPER=depth")
    assert call == ["-m", "reprlab.preflight", "--scale", "mini", "--set", value, "--paper", "depth"]


def test_an_encoder_is_exported_by_its_name(given):
    name = "smollm2/l3prune_small_seed_0; touch f"
    asked, call = given("export", f"ENCODER={name}", "SCALE=nano")
    assert asked == ["-m", "reprlab.planning.encoders", "--scale", "nano", name]
    assert call == ["--cores", "1", "--config", "scale=nano", "--", f"results/shared/sentence_transformers/{name}"]


# Targets that only read, with what they need.
READING = ("list", "explain", "compare", "verify", "preflight", "prune", "new")
COMPUTING = ("all", "depth", "report", "test")


@pytest.mark.parametrize("target", READING)
def test_what_only_reads_installs_nothing(given, tmp_path, target):
    """Neither where the requirements have changed since they were installed, nor where there is no environment."""
    (tmp_path / ".venv/.installed").unlink()
    (call,) = given(target)
    assert call[:1] == ["-m"] and call[1].startswith("reprlab.")
    shutil.rmtree(tmp_path / ".venv")
    assert given(target, status=2) == []
    assert "error: there is no .venv/bin/python; run make setup first" in given.said
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("target", [*READING, *COMPUTING])
def test_nothing_is_installed_through_a_link(given, tmp_path, target):
    elsewhere = tmp_path.with_name(f"{tmp_path.name}-elsewhere")
    (tmp_path / ".venv").rename(elsewhere)
    (tmp_path / ".venv").symlink_to(elsewhere)
    (elsewhere / ".installed").unlink()
    before = sorted(elsewhere.rglob("*"))
    (call,) = given(target)
    assert "pip" not in call
    assert sorted(elsewhere.rglob("*")) == before


def test_setup_refuses_a_link(given, tmp_path):
    elsewhere = tmp_path.with_name(f"{tmp_path.name}-elsewhere")
    (tmp_path / ".venv").rename(elsewhere)
    (tmp_path / ".venv").symlink_to(elsewhere)
    assert given("setup", status=2) == []
    assert "error: .venv is a link: nothing is installed through it" in given.said


def test_what_computes_installs_what_changed(given, tmp_path):
    (tmp_path / ".venv/.installed-audio").unlink()
    calls = given("all", f"PYTHON={sys.executable}")
    assert [call[:3] for call in calls[:2]] == [["-m", "pip", "install"]] * 2 and calls[-1][-1] == "all"


def test_the_paper_that_hears_music_alone_asks_for_its_extra(given, tmp_path):
    (tmp_path / ".venv/.installed-audio").unlink()
    assert len(given("depth")) == 1, "nothing is installed for another paper"
    calls = given("music-video-description", f"PYTHON={sys.executable}")
    assert ["envs/audio.txt" in call for call in calls] == [True, False, False, False, False]
    assert calls[1][-3:] == ["--no-deps", "-r", "envs/audio_alone.txt"] and calls[3][:2] == ["-m", "compileall"]


def test_without_a_compiler_one_line_says_so_and_every_other_paper_runs(given, tmp_path):
    (tmp_path / ".venv/.installed-audio").unlink()
    assert given("music-video-description", "CC=no-such-cc", f"PYTHON={sys.executable}", status=2) == []
    assert "needs a C compiler, and no-such-cc does not exist" in given.said
    assert len(given("depth", "CC=no-such-cc")) == 1
    assert given("all", "CC=no-such-cc")[-1][-3:] == ["--keep-going", "--", "all"]


@pytest.mark.parametrize(
    ("goals", "arguments"),
    [
        (["explain", "results/depth/glue.tsv"], ["-m", "reprlab.preflight.explain", "results/depth/glue.tsv"]),
        (["results/depth/glue.tsv", "explain"], ["-m", "reprlab.preflight.explain", "results/depth/glue.tsv"]),
        (["list", "depth"], ["-m", "reprlab.planning.targets", "depth"]),
        (["preflight", "depth"], ["-m", "reprlab.preflight", "--paper", "depth"]),
        (["explain"], ["-m", "reprlab.preflight.explain", "all"]),
    ],
)
def test_beside_a_goal_that_reads_other_goals_are_its_arguments(given, goals, arguments):
    assert given(*goals) == [arguments]


@pytest.mark.parametrize(
    "goals", [["verify", "depth"], ["help", "depth"], ["prune", "all"], ["list", "all"], ["list", "test"]]
)
def test_a_goal_that_reads_takes_no_second_one(given, goals):
    assert given(*goals, status=2) == []
    assert f"make {goals[0]}" in given_said(given) and "call make once for each" in given_said(given)


@pytest.mark.parametrize("slip", ["scale=nano", "set=a=b", "PAPERS=depth"])
def test_a_variable_that_nothing_reads_is_refused_by_its_name(given, slip):
    assert given("results/depth/glue.tsv", slip, status=2) == []
    assert f"{slip.partition('=')[0]}=…: there is no such variable" in given_said(given)


def given_said(given) -> str:
    return " ".join(given.said.split())


@pytest.mark.parametrize("failing", [False, True])
def test_a_release_runs_each_part_whatever_became_of_the_others(given, tmp_path, failing):
    (tmp_path / ".venv/.installed-dev").touch()
    if failing:
        (tmp_path / ".venv/bin/python").write_text(f"{RECORDER}sys.exit(1)\n")
    found = given("test-all", status=2 if failing else 0)
    marked = [call[call.index("-m", 2) + 1] for call in found]
    parts = ("not (slow", "release and not", "cluster and not slow", "faults", "slow")
    assert len(marked) == len(parts) and all(map(str.startswith, marked, parts))
    # The tally of faults is kept, printed and recorded by the process that runs them.
    assert "-n" not in found[3] and "-n" in found[0]
