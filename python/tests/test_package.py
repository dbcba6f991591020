"""The package as it is installed: runs, mistakes, strategies of one's own, the program. Skipped where its native part was not
built."""

import concurrent.futures
import contextlib
import csv
import dataclasses
import importlib.util
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import unittest.mock

import scavsim
from scavsim.strategy import Strategy
from test_result import HOSTILE, elements

BUILT = importlib.util.find_spec("scavsim._native")
SCENARIOS = pathlib.Path(__file__).parents[2] / "scenarios"
SCENARIO = {
    "name": "small",
    "workloads": ["scavenger-resnet18"],
    "replicas": 5,
    "seed": 3,
    "variation": {"step_cv": 0.1},
    "search": {"strategies": ["oracle", "random"], "objectives": ["time", "cost"]},
}


def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


def rows(result):
    """The records, by polars or PyArrow, whichever is there."""
    return result.to_polars().to_dicts() if has("polars") else result.to_arrow().to_pylist()


NEEDS_ARROW = unittest.skipUnless(has("polars") or has("pyarrow"), "neither polars nor PyArrow is installed: no record was read")


class Five(Strategy):
    """Runs five to the target."""

    def search(self, task, testbed):
        tried = task.random.sample(range(len(task.configurations)), 5)
        return min(tried, key=lambda at: testbed.probe(at, to_target=True).reached_s or math.inf)


class Bad(Strategy):
    """Goes wrong as its seed says."""

    def search(self, task, testbed):
        way = task.random.choice(["raises", "hole", "nonsense", "fine", "probes a hole"])
        if way == "raises":
            raise RuntimeError("no such luck")
        if way == "probes a hole":
            testbed.probe(99)
        return {"hole": 99, "nonsense": "best", "fine": 0}[way]


class Sleeps(Strategy):
    def search(self, task, testbed):
        time.sleep(5 if task.objective == "cost" else 0)
        return 0


