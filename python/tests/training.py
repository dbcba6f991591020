"""One worker of a small real training, as a launcher starts it: RANK, WORLD_SIZE, and a file by which workers meet.

    python training.py FILE PROFILE BATCH...
"""

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from scavsim.record import Recorder

SAMPLES, INPUTS, CLASSES, WIDTH = 2048, 256, 10, 768
TARGET_LOSS = 0.9


def main(meeting, profile, batches):
    torch.set_num_threads(1)
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=world)
    torch.manual_seed(1)
    x = torch.randn(SAMPLES, INPUTS)
    y = (x @ torch.randn(INPUTS, CLASSES)).argmax(1)
    for batch in batches:
        train(profile, x, y, batch, rank, world)
    dist.destroy_process_group()


def train(profile, x, y, batch, rank, world):
    """Trains to the target at the global batch `batch`, and at least three stretches."""
    torch.manual_seed(2)
    layers = [torch.nn.Linear(INPUTS, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()]
    model = DistributedDataParallel(torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, CLASSES)))
    settings = dict(vm="box", workers_per_vm=1, samples_per_epoch=SAMPLES, skip=10, every=25, look=5)
    recorder = Recorder(profile, local_batch=batch // world, **settings)
    recorder.watch(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    order = torch.Generator().manual_seed(3)
    steps, reached = 0, False
    while steps < 100 or not reached:
        indices = torch.randperm(SAMPLES, generator=order).split(batch)
        for chosen in recorder.steps([i[rank::world] for i in indices]):
            optimizer.zero_grad()
            cross_entropy(model(x[chosen]), y[chosen]).backward()
            optimizer.step()
            steps += 1
        with torch.no_grad():
            if not reached and cross_entropy(model.module(x), y) < TARGET_LOSS:
                reached = True
                recorder.reached()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], [int(batch) for batch in sys.argv[3:]])
