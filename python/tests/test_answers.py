"""Tables, and what `advise`, `rank`, `compare` and `validate` answer, in the process. What needs the native part is skipped where it was not
built."""

import csv
import importlib.util
import inspect
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
import warnings

import scavsim
from scavsim._answers import Advice
from scavsim._table import Row, Table

BUILT = importlib.util.find_spec("scavsim._native")
NATIVE = unittest.skipUnless(BUILT, "the native part of scavsim is not built: nothing was asked")
ROOT = pathlib.Path(__file__).parents[2]
PROFILE = ROOT / "scenarios" / "example-profile.csv"
JOB = {"name": "a", "workloads": ["scavenger-resnet18"], "replicas": 10, "seed": 3, "variation": {"step_cv": 0.1},
       "search": {"strategies": ["oracle", "random", "cherrypick"], "objectives": ["cost"]}}
CHOICE = {"vm": "a", "vms": 2, "workers": 2, "batch": 64, "market": "on-demand", "time_h": 1.0, "time_p5_h": 0.9, "time_p95_h": 1.2, "cost_usd": 3.0,
          "cost_p5_usd": 2.5, "cost_p95_usd": 3.5, "provenance": "measured", "on_front": True}


def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


def program(*words, given=None):
    """What the program prints in a process of its own."""
    command = [sys.executable, "-m", "scavsim", *map(str, words)]
    return subprocess.run(command, input=given, check=True, capture_output=True, text=True, encoding="utf-8").stdout


class Tables(unittest.TestCase):
    TABLE = Table([{"vm": "<a>", "usd": 1.5, "gpu": None}, {"vm": "b", "usd": 1234.5, "note": "x"}])

    def test_rows_have_attributes_and_say_what_there_is(self):
        row = self.TABLE[0]
        self.assertEqual((row.vm, row["usd"], row.gpu, dict(row)["vm"]), ("<a>", 1.5, None, "<a>"))
        self.assertIn("usd", dir(row))
        with self.assertRaisesRegex(AttributeError, "no `price` here; there are vm, usd, gpu"):
            row.price
        self.assertIsInstance(self.TABLE[:1], Table)

    def test_forms(self):
        self.assertEqual(self.TABLE.columns, ["vm", "usd", "gpu", "note"])
        self.assertEqual(list(csv.reader(io.StringIO(self.TABLE.to_csv()))), [["vm", "usd", "gpu", "note"], ["<a>", "1.5", "", ""], ["b", "1234.5", "", "x"]])
        self.assertIn("&lt;a&gt;", self.TABLE._repr_html_())
        self.assertNotIn("<a>", self.TABLE._repr_html_())
        self.assertEqual(repr(self.TABLE).splitlines()[1].split(), ["<a>", "1.5"])
        self.assertIn("… 5 more rows", repr(Table([{"a": 1}] * 25)))
        self.assertEqual(repr(Table([])), "")

    @unittest.skipUnless(has("pandas", "pyarrow", "polars"), "pandas, PyArrow or polars is not installed: no frame was made")
    def test_frames(self):
        self.assertEqual(list(self.TABLE.to_pandas()["usd"]), [1.5, 1234.5])
        self.assertEqual(self.TABLE.to_polars()["vm"].to_list(), ["<a>", "b"])
        self.assertEqual(self.TABLE.to_arrow().column("note").to_pylist(), [None, "x"])

    def test_rows_go_through_processes(self):
        import copy
        import pickle

        for again in (copy.copy(self.TABLE[0]), copy.deepcopy(self.TABLE[0]), pickle.loads(pickle.dumps(self.TABLE[0]))):
            self.assertEqual(again.vm, "<a>")


class Advices(unittest.TestCase):
    def test_the_answer_comes_first(self):
        advice = Advice({"choices": [CHOICE], "measurements": [], "nearest": None})
        self.assertEqual(str(advice).splitlines()[0], "Take 2 × 64 on 2 a: 1.00 h, $3.00 (90 %: 0.90–1.20 h, $2.50–3.50).")
        self.assertIsNone(advice.next)
        self.assertEqual(repr(advice), "<scavsim.Advice: 2 × 64 on 2 a, 1.00 h, $3.00; 1 choices>")
        self.assertTrue(advice._repr_html_().index("Take 2") < advice._repr_html_().index("<table"))

    def test_what_was_not_measured_says_so(self):
        advice = Advice({"choices": [{**CHOICE, "provenance": "extrapolated"}], "measurements": [], "nearest": None})
        self.assertIn("not measured itself: extrapolated", str(advice))

    def test_nothing_within_limits(self):
        advice = Advice({"choices": [], "measurements": [], "nearest": CHOICE})
        self.assertIsNone(advice.best)
        self.assertEqual(advice.nearest.vm, "a")
        self.assertIn("Nothing keeps to the limits.\nNearest: 2 × 64 on 2 a", str(advice))

    def test_a_measurement_that_costs_more_than_it_gains_is_not_next(self):
        one = {"vm": "a", "vms": 1, "workers": 1, "batch": 32, "price_h": 0.2, "price_usd": 0.5, "net": -0.1}
        self.assertIsNone(Advice({"choices": [CHOICE], "measurements": [one], "nearest": None}).next)
        worth = Advice({"choices": [CHOICE], "measurements": [{**one, "net": 0.1}], "nearest": None})
        self.assertIn("Measure next: 1 × 32 on 1 a (12 min, $0.50).", str(worth))


