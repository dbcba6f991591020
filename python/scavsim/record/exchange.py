"""What is seen of the exchange of gradients in DistributedDataParallel: how long it was waited for, and what went in and came
out.

When a backward pass has computed all gradients, two callbacks of autograd run around the one in which
DistributedDataParallel waits for its all-reduces. The time between them is communication that shows. Before it, gradients are
those of this worker; behind it, the mean over all. That is two calls a step, whatever the model.
"""

from __future__ import annotations

import time
from typing import Any, List, Optional, Tuple


class Exchange:
    """Watches the all-reduces of one model.

    Args:
        model: a DistributedDataParallel.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._parameters = [p for p in model.parameters() if p.requires_grad]
        self.device = self._parameters[0].device
        # With views, all-reduces change a gradient before all are there.
        self.can_look = not model.gradient_as_bucket_view
        self.timing = False
        self.looking = False
        self._waits: List[Tuple[Any, Any]] = []
        self._squares: Optional[Tuple[Any, Any]] = None
        self._exchanges = 0
        self._parameters[0].register_hook(self._in_backward)

    def end_step(self) -> Tuple[Any, Any]:
        """The waits of the step that ended, None where there was none, and its two squared norms, None without a look and
        after several exchanges, of which only the first is of one batch."""
        waits, squares = self._waits or None, self._squares if self._exchanges == 1 else None
        self._waits, self._squares, self._exchanges = [], None, 0
        return waits, squares

    def exposed_s(self, waits: List[Tuple[Any, Any]]) -> float:
        """Seconds that a step waited for its gradients. On a GPU, only once it has been waited for."""
        if self.device.type == "cuda":
            return sum(before.elapsed_time(behind) for before, behind in waits) / 1e3
        return sum(behind - before for before, behind in waits)

    def _in_backward(self, _: Any) -> None:
        """One gradient is there; DistributedDataParallel does not wait before all are."""
        if (self.timing or self.looking) and self._model.require_backward_grad_sync:
            self._exchanges += 1
            _then(self._before)

    def _before(self) -> None:
        # What is asked for in a callback comes behind all that were asked for before, as the wait was.
        _then(self._behind)
        local = self._square() if self.looking else None
        self._waiting = local, self._now()

    def _behind(self) -> None:
        local, begun = self._waiting
        if self.timing:
            self._waits.append((begun, self._now()))
        if local is not None:
            self._squares = local, self._square()

    def _square(self) -> Any:
        """‖gradient‖² on its device, without waiting for it."""
        import torch

        norms = [p.grad.float().norm() for p in self._parameters if p.grad is not None]
        return torch.stack(norms).double().square().sum()

    def _now(self) -> Any:
        if self.device.type != "cuda":
            return time.perf_counter()
        import torch

        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event


def _then(callback: Any) -> None:
    """Has autograd call it at the end of the backward pass under way."""
    from torch.autograd import Variable

    Variable._execution_engine.queue_callback(callback)
