"""Scripts that make tables of published data sets: on tiny inputs, and on the raw files where SCAVSIM_SHARED_DATA has them."""

import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

DATA = pathlib.Path(__file__).parents[2] / "data"
PROGRAM = os.environ.get("SCAVSIM") or shutil.which("scavsim")
SHARED = pathlib.Path(os.environ.get("SCAVSIM_SHARED_DATA", ""))


@unittest.skipUnless(DATA.is_dir(), "the sources are not here: no table was made")
class MadeTables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, *lines):
        (self.folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def make(self, script, *arguments):
        command = [sys.executable, DATA / script, *arguments, "--out", "out"]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)

    def lines(self, name):
        return (self.folder / "out" / name).read_text(encoding="utf-8").splitlines()

    def imported(self, *arguments):
        """What the program makes of the tables, where there is one."""
        if not PROGRAM:
            self.skipTest("SCAVSIM names no program: what it makes of the tables was not looked at")
        command = [PROGRAM, "import", *arguments, "--out", "imported"]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
        return self.folder / "imported"

    def test_pollux(self):
        self.write("placements.csv", "placement,local_bsz,step_time,sync_time", "1,32.0,0.2,0.01", "2,32.0,0.3,0.1", "12,16.0,0.4,0.2")
        self.write("scalability.csv", "num_nodes,num_replicas,local_bsz,step_time,sync_time", "2,4,16,0.4,0.2", "6,7,16,0.5,0.2")
        head = "progress,iteration,metric,grad_sqr,grad_var"
        self.write("validation-32.csv", head, "100,100,0.5,0.1,0.2", "200,200,0.6,0.1,0.4")
        # Twice the batch, and a third fewer steps: a noise scale of 32 samples.
        self.write("validation-64.csv", head, "100,75,0.5,0,0", "200,150,0.6,0,0")
        self.write("validation-128.csv", head, "150,100,0.5,0.1,0.2")
        self.make("workloads/make_pollux.py", ".", "--vm", "v")
        self.assertEqual(self.lines("profile.csv")[1:], [
            "v,1,32,0.2,0.01,,2",
            "v/1-2,3,48,0.4,0.2,,",
            "v/2,2,64,0.3,0.1,0.666666667,3",
            "v/2,4,64,0.4,0.2,,",
            "v/7@6,7,112,0.5,0.2,,",
        ])
        # The run at 128 ended before the target.
        self.assertEqual([line.split(",")[:2] for line in self.lines("epochs.csv")[1:]], [["32", "2"], ["64", "3"]])
        phi = [line.split(",")[:3] for line in self.lines("phi.csv")[1:]]
        self.assertEqual(phi, [["32", "100", "64"], ["32", "200", "128"], ["64", "100", "32"], ["64", "200", "32"]])
        made = self.imported("profile", "out/profile.csv", "--samples-per-epoch", "3200", "--batch", "global")
        self.assertIn("v/2,2,64,0.3,0.1,measured", (made / "steps.csv").read_text(encoding="utf-8"))

    def test_mlperf(self):
        point = lambda batch, *seeds: {"Benchmark": "resnet", "BS": batch, "Epochs to converge": seeds}
        text = json.dumps({"a": point(256, 40, 42), "b": point(256, 50), "c": point(512, 44)})
        # A name that stands twice is two points.
        self.write("points.json", text.replace('"b"', '"a"'))
        head = "round,submitter,division,system,benchmark,number_of_nodes,accelerators_per_node,accelerator,"
        head += "global_batch_size,train_samples,status,run_seconds,last_eval_epoch_or_samples"
        run = "v1.1,X,{},s,{},2,4,My GPU (400W),256,,{},{},40"
        sound = [run.format("closed", "resnet", "success", seconds) for seconds in (1000, 1010, 1020, 2000)]
        others = [run.format("open", "resnet", "success", 9), run.format("closed", "bert", "success", 9), run.format("closed", "resnet", "aborted", 9)]
        self.write("runs.csv", head, *sound, *others)
        self.make("workloads/make_mlperf.py", "points.json", "--runs", "runs.csv", "--submitter", "x", "--accelerator", "my gpu (400w)", "--round", "v1.1")
        # The run of 2000 s logged another epoch than its last.
        (row,) = self.lines("profile.csv")[1:]
        vm, workers, batch, step_s, epochs = row.split(",")
        self.assertEqual((vm, workers, batch, epochs), ("my-gpu/4", "8", "256", "41"))
        self.assertAlmostEqual(float(step_s), 1010 * 256 / (40 * 1_281_167))
        self.assertEqual(self.lines("epochs.csv")[1:], ["256,41,measured,a: mean of 2 runs", "512,44,measured,c: mean of 1 runs"])

    def test_sailor(self):
        layers = {"0": [0.1, 3e-6, 0.01], "1": [0.3, 0.6, 0.01], "2": [0.3, 0.6, 0.01]}
        self.write("profiles.json", json.dumps({"M": {"A": {"1": {"1": layers}}}, "N": {}}))
        layer = lambda parameters: {"params_floats": parameters, "act_mem_bytes": 100, "act_output_bytes": 40}
        memory = {"1": {"0": layer(10), "1": layer(20), "2": layer(3)}, "2": {"0": layer(6), "1": layer(10), "2": layer(3)}}
        self.write("llm_info.json", json.dumps({"M": memory}))
        links = {"inter": {"A": {"8": [[-0.1, 1.25, 3], 9.5e9], "1": [[-0.1, 1, 2], 5e9]}}, "intra": {"A": {"2": [[0, 1, 40], 1e11]}}}
        self.write("network_coeffs_all_homo.json", json.dumps(links))
        self.make("layers/make_sailor.py", ".", "--model", "M")
        self.assertEqual(self.lines("times.csv")[1:], ["A,1,1,0,0.1,0.000003,0.01", "A,1,1,1,0.3,0.6,0.01", "A,1,1,2,0.3,0.6,0.01"])
        # An embedding that is cut adds up once, a layer twice, a head that each GPU holds never.
        self.assertEqual(self.lines("memory.csv")[1:4], ["1,0,10,100,40,1", "1,1,20,100,40,2", "1,2,3,100,40,0"])
        bandwidths = ["in-node,A,2,0,1,40,100", "between-nodes,A,1,-0.1,1,2,5", "between-nodes,A,8,-0.1,1.25,3,9.5"]
        self.assertEqual(self.lines("links.csv")[1:], bandwidths)
        made = self.imported("layers", "out/times.csv", "--memory", "out/memory.csv", "--sequence", "128", "--hidden", "16")
        self.assertIn("A,1,1,1,2,0.3,0.6,0.01\n", (made / "times.csv").read_text(encoding="utf-8"))

    @unittest.skipUnless((SHARED / "pollux-osdi21").is_dir(), "SCAVSIM_SHARED_DATA names no folder with the raw files: nothing was made again")
    def test_shipped_tables_come_out_as_they_are(self):
        for name, samples in (("bert", 88_644), ("cifar10", 50_000), ("imagenet", 1_281_167)):
            self.make("workloads/make_pollux.py", SHARED.resolve() / "pollux-osdi21" / name, "--samples-per-epoch", str(samples))
            for file in ("epochs.csv", "phi.csv"):
                shipped = DATA / "workloads" / f"pollux-{name}" / file
                self.assertEqual("\n".join(self.lines(file)) + "\n", shipped.read_text(encoding="utf-8"))
        table = "training_4.0.0/rcps_resnet.json"
        runs = SHARED.resolve() / "mlperf-training-summary" / "mlperf_training_runs.csv"
        chosen = ("--submitter", "Intel-HabanaLabs", "--accelerator", "Habana Gaudi", "--round", "v1.1")
        self.make("workloads/make_mlperf.py", SHARED.resolve() / "mlperf-rcp" / table, "--runs", runs, *chosen)
        with (DATA / "workloads" / "mlperf-resnet" / "steps.csv").open(encoding="utf-8") as file:
            steps = {(row["vm"], row["workers"], row["batch"], row["step_s"]) for row in csv.DictReader(file)}
        self.assertEqual({tuple(line.split(",")[:4]) for line in self.lines("profile.csv")[1:]}, steps)


if __name__ == "__main__":
    unittest.main()
