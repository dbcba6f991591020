"""The recorder in a plain loop: stretches, pauses, the file. The clock is set by hand; PyTorch is not needed."""

import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

from scavsim.record import Profile, Recorder, placement

HERE = os.path.dirname(os.path.abspath(__file__))


class Plain(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "profile.csv")
        self.now = 100.0
        clock = mock.patch("scavsim.record.recorder._now", lambda: self.now)
        clock.start()
        self.addCleanup(clock.stop)

    def recorder(self, **changes):
        settings = dict(vm="box", local_batch=32, skip=5, every=10)
        return Recorder(self.path, **{**settings, **changes})

    def rows(self):
        with open(self.path, encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def run_steps(self, recorder, count, seconds):
        for _ in range(count):
            self.now += seconds
            recorder.step()

    def test_first_steps_are_left_out(self):
        recorder = self.recorder()
        self.run_steps(recorder, 5, 9.0)
        self.run_steps(recorder, 10, 0.25)
        self.run_steps(recorder, 10, 0.5)
        self.run_steps(recorder, 9, 0.75)
        rows = self.rows()
        self.assertEqual([float(row["step_s"]) for row in rows], [0.25, 0.5])
        for row in rows:
            self.assertEqual((row["vm"], row["workers"], row["batch"]), ("box", "1", "32"))
            self.assertEqual((row["communication_s"], row["noise"], row["epochs"]), ("", "", ""))

    def test_pauses_and_first_steps_of_a_pass_are_left_out(self):
        recorder = self.recorder(skip=1)
        for _ in range(4):
            self.now += 50.0  # an evaluation, the start of the loader's workers
            for number in recorder.steps(range(8)):
                self.now += 7.0 if number == 0 else 0.25
                if number == 4:
                    recorder.pause()
                    self.now += 30.0  # a checkpoint, and the next step is not timed
        self.assertEqual([float(row["step_s"]) for row in self.rows()], [0.25, 0.25, 0.25])

    def test_a_stretch_of_pauses_makes_no_row(self):
        recorder = self.recorder()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for _ in range(40):
                self.now += 0.25
                recorder.step()
                recorder.pause()
        self.assertEqual(self.rows(), [])
        self.assertEqual(len(told), 1)  # once, not for every stretch
        self.assertIn("only 0 of 10 steps were timed", str(told[0].message))

    def test_accumulated_passes_are_one_step(self):
        recorder = self.recorder(accumulate=4, skip=1, samples_per_epoch=1280)
        for _ in recorder.steps(range(44)):
            self.now += 0.25
        self.assertEqual([(row["batch"], float(row["step_s"])) for row in self.rows()], [("128", 1.0)])
        recorder.reached()
        self.assertEqual(float(self.rows()[-1]["epochs"]), 11 * 128 / 1280)

    def test_what_the_csv_has_no_column_for_stands_beside_it(self):
        recorder = self.recorder()
        self.run_steps(recorder, 16, 0.25)
        recorder.reached(epochs=3.5)
        with open(self.path.replace(".csv", ".jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line["timed_steps"] for line in lines], [10, 11])
        self.assertEqual(lines[1]["epochs"], 3.5)
        self.assertGreater(lines[0]["peak_memory_bytes"], 1_000_000)

    def test_a_target_before_any_step_is_told(self):
        recorder = self.recorder()
        with self.assertWarnsRegex(RuntimeWarning, "before a step was timed"):
            recorder.reached(epochs=1.0)
        with self.assertRaisesRegex(ValueError, "samples_per_epoch"):
            recorder.reached()

    def test_all_mistakes_at_once(self):
        with self.assertRaises(ValueError) as refused:
            self.recorder(local_batch=0, every=1.5, skip=True)
        for word in ("local_batch is 0", "every is 1.5", "skip is True"):
            self.assertIn(word, str(refused.exception))

    def test_another_header_is_refused(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("vm,workers\n")
        with self.assertRaisesRegex(ValueError, "profile.csv:1: the header is 'vm,workers'"):
            self.recorder()

    def test_a_full_disk_does_not_end_the_training(self):
        recorder = self.recorder()
        with mock.patch("os.write", side_effect=OSError(28, "No space left on device")):
            with self.assertWarnsRegex(RuntimeWarning, "No space left"):
                self.run_steps(recorder, 16, 0.25)

    def test_a_launcher_without_a_process_group(self):
        with mock.patch.dict(os.environ, {"WORLD_SIZE": "4"}), self.assertRaisesRegex(RuntimeError, "init_process_group"):
            self.recorder()

    def test_cells_that_would_break_the_file(self):
        profile = Profile(self.path)
        with self.assertRaisesRegex(ValueError, "cannot hold"):
            profile.append({"vm": "a,b"})
        with self.assertRaisesRegex(ValueError, "no such columns: gpu"):
            profile.append({"gpu": "a"})


class Shapes(unittest.TestCase):
    def test_names(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("LOCAL_WORLD_SIZE", None)
            self.assertEqual(placement.shape("a", 1, None), "a")
            self.assertEqual(placement.shape("a", 8, 4), "a/4")
            self.assertEqual(placement.shape("a", 8, 1), "a")
            with self.assertRaisesRegex(ValueError, "8 workers do not fill VMs of 3"):
                placement.shape("a", 8, 3)

    def test_uneven_ones_are_spelled_out(self):
        with mock.patch.object(placement, "_local_counts", return_value=[1, 2, 2, 4, 4, 4, 4]):
            self.assertEqual(placement.shape("a", 7, None), "a/1-2-4")


class Import(unittest.TestCase):
    def test_needs_no_pytorch(self):
        code = "import sys; sys.modules['torch'] = None; import scavsim.record; print('torch.cuda' in sys.modules)"
        package = os.path.dirname(HERE)
        done = subprocess.run([sys.executable, "-c", code], cwd=package, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "False\n")


if __name__ == "__main__":
    unittest.main()