@NATIVE
class Asked(unittest.TestCase):
    def test_answers_are_those_of_the_program_and_start_none(self):
        told = {
            "advise": json.loads(program("advise", PROFILE, "--samples-per-epoch", 50_000, "--max-time", 0.5, "--runs", 20, "--format", "json")),
            "rank": json.loads(program("rank", "-", "--runs", 5, "--format", "json", given="name = 'a'\nworkloads = ['scavenger-resnet18']")),
            "compare": list(csv.DictReader(io.StringIO(program("compare", "-", "--format", "csv", given=scavsim.Scenario(**JOB).to_toml())))),
            "validate": json.loads(program("validate", "scavenger-resnet18", "--format", "json"))["items"],
        }
        with unittest.mock.patch("subprocess.Popen", side_effect=AssertionError("a process was started")):
            advice = scavsim.advise(PROFILE, samples_per_epoch=50_000, max_time=0.5, runs=20)
            ranked = scavsim.rank("name = 'a'\nworkloads = ['scavenger-resnet18']", runs=5)
            compared = scavsim.compare(JOB)
            validated = scavsim.validate("scavenger-resnet18")
        self.assertEqual(advice.to_dict(), told["advise"])
        self.assertEqual(ranked.to_dicts(), told["rank"]["configurations"])
        self.assertEqual(validated.to_dicts(), told["validate"])
        self.assertEqual([row.strategy for row in compared.table], [row["strategy"] for row in told["compare"]])
        for own, other in zip(compared.table, told["compare"]):
            self.assertAlmostEqual(own.net_mean, float(other["net_mean"]), 12)

    def test_objects(self):
        advice = scavsim.advise(PROFILE, samples_per_epoch=50_000, max_time=0.5, runs=20)
        self.assertEqual(dict(advice.best), advice["choices"][0])
        self.assertLessEqual(len(advice.front), len(advice.table))
        self.assertIn("<table", advice._repr_html_())
        ranked = scavsim.rank(JOB, runs=5, search__objectives=["time", "cost"])
        self.assertEqual([row.rank for row in ranked.bests], [1] * len(ranked.bests))
        self.assertEqual(ranked.best, ranked[0])
        compared = scavsim.compare(JOB, search__strategies=["random", "cherrypick"], repeats=[1, 5])
        self.assertEqual([(row.repeats, row.strategy) for row in compared.bests], [(1, "random"), (5, "random")])
        self.assertEqual({row.strategy for row in compared.units}, {"random", "cherrypick"})
        self.assertTrue(len(compared.curves) and len(compared.told) == 2)
        self.assertIn("2 strategies in 1 places, 10 replicas; best: random", repr(compared))

    def test_every_option_of_advise_is_an_argument(self):
        # What writes files or prints is asked of the program.
        left = {"format", "sky", "commands", "keep", "force", "report"}
        named = {name.replace("_", "-") for name in inspect.signature(scavsim.advise).parameters}
        self.assertEqual(set(scavsim._native.options("advise")) - left - named, set(), "an option of the program is no argument of advise")
        self.assertEqual(named - set(scavsim._native.options("advise")), {"measurements", "options"})

    def test_mistakes_are_the_exception_of_run(self):
        with self.assertRaises(scavsim.Mistakes) as refused:
            scavsim.rank({**JOB, "replica": 3, "cluster": {"worker": [8]}})
        paths = {mistake["title"]: mistake.get("path") for mistake in refused.exception.mistakes}
        self.assertEqual(paths, {"unknown key `replica`": "['replica']", "unknown key `worker`": "['cluster']['worker']"})
        with self.assertRaises(scavsim.Mistakes) as refused:
            scavsim.advise({"vm": ["g5.xlarge"], "workers": [0], "batch": [64], "step_s": [0.1]}, samples_per_epoch=1000)
        self.assertIn("measurements:2", str(refused.exception))
        self.assertNotIn(tempfile.gettempdir(), str(refused.exception))
        self.assertEqual([mistake["file"] for mistake in refused.exception.mistakes], [None, "measurements"])
        for wrong in ({"max_time": -1.0}, {"market": "sport"}, {"runs": 1}):
            with self.assertRaises(scavsim.Mistakes, msg=wrong):
                scavsim.advise(PROFILE, samples_per_epoch=50_000, **wrong)
        with self.assertRaisesRegex(scavsim.Mistakes, "us-east-1"):
            scavsim.vms(region="us-eest-1")

    def test_type_errors_help(self):
        with self.assertRaisesRegex(TypeError, "a path, a text of TOML, a dict or a scavsim.Scenario; found int: 5"):
            scavsim.run(5)
        with self.assertRaisesRegex(TypeError, r"advise\(\) has no argument `max_tim`; did you mean `max_time`\?"):
            scavsim.advise(PROFILE, samples_per_epoch=50_000, max_tim=1)
        with self.assertRaisesRegex(TypeError, "data frame, a dict of columns or the path of a CSV; found int"):
            scavsim.advise(5, samples_per_epoch=50_000)
        with self.assertRaisesRegex(TypeError, "needs measurements"):
            scavsim.advise()
        with self.assertRaisesRegex(TypeError, "needs a scenario"):
            scavsim.compare()

    def test_remarks_are_warnings(self):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            scavsim.rank({"workloads": ["scavenger-resnet18"], "vm": {"fast": {"like": "e2-standard-4", "compute_scale": 0.5}},
                          "pricing": {"policies": ["paper-fixed"]}}, runs=2)
        self.assertIn("one price for 2 VM types", str(heard[0].message))
        self.assertEqual(heard[0].filename, __file__)

    def test_what_there_is(self):
        self.assertIn("scavenger-resnet18", scavsim.workloads().column("workload"))
        self.assertIn("cherrypick", scavsim.strategies().column("strategy"))
        self.assertIn("paper-fixed", scavsim.policies().column("policy"))
        here = {vm.vm: vm.on_demand_usd for vm in scavsim.vms(provider="aws", gpu="T4", region="us-east-1")}
        priced = {}
        for price in scavsim.prices(provider="aws", gpu="T4", region="us-east-1"):
            if price.market == "on-demand":
                priced.setdefault(price.vm, set()).add(price.usd_per_hour)
        self.assertTrue(here)
        for vm, usd in here.items():
            if usd is not None:
                self.assertIn(usd, priced[vm])

    def test_answers_in_several_threads_are_not_mixed(self):
        wanted = {seed: scavsim.rank(JOB, runs=3, seed=seed).to_csv() for seed in range(4)}
        self.assertEqual(len(set(wanted.values())), 4)
        found = {}
        threads = [threading.Thread(target=lambda seed=seed: found.update({seed: scavsim.rank(JOB, runs=3, seed=seed).to_csv()})) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, wanted)


