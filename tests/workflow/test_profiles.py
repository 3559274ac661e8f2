"""`--profile` gives exactly what it says: effective cores, gpu and executor of each."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.toy import RECEIPT

ROOT = Path(__file__).resolve().parents[2]

PRINT = """
onstart:
    pass
_given = workflow.resource_settings
print("EFFECTIVE", "cores", _given.cores, "nodes", _given.nodes, "gpu", workflow.global_resources.get("gpu"))
"""


def effective(toy, *arguments, **variables):
    snakefile = toy.root / "Snakefile"
    if "EFFECTIVE" not in snakefile.read_text():
        snakefile.write_text(snakefile.read_text() + PRINT)
    done = toy.run("--dry-run", *arguments, "--config", "scale=nano", "--", RECEIPT, **variables)
    text = done.stdout + done.stderr
    found = re.search(r"EFFECTIVE cores (\S+) nodes (\S+) gpu (.+)", text)
    assert found, text
    return {"cores": found[1], "nodes": found[2], "gpu": re.sub(r"\D", "", found[3]) or None}


def parsed(toy, profile):
    """Executor, retries, cores, jobs and local cores of the command line, by the engine's own parser."""
    code = (
        "import sys; from snakemake.cli import parse_args; sys.argv=['snakemake'];"
        f"_, args = parse_args(['--profile', '{profile}']);"
        "print(args.executor, args.retries, args.cores, args.jobs, args.local_cores)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=toy.root, env=toy.environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-5:]


@pytest.mark.parametrize(
    ("profile", "cores", "gpu"),
    [("ci", "2", None), ("gpu", "16", "1")],
)
def test_a_profile_gives_what_it_says(toy, profile, cores, gpu):
    path = f"profiles/{profile}"
    assert parsed(toy, path)[:3] == ["None", "0", cores]
    found = effective(toy, "--profile", path, "--executor", "dryrun", CUDA_VISIBLE_DEVICES="")
    assert found["cores"] == cores
    assert found["gpu"] == gpu


@pytest.mark.parametrize(("profile", "executor"), [("slurm", "slurm"), ("generic-cluster", "cluster-generic")])
def test_a_cluster_profile_limits_jobs_and_not_the_cores_of_all_of_them(toy, profile, executor):
    path = f"profiles/{profile}"
    assert parsed(toy, path) == [executor, "2", "None", "100", "4"]
    found = effective(toy, "--profile", path, "--executor", "dryrun", CUDA_VISIBLE_DEVICES="")
    assert found["gpu"] == "1000"


@pytest.mark.parametrize(("account", "partition"), [("", ""), ("lab7", "long")])
def test_account_and_partition_of_slurm_come_from_the_environment(toy, account, partition):
    code = (
        "import sys; from snakemake.cli import parse_args; sys.argv=['snakemake'];"
        "_, args = parse_args(['--profile', 'profiles/slurm']); given = args.default_resources;"
        "print(*(given[name].raw if name in given else None for name in ('slurm_account', 'slurm_partition')))"
    )
    variables = {"REPRLAB_SLURM_ACCOUNT": account, "REPRLAB_SLURM_PARTITION": partition}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=toy.root,
        env=toy.environment(**variables),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-2:] == [account or "None", partition or "None"]


def test_the_default_profile_takes_nothing_from_the_command_line(toy):
    found = effective(toy, "--cores", "3", CUDA_VISIBLE_DEVICES="")
    assert found["cores"] == "3" and found["gpu"] is None


def test_gpus_of_the_machine_are_the_limit_unless_a_flag_says_otherwise(toy):
    assert effective(toy, "--cores", "1", CUDA_VISIBLE_DEVICES="0,1")["gpu"] == "2"
    found = effective(toy, "--cores", "1", "--resources", "gpu=7", CUDA_VISIBLE_DEVICES="0,1")
    assert found["gpu"] == "7"


def test_training_that_resumes_is_told_before_its_time_is_up():
    given = yaml.safe_load((ROOT / "profiles/slurm/profile.yaml").read_text())["set-resources"]
    folder = ROOT / "workflow/reprlab/stages"
    resuming = {path.stem for path in folder.glob("*.py") if re.search(r"^    save_every: int", path.read_text(), re.M)}
    assert {rule for rule, one in given.items() if "--signal=TERM" in one.get("slurm_extra", "")} == resuming
