"""Tasks of job arrays."""

import base64
import json
import sys
import zlib

import pytest
from reprlab.cluster.array_tasks import command_of_task

OWN = "python -m snakemake --target-jobs 'finetune_model:model=b' --executor slurm-jobstep"
PACKED = base64.b64encode(json.dumps({"2": zlib.compress(OWN.encode(), 9).hex()}).encode()).decode()
FIRST = ["--target-jobs", "finetune_model:model=a", "--mode", "remote"]


@pytest.mark.parametrize("option", [[f"--slurm-jobstep-array-execs={PACKED}"], ["--slurm-jobstep-array-execs", PACKED]])
def test_a_task_becomes_its_own_command(option):
    arguments = ["snakemake/__main__.py", *FIRST, *option]
    assert command_of_task(arguments, {"SLURM_ARRAY_TASK_ID": "2"}) == ["/bin/sh", "-c", f"exec {OWN}"]
    assert command_of_task(arguments, {"SLURM_ARRAY_TASK_ID": "1"}) == [sys.executable, "-m", "snakemake", *FIRST]


def test_other_processes_stay_what_they_are():
    assert command_of_task(["snakemake/__main__.py", *FIRST], {"SLURM_ARRAY_TASK_ID": "2"}) is None
    assert command_of_task(["snakemake/__main__.py", "--cores", "2"], {}) is None
