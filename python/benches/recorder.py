"""What the recorder takes of a step, measured: `python benches/recorder.py [WORKERS]`.

Two models of the same shape train by turns in the same processes, one with the recorder and one without; what a step of the
first takes longer is the recorder's. A step of little compute shows it best, as it does not depend on compute: the shares are
of a step of 50 ms. On a busy machine only the processor's time tells.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

STEPS, WIDTH, STEP_S = 600, 512, 0.050


def main(workers):
    with tempfile.TemporaryDirectory() as folder:
        started = []
        for rank in range(workers):
            environment = {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(workers)}
            started.append(subprocess.Popen([sys.executable, __file__, "worker", folder], env=environment))
        sys.exit(max(abs(process.wait()) for process in started))


def worker(folder):
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    from scavsim.record import Recorder

    torch.set_num_threads(1)
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=world)
    layers = [torch.nn.Linear(WIDTH, WIDTH) for _ in range(8)]
    models = [DistributedDataParallel(torch.nn.Sequential(*[torch.nn.Linear(WIDTH, WIDTH) for _ in layers])) for _ in range(2)]
    parameters = sum(p.numel() for p in models[0].parameters())
    recorder = Recorder(f"{folder}/profile.csv", local_batch=4, vm="box", workers_per_vm=1, skip=1, every=100, look=10)
    recorder.watch(models[1])
    x = torch.randn(4, WIDTH)
    took = ([], [])
    for _ in range(STEPS):
        for model, own in zip(models, took):
            begun = time.perf_counter(), time.process_time()
            model.zero_grad()
            model(x).square().mean().backward()
            if model is models[1]:
                recorder.step()
            own.append((time.perf_counter() - begun[0], time.process_time() - begun[1]))
    dist.destroy_process_group()
    if rank:
        return
    print(f"{world} workers, {parameters / 1e6:.1f} million parameters, medians over {STEPS} pairs of steps")
    print("                          of the clock          of the processor")
    of_all = [0.0, 0.0]
    for what, count, chosen in [("timed", 100, range(100)), ("looked at", 10, range(100, 110))]:
        cells = ""
        for kind in (0, 1):
            more = [w[kind] - o[kind] for at, (o, w) in enumerate(zip(*took)) if at and (at - 1) % 110 in chosen]
            middle = statistics.median(more)
            of_all[kind] += count * middle / 110
            cells += _cell(middle)
        print(f"a step that is {what:9}{cells}")
    print(f"100 timed and 10 not    {_cell(of_all[0])}{_cell(of_all[1])}")


def _cell(seconds):
    return f"  {1e6 * seconds:5.0f} µs  {100 * seconds / STEP_S:5.2f} %"


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        worker(sys.argv[2])
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 2)
