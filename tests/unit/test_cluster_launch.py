"""How training stages are started."""

from reprlab.cluster.launch import launch_command


def test_one_process_is_a_module():
    assert launch_command(1, 1) == "python -m"


def test_one_machine_is_torchrun_alone():
    assert launch_command(4, 1) == "torchrun --standalone --nproc-per-node 4 --module"


def test_several_machines_meet_on_the_first_of_the_job():
    words = launch_command(8, 2).split()
    assert words[:6] == ["srun", "--nodes", "2", "--ntasks", "2", "torchrun"]
    assert words[-1] == "--module"
    assert words[6:10] == ["--nnodes", "2", "--nproc-per-node", "8"]
    assert "$SLURM_JOB_ID" in words
