"""Faults over the graph at `nano`: after each, the same command ends in the tables of the undisturbed run.

`make test-faults` runs it and prints tried, survived and lost. REPRLAB_FAULTS_SEED repeats it, REPRLAB_FAULTS sets
the number of kills. The graph is cut down to one table of losses and one of fine-tuning, so that each stage that trains
or writes is in it; downloads are copies of files that the cache holds already, and all else is as in any run.
"""

import os
import random
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.checkouts import Checkout, copy_project
from tests.workflow.faults.disks import read_only, small_disk
from tests.workflow.faults.engine import Run, digests, error_lines, gone, half_written, kill, stages
from tests.workflow.faults.sources import use_local_origins
from tests.workflow.faults.tally import Tally
from tests.workflow.faults.targets import nano_plan

pytestmark = pytest.mark.faults

KILLS = int(os.environ.get("REPRLAB_FAULTS", "56"))
TABLES = ("results/depth/loss_fs.tsv", "results/shared/finetuned/depth_t5_all/sst2/s2137.selected.json")
COMMAND = ("--cores", "2", "--config", "scale=nano", "set=runtime.save_every=1", "--", *TABLES)


# What is removed together: from the downloads to the tables.
LEVELS = (
    ("results", ".snakemake"),
    ("results/shared/corpora", "results/shared/tokenizers", "results/shared/models", "results/shared/tasks"),
    ("results/shared/tokens", "results/shared/pretrained/depth_depth_fs*"),
    ("results/shared/pretrained/depth_t5_fs*", "results/shared/pretrained/depth_t5_cpt*"),
    ("results/shared/evaluated", "results/shared/finetuned", "results/depth"),
)


# The line of the engine's that follows its planning.
PLANNED = re.compile(r"^\d+ jobs?, ", re.M)


