"""Commands that start a training stage: as a module, or by torchrun on one machine or several."""

_PORT = 29_400


def launch_command(processes: int, nodes: int) -> str:
    """The words before a stage's module on the command line.

    Args:
        processes: processes on each machine, one for each GPU.
        nodes: machines; more than one are those of a Slurm job, and srun starts torchrun on each of them.
    """
    if nodes == 1:
        return "python -m" if processes == 1 else f"torchrun --standalone --nproc-per-node {processes} --module"
    # Of Slurm's variables the executor leaves the job's number alone, so the first machine's name is asked for.
    names = 'scontrol show hostnames "$(squeue --noheader --job $SLURM_JOB_ID --format %N)"'
    return (
        f"srun --nodes {nodes} --ntasks {nodes} torchrun --nnodes {nodes} --nproc-per-node {processes}"
        f" --rdzv-backend c10d --rdzv-id $SLURM_JOB_ID --rdzv-endpoint $({names} | head -n 1):{_PORT} --module"
    )
