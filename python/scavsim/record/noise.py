"""Gradient noise from two batch sizes: one worker's, and that of all together.

A worker's gradient averages B/K samples, the mean over K workers averages B, so that with the true gradient G and
the covariance Σ of one sample's gradient

    E‖local‖²  = ‖G‖² + tr Σ / (B/K)
    E‖global‖² = ‖G‖² + tr Σ / B

Two equations, two unknowns (McCandlish et al. 2018, appendix A.1). The noise scale is φ = tr Σ / ‖G‖², in samples; the
normalised noise is γ/K = E‖local‖² / (K·E‖global‖²), between 1/K and 1.
"""

from __future__ import annotations

import math
from typing import Iterable, Optional, Tuple


class NoiseEstimate:
    """Sums of squared gradient norms over steps. Numerator and denominator are averaged apart: each has no bias, while
    the mean of their quotients would.

    Args:
        memory: weight that all earlier windows keep when one is added, from 0 (forget) to 1 (average over all).
    """

    def __init__(self, memory: float = 0.9) -> None:
        if not 0.0 <= memory <= 1.0:
            raise ValueError(f"memory is {memory}; expected a number from 0 to 1")
        self.memory = memory
        self._local = 0.0
        self._global = 0.0

    def add(self, pairs: Iterable[Tuple[float, float]]) -> int:
        """Adds a window of steps, each with (mean over workers of ‖local‖², ‖global‖²).

        Returns:
            How many steps were left out: not finite, as after an overflow that a gradient scaler skips.
        """
        pairs = list(pairs)
        sound = [p for p in pairs if all(math.isfinite(square) for square in p)]
        if sound:
            self._local = self._local * self.memory + sum(local for local, _ in sound)
            self._global = self._global * self.memory + sum(whole for _, whole in sound)
        return len(pairs) - len(sound)

    def normalised(self, workers: int) -> Optional[float]:
        """γ/K of `workers` workers; None with one worker, without steps, or where chance left it outside of 1/K to 1."""
        if workers < 2 or self._global <= 0.0:
            return None
        noise = self._local / (workers * self._global)
        return noise if 1.0 / workers < noise < 1.0 else None

    def scale(self, workers: int, batch: int) -> Optional[float]:
        """φ in samples at the global batch `batch`; None where `normalised` is."""
        noise = self.normalised(workers)
        if noise is None:
            return None
        local, whole = self._local, self._global
        small, big = batch / workers, float(batch)
        gradient = (big * whole - small * local) / (big - small)
        trace = (local - whole) / (1.0 / small - 1.0 / big)
        return trace / gradient
