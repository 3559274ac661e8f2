"""One process or many: the same loop on a laptop, one GPU or several by `torchrun`/`accelerate launch`."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class ProcessGroup:
    """This process's place among `world` equal ones."""

    rank: int
    world: int
    device: torch.device

    @property
    def is_main(self) -> bool:
        """Whether this process writes files."""
        return self.rank == 0

    def wrap(self, module: torch.nn.Module) -> torch.nn.Module:
        """`module`, averaging its gradients over the processes where there are several."""
        if self.world == 1:
            return module
        from torch.nn.parallel import DistributedDataParallel

        return DistributedDataParallel(module, device_ids=[self.device] if self.device.type == "cuda" else None)

    def without_sync(self, module: torch.nn.Module, skip: bool) -> contextlib.AbstractContextManager[None]:
        """Context in which a backward pass keeps its gradients to this process if `skip`."""
        return module.no_sync() if skip and self.world > 1 else contextlib.nullcontext()  # type: ignore[operator]

    def sum(self, values: torch.Tensor) -> torch.Tensor:
        """Sum `values` over the processes, in place."""
        if self.world > 1:
            import torch.distributed

            torch.distributed.all_reduce(values)
        return values

    def wait(self) -> None:
        """Wait until every process is here."""
        if self.world > 1:
            import torch.distributed

            torch.distributed.barrier()


def join_processes(device: str) -> ProcessGroup:
    """The group that the launcher's environment describes; alone, a group of one.

    Args:
        device: as in `choose_device`; with several processes, each takes its own GPU.
    """
    place = choose_device(device)
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return ProcessGroup(0, 1, place)
    from accelerate import PartialState

    state = PartialState(cpu=place.type == "cpu")
    return ProcessGroup(state.process_index, state.num_processes, state.device)


def choose_device(device: str) -> torch.device:
    """`cpu`, `cuda`, or `auto` for a GPU where there is one.

    Raises:
        ReprlabError: another word, or a GPU where there is none.
    """
    import torch

    present = torch.cuda.is_available()
    if device == "auto":
        device = "cuda" if present else "cpu"
    if device not in ("cpu", "cuda"):
        raise ReprlabError(f"runtime.device: {device!r} is not one of auto, cpu, cuda")
    if device == "cuda" and not present:
        raise ReprlabError("runtime.device: cuda, but torch finds no GPU; use auto or cpu")
    return torch.device(device)
