"""The command line made from a stage's signature."""

import subprocess
import sys
import textwrap

import pytest
from reprlab.runtime.errors import ReprlabError

STAGE = '''
"""A stage for the test."""
import sys
from pathlib import Path
from pydantic import BaseModel, ConfigDict
from reprlab.runtime.cli import run_stage
from reprlab.runtime.errors import ReprlabError
from reprlab.artifacts.json_files import write_json


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    rate: float
    names: list[str] = []


def copy_numbers(*, out: Path, settings: Settings, number: list[int], extra: Path | None = None, fail: str = "",
                 flag: bool = False) -> None:
    """Copy numbers."""
    if fail == "user":
        raise ReprlabError("numbers.txt: line 3 is\\nnot a number; mend it")
    if fail == "ask":
        raise ReprlabError(f"answered {sys.stdin.read()!r}")
    if fail == "bug":
        raise ZeroDivisionError("oops")
    write_json(out, {"rate": settings.rate, "number": number, "extra": str(extra), "flag": flag})


if __name__ == "__main__":
    run_stage(copy_numbers)
'''


@pytest.fixture
def stage(tmp_path):
    path = tmp_path / "copy_numbers.py"
    path.write_text(textwrap.dedent(STAGE))

    def run(*arguments):
        return subprocess.run(
            [sys.executable, str(path), *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
            input="y\n",
        )

    return run


GOOD = ["--out", "o.json", "--settings", '{"rate": 0.5}', "--number", "1", "--number", "2"]


def test_options_follow_the_signature(stage, tmp_path):
    done = stage(*GOOD, "--flag", "--log", "logs/a.log")
    assert done.returncode == 0, done.stderr
    assert '"number": [\n    1,\n    2\n  ]' in (tmp_path / "o.json").read_text()
    assert '"flag": true' in (tmp_path / "o.json").read_text()


def test_a_user_error_is_one_line_and_a_status(stage, tmp_path):
    done = stage(*GOOD, "--fail", "user", "--log", "a.log")
    assert done.returncode == 1
    assert done.stderr == "error: numbers.txt: line 3 is not a number; mend it\n"
    assert "Traceback" in (tmp_path / "a.log").read_text()
    assert not (tmp_path / "o.json").exists()


def test_a_stage_has_no_standard_input(stage):
    assert stage(*GOOD, "--fail", "ask").stderr == "error: answered ''\n"


def test_a_bug_is_one_line_that_names_the_log(stage, tmp_path):
    done = stage(*GOOD, "--fail", "bug", "--log", "a.log")
    assert done.returncode == 1
    assert "unexpected ZeroDivisionError: oops; traceback in a.log" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "Traceback" in (tmp_path / "a.log").read_text()


@pytest.mark.parametrize(
    ("settings", "words"),
    [('{"rate": "x"}', "Settings.rate"), ('{"rate": 1, "rat": 2}', "Settings.rat"), ("{", "Settings")],
)
def test_bad_settings_name_the_key(stage, settings, words):
    done = stage("--out", "o.json", "--settings", settings, "--number", "1")
    assert done.returncode == 1
    assert words in done.stderr and len(done.stderr.splitlines()) == 1


def test_help_shows_the_docstring_and_the_options(stage):
    done = stage("--help")
    assert done.returncode == 0
    for word in ("Copy numbers.", "--settings", "--number", "--log-level", "--threads"):
        assert word in done.stdout


def test_only_the_first_of_several_processes_writes_the_log(stage, tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    assert stage(*GOOD, "--log", "a.log").returncode == 0
    assert not (tmp_path / "a.log").exists()
    monkeypatch.setenv("RANK", "0")
    assert stage(*GOOD, "--log", "a.log").returncode == 0
    assert (tmp_path / "a.log").exists()


def test_a_quoted_line_break_does_not_break_the_line() -> None:
    """Found by many inputs: a model with a line break in a name."""
    assert str(ReprlabError("models.yaml: a\nb\x85c: no")) == "models.yaml: a b c: no"
