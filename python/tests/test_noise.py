"""The noise estimate against gradients whose noise scale is known."""

import math
import random
import unittest

from scavsim.record import NoiseEstimate


def pairs(steps, workers, batch, dimension, noise_scale, seed):
    """Steps of samples with gradient G + ε, ‖G‖² = 1 and tr Σ = `noise_scale`: what each shows of its two norms."""
    draw = random.Random(seed)
    sigma = math.sqrt(noise_scale / dimension * workers / batch)
    for _ in range(steps):
        mean = [0.0] * dimension
        local = 0.0
        for _ in range(workers):
            gradient = [draw.gauss(0.0, sigma) for _ in range(dimension)]
            gradient[0] += 1.0
            local += sum(g * g for g in gradient) / workers
            mean = [m + g / workers for m, g in zip(mean, gradient)]
        yield local, sum(m * m for m in mean)


def expected(workers, batch, noise_scale):
    """γ/K = (B + Kφ) / (K(B + φ)), as docs/model.md has it."""
    return (batch + workers * noise_scale) / (workers * (batch + noise_scale))


class Noise(unittest.TestCase):
    def test_meets_known_noise_scales(self):
        for seed, (workers, batch, scale) in enumerate([(2, 32, 20.0), (4, 64, 100.0), (8, 64, 10.0)]):
            with self.subTest(workers=workers, batch=batch, scale=scale):
                estimate = NoiseEstimate()
                self.assertEqual(estimate.add(pairs(400, workers, batch, 200, scale, seed)), 0)
                self.assertAlmostEqual(estimate.scale(workers, batch) / scale, 1.0, delta=0.1)
                self.assertAlmostEqual(estimate.normalised(workers), expected(workers, batch, scale), delta=0.01)

    def test_scale_and_normalised_noise_say_the_same(self):
        estimate = NoiseEstimate()
        estimate.add(pairs(20, 4, 64, 50, 30.0, 1))
        noise = estimate.normalised(4)
        self.assertAlmostEqual(estimate.scale(4, 64), 64 * (4 * noise - 1) / (4 * (1 - noise)), places=6)

    def test_quotients_of_single_steps_would_be_wrong(self):
        # A mean of the steps' own quotients errs by several times the tolerance of the test above.
        seen = list(pairs(2000, 2, 16, 4, 64.0, 3))
        naive = sum(local / (2 * whole) for local, whole in seen) / len(seen)
        estimate = NoiseEstimate()
        estimate.add(seen)
        self.assertAlmostEqual(estimate.normalised(2), expected(2, 16, 64.0), delta=0.02)
        self.assertGreater(abs(naive - expected(2, 16, 64.0)), 0.05)

    def test_earlier_windows_fade(self):
        estimate = NoiseEstimate(memory=0.5)
        for _ in range(20):
            estimate.add([(2.0, 1.9)])
        for _ in range(20):
            estimate.add([(2.0, 1.1)])
        self.assertAlmostEqual(estimate.normalised(2), 2.0 / 2.2, places=4)

    def test_what_is_no_noise(self):
        estimate = NoiseEstimate()
        self.assertIsNone(estimate.normalised(4))
        self.assertEqual(estimate.add([(math.inf, 1.0), (2.0, math.nan), (2.0, 1.5)]), 2)
        self.assertIsNone(estimate.normalised(1))
        self.assertAlmostEqual(estimate.normalised(2), 2.0 / 3.0)
        # Chance: the mean of four is smaller than even noise alone leaves it.
        opposed = NoiseEstimate()
        opposed.add([(1.0, 0.2)])
        self.assertIsNone(opposed.normalised(4))
        self.assertIsNone(opposed.scale(4, 64))
        with self.assertRaises(ValueError):
            NoiseEstimate(memory=1.5)


if __name__ == "__main__":
    unittest.main()
