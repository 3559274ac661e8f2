"""The command of one task of a Slurm job array.

Snakemake's executor gives each task the command of the array's first job and the packed commands of the others. Left to
itself (snakemake-executor-plugin-slurm-jobstep 0.6.1), a task runs its command inside an engine that takes care of the
first job: when the task fails, that engine deletes the first job's results, and when the task ends a minute before the
first, it reports the task as failed. So a task becomes its own command before any engine is at work.
"""

import base64
import json
import sys
import zlib
from collections.abc import Mapping, Sequence

_OPTION = "--slurm-jobstep-array-execs"


def command_of_task(arguments: Sequence[str], environment: Mapping[str, str]) -> list[str] | None:
    """The command that this process should become.

    Args:
        arguments: the process's `sys.argv`, that of a Snakemake started by the executor.
        environment: its environment, with the variables that Slurm sets in each task.

    Returns:
        The command; None where the process is not a task of an array, or is a task's own command already.
    """
    options = list(arguments[1:])
    place = next((place for place, option in enumerate(options) if option.startswith(_OPTION)), None)
    if place is None or "SLURM_ARRAY_TASK_ID" not in environment:
        return None
    _, equals, packed = options[place].partition("=")
    rest = options[place + 1 :]
    if not equals:
        packed, rest = rest[0], rest[1:]
    commands = json.loads(base64.b64decode(packed))
    compressed = commands.get(environment["SLURM_ARRAY_TASK_ID"])
    if compressed is None:
        return [sys.executable, "-m", "snakemake", *options[:place], *rest]
    return ["/bin/sh", "-c", "exec " + zlib.decompress(bytes.fromhex(compressed)).decode()]
