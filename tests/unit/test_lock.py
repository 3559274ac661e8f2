"""The lock: exact versions that any machine can install, and those that run here."""

import re
from importlib import metadata
from pathlib import Path

import pytest

ENVS = Path(__file__).resolve().parents[2] / "envs"
FILES = sorted(ENVS.glob("*.txt"))


def pins(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    included = [pin for line in lines if line.startswith("-r ") for pin in pins(path.parent / line[3:])]
    return included + [line for line in lines if not line.startswith("-r ")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_line_is_a_name_and_an_exact_version(path):
    assert pins(path)
    for line in pins(path):
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!]+", line), line


def test_the_base_lock_has_what_the_workflow_is_made_of():
    locked = dict(line.split("==") for line in pins(ENVS / "requirements.txt"))
    assert locked["torch"] == "2.13.0" and locked["snakemake"] == "9.27.1"
    wanted = {re.split(r"[\[=<>]", line)[0].lower() for line in pins(ENVS / "requirements.in")}
    assert wanted <= {name.lower().replace("_", "-") for name in locked} | {name.lower() for name in locked}
    assert not [name for name in locked if name.startswith(("nvidia-", "triton"))]


def test_extras_add_to_the_base_and_change_nothing_in_it():
    base = {line.split("==")[0].lower() for line in pins(ENVS / "requirements.txt")}
    for path in FILES:
        if path.stem != "requirements":
            assert not base & {line.split("==")[0].lower() for line in pins(path)}, path.name


def test_this_environment_is_the_locked_one():
    for line in pins(ENVS / "requirements.txt"):
        name, version = line.split("==")
        assert metadata.version(name).removesuffix("+cpu") == version, name
