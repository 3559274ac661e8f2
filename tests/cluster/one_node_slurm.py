"""A Slurm of one node on this machine: munge, slurmctld and slurmd, configured in a temporary folder.

The node offers more processors, memory and GPUs than there are, so that jobs that ask for a GPU are scheduled, too.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.debian import install

PACKAGES = ("slurm-wlm", "munge")
_DAEMONS = ("munged", "slurmctld", "slurmd")
_CONFIGURATION = """\
ClusterName=onenode
SlurmctldHost={host}
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SwitchType=switch/none
MailProg=/bin/true
MinJobAge=3600
GresTypes=gpu
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=64 RealMemory=1000000 Gres=gpu:8 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@dataclass(frozen=True)
class Job:
    """A line of squeue: the comment names the rule and its wildcards."""

    id: str
    state: str
    comment: str


@dataclass(frozen=True)
class OneNodeSlurm:
    """The running daemons, and what a user would ask them."""

    folder: Path

    @property
    def variables(self) -> dict[str, str]:
        """Environment in which Slurm's commands find this configuration."""
        return {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]]),
        }

    def jobs(self, states: str = "PENDING,CONFIGURING,RUNNING,COMPLETING") -> list[Job]:
        """The jobs in these states, each task of an array for itself."""
        listed = self._ask("squeue", "--noheader", "--array", f"--states={states}", "--format=%i|%T|%k")
        return [Job(*line.split("|", 2)) for line in listed.splitlines()]

    def cancel(self, *ids: str) -> None:
        """scancel, which sends SIGTERM and later SIGKILL."""
        self._ask("scancel", *ids)

    def _ask(self, *command: str) -> str:
        environment = {**os.environ, **self.variables}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60).stdout


def missing_packages() -> str:
    """Install Slurm and munge where they are missing; why that failed, or nothing."""
    return install(_DAEMONS, PACKAGES)


@contextlib.contextmanager
def one_node_slurm() -> Iterator[OneNodeSlurm]:
    """Start the three daemons; stop them, and every job left, at the end."""
    # A short path: that of a socket is limited to 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    slurm = OneNodeSlurm(folder)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        _write_configuration(folder)
        environment = {**os.environ, **slurm.variables}
        for command in (_munged(folder), ["slurmctld", "-D"], ["slurmd", "-D"]):
            with (folder / f"{command[0]}.out").open("w") as out:
                daemon = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
            stack.callback(_stop, daemon)
        _wait_until_idle(slurm)
        try:
            yield slurm
        finally:
            _cancel_all(slurm)


def _cancel_all(slurm: OneNodeSlurm) -> None:
    """Jobs outlive slurmd, so they go first."""
    deadline = time.monotonic() + 60
    while (jobs := slurm.jobs()) and time.monotonic() < deadline:
        with contextlib.suppress(subprocess.CalledProcessError):
            slurm.cancel(*(job.id for job in jobs))
        time.sleep(1)


def _write_configuration(folder: Path) -> None:
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir()
    host = socket.gethostname().split(".")[0]
    controller, daemon = _free_ports(2)
    text = _CONFIGURATION.format(host=host, folder=folder, controller=controller, daemon=daemon)
    (folder / "slurm.conf").write_text(text)
    (folder / "gres.conf").write_text("\n".join(f"Name=gpu File={folder}/gpu{number}" for number in range(8)) + "\n")
    for number in range(8):
        (folder / f"gpu{number}").touch()
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o600)
    # The executor drops SLURM_CONF with all other SLURM_ variables before it calls srun.
    srun = folder / "bin" / "srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun")} "$@"\n')
    srun.chmod(0o755)


def _munged(folder: Path) -> list[str]:
    files = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid", "seed-file": "munge.seed"}
    options = [f"--{option}={folder / name}" for option, name in files.items()]
    return ["munged", "--foreground", "--force", f"--log-file={folder}/munged.log", *options]


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _wait_until_idle(slurm: OneNodeSlurm) -> None:
    deadline = time.monotonic() + 60
    state = ""
    while time.monotonic() < deadline:
        with contextlib.suppress(subprocess.CalledProcessError, subprocess.TimeoutExpired):
            state = slurm._ask("sinfo", "--noheader", "--format=%T").strip()
            if state == "idle":
                return
        time.sleep(0.5)
    logs = "\n".join(path.read_text()[-2000:] for path in sorted(slurm.folder.glob("*.log")))
    raise AssertionError(f"the node is not idle but {state!r}\n{logs}")


def _stop(daemon: subprocess.Popen) -> None:
    daemon.terminate()
    try:
        daemon.wait(timeout=20)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