@NATIVE
class Face(unittest.TestCase):
    def test_names_are_those_of_users(self):
        names = dir(scavsim)
        self.assertEqual([name for name in names if name.startswith("_") and name != "__version__"], [])
        self.assertFalse({"Any", "List", "TYPE_CHECKING", "annotations", "import_module"} & set(names))
        for name in names:
            if name not in ("ray", "record"):  # These need packages of others.
                getattr(scavsim, name)
        for name in scavsim.__all__:
            self.assertTrue(getattr(scavsim, name).__doc__, name)

    def test_all_is_what_has_a_place(self):
        self.assertEqual(scavsim.__all__, sorted(name for name in scavsim._PLACE if not name.startswith("_")))

    def test_a_summary_is_that_of_the_program(self):
        result = scavsim.run(JOB)
        groups = json.loads(program("run", "-", "--format", "json", given=scavsim.Scenario(**JOB).to_toml()))["groups"]
        self.assertEqual(len(result.table), len(groups))
        for row, group in zip(result.table, groups):
            self.assertEqual((row.strategy, row.cases), (group["strategy"], group["replicas"]))
            self.assertEqual(row.right, group["shares"]["right"]["share"])
            self.assertEqual([row.overhead_net_cost_low, row.overhead_net_cost_high], group["metrics"]["overhead_net_cost"]["interval95"])
        self.assertEqual(result.manifest["seed"], 3)
        self.assertEqual(result.manifest["cases"], 30)


if __name__ == "__main__":
    unittest.main()
