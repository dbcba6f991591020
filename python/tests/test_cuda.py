"""The path of GPUs, with a stand-in for torch.cuda: events are read once the device was waited for, and it is waited for at the ends of
stretches only. What real GPUs say of it, nobody has seen. Skipped where PyTorch is not installed."""

import csv
import importlib.util
import os
import tempfile
import types
import unittest
from unittest import mock

from scavsim.record import Recorder


class Cuda:
    """A device on which every exchange of gradients takes 3 ms. As in CUDA, an event is not there before the device was waited for."""

    def __init__(self):
        self.now_ms, self.done_ms, self.waits, self.events = 0.0, -1.0, 0, 0
        cuda = self

        class Event:
            def __init__(self, enable_timing=False):
                assert enable_timing, "such an event knows no time"

            def record(self):
                cuda.now_ms += 3.0
                cuda.events += 1
                self.at_ms = cuda.now_ms

            def elapsed_time(self, end):
                if max(self.at_ms, end.at_ms) > cuda.done_ms:
                    raise RuntimeError("CUDA error: device not ready")
                return end.at_ms - self.at_ms

        self.Event = Event

    def synchronize(self):
        self.waits += 1
        self.done_ms = self.now_ms


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed: the path of GPUs was not walked")
class Gpu(unittest.TestCase):
    def test_events_are_read_behind_a_wait(self):
        import torch
        import torch.distributed

        cuda = Cuda()
        group = types.SimpleNamespace(get_world_size=lambda: 2, get_rank=lambda: 0, all_reduce=lambda *_, **__: None, ReduceOp=torch.distributed.ReduceOp)
        fakes = {"Event": cuda.Event, "synchronize": cuda.synchronize, "is_available": lambda: True, "is_initialized": lambda: True,
                 "get_device_name": lambda: "NVIDIA A100-SXM4-80GB", "max_memory_allocated": lambda: 7 << 30}
        for name, fake in fakes.items():
            patch = mock.patch.object(torch.cuda, name, fake)
            patch.start()
            self.addCleanup(patch.stop)
        for name in ("tensor", "full"):
            here = getattr(torch, name)
            patch = mock.patch.object(torch, name, lambda *own, device, here=here, **more: here(*own, **more))
            patch.start()
            self.addCleanup(patch.stop)
        patch = mock.patch("scavsim.record.placement.distributed", lambda: group)
        patch.start()
        self.addCleanup(patch.stop)

        # A model that looks like a DistributedDataParallel: what is watched are autograd's callbacks.
        model = torch.nn.Linear(4, 1)
        model.require_backward_grad_sync, model.gradient_as_bucket_view = True, False
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profile.csv")
            recorder = Recorder(path, local_batch=8, workers_per_vm=2, skip=2, every=10, look=3)
            recorder.watch(model)
            recorder._exchange.device = types.SimpleNamespace(type="cuda")
            steps = 2 + 2 * 13
            for _ in range(steps):
                model.zero_grad()
                model(torch.randn(8, 4)).sum().backward()
                recorder.step()
            with open(path, encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        self.assertEqual([(row["vm"], row["workers"], row["batch"]) for row in rows], [("NVIDIA-A100-SXM4-80GB/2", "2", "16")] * 2)
        self.assertEqual([float(row["communication_s"]) for row in rows], [0.003, 0.003])
        # At the beginning and the end of each stretch, and at the beginning of the third.
        self.assertEqual(cuda.waits, 5)
        self.assertGreaterEqual(cuda.events, 2 * 20)


if __name__ == "__main__":
    unittest.main()
