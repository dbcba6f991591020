"""Strategies of others that are programs, in a comparison of the program that SCAVSIM names; skipped where their packages are missing."""

import csv
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("SCAVSIM") or shutil.which("scavsim")
STRATEGIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "strategies")

SCOUT = '''grid = "scout"
jobs = ["kmeans_huge_spark15", "lr_huge_spark"]'''

SCENARIO = """
{grid}
replicas = 2
search = {{ strategies = ["random@10", "mine"], objectives = ["cost"] }}

[strategy.mine]
command = {command}
"""


@unittest.skipUnless(PROGRAM, "scavsim is not installed and SCAVSIM does not name it: no example was run")
class Examples(unittest.TestCase):
    def rows(self, file, *arguments, grid=SCOUT):
        """Rows of the comparison of an example and random search."""
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, os.path.join(STRATEGIES, file), *arguments]
            with open(os.path.join(folder, "scenario.toml"), "w") as scenario:
                scenario.write(SCENARIO.format(grid=grid, command=command))
            subprocess.run([PROGRAM, "compare", "scenario.toml", "--out", "out"], cwd=folder, check=True, capture_output=True)
            with open(os.path.join(folder, "out", "units.csv"), newline="") as units:
                return [row for row in csv.DictReader(units) if row["strategy"] == "mine"]

    def test_the_gambler_fails_and_is_charged(self):
        rows = self.rows("gambler.py", "0.000001")
        self.assertEqual([row["failed"] for row in rows], ["2", "2"])
        self.assertTrue(all(float(row["net"]) > 1.0 for row in rows))

    def test_the_forest_has_a_figure_everywhere(self):
        rows = self.rows("forest.py", "10")
        self.assertEqual([row["failed"] for row in rows], ["0", "0"])
        self.assertTrue(all(row["net"] for row in rows))

    def test_hyperband_has_a_figure_where_runs_have_cheap_versions(self):
        rows = self.rows("hyperband.py", "81", grid='grid = "trimtuner-cnn"')
        self.assertEqual([row["failed"] for row in rows], ["0"])
        self.assertTrue(all(row["net"] for row in rows))

    @unittest.skipUnless(importlib.util.find_spec("optuna"), "Optuna is not installed: its TPE was not run")
    def test_tpe_has_a_figure_everywhere(self):
        rows = self.rows("tpe.py", "10")
        self.assertEqual([row["failed"] for row in rows], ["0", "0"])
        self.assertTrue(all(row["net"] for row in rows))


if __name__ == "__main__":
    unittest.main()
