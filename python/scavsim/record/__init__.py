"""Records real PyTorch training as a profile that `scavsim import profile` reads.

    from scavsim.record import Recorder

    recorder = Recorder("profile.csv", vm="g5.12xlarge", local_batch=64)
    model = recorder.watch(DistributedDataParallel(model))
    for epoch in range(epochs):
        for x, y in recorder.steps(loader):
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()

Files in reading order: `recorder` (what a training calls), `lightning` (the same as a callback), `exchange` (the all-reduce of DDP),
`noise` (its noise scale), `placement` (VMs and workers), `profile` (the file).

It needs neither the native part of the package nor PyTorch to be imported.
"""

from .noise import NoiseEstimate
from .profile import Profile
from .recorder import Recorder

__all__ = ["NoiseEstimate", "Profile", "Recorder"]