@dataclass
class Site:
    """A checkout with a cache of its own, what the undisturbed run made, and the stages that made it by their files."""

    checkout: Checkout
    cache: Path
    expected: dict[str, str]
    made_by: dict[str, str]
    logs: Path

    @property
    def run_folder(self) -> Path:
        return self.checkout.nano

    def start(self, name: str) -> Run:
        return Run(self.checkout, *COMMAND, log=self.logs / name, REPRLAB_CACHE=str(self.cache))

    def finish(self) -> str:
        """The same command, undisturbed; the problem with what it leaves, or ""."""
        done = self.checkout.run(*COMMAND, check=False, REPRLAB_CACHE=str(self.cache))
        output = done.stdout + done.stderr
        if done.returncode:
            return f"the same command ended with {done.returncode}: {error_lines(output) or output[-1500:]}"
        found = digests(self.run_folder)
        # What a finished table was made from may be gone: the engine makes nothing that no target needs.
        differ = sorted(name for name, digest in found.items() if digest != self.expected.get(name))
        differ += [name for name in TABLES if name not in found]
        if differ:
            return f"differ: {', '.join(differ[:5])}"
        if half_written(self.run_folder):
            return f"left over: {half_written(self.run_folder)[0]}"
        if stages(self.checkout.root):
            return "a stage is still running"
        return ""

    def to_do(self) -> set[str]:
        """Stages of which a file is missing."""
        return {stage for path, stage in self.made_by.items() if not (self.run_folder / path).exists()}

    def forget(self, level: int) -> None:
        """Remove what was made from a phase on, so that there is something to do; at 0 the downloads too."""
        for number, names in enumerate(LEVELS):
            for path in [path for name in names if number >= level for path in self.run_folder.glob(name)]:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if level == 0:
            shutil.rmtree(self.cache, ignore_errors=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Site:
    folder = tmp_path_factory.mktemp("faults")
    checkout, cache = copy_project(folder / "project"), folder / "cache"
    checkout.run(*COMMAND)
    use_local_origins(checkout, Path(checkout.environment()["REPRLAB_CACHE"]))
    shutil.rmtree(checkout.nano)
    checkout.run(*COMMAND, REPRLAB_CACHE=str(cache))
    expected = digests(checkout.nano)
    assert set(TABLES) <= set(expected)
    files = {path: job.stage for job in nano_plan("depth").jobs.values() for path in job.outputs.values()}
    made_by = {path: stage for path, stage in files.items() if (checkout.nano / path).exists()}
    assert set(STAGES) == set(made_by.values())
    return Site(checkout, cache, expected, made_by, folder)


def ends_well(site: Site, tally: Tally, what: str) -> None:
    """The same command, undisturbed, must end in the same tables; a loss is noted and mended for those that follow."""
    problem = site.finish()
    if problem:
        tally.lost.append(f"{what}: {problem}")
        shutil.rmtree(site.run_folder, ignore_errors=True)
        site.checkout.run(*COMMAND, REPRLAB_CACHE=str(site.cache))
    assert not problem, f"{what}: {problem}"


def kill_once(site: Site, rng: random.Random, number: int, tally: Tally) -> bool:
    """Start the command and kill a stage, or the engine, at a moment of some phase; False where nothing was to do."""
    engine, to_do, root = rng.random() < 0.4, site.to_do(), site.checkout.root
    run = site.start(f"kill-{number}")
    if rng.random() < 0.06:
        phase, engine = "planning", True
        time.sleep(rng.uniform(0, 6))
    else:
        run.wait_until(lambda: PLANNED.search(run.output))
        phase = rng.choice([phase for phase in PHASES if phase in to_do or phase == "writing"])
    if phase == "writing":
        run.wait_until(lambda: half_written(site.run_folder) and stages(root))
    elif phase != "planning":
        run.wait_until(lambda: stages(root, phase))
        time.sleep(rng.choice([0, rng.uniform(0, 0.3), rng.uniform(0, 2)]))
    victims = [] if engine else stages(root, phase if phase in STAGES else "") or stages(root)
    if run.process.poll() is None and (engine or victims):
        for pid in victims or [run.process.pid]:
            kill(pid)
        tally.tried["kill of the engine" if engine else f"kill in {phase}"] += 1
    ended = run.wait(300)
    if not gone(root):
        tally.lost.append(f"kill {number} in {phase}: a stage outlived its engine")
        run.stop()
    return ended != 0


STAGES = (
    "fetch_archive", "build_documents", "build_examples", "segment_documents", "train_tokenizer", "tokenize_corpus",
    "build_model", "pretrain_lm", "evaluate_lm", "finetune_model", "select_learning_rate", "tabulate_paper",
)  # fmt: skip
PHASES = (*STAGES, "pretrain_lm", "finetune_model", "writing", "writing")


def test_kills_at_random_moments(site, tally):
    """Chains of kills: the command is given again after each, and at the end of the chain it is let through."""
    seed, chain, before = tally.seed, 0, sum(tally.tried.values())
    while sum(tally.tried.values()) - before < KILLS:
        chain += 1
        assert chain <= 2 * KILLS, "kills come too late: most runs end before them"
        rng = random.Random(f"{seed}-{chain}")
        site.forget(rng.choice([0, 0, 1, 2, 3, 3, 4]))
        first = sum(tally.tried.values())
        for number in range(rng.randrange(5, 10)):
            if not kill_once(site, rng, 100 * chain + number, tally):
                break
        ends_well(site, tally, f"chain {chain} of seed {seed}, {sum(tally.tried.values()) - first} kills")
    assert tally.lost == []


@pytest.mark.parametrize("trial", range(2))
def test_a_disk_that_fills_up_at_some_write(site, tally, trial):
    rng = random.Random(f"{tally.seed}-{trial}")
    site.forget(2)
    used = sum(path.stat().st_blocks * 512 for path in site.run_folder.rglob("*")) / 2**20
    tally.tried["full disk"] += 1
    with small_disk(site.run_folder, used + rng.uniform(0.3, 6)):
        run = site.start(f"full-{trial}")
        if run.wait(300):
            assert "disk is full" in run.output or "No space left" in run.output, run.output[-3000:]
            assert "Traceback" not in run.output
    ends_well(site, tally, f"full disk {trial}")


@pytest.mark.parametrize("trial", range(4))
def test_the_newest_files_are_cut_off(site, tally, trial):
    """As after a power cut; the stages' own files are synced, but a disk may lie about that."""
    rng = random.Random(f"{tally.seed}-{trial}")
    run = site.run_folder
    made = [path for path in run.rglob("*") if path.is_file() and path.stat().st_size and path.suffix != ".lock"]
    newest = sorted(made, key=lambda path: path.stat().st_mtime_ns, reverse=True)[:80]
    for path in rng.sample(newest, k=rng.randrange(3, 8)):
        os.truncate(path, rng.randrange(path.stat().st_size))
    tally.tried["truncation"] += 1
    ends_well(site, tally, f"truncation {trial}")


def test_two_runs_started_at_once(site, tally):
    site.forget(4)
    tally.tried["two runs at once"] += 1
    runs = [site.start(f"both-{number}") for number in range(2)]
    assert min(run.wait(300) for run in runs) == 0, [run.output[-2000:] for run in runs]
    ends_well(site, tally, "two runs at once")


def test_a_read_only_folder(site, tally):
    site.forget(4)
    tally.tried["read-only results"] += 1
    with read_only(site.run_folder / "results"):
        run = site.start("read-only")
        assert run.wait(300) != 0
    assert "Read-only file system" in run.output
    ends_well(site, tally, "read-only results")


def test_a_result_edited_by_hand_is_found_named_kept_and_made_again(site, tally):
    table = site.run_folder / TABLES[0]
    edited = table.read_text().replace("1", "7")
    tally.tried["edited result"] += 1
    table.write_text(edited)
    dry = site.checkout.run("--dry-run", *COMMAND, REPRLAB_CACHE=str(site.cache))
    assert f"warning: {TABLES[0]}: changed since it was made" in dry.stdout + dry.stderr
    assert table.read_text() == edited, "a dry run changes nothing"
    ends_well(site, tally, "edited result")
    assert table.with_name(table.name + ".changed-1").read_text() == edited


@pytest.mark.parametrize("days", [2, -400])
def test_a_clock_that_was_set_back_or_forward(site, tally, days):
    """Files of the future, and of a distant past, beside files of now."""
    rng = random.Random(f"{tally.seed}-{days}")
    tally.tried["clock"] += 1
    there = time.time() + days * 86400
    for path in sorted((site.run_folder / "results").rglob("*")):
        if path.is_file() and rng.random() < 0.5:
            os.utime(path, (there, there))
    shutil.rmtree(site.run_folder / "results/shared/evaluated")
    shutil.rmtree(site.run_folder / "results/depth")
    ends_well(site, tally, f"clock {days} days away")
