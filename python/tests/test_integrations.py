"""What trackers are told, with the packages themselves, offline; and Optuna's samplers. Skipped where a package or the native part is missing."""

import importlib.util
import json
import os
import pathlib
import tempfile
import unittest
import unittest.mock

import scavsim
from scavsim.integrations._facts import facts

BUILT = importlib.util.find_spec("scavsim._native")
JOB = {"name": "small", "workloads": ["scavenger-resnet18"], "replicas": 5, "search": {"strategies": ["oracle", "random@6"], "objectives": ["cost"]}}
NET = "scavenger-resnet18/paper-fixed/cost/random_6/overhead_net_cost"


@unittest.skipUnless(BUILT, "the native part of scavsim is not built: nothing was logged")
class Logged(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = scavsim.run(JOB)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_folder_says_what_its_result_says(self):
        of_result, of_folder = facts(self.result), facts(scavsim.run_into(JOB, self.folder / "out"))
        self.assertEqual(of_result.settings["scenario_hash"], of_folder.settings["scenario_hash"])
        self.assertEqual(set(of_result.figures), set(of_folder.figures))
        for name, value in of_result.figures.items():
            self.assertAlmostEqual(of_folder.figures[name], value, 12, name)
        self.assertIn(NET, of_result.figures)
        with self.assertRaisesRegex(FileNotFoundError, "no folder of results"):
            facts(self.folder)
        with self.assertRaisesRegex(TypeError, "found int"):
            facts(5)

    @unittest.skipUnless(importlib.util.find_spec("mlflow"), "MLflow is not installed: nothing was logged to it")
    def test_mlflow(self):
        import mlflow

        from scavsim.integrations import mlflow as tracker

        mlflow.set_tracking_uri(f"sqlite:///{self.folder}/runs.db" if importlib.util.find_spec("sqlalchemy") else (self.folder / "runs").as_uri())
        mlflow.set_experiment("clusters")
        run = mlflow.get_run(tracker.log(self.result))
        self.assertEqual(run.data.params["scavsim.scenario"], "small")
        [random] = [row for row in self.result.table if row.strategy == "random@6"]
        self.assertAlmostEqual(run.data.metrics[f"scavsim/{NET}"], random.overhead_net_cost, 12)
        files = {file.path for file in mlflow.MlflowClient().list_artifacts(run.info.run_id, "scavsim")}
        self.assertEqual(files, {"scavsim/manifest.json", "scavsim/summary.csv"})
        self.assertEqual(run.info.status, "FINISHED")
        with mlflow.start_run() as own:
            self.assertEqual(tracker.log(scavsim.rank(JOB, runs=2), folder="ranked"), own.info.run_id)
            self.assertIsNotNone(mlflow.active_run())

    @unittest.skipUnless(importlib.util.find_spec("wandb"), "Weights & Biases is not installed: nothing was logged to it")
    def test_wandb(self):
        from scavsim.integrations import wandb as tracker

        silent = {"WANDB_SILENT": "true", "WANDB_MODE": "offline", "WANDB_CACHE_DIR": str(self.folder), "WANDB_DATA_DIR": str(self.folder)}
        with unittest.mock.patch.dict(os.environ, silent):
            import wandb

            with wandb.init(project="clusters", dir=str(self.folder), mode="offline") as run:
                self.assertIs(tracker.log(self.result), run)
                self.assertEqual(run.config["scavsim"]["scenario"], "small")
                [random] = [row for row in self.result.table if row.strategy == "random@6"]
                self.assertAlmostEqual(run.summary[f"scavsim/{NET}"], random.overhead_net_cost, 12)
            own = tracker.log(scavsim.rank(JOB, runs=2), project="clusters", dir=str(self.folder), mode="offline", folder="ranked")
            self.assertNotEqual(own.id, run.id)
            self.assertIsNone(wandb.run)
            wandb.teardown()
        tables = [json.loads(file.read_text())["columns"] for file in self.folder.rglob("*.table.json")]
        self.assertEqual(len(tables), 2)
        self.assertIn(self.result.table.columns, tables)


@unittest.skipUnless(BUILT and importlib.util.find_spec("optuna"), "Optuna or the native part is not installed: none of its samplers searched")
class Optuna(unittest.TestCase):
    def test_samplers_search_and_do_not_depend_on_threads(self):
        import optuna

        from scavsim.integrations.optuna import Sampler

        made = {"tpe": Sampler(lambda seed: optuna.samplers.TPESampler(seed=seed, n_startup_trials=3), n_trials=6),
                "drawn": Sampler(lambda seed: optuna.samplers.RandomSampler(seed=seed), n_trials=16)}
        job = {**JOB, "search": {"strategies": ["oracle", "tpe", "drawn"], "objectives": ["cost"]}}
        one, two = (scavsim.run(job, strategies=made, jobs=jobs).table for jobs in (1, 2))
        self.assertEqual(one.to_dicts(), two.to_dicts())
        self.assertEqual([row.failed for row in one], [0, 0, 0])
        regret = {row.strategy: row.regret_cost for row in one}
        # All sixteen were run once: what is left is the luck of a run.
        self.assertLess(regret["drawn"], 0.02)
        self.assertLess(regret["tpe"], 0.5)


if __name__ == "__main__":
    unittest.main()
