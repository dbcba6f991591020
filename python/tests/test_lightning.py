"""The recorder as a callback of real Lightning, by either name of its package. Skipped where it is not installed."""

import csv
import importlib.util
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from scavsim.record.lightning import recorder_callback

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = [name for name in ("lightning.pytorch", "pytorch_lightning") if importlib.util.find_spec(name.split(".")[0])]


class Asked(unittest.TestCase):
    def test_without_lightning(self):
        missing = {name: None for name in ("lightning", "lightning.pytorch", "pytorch_lightning")}
        with mock.patch.dict(sys.modules, missing), self.assertRaisesRegex(ImportError, "Lightning is not installed"):
            recorder_callback("profile.csv")

    def test_mistakes(self):
        with self.assertRaisesRegex(ValueError, "go together; mode is 'best'"):
            recorder_callback("profile.csv", monitor="val_acc", mode="best")


@unittest.skipUnless(PACKAGES, "Lightning is not installed: no training of it was recorded")
class Lightning(unittest.TestCase):
    def train(self, package, devices, accumulate):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profile.csv")
            places = os.pathsep.join([os.path.dirname(HERE), os.environ.get("PYTHONPATH", "")])
            words = [package, path, str(devices), str(accumulate)]
            command = [sys.executable, "-W", "ignore", os.path.join(HERE, "lightning_training.py"), *words]
            done = subprocess.run(command, env={**os.environ, "PYTHONPATH": places}, cwd=folder, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(path, encoding="utf-8") as file:
                return list(csv.DictReader(file))

    def check(self, rows, workers, batch, steps):
        # The stretches that fit into three epochs; and one row at the target.
        reached = [row for row in rows if row["epochs"]]
        self.assertEqual(len(reached), 1, rows)
        self.assertLess(float(reached[0]["epochs"]), 3.0)
        self.assertEqual(len(rows) - 1, (steps - 5) // (20 + (5 if workers > 1 else 0)), rows)
        for row in rows:
            self.assertEqual((row["vm"], row["workers"], row["batch"]), ("box" if workers == 1 else f"box/{workers}", str(workers), str(batch)))
            # A validation takes half a second, each twentieth of which would show.
            self.assertTrue(0.004 <= float(row["step_s"]) < 0.025, row)
            # The target was reached before the first stretch was over.
            self.assertEqual(row["communication_s"] == "", workers == 1 or row in reached, row)

    def test_one_process_by_either_name(self):
        for package in PACKAGES:
            with self.subTest(package):
                self.check(self.train(package, 1, 1), 1, 16, 192)

    def test_two_processes(self):
        self.check(self.train(PACKAGES[0], 2, 1), 2, 32, 96)

    def test_accumulated_steps(self):
        rows = self.train(PACKAGES[0], 1, 3)
        # 21 whole steps an epoch; that of the last batch alone is left out.
        self.assertEqual({row["batch"] for row in rows}, {"48"})
        self.assertEqual(len([row for row in rows if not row["epochs"]]), (63 - 5) // 20)
        for row in rows:
            self.assertTrue(0.012 <= float(row["step_s"]) < 0.045, row)

    def test_a_launcher_that_spawns_can_send_it(self):
        sent = pickle.loads(pickle.dumps(recorder_callback("p.csv", monitor="m", target=1, every=7)))
        self.assertEqual(sent.asked, ("p.csv", {"monitor": "m", "target": 1, "mode": "max"}, {"every": 7}))


if __name__ == "__main__":
    unittest.main()
