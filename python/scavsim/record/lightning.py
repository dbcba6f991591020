"""The recorder as a callback of Lightning, which is imported when one is made: `lightning` or `pytorch_lightning`.

    from scavsim.record.lightning import recorder_callback

    trainer = Trainer(callbacks=[recorder_callback("profile.csv", vm="g5.12xlarge", monitor="val_acc", target=0.9)])
"""

from __future__ import annotations

import importlib
import math
import os
import sys
from typing import Any, Dict, List, Optional, Tuple, Union

from .recorder import Recorder

_PACKAGES = ("lightning.pytorch", "pytorch_lightning")


def recorder_callback(
    path: Union[str, "os.PathLike[str]"],
    *,
    monitor: Optional[str] = None,
    target: Optional[float] = None,
    mode: str = "max",
    **settings: Any,
) -> Any:
    """A callback that records a training by a `Trainer`. Validation, checkpoints and the first step of each epoch are not timed.

    Args:
        path: the CSV, as of `Recorder`.
        monitor: the metric that is logged and tells whether the target was reached; no row knows the epochs if absent.
        target: its value at the target.
        mode: `max` where more is better, `min` where less is.
        settings: those of `Recorder`. If absent, `local_batch` is that of the data loader, `samples_per_epoch` the length of its data
            set, `workers_per_vm` the devices of a node, `accumulate` what the trainer accumulates.

    Raises:
        ImportError: neither package is installed.
        ValueError: a metric without a target, or another mode.
    """
    wrong = []
    if (monitor is None) != (target is None):
        wrong.append("monitor and target go together")
    if mode not in ("max", "min"):
        wrong.append(f"mode is {mode!r}, expected 'max' or 'min'")
    if wrong:
        raise ValueError("; ".join(wrong))
    made = type("RecorderCallback", (_Hooks, *_bases()), {})()
    made.asked = os.fspath(path), {"monitor": monitor, "target": target, "mode": mode}, settings
    return made


def _bases() -> List[type]:
    """The class of callbacks: of each of the two packages that is loaded, so that either's trainer knows it as one of its own."""
    loaded = [name for name in _PACKAGES if sys.modules.get(name)]
    for name in loaded or _PACKAGES:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        if not loaded:
            loaded = [name]
            break
    if not loaded:
        raise ImportError("Lightning is not installed: pip install lightning")
    return [sys.modules[name].Callback for name in loaded]


def _again(path: str, target: Dict[str, Any], settings: Dict[str, Any]) -> Any:
    return recorder_callback(path, **target, **settings)


class _Hooks:
    """What a trainer calls."""

    asked: Tuple[str, Dict[str, Any], Dict[str, Any]]
    recorder: Optional[Recorder] = None
    _steps = 0
    _batches = 0
    _is_reached = False

    def __reduce__(self) -> Any:
        # A launcher that spawns sends it to its workers, before there is a recorder.
        return _again, self.asked

    def on_train_start(self, trainer: Any, _: Any) -> None:
        path, _target, given = self.asked
        loader = trainer.train_dataloader
        told = {
            "local_batch": getattr(loader, "batch_size", None),
            "samples_per_epoch": _length(getattr(loader, "dataset", None)),
            "workers_per_vm": trainer.num_devices,
            "accumulate": trainer.accumulate_grad_batches,
        }
        settings = {**told, **given}
        if settings["local_batch"] is None:
            raise ValueError("the data loader does not say its batch_size: give local_batch")
        self.recorder = Recorder(path, **settings)
        self.recorder.watch(trainer.strategy.model)
        self._accumulate = settings["accumulate"]
        self._steps, self._batches = trainer.global_step, 0

    def on_train_epoch_start(self, *_: Any) -> None:
        self._pause()
        self._batches = 0

    def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
        self._batches += 1
        if self.recorder and trainer.global_step != self._steps:
            # The last step of an epoch may be of fewer batches.
            if self._batches == self._accumulate:
                self.recorder.step()
            else:
                self.recorder.pause()
            self._steps, self._batches = trainer.global_step, 0

    def on_validation_start(self, *_: Any) -> None:
        self._pause()

    def on_save_checkpoint(self, *_: Any) -> None:
        self._pause()

    def on_validation_end(self, trainer: Any, _: Any) -> None:
        self._look(trainer)

    def on_train_epoch_end(self, trainer: Any, _: Any) -> None:
        self._pause()
        self._look(trainer)

    def on_train_end(self, *_: Any) -> None:
        self._pause()

    def _pause(self) -> None:
        if self.recorder:
            self.recorder.pause()

    def _look(self, trainer: Any) -> None:
        """Whether the target is reached now, by the metric as it was logged last."""
        wanted = self.asked[1]
        value = trainer.callback_metrics.get(wanted["monitor"]) if wanted["monitor"] else None
        if self.recorder is None or self._is_reached or value is None:
            return
        value, sign = float(value), 1.0 if wanted["mode"] == "max" else -1.0
        if math.isfinite(value) and sign * value >= sign * wanted["target"]:
            self._is_reached = True
            self.recorder.reached()


def _length(data: Any) -> Optional[int]:
    try:
        return len(data)
    except TypeError:
        return None
