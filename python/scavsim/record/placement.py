"""Where the workers of a job are: how many, on which VMs, on what device."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections import Counter
from typing import Any, List, Optional


def torch_if_loaded() -> Any:
    """PyTorch, if the training has loaded it; a recorder has no reason to."""
    return sys.modules.get("torch")


def torch_version() -> Optional[str]:
    """Version of PyTorch."""
    torch = torch_if_loaded()
    return str(torch.__version__) if torch else None


def distributed() -> Any:
    """torch.distributed where a process group is up; None without one, and without PyTorch."""
    torch = torch_if_loaded()
    group = torch and torch.distributed
    return group if group and group.is_available() and group.is_initialized() else None


def device_name() -> str:
    """The GPU in use as a name that a VM type can have, else the kind of processor: `NVIDIA-A100-SXM4-80GB`, `cpu-x86_64`."""
    torch = torch_if_loaded()
    if torch and torch.cuda.is_available():
        return re.sub(r"[^A-Za-z0-9.]+", "-", torch.cuda.get_device_name()).strip("-")
    return f"cpu-{platform.machine()}"


def peak_memory_bytes() -> Optional[int]:
    """Most memory in use at once so far: of tensors on the GPU where there is one, else of the process."""
    torch = torch_if_loaded()
    if torch and torch.cuda.is_available():
        return int(torch.cuda.max_memory_allocated())
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def shape(vm: str, workers: int, workers_per_vm: Optional[int]) -> str:
    """The VM type and the workers on each VM, as a profile names them: `g5.12xlarge/4`; `TYPE/1-2` where they are
    uneven. Without `workers_per_vm`, the launcher's LOCAL_WORLD_SIZE says it, of every worker."""
    if workers_per_vm is not None:
        counts = [workers_per_vm] * workers
    else:
        counts = _local_counts(workers)
    vms = sorted(size for size, having in Counter(counts).items() for _ in range(-(-having // size)))
    if sum(vms) != workers:
        raise ValueError(
            f"{workers} workers do not fill VMs of {', '.join(map(str, sorted(set(counts))))}: give workers_per_vm, "
            "or name the whole placement in vm"
        )
    if len(set(vms)) > 1:
        return f"{vm}/" + "-".join(map(str, vms))
    return vm if vms[0] == 1 else f"{vm}/{vms[0]}"


def _local_counts(workers: int) -> List[int]:
    """Workers on the VM of each worker."""
    own = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    group = distributed()
    if group is None or workers == 1:
        return [own]
    counts: List[Any] = [None] * workers
    group.all_gather_object(counts, own)
    return counts
