"""Real PyTorch on processors, with gloo: what is recorded, imported and ranked. Skipped where PyTorch or the program is
not installed; SCAVSIM names the program."""

import csv
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ.get("SCAVSIM") or shutil.which("scavsim")
BATCHES, WORKERS, HELD_OUT = (64, 128, 256), (1, 2, 4), (2, 128)


def launch(folder, script, workers, *arguments):
    """Starts the workers and waits for all."""
    meeting = tempfile.mktemp(prefix="meeting-", dir=folder)
    path = os.pathsep.join([os.path.dirname(HERE), os.environ.get("PYTHONPATH", "")])
    started = []
    for rank in range(workers):
        environment = {**os.environ, "PYTHONPATH": path, "RANK": str(rank), "WORLD_SIZE": str(workers)}
        command = [sys.executable, os.path.join(HERE, script), meeting, *arguments]
        started.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    told = [process.communicate(timeout=600)[0] for process in started]
    for process, text in zip(started, told):
        if process.returncode:
            raise AssertionError(f"{script} with {workers} workers failed:\n{text}")


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed: real training was not recorded")
class Training(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "profile.csv")

    def test_meets_a_known_noise_scale(self):
        for workers, way in ((2, "plain"), (4, "plain"), (2, "accumulated")):
            launch(self.folder, "known_noise.py", workers, self.path, way)
            with open(self.path.replace(".csv", ".jsonl"), encoding="utf-8") as file:
                seen = json.loads(file.readlines()[-1])
            print(f"{workers} workers, {way}: noise scale {seen['noise_scale']:.1f}, by theory 100", file=sys.stderr)
            batch = 16 * workers
            self.assertEqual((seen["workers"], seen["batch"]), (workers, batch))
            self.assertAlmostEqual(seen["noise_scale"] / 100.0, 1.0, delta=0.1)
            expected = (batch + workers * 100.0) / (workers * (batch + 100.0))
            self.assertAlmostEqual(seen["noise"], expected, delta=0.01)

    def test_views_of_buckets_show_no_noise(self):
        launch(self.folder, "known_noise.py", 2, self.path, "views")
        seen = rows(self.path)
        self.assertTrue(seen)
        for row in seen:
            self.assertEqual(row["noise"], "")
            self.assertGreater(float(row["communication_s"]), 0.0)

    @unittest.skipUnless(PROGRAM, "scavsim is not installed and SCAVSIM does not name it: nothing was imported")
    def test_recorded_imported_ranked(self):
        for workers in WORKERS:
            launch(self.folder, "training.py", workers, self.path, *map(str, BATCHES))
        recorded = rows(self.path)
        cells = {(int(r["workers"]), int(r["batch"])) for r in recorded}
        self.assertEqual(cells, {(k, b) for k in WORKERS for b in BATCHES})
        for row in recorded:
            step_s, waited = float(row["step_s"]), row["communication_s"]
            self.assertEqual(waited == "", row["workers"] == "1", row)
            self.assertTrue(waited == "" or 0.0 < float(waited) < step_s, row)
        self.assertTrue(any(row["noise"] for row in recorded))
        self.assertEqual(sum(row["epochs"] != "" for row in recorded), 9)

        # The cell that is held out, foretold from the other eight.
        of_cell = [float(r["step_s"]) for r in recorded if (int(r["workers"]), int(r["batch"])) == HELD_OUT]
        mean = sum(of_cell) / len(of_cell)
        spread = max(abs(s - mean) for s in of_cell) / mean
        with open(os.path.join(self.folder, "others.csv"), "w", encoding="utf-8") as file:
            writer = csv.DictWriter(file, recorded[0].keys(), lineterminator="\n")
            writer.writeheader()
            others = (r for r in recorded if (int(r["workers"]), int(r["batch"])) != HELD_OUT)
            writer.writerows({**row, "epochs": ""} for row in others)
        ten_epochs = ("--samples-per-epoch", "2048", "--epochs", "10")
        self.scavsim("import", "profile", "others.csv", *ten_epochs, "--out", "others")
        foretold = self.rank("others")[HELD_OUT] * HELD_OUT[1] / (10 * 2048)
        error = abs(foretold - mean) / mean
        print(
            f"2 workers, batch 128, held out: {foretold * 1e3:.2f} ms foretold, {mean * 1e3:.2f} ms measured, "
            f"{100 * error:.1f} % off; repeats differ by up to {100 * spread:.1f} %",
            file=sys.stderr,
        )
        if os.environ.get("SCAVSIM_QUIET_MACHINE"):
            self.assertLessEqual(error, 1.5 * spread)
        else:
            # Four workers on busy cores: that it is foretold at all, and not another unit.
            self.assertLess(error, 1.0)

        self.scavsim("import", "profile", "profile.csv", "--samples-per-epoch", "2048", "--out", "all")
        self.assertEqual(set(self.rank("all")), cells)

    def scavsim(self, *arguments):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def rank(self, workload):
        """Seconds to the target by (workers, batch)."""
        scenario = (
            f'workloads = ["./{workload}"]\npricing.policies = ["paper-fixed"]\n[cluster]\nworkers = [1, 2, 4]\nbatch = [64, 128, 256]\noutside = "extrapolate"\n'
        )
        with open(os.path.join(self.folder, "s.toml"), "w", encoding="utf-8") as file:
            file.write(scenario)
        table = self.scavsim("rank", "s.toml", "--format", "csv", "--runs", "2")
        ranked = csv.DictReader(io.StringIO(table))
        return {(int(r["workers"]), int(r["batch"])): 3600 * float(r["time_h"]) for r in ranked}


if __name__ == "__main__":
    unittest.main()
