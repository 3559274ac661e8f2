"""`--profile` gives exactly what it says: effective cores, gpu and executor of each."""

import re
import subprocess
import sys

import pytest

PRINT = """
onstart:
    pass
_given = workflow.resource_settings
print("EFFECTIVE", "cores", _given.cores, "nodes", _given.nodes, "gpu", workflow.global_resources.get("gpu"))
"""


def effective(checkout, *arguments, **variables):
    snakefile = checkout.root / "Snakefile"
    if "EFFECTIVE" not in snakefile.read_text():
        snakefile.write_text(snakefile.read_text() + PRINT)
    done = checkout.run("--dry-run", *arguments, "--config", "scale=nano", "--", "results/depth/audit.tsv", **variables)
    text = done.stdout + done.stderr
    found = re.search(r"EFFECTIVE cores (\S+) nodes (\S+) gpu (.+)", text)
    assert found, text
    return {"cores": found[1], "nodes": found[2], "gpu": re.sub(r"\D", "", found[3]) or None}


def executor_of(checkout, profile):
    """The executor that the command line resolves to, by the engine's own parser."""
    code = (
        "import sys; from snakemake.cli import parse_args; sys.argv=['snakemake'];"
        f"_, args = parse_args(['--profile', '{profile}']); print(args.executor, args.retries)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=checkout.root, env=checkout.environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-2:]


@pytest.mark.parametrize(
    ("profile", "executor", "cores", "gpu", "retries"),
    [
        ("ci", "None", "2", None, "0"),
        ("gpu", "None", "16", "1", "0"),
        ("slurm", "slurm", "4", "1000", "2"),
        ("generic-cluster", "cluster-generic", "4", "1000", "2"),
    ],
)
def test_a_profile_gives_what_it_says(checkout, profile, executor, cores, gpu, retries):
    path = f"profiles/{profile}"
    assert executor_of(checkout, path) == [executor, retries]
    found = effective(checkout, "--profile", path, "--executor", "dryrun", CUDA_VISIBLE_DEVICES="")
    assert found["cores"] == cores
    assert found["gpu"] == gpu


def test_the_default_profile_takes_nothing_from_the_command_line(checkout):
    found = effective(checkout, "--cores", "3", CUDA_VISIBLE_DEVICES="")
    assert found["cores"] == "3" and found["gpu"] is None


def test_gpus_of_the_machine_are_the_limit_unless_a_flag_says_otherwise(checkout):
    assert effective(checkout, "--cores", "1", CUDA_VISIBLE_DEVICES="0,1")["gpu"] == "2"
    found = effective(checkout, "--cores", "1", "--resources", "gpu=7", CUDA_VISIBLE_DEVICES="0,1")
    assert found["gpu"] == "7"
