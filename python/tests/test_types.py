"""What those who check types see of the package, by mypy. Skipped where it is not installed."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

import scavsim

USER = """\
import scavsim
from scavsim.scenario import Cluster, Scenario

scenario = Scenario(workloads=["a"], cluster=Cluster(workers=[8, 16]), replicas=3)
scenario.search.strategies = ["oracle"]
result = scavsim.run(scenario)
best: scavsim.Row = result.best()
advice = scavsim.advise({"vm": ["a"]}, samples_per_epoch=1000, max_time=1.0, market="spot")
reveal_type(advice.next)
reveal_type(scavsim.compare(scenario).table[0])
version: str = scavsim.__version__
"""
WRONG = """\
Scenario(replica=3)
scenario.fidelity = "slow"
scenario.cluster.worker = [8]
scavsim.advise(objective="speed")
advice.nest
"""


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed: no type was checked")
class Types(unittest.TestCase):
    def test_what_is_right_passes_and_what_is_wrong_does_not(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "user.py"
            file.write_text(USER + WRONG)
            package = pathlib.Path(scavsim.__file__).parents[1]
            command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--follow-imports=silent", "--cache-dir", folder, str(file)]
            done = subprocess.run(command, cwd=package, capture_output=True, text=True)
        lines = [line.split("user.py:", 1)[1] for line in done.stdout.splitlines() if "user.py:" in line]
        told = {int(line.split(":")[0]): line for line in lines}
        right, wrong = USER.count("\n"), WRONG.count("\n")
        self.assertIn('"scavsim._table.Row | None"', told.pop(9).replace("Union[scavsim._table.Row, None]", "scavsim._table.Row | None"))
        self.assertIn("scavsim._table.Row", told.pop(10))
        self.assertEqual(sorted(told), list(range(right + 1, right + wrong + 1)), done.stdout)


if __name__ == "__main__":
    unittest.main()