@unittest.skipUnless(BUILT, "the native part of scavsim is not built: the package was not tested")
class Package(unittest.TestCase):
    def test_policies_are_run_as_strategies_are(self):
        from scavsim.scenario import Job, Market, PolicySettings, Scenario

        market = Market(run_h=2, pause_h=1, spot_usd_per_h=1.07, on_demand_usd_per_h=3.1, replicas=4)
        job = Job(work_h=5.3, deadline_h=[7.1, 8.9], changeover_s=613)
        scenario = Scenario(job=job, market=market, policy=PolicySettings(names=["greedy", "cost-to-go"]))
        result = scavsim.run(scenario)
        # Two deadlines, four lives, two policies and the clairvoyant.
        self.assertEqual((result.cases, result.failed), (24, 0))
        with self.assertRaises(scavsim.Mistakes) as mistakes:
            scavsim.run(Scenario(job=Job(work_h=5.3, deadline_h=5.3), market=market, policy=PolicySettings(names=["gredy"])))
        self.assertIn("unknown policy `gredy`", str(mistakes.exception))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_counts(self):
        result = scavsim.run(SCENARIO)
        self.assertEqual((result.name, result.cases, result.failed, len(result)), ("small", 20, 0, 20))
        self.assertEqual(repr(result), "<scavsim.Result small: 20 cases; 2 strategies, 4 rows in .table>")
        self.assertEqual(len(scavsim.run(SCENARIO, replicas=2, search__objectives=["time"])), 4)
        self.assertEqual(scavsim.check(SCENARIO, replicas=7), {"name": "small", "cases": 28})

    @NEEDS_ARROW
    def test_records_are_those_of_the_program(self):
        text, _ = scavsim._scenario.read(SCENARIO)
        file = self.folder / "small.toml"
        file.write_text(text)
        command = [sys.executable, "-m", "scavsim", "run", str(file), "--out", str(self.folder / "out"), "-q", "--all-columns"]
        subprocess.run(command, check=True, capture_output=True)
        with open(self.folder / "out" / "records.csv", encoding="utf-8") as table:
            written = list(csv.DictReader(table))
        for jobs in (1, 3):
            read = rows(scavsim.run(file, jobs=jobs))
            self.assertEqual(len(read), len(written))
            for own, other in zip(read, written):
                self.assertEqual(list(own), list(other))
                for name, cell in other.items():
                    value = own[name]
                    same = float(cell) == value if isinstance(value, float) else cell == ("" if value is None else str(value))
                    self.assertTrue(same, f"{name}: {cell!r} {value!r}")

    def test_all_mistakes_with_their_places(self):
        wrong = {**SCENARIO, "replica": 3, "cluster": {"worker": [8]}}
        with self.assertRaises(scavsim.Mistakes) as refused:
            scavsim.run(wrong, pricing__policies=["no-such"])
        found = refused.exception.mistakes
        self.assertEqual(len(found), 3, str(refused.exception))
        paths = {mistake["title"]: mistake.get("path") for mistake in found}
        self.assertEqual(paths["unknown key `replica`"], "['replica']")
        self.assertEqual(paths["unknown key `worker`"], "['cluster']['worker']")
        self.assertIn("did you mean `replicas`?", str(refused.exception))
        with self.assertRaises(scavsim.Mistakes):
            scavsim.check(self.folder / "not-there.toml")
        with self.assertRaises(scavsim.Mistakes):
            scavsim.run("workloads = [")

    @NEEDS_ARROW
    def test_a_strategy_of_ones_own(self):
        own = {"replicas": 6, "search__strategies": ["oracle", "five", "random"]}
        one = rows(scavsim.run(SCENARIO, strategies={"five": Five}, jobs=1, **own))
        three = rows(scavsim.run(SCENARIO, strategies={"five": Five}, jobs=3, **own))
        self.assertEqual(one, three)
        mine = [row for row in one if row["strategy"] == "five"]
        self.assertEqual([row["status"] for row in mine], ["ok"] * 12)
        self.assertGreater(len({(row["chosen_workers"], row["chosen_batch"]) for row in mine}), 1)

    def test_strategies_hear_all_that_is_said(self):
        heard = []

        def searched(strategy, told, ask):
            heard.append(set(told["task"]) - {"protocol"} | set(told["search"]) - {"seed"} | {"random"})
            return {"choose": 0}

        with unittest.mock.patch("scavsim.strategy._searched", searched):
            scavsim.run(SCENARIO, strategies={"five": Five}, search__strategies=["five"])
        known = {own.name for own in dataclasses.fields(scavsim.Task)}
        self.assertTrue(heard and all(own == known for own in heard), known ^ heard[0])

    def test_other_jobs_are_told_to_those_that_take_them(self):
        seen = []

        class Others(Strategy):
            other_jobs = True

            def search(self, task, testbed):
                seen.append(task.other_jobs)
                return 0

        class Alone(Others):
            other_jobs = False

        job = {**SCENARIO, "workloads": ["scavenger-resnet18", "scavenger-resnet50"], "replicas": 1}
        for own in (Others, Alone):
            scavsim.run(job, strategies={"own": own}, search__strategies=["own"], search__objectives=["cost"])
        self.assertTrue(all(seen[:2]) and seen[2:] == [None, None], seen)

    @unittest.skipUnless(has("pyarrow"), "PyArrow is not installed: no summary was made")
    def test_asks_and_tells(self):
        class All(scavsim.AskTell):
            n_trials = 99

            def ask(self):
                return len(self.trials)

            def tell(self, configuration, value):
                assert value == self.trials[configuration] > 0.0

        class Stuck(All):
            def ask(self):
                return 0

        result = scavsim.run(SCENARIO, strategies={"all": All, "stuck": Stuck}, search__strategies=["all", "stuck"])
        rows = {(row.strategy, row.objective): row for row in result.table}
        for objective in ("time", "cost"):
            self.assertEqual(rows["all", objective].failed, 0)
            # Each of sixteen was run: what is left is the luck of a run.
            self.assertLess(rows["all", objective][f"regret_{objective}"], 0.1)
            self.assertEqual(rows["stuck", objective].failed, 5)
        self.assertIn("proposed only 1 configurations in", " ".join(filter(None, result.to_arrow()["reason"].to_pylist())))

    @NEEDS_ARROW
    def test_one_that_goes_wrong_fails_cases_and_never_the_run(self):
        result = scavsim.run(SCENARIO, strategies={"bad": Bad}, replicas=40, search__strategies=["bad"])
        reasons = {row["reason"] for row in rows(result)}
        self.assertEqual(len(reasons), 5, reasons)
        for part in ("RuntimeError: no such luck", "99 of 16", "ValueError: could not convert string to float"):
            self.assertTrue(any(part in (reason or "") for reason in reasons), reasons)
        late = scavsim.run(SCENARIO, strategies={"late": Sleeps}, timeout_s=0.5, replicas=1, search__strategies=["late"])
        self.assertEqual((late.cases, late.failed), (2, 1))

    def test_an_exception_is_a_warning_with_its_traceback(self):
        class Raises(Strategy):
            def search(self, task, testbed):
                raise RuntimeError("no such luck")

        with self.assertWarnsRegex(UserWarning, "strategy `raises` raised") as heard:
            result = scavsim.run(SCENARIO, strategies={"raises": Raises}, search__strategies=["raises"])
        self.assertEqual((result.failed, heard.filename), (10, __file__))
        [*_, place, line, last] = str(heard.warning).splitlines()
        self.assertRegex(place, rf'File "{re.escape(__file__)}", line \d+, in search')
        self.assertEqual((line.strip(), last), ('raise RuntimeError("no such luck")', "RuntimeError: no such luck"))

    def test_threads_see_the_same_in_any_order(self):
        def seen(threads, order):
            own = {}

            class Pool(Strategy):
                def search(self, task, testbed):
                    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
                        told = list(pool.map(lambda at: testbed.probe(at, to_target=True), order))
                    own[task.objective, task.random.random()] = sorted(zip(order, told))
                    return 0

            scavsim.run(SCENARIO, strategies={"pool": Pool}, search__strategies=["pool"])
            return own

        alone = seen(1, range(8))
        # What a probe shows depends on the replica and not on the objective, so that both objectives see the same.
        pairs = {}
        for (_, drawn), told in alone.items():
            pairs.setdefault(drawn, []).append(told)
        self.assertEqual([len(own) for own in pairs.values()], [2] * 5)
        self.assertTrue(all(time == cost for time, cost in pairs.values()))
        self.assertEqual(len({told for own in alone.values() for told in own}), 40)
        for threads, order in [(1, range(7, -1, -1)), (4, range(8)), (4, [3, 1, 4, 0, 5, 2, 6, 7])]:
            self.assertEqual(seen(threads, order), alone)

    def code(self, text):
        """What a program of its own prints; one that hangs is ended."""
        own = f"import resource, scavsim\nSCENARIO = {SCENARIO}\n{textwrap.dedent(text)}"
        return subprocess.run([sys.executable, "-c", own], check=True, capture_output=True, text=True, timeout=120).stdout

    @unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
    def test_after_a_fork_all_is_as_before(self):
        told = self.code(
            """
            import os
            from concurrent.futures import ProcessPoolExecutor
            from multiprocessing import get_context

            class Forks(scavsim.Strategy):
                def search(self, task, testbed):
                    with get_context("fork").Pool(2) as pool:
                        return pool.map(abs, [-7, -5])[1]

            def run(seed):
                return scavsim.run(SCENARIO, seed=seed, replicas=2, strategies={"forks": Forks}, search__strategies=["forks", "random"]).table.to_csv()

            here = [run(seed) for seed in range(3)]
            with ProcessPoolExecutor(2, get_context("fork")) as pool:
                print(list(pool.map(run, range(3))) == here, len(set(here)))
            child = os.fork()
            if child == 0:
                os._exit(run(0) == here[0])
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            """
        )
        self.assertEqual(told, "True 3\n1\n")

    @unittest.skipUnless(os.path.exists("/proc/self/statm"), "this system does not say what memory a process has: none was measured")
    def test_a_thousand_runs_take_no_more_memory(self):
        told = self.code(
            """
            import threading

            class First(scavsim.Strategy):
                def search(self, task, testbed):
                    testbed.probe(0)
                    return 0

            for done in range(1_000):
                scavsim.run(SCENARIO, replicas=1, strategies={"first": First}, search__strategies=["first", "oracle"])
                if done in (199, 999):
                    with open("/proc/self/statm") as file:
                        print(int(file.read().split()[1]) * resource.getpagesize() / 1e6, threading.active_count())
            """
        )
        (before, _), (after, threads) = (map(float, line.split()) for line in told.splitlines())
        self.assertLess(after - before, 8.0, told)
        self.assertLess(threads, 8, told)

    @unittest.skipUnless(has("pandas", "pyarrow"), "pandas with PyArrow is not installed: no summary was made")
    def test_pandas(self):
        result = scavsim.run(SCENARIO)
        frame = result.to_pandas()
        self.assertEqual(frame.shape[0], 20)
        self.assertEqual(len(result.summary()), 4)
        self.assertIn("<table", result._repr_html_())

    @unittest.skipUnless(has("duckdb", "pyarrow"), "DuckDB with PyArrow is not installed: it read nothing")
    def test_duckdb(self):
        import duckdb

        result = scavsim.run(SCENARIO)
        self.assertEqual(duckdb.sql("select count(*) from result").fetchall(), [(20,)])

    @unittest.skipIf(os.name == "nt", "signals are another matter on Windows")
    def test_ctrl_c_ends_each_call_within_a_second(self):
        # Long runs, one whose plans are prepared on one thread, one that waits for a strategy, and commands.
        for call in (
            "run(job, replicas=1_000_000, memory_gb=100)", "run(plans, jobs=1)", "run(job, strategies={'own': Sleeps}, search__strategies=['own'])",
            "rank(plans, runs=100_000)", "compare(job, replicas=10_000_000)", "advise(profile, samples_per_epoch=50_000, runs=100_000)", "reproduce()",
        ):
            code = textwrap.dedent(
                f"""
                import os, scavsim, signal, sys, threading, time
                profile, plans = sys.argv[1:]
                job = {{"workloads": ["scavenger-resnet18"], "fidelity": "event", "variation": {{"step_cv": 0.1}}, "search": {{"strategies": ["oracle", "random"]}}}}
                class Sleeps(scavsim.Strategy):
                    def search(self, task, testbed):
                        time.sleep(60)
                def hit():
                    time.sleep(1.0)
                    hit.at = time.monotonic()
                    os.kill(os.getpid(), signal.SIGINT)
                threading.Thread(target=hit).start()
                try:
                    scavsim.{call}
                    print("finished")
                except KeyboardInterrupt:
                    print(time.monotonic() - hit.at)
                """
            )
            command = [sys.executable, "-c", code, str(SCENARIOS / "example-profile.csv"), str(SCENARIOS / "llm-plans.toml")]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            self.assertNotEqual(done.stdout, "finished\n", call)
            # A second, and what a loaded machine adds.
            self.assertLess(float(done.stdout or "inf"), 2.0, (call, done.stderr))

    def test_a_run_is_stopped_from_another_thread(self):
        stop = threading.Event()
        told = []

        def run():
            try:
                job = {"workloads": ["scavenger-resnet18"], "replicas": 1_000_000, "fidelity": "event"}
                told.append(scavsim.run(job, stop=stop, memory_gb=100))
            except BaseException as error:
                told.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        time.sleep(0.5)
        self.assertEqual(told, [])
        stop.set()
        thread.join(20)
        self.assertIsInstance(told[0], scavsim.Stopped)
        # One that waits for a strategy, too.
        begun = time.monotonic()
        over = threading.Event()
        threading.Timer(0.5, over.set).start()
        with self.assertRaises(scavsim.Stopped):
            scavsim.run(SCENARIO, strategies={"late": Sleeps}, search__strategies=["late"], search__objectives=["cost"], stop=over)
        self.assertLess(time.monotonic() - begun, 4.0)

    def test_records_that_do_not_fit_are_refused(self):
        with self.assertRaisesRegex(MemoryError, r"run_into"):
            scavsim.run(SCENARIO, replicas=4_000_000_000)
        with self.assertRaisesRegex(MemoryError, r"20 cases .* `memory_gb` = 0.00001"):
            scavsim.run(SCENARIO, memory_gb=1e-5)
        scavsim.run(SCENARIO, memory_gb=1e-4)

    @unittest.skipIf(os.name == "nt", "the program here is one of Unix")
    def test_programs_of_a_file_from_elsewhere_start_only_where_that_is_asked_for(self):
        file, started = self.folder / "named.toml", self.folder / "started"
        named = {**SCENARIO, "search": {"strategies": ["full", "mine"], "objectives": ["time"]},
                 "strategy": {"mine": {"command": ["sh", "-c", f"touch '{started}'"]}}}
        file.write_text(scavsim.Scenario(**named).to_toml(), encoding="utf-8")
        for call in (scavsim.run, lambda *given, **own: scavsim.run_into(*given, self.folder / "out", **own), scavsim.compare):
            with self.assertRaisesRegex(scavsim.ProgramError, r"(?s)not in this folder, .*`mine`: sh -c touch .*None was started.*`programs=True`"):
                call(file)
            self.assertFalse(started.exists())
            with contextlib.suppress(scavsim.ProgramError):  # a comparison of failures fails
                call(file, programs=True)
            self.assertTrue(started.exists())
            started.unlink()
        scavsim.check(file)
        scavsim.rank(file, runs=2)
        self.assertFalse(started.exists())
        # A dict is one's own.
        self.assertEqual(scavsim.run(named).failed, 5)
        self.assertTrue(started.exists())

    def test_nodes_are_told_whether_programs_start(self):
        from scavsim import ray

        self.assertEqual([ray._is_own(own) for own in (SCENARIO, "seed = 3", "near.toml", self.folder / "far.toml")], [True, True, True, False])
        for programs in (True, False):
            words = ray._words(ray.Settings(programs=programs), "far.toml", 1, 2, self.folder)
            self.assertEqual("--programs" in words, programs)

    @NEEDS_ARROW
    def test_a_search_without_end_is_bounded(self):
        class Endless(Strategy):
            max_probes = 25

            def search(self, task, testbed):
                while True:
                    testbed.probe(0, steps=1)

        reasons = {row["reason"] for row in rows(scavsim.run(SCENARIO, strategies={"e": Endless}, search__strategies=["e"]))}
        self.assertEqual(reasons, {"the search asked for more than 25 probes (`max_probes`)"})

    def test_the_program_from_python(self):
        ranked = scavsim.rank(SCENARIO, objective="cost", runs=2, cluster__workers=[8, 16])
        costs = [row["cost_usd"] for row in ranked]
        self.assertEqual(costs, sorted(costs))
        self.assertEqual({row["workers"] for row in ranked}, {8, 16})
        profile = SCENARIOS / "example-profile.csv"
        advice = scavsim.advise(profile, samples_per_epoch=50_000, max_time=0.5, runs=20)
        self.assertIsInstance(advice, scavsim.Advice)
        with self.assertRaises(scavsim.Mistakes):
            scavsim.advise(profile, samples_per_epoch=0)
        folder = scavsim.import_profile(profile, self.folder / "w", samples_per_epoch=50_000)
        self.assertEqual(scavsim.check({"workloads": [str(folder)]})["name"], "scenario")
        self.assertTrue(len(scavsim.validate(folder)))
        self.assertTrue(json.dumps(scavsim.reproduce("scavenger")))
        with open(profile, encoding="utf-8") as file:
            lines = [line for line in file if not line.startswith("#")]
        columns = {}
        for row in csv.DictReader(lines):
            for name, cell in row.items():
                columns.setdefault(name, []).append(cell or None)
        again = scavsim.import_profile(columns, self.folder / "w2", samples_per_epoch=50_000)
        # Each row names the file that it came from.
        self.assertEqual((again / "steps.csv").read_text(), (folder / "steps.csv").read_text().replace("example-profile.csv", "profile.csv"))
        with self.assertRaisesRegex(ValueError, "equal length"):
            scavsim.import_profile({"vm": ["a"], "workers": [1, 2]}, self.folder / "w3", samples_per_epoch=50_000)

    def test_folders_pages_and_figures(self):
        out = scavsim.run_into(SCENARIO, self.folder / "out")
        before = (out / "records.csv").read_bytes()
        self.assertEqual((scavsim.run_into(SCENARIO, out, resume=True) / "records.csv").read_bytes(), before)
        self.assertEqual(scavsim.report(out), out / "report.html")
        self.assertIn("<html", (out / "report.html").read_text(encoding="utf-8"))
        figures = scavsim.plot(out, self.folder / "figures", kind=["overhead", "regret"], form="svg")
        self.assertTrue(figures and all(figure.suffix == ".svg" for figure in figures), figures)

    def test_names_make_no_element_attribute_or_script_in_a_page(self):
        def page(name, *others):
            own = {"name": name, "workloads": ["scavenger-resnet18"], "replicas": 2, "search": {"strategies": ["oracle", "random"]}}
            own["vm"] = {vm: {"like": "e2-standard-4"} for vm in others[:4]}
            own["pricing"] = {"policies": others[4:], "define": {price: {"usd_per_vm_hour": 0.1, "description": price} for price in others[4:]}}
            return scavsim.report(scavsim.run_into(own, self.folder / "out", overwrite=True)).read_text(encoding="utf-8")

        # Scenarios and VM types have no `/` in their names.
        hostile = sorted(HOSTILE, key=lambda name: "/" in name)
        shown = page(*hostile)
        self.assertEqual(elements(shown), elements(page(*(f"harmless{at}" for at in range(len(hostile))))))
        for name in hostile[1:]:
            self.assertIn(json.dumps(name)[1:-1].replace("<", "\\u003c"), shown)

    @unittest.skipUnless(has("pandas"), "pandas is not installed: no frame was imported")
    def test_a_frame_of_measurements(self):
        import pandas

        profile = pandas.read_csv(SCENARIOS / "example-profile.csv")
        scavsim.import_profile(profile, self.folder / "w", samples_per_epoch=50_000)
        if has("pyarrow"):
            import pyarrow

            scavsim.import_profile(pyarrow.Table.from_pandas(profile), self.folder / "a", samples_per_epoch=50_000)
            self.assertEqual((self.folder / "a" / "steps.csv").read_text(), (self.folder / "w" / "steps.csv").read_text())
        with self.assertRaisesRegex(scavsim.Mistakes, "`step_s`"):
            scavsim.import_profile(profile.rename(columns={"step_s": "step"}), self.folder / "x", samples_per_epoch=50_000)


if __name__ == "__main__":
    unittest.main()
