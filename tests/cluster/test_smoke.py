"""`profiles/slurm` in one run: an array of jobs, a training that is killed, and its next attempt, which goes on.

`make test-cluster` has the rest.
"""

import pytest

from tests.checkouts import private_copy
from tests.cluster.conftest import BASELINES
from tests.cluster.slurm_runs import CANCELLED, LADDER, TRAINING, Run, contents

pytestmark = pytest.mark.cluster


def test_an_array_a_kill_and_a_resume(slurm, checkout, tmp_path):
    config = ("--config", "scale=nano", f"set={CANCELLED}", "--", f"{LADDER}/metrics.tsv", *BASELINES)
    # All that they need made beforehand, the baselines are ready at the same moment, however long a download takes.
    checkout.run("--cores", "2", "--omit-from", "pretrain_lm", "evaluate_baselines", *config)
    undisturbed = Run(private_copy(checkout, tmp_path / "undisturbed"), None, *config)
    run = Run(checkout, slurm, *config)
    run.wait_for(lambda: list(checkout.nano.glob("results/work/pretrain_lm/*/resume-*")))
    (training,) = [job for job in slurm.jobs() if job.comment.strip() == TRAINING]
    slurm.cancel(training.id)
    run.finish()
    output = run.out.read_text()
    assert "Submitted array job" in output and "tried again: " in output
    assert "resumed at step" in (checkout.nano / "results/logs/pretrain_lm/depth_t5_fs_s2137.log").read_text()
    undisturbed.finish()
    for folder in (LADDER, "results/shared/tasks"):
        assert contents(checkout.nano / folder) == contents(undisturbed.checkout.nano / folder) != {}
