"""One worker of a "training" that stands still where its noise scale is known by theory:
`python known_noise.py FILE PROFILE [accumulated|views]`.

The loss of a sample x ~ N(0, σ²) is ‖w − x‖²/2. Its gradient is w − x, so that G = w and tr Σ = d·σ².
"""

import contextlib
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from scavsim.record import Recorder

DIMENSION, LOCAL_BATCH, SCALE = 4000, 16, 100.0


class Distance(torch.nn.Module):
    def __init__(self):
        super().__init__()
        # ‖G‖² = 1.
        halves = torch.full((2, DIMENSION // 2), DIMENSION**-0.5)
        self.first, self.second = (torch.nn.Parameter(half.clone()) for half in halves)

    def forward(self, x):
        return ((torch.cat([self.first, self.second]) - x) ** 2).sum(1).mean() / 2


def main(meeting, profile, way="plain"):
    torch.set_num_threads(1)
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=world)
    torch.manual_seed(rank)
    model = DistributedDataParallel(Distance(), bucket_cap_mb=0.01, gradient_as_bucket_view=way == "views")
    passes = 2 if way == "accumulated" else 1
    settings = dict(vm="box", workers_per_vm=1, skip=1, every=1, look=100)
    recorder = Recorder(profile, local_batch=LOCAL_BATCH // passes, accumulate=passes, **settings)
    recorder.watch(model)
    sigma = (SCALE / DIMENSION) ** 0.5
    for _ in range(102):
        model.zero_grad()
        for number in range(1, passes + 1):
            with contextlib.nullcontext() if number == passes else model.no_sync():
                model(sigma * torch.randn(LOCAL_BATCH // passes, DIMENSION)).backward()
        recorder.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
