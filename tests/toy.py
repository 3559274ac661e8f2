"""A paper of three stages (examples, baselines, a table), for what every paper goes through in the same way.

`make new PAPER=toy-paper` writes it, so that nothing here is a second way to write a paper.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkouts import Checkout, copy_project, once, private_copy

SLUG = "toy-paper"
TABLE = f"results/{SLUG}/table1.tsv"
ARCHIVE = "vader"
RECEIPT = f"results/shared/archives/{ARCHIVE}.json"
TASKS = ("amazon_snippets", "tweet_ratings")
EXAMPLES = f"results/shared/tasks/{TASKS[0]}/examples.parquet"
BASELINES = [f"results/shared/tasks/{task}/baselines.tsv" for task in TASKS]


def _write_toy(root: Path) -> None:
    checkout = copy_project(root)
    subprocess.run(
        [sys.executable, "-m", "reprlab.scaffold", "--paper", SLUG], cwd=root, check=True, capture_output=True,
        env=checkout.environment(PYTHONPATH=str(root / "workflow")),
    )  # fmt: skip
    config = root / "config/config.yaml"
    config.write_text(re.sub(r"^build: .*$", f"build: [{SLUG}]", config.read_text(encoding="utf-8"), flags=re.M))


@pytest.fixture(scope="session")
def written_toy(tmp_path_factory) -> Checkout:
    """A checkout with the toy and nothing made. Never edit it: use `toy`."""
    return once(tmp_path_factory, "toy", _write_toy)


@pytest.fixture
def toy(written_toy, tmp_path) -> Checkout:
    """A private checkout with the toy and nothing made in it."""
    return private_copy(written_toy, tmp_path / "project")


@pytest.fixture(scope="session")
def finished(written_toy, tmp_path_factory) -> Checkout:
    """A checkout in which all of the toy was made at `nano` once. Never edit it: use `finished_copy`."""

    def make(root: Path) -> None:
        private_copy(written_toy, root).run("--cores", "2", "--config", "scale=nano", "--", "all")

    return once(tmp_path_factory, "finished", make)


@pytest.fixture
def finished_copy(finished, tmp_path) -> Checkout:
    """A private copy of `finished`."""
    return private_copy(finished, tmp_path / "project")
