"""What is seen of the exchange of gradients in DistributedDataParallel: when it was waited for, and what went in and out.

A communication hook runs once per bucket of gradients, when they are all there, and starts their all-reduce. Between
the start of the last bucket and the end of the last all-reduce there is nothing left to compute: that is the
communication that shows.
"""

from __future__ import annotations

import time
from typing import Any, Callable, List, Optional, Tuple

Hook = Callable[[Any, Any], Any]


class Exchange:
    """Watches the all-reduce of one model.

    Args:
        model: a DistributedDataParallel without a communication hook.
        hook, state: the hook to run in place of the plain mean, as of `register_comm_hook`.
    """

    def __init__(self, model: Any, hook: Optional[Hook] = None, state: Any = None) -> None:
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

        self._hook = hook or default_hooks.allreduce_hook
        self._state = state
        self.timing = False
        self.looking = False
        self.device = next(model.parameters()).device
        self._moments = _Moments(self.device)
        self._exchanges = 0
        self._local: List[Any] = []
        self._global: List[Any] = []
        model.register_comm_hook(None, self._exchange)

    def end_step(self) -> Tuple[Any, Any]:
        """The moments of the step that ended, None without an exchange, and its two squared norms, None without a look
        or after several exchanges, of which only the first is of one batch."""
        moments, squares = self._moments.taken(), None
        if self._local and self._exchanges == 1:
            squares = (sum(self._local[1:], self._local[0]), sum(self._global[1:], self._global[0]))
        self._exchanges, self._local, self._global = 0, [], []
        return moments, squares

    def exposed_s(self, moments: Any) -> float:
        """Seconds that a step waited for its gradients. On a GPU, only once it has been waited for."""
        return self._moments.seconds(moments)

    # PyTorch refuses a hook with annotations other than its own types.
    def _exchange(self, _, bucket):
        if not (self.timing or self.looking):
            return self._hook(self._state, bucket)
        first = bucket.index() == 0
        self._exchanges += first
        if self.looking:
            self._local.append(_square(bucket.buffer()))
        if self.timing:
            self._moments.begin(first)
        return self._hook(self._state, bucket).then(self._exchanged)

    def _exchanged(self, future: Any) -> Any:
        mean = future.value()
        mean = mean[0] if isinstance(mean, (list, tuple)) else mean
        if self.timing:
            self._moments.end()
        if self.looking:
            self._global.append(_square(mean))
        return mean


def _square(gradient: Any) -> Any:
    """‖gradient‖² on its device, without waiting for it."""
    return gradient.detach().float().norm().double().square()


class _Moments:
    """When the last bucket of each exchange began and when all were done: by the clock, or by events of a GPU."""

    def __init__(self, device: Any) -> None:
        self._gpu = device.type == "cuda"
        self._exchanges: List[Tuple[Any, List[Any]]] = []

    def begin(self, first: bool) -> None:
        # Buckets may be done in another order than they began.
        done = [] if first or not self._exchanges else self._exchanges.pop()[1]
        self._exchanges.append((self._now(), done))

    def end(self) -> None:
        if self._exchanges:
            self._exchanges[-1][1].append(self._now())

    def taken(self) -> Any:
        exchanges, self._exchanges = [e for e in self._exchanges if e[1]], []
        return exchanges or None

    def seconds(self, exchanges: Any) -> float:
        if self._gpu:
            return sum(max(0.0, max(begun.elapsed_time(event) for event in done) / 1e3) for begun, done in exchanges)
        return sum(max(0.0, max(done) - begun) for begun, done in exchanges)

    def _now(self) -> Any:
        if not self._gpu:
            return time.perf_counter()
        import torch

        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event
