"""Runs on Ray with two local nodes: the bytes of one machine, whatever is killed. Skipped where Ray or the program is not
installed; SCAVSIM names the program."""

import importlib.util
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

PROGRAM = os.environ.get("SCAVSIM") or shutil.which("scavsim")
SCENARIO = (
    'name = "some"\nworkloads = ["scavenger-resnet18", "scavenger-resnet50"]\nreplicas = 60\nvariation.step_cv = 0.1\nfidelity = "event"\n'
    'search.strategies = ["oracle", "random"]\n'
)
SHARDS = 12


@unittest.skipUnless(importlib.util.find_spec("ray"), "Ray is not installed: nothing was run on it")
@unittest.skipUnless(PROGRAM, "scavsim is not installed and SCAVSIM does not name it: nothing was run on Ray")
class Ray(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        from ray.cluster_utils import Cluster

        cls.cluster = Cluster()
        cls.cluster.add_node(num_cpus=1, include_dashboard=False)
        cls.second = cls.cluster.add_node(num_cpus=1)
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="scavsim-ray-"))
        file = cls.folder / "some.toml"
        file.write_text(SCENARIO)
        command = [PROGRAM, "run", str(file), "--out", str(cls.folder / "whole"), "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        import ray

        ray.shutdown()
        cls.cluster.shutdown()
        shutil.rmtree(cls.folder)

    def driver(self, out, **more):
        """Starts a driver of its own, so that it can be killed."""
        code = textwrap.dedent(
            f"""
            import scavsim.ray
            scavsim.ray.run({str(self.folder / "some.toml")!r}, {str(out)!r}, shards={SHARDS}, address={self.cluster.address!r},
                            command=[{PROGRAM!r}], retries=20)
            """
        )
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        path = os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.PIPE, text=True)

    def shards(self, out):
        return len(list((out / "shards").glob("*.json"))) if (out / "shards").is_dir() else 0

    def same(self, out):
        for name in ("records.csv", "summary.csv"):
            self.assertEqual((out / name).read_bytes(), (self.folder / "whole" / name).read_bytes(), name)

    def finish(self, driver):
        told = driver.communicate(timeout=300)[1]
        self.assertEqual(driver.returncode, 0, told)

    def test_kills_lose_nothing_and_count_nothing_twice(self):
        draw = random.Random(1)
        out = self.folder / "killed"
        driver, kills = self.driver(out), 0
        while driver.poll() is None and kills < 10:
            time.sleep(draw.uniform(0.2, 1.0))
            victims = running(f"{PROGRAM} run .*--out {out}")
            if victims and self.shards(out) < SHARDS:
                # The worker that waits for this program, or the program itself.
                os.kill(draw.choice([victims[0], parent(victims[0])]), signal.SIGKILL)
                kills += 1
        self.finish(driver)
        self.assertGreater(kills, 0)
        print(f"{kills} kills of workers and programs", file=sys.stderr)
        self.same(out)

    def test_the_driver_is_killed_and_resumed(self):
        out = self.folder / "resumed"
        driver = self.driver(out)
        while self.shards(out) < 3 and driver.poll() is None:
            time.sleep(0.05)
        self.assertIsNone(driver.poll(), "the run was over before the driver could be killed")
        driver.send_signal(signal.SIGKILL)
        driver.communicate()
        self.assertLess(self.shards(out), SHARDS)
        self.finish(self.driver(out))
        self.same(out)

    def test_a_wrong_scenario_is_told_at_once(self):
        from scavsim._program import ProgramError
        import scavsim.ray

        with self.assertRaises(ProgramError) as refused:
            scavsim.ray.run("replica = 3", self.folder / "wrong", command=[PROGRAM], address=self.cluster.address)
        self.assertEqual(refused.exception.code, 2)
        self.assertIn("unknown key `replica`", str(refused.exception))

    def test_zz_a_lost_node_costs_its_shards_only(self):
        out = self.folder / "node"
        driver = self.driver(out)
        while self.shards(out) < 2 and driver.poll() is None:
            time.sleep(0.05)
        self.cluster.remove_node(self.second, allow_graceful=False)
        self.finish(driver)
        self.same(out)


def running(pattern):
    done = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True)
    return [int(pid) for pid in done.stdout.split()]


def parent(pid):
    done = subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, text=True)
    return int(done.stdout) if done.stdout.strip() else pid


if __name__ == "__main__":
    unittest.main()
