"""Every rule has the same skeleton, and its name is its stage, its log and its benchmark."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAGES = {path.stem for path in (ROOT / "workflow/reprlab/stages").glob("*.py")} - {"__init__"}
# The order that snakefmt gives.
SKELETON = [
    "input",
    "output",
    "log",
    "benchmark",
    "priority",
    "retries",
    "threads",
    "resources",
    "params",
    "message",
    "shell",
]
NEEDED = {"output", "log", "benchmark", "threads", "resources", "params", "message", "shell", "input"}


def rules():
    for path in sorted((ROOT / "workflow").glob("*/*.smk")):
        for name, body in re.findall(r"^rule (\w+):\n((?:    .*\n|\n)+)", path.read_text() + "\n", flags=re.M):
            yield pytest.param(name, body, id=name)


@pytest.mark.parametrize(("name", "body"), list(rules()))
def test_a_rule_has_the_skeleton(name, body):
    keywords = re.findall(r"^    (\w+):", body, flags=re.M)
    assert set(keywords) >= NEEDED, NEEDED - set(keywords)
    assert keywords == [word for word in SKELETON if word in keywords]
    assert name in STAGES
    for helper in ("inputs", "outputs", "log_of", "benchmark_of", "digest"):
        assert f'{helper}("{name}")' in body
    assert re.search(r"^        (TRAINING_)?COMMAND$", body, flags=re.M)


def test_every_stage_has_a_rule():
    named = {parameter.id for parameter in rules()}
    assert not STAGES - named


@pytest.mark.parametrize(
    ("path", "lines"), [("Snakefile", 60), ("workflow/rules/common.smk", 150), ("workflow/rules/stages.smk", 100)]
)
def test_the_frame_stays_small(path, lines):
    assert len((ROOT / path).read_text().splitlines()) < lines
