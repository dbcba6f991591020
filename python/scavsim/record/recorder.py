"""What a training calls: a clock over its steps, and a row per stretch of them."""

from __future__ import annotations

import math
import os
import time
import warnings
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple, TypeVar, Union

from . import placement
from .noise import NoiseEstimate
from .profile import Cell, Profile

Batch = TypeVar("Batch")


class Recorder:
    """Appends a row to a profile at the end of every stretch of steps. Every worker makes one, alike, once the process
    group is up; worker 0 writes.

    A stretch is `every` steps that are timed, then `look` steps whose gradients are looked at and which are not timed.

    Args:
        path: the CSV, shared by all runs of the job; `NAME.jsonl` beside it gets what the CSV has no column for.
        local_batch: samples of one worker in one backward pass.
        vm: VM type, as a scenario shall call it; the name of the GPU if absent.
        accumulate: backward passes of one optimiser step.
        workers_per_vm: workers on each VM; what the launcher says in LOCAL_WORLD_SIZE if absent, else 1.
        samples_per_epoch: size of the data set, from which `reached` tells the epochs.
        skip: steps before the first stretch.
        every: timed steps of a stretch.
        look: steps of a stretch that are looked at; 0 for no noise.
        memory: weight that earlier stretches keep in the noise, from 0 to 1.

    Raises:
        ValueError: an argument that is not possible, or a file with another header.
        RuntimeError: a launcher with several workers, and no process group.
    """

    def __init__(
        self,
        path: Union[str, "os.PathLike[str]"],
        *,
        local_batch: int,
        vm: Optional[str] = None,
        accumulate: int = 1,
        workers_per_vm: Optional[int] = None,
        samples_per_epoch: Optional[int] = None,
        skip: int = 20,
        every: int = 100,
        look: int = 10,
        memory: float = 0.9,
    ) -> None:
        least: List[Tuple[str, Any, int]] = [("local_batch", local_batch, 1), ("accumulate", accumulate, 1), ("skip", skip, 1)]
        least += [("every", every, 1), ("look", look, 0), ("workers_per_vm", workers_per_vm, 1)]
        least += [("samples_per_epoch", samples_per_epoch, 1)]
        wrong = [f"{name} is {n!r}, expected a whole number of at least {low}" for name, n, low in least if not _is(n, low)]
        if wrong:
            raise ValueError("; ".join(wrong))
        group = placement.distributed()
        if group is None and int(os.environ.get("WORLD_SIZE", "1")) > 1:
            raise RuntimeError("WORLD_SIZE is above 1: make the recorder after torch.distributed.init_process_group")
        self.workers = group.get_world_size() if group else 1
        self.batch = local_batch * accumulate * self.workers
        self.shape = placement.shape(vm or placement.device_name(), self.workers, workers_per_vm)
        self.noise = NoiseEstimate(memory)
        self._group = group
        self._writes = group is None or group.get_rank() == 0
        self._profile = Profile(path) if self._writes else None
        self._accumulate, self._samples = accumulate, samples_per_epoch
        self._skip, self._every, self._look = skip, every, look
        self._exchange: Any = None
        self._number = 0
        self._clock: Optional[float] = None
        self._in_hand = self._counts = False
        self._totals = {"seconds": 0.0, "steps": 0, "exposed_s": 0.0, "exposed": 0}
        self._warned: set = set()
        self._open_stretch()

    def watch(self, model: Any) -> Any:
        """Watches the exchange of gradients of a DistributedDataParallel, for `communication_s` and `noise`.

        Args:
            model: the model. Anything else than a DistributedDataParallel is let through and not watched.

        Returns:
            The model.
        """
        if self.workers > 1 and hasattr(model, "require_backward_grad_sync"):
            from .exchange import Exchange

            self._exchange = Exchange(model)
            if self._look and not self._exchange.can_look:
                self._look = 0
                self._warn("no noise: with gradient_as_bucket_view a worker's own gradients are never seen whole")
        return model

    def steps(self, loader: Iterable[Batch]) -> Iterator[Batch]:
        """The batches of one pass over the data. The first step of a pass, which waits for the loader, is not timed."""
        self.pause()
        for number, batch in enumerate(loader, start=1):
            self._in_hand = number % self._accumulate == 0
            yield batch
            self._in_hand = False
            if number % self._accumulate == 0:
                self.step()
        self.pause()

    def pause(self) -> None:
        """Stops the clock until the next step is over: after the optimiser's step, and before what is no step, as an
        evaluation or a checkpoint."""
        if self._clock is not None:
            self._seconds += _now() - self._clock
            self._clock = None
            # In the body of a loop over `steps`, the step is over and not yet said to be.
            self._counts = self._in_hand

    def step(self) -> None:
        """Says that an optimiser step is over. `steps` does it by itself; all workers take the same number of steps."""
        self._number += 1
        if self._number < self._skip:
            return
        if self._number > self._skip:
            self._note()
            self._at += 1
            if self._at == self._every:
                self.pause()
            if self._at == self._every + self._looks:
                self._close_stretch()
                self._open_stretch()
        timed = self._at < self._every
        if self._exchange:
            self._exchange.timing, self._exchange.looking = timed, not timed
        if timed and self._clock is None:
            self._clock = _now()

    def reached(self, epochs: Optional[float] = None) -> None:
        """Says that the target was reached: writes the row that knows the epochs.

        Args:
            epochs: passes over the data until then; told from the steps and `samples_per_epoch` if absent.
        """
        if epochs is None:
            if self._samples is None:
                raise ValueError("give epochs, or samples_per_epoch when the recorder is made")
            epochs = self._number * self.batch / self._samples
        self.pause()
        seconds, steps = self._totals["seconds"] + self._seconds, int(self._totals["steps"]) + self._timed
        if steps == 0:
            self._warn("the target was reached before a step was timed: no row was written")
        else:
            self._write(seconds / steps, steps, self._mean_exposed_s(), epochs)

    @property
    def _looks(self) -> int:
        return self._look if self._exchange else 0

    def _open_stretch(self) -> None:
        # Steps of the stretch that are over; by it all workers know alike when to talk to each other.
        self._at = 0
        self._seconds, self._timed = 0.0, 0
        self._moments: List[Any] = [None] * self._every
        self._squares: List[Any] = [None] * self._look

    def _note(self) -> None:
        moments, squares = self._exchange.end_step() if self._exchange else (None, None)
        if self._at >= self._every:
            self._squares[self._at - self._every] = squares
        elif self._clock is not None or self._counts:
            self._timed += 1
            self._moments[self._at] = moments
        self._counts = False

    def _close_stretch(self) -> None:
        exposed = self._agree() if self._exchange else []
        if self._timed < max(1, self._every // 2):
            self._warn(f"only {self._timed} of {self._every} steps were timed, for pauses: such stretches make no row")
            return
        self._totals["seconds"] += self._seconds
        self._totals["steps"] += self._timed
        self._totals["exposed_s"] += sum(exposed)
        self._totals["exposed"] += len(exposed)
        mean = sum(exposed) / len(exposed) if exposed else None
        self._write(self._seconds / self._timed, self._timed, mean, None)

    def _agree(self) -> List[float]:
        """What all workers saw together: takes the noise in, and returns the seconds that each step waited for
        communication. That is what the last worker to arrive waited; the others waited for it, too."""
        import torch

        device = self._exchange.device
        own = [self._exchange.exposed_s(m) if m else math.inf for m in self._moments]
        waited = torch.tensor(own, dtype=torch.float64, device=device)
        self._group.all_reduce(waited, op=self._group.ReduceOp.MIN)
        if self._look:
            unseen = torch.full((2,), math.nan, dtype=torch.float64, device=device)
            pairs = torch.stack([torch.stack(s) if s else unseen for s in self._squares])
            self._group.all_reduce(pairs)
            left_out = self.noise.add(map(tuple, (pairs / self.workers).tolist()))
            if left_out:
                self._warn("steps without a finite gradient, or without an exchange, are left out of the noise")
        return [s for s in waited.tolist() if math.isfinite(s)]

    def _mean_exposed_s(self) -> Optional[float]:
        known = self._totals["exposed"]
        return self._totals["exposed_s"] / known if known else None

    def _write(self, step_s: float, steps: int, exposed_s: Optional[float], epochs: Optional[float]) -> None:
        if not self._profile:
            return
        noise = self.noise.normalised(self.workers)
        if noise is None and self._looks:
            self._warn("the noise cannot be told from so few steps: the cell is empty; a larger `look` tells more")
        row: Dict[str, Cell] = {"vm": self.shape, "workers": self.workers, "batch": self.batch, "step_s": step_s}
        row.update(communication_s=exposed_s, noise=noise, epochs=epochs)
        beside = {
            "noise_scale": self.noise.scale(self.workers, self.batch),
            "step": self._number,
            "timed_steps": steps,
            "device": placement.device_name(),
            "peak_memory_bytes": placement.peak_memory_bytes(),
            "torch": placement.torch_version(),
        }
        try:
            self._profile.append(row, beside)
        except OSError as error:
            # A training of days does not end because a measurement of it has no room.
            self._warn(f"a row was not written: {error}")

    def _warn(self, text: str) -> None:
        if self._writes and text not in self._warned:
            self._warned.add(text)
            warnings.warn(f"scavsim.record: {text}", RuntimeWarning, stacklevel=3)


def _is(value: Any, least: int) -> bool:
    optional = value is None
    return optional or (isinstance(value, int) and not isinstance(value, bool) and value >= least)


def _now() -> float:
    """The clock, once a GPU has done what it was given: a step that is only queued takes no time."""
    torch = placement.torch_if_loaded()
    if torch and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter()
