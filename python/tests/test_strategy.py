"""Strategies in Python, without the native part: the same class in this process and as a program."""

import contextlib
import io
import json
import os
import subprocess
import sys
import threading
import time
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor

from scavsim.strategy import Session, Strategy

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

BEGIN = {
    "task": {
        "protocol": 1, "workload": "w", "configurations": [{"workers": k} for k in (2, 4, 8)], "machines": None,
        "samples_per_epoch": 100.0,
        "stated_epochs": None, "parameters": None, "cold_start_steps": 5, "probe_steps": 20, "earlier_runs": None,
        "limits": {"max_time_s": None, "max_cost_usd": None, "max_miss": None},
    },
    "search": {"seed": 7, "objective": "time", "repeats": 1, "usd_per_hour": [1.0, 2.0, 4.0]},
}


class Two(Strategy):
    """Tries two at random and takes the faster one."""

    tried = 0

    def search(self, task, testbed):
        self.tried += 1
        if self.tried > 1:
            raise AssertionError("an object searches twice")
        testbed.cold_start(0)
        seen = {at: testbed.probe(at, to_target=True).reached_s for at in task.random.sample(range(3), 2)}
        assert testbed.spent_s > 0.0
        return min(seen, key=seen.get)


class Cheap(Strategy):
    """Takes the first of which a cheap version shows enough quality."""

    def search(self, task, testbed):
        for at in range(3):
            if testbed.probe(at, fidelity=task.fidelities[0]).quality >= task.quality_at_least:
                return at


class Predicts(Strategy):
    def search(self, task, testbed):
        return [10.0, None, 3]


class Raises(Strategy):
    def search(self, task, testbed):
        raise ValueError("no such luck")


class Nothing(Strategy):
    def search(self, task, testbed):
        pass


class NotFinite(Strategy):
    def search(self, task, testbed):
        return [float("nan")] * 3


class Prints(Strategy):
    def search(self, task, testbed):
        print('{"choose": 1}\ngarbage')
        return 2


class Forks(Strategy):
    probes = False
    children = []

    def search(self, task, testbed):
        child = os.fork()
        self.children.append(child)
        if self.probes:
            testbed.probe(0)
        return 1


class ForksAndProbes(Forks):
    probes = True


class Eats(Strategy):
    def search(self, task, testbed):
        return [0.0] * (1 << 60)


class Sleeps(Strategy):
    def search(self, task, testbed):
        time.sleep(30)


class Pool(Strategy):
    """Asks from four threads at once."""

    def search(self, task, testbed):
        with ThreadPoolExecutor(4) as pool:
            seen = list(pool.map(lambda at: testbed.probe(at, to_target=True).reached_s, [0, 1, 2] * 20))
        # Each has the answer to its own question.
        assert seen == [100.0 - at for at in [0, 1, 2] * 20], seen
        return 2


class Kept(Strategy):
    """Keeps its testbed, and has a thread that outlives the search."""

    boxes = []

    def search(self, task, testbed):
        late = threading.Event()
        box = {"testbed": testbed, "late": late}

        def after():
            late.wait(20)
            try:
                testbed.probe(7)
            except BaseException as error:
                box["refused"] = error

        box["thread"] = threading.Thread(target=after, daemon=True)
        box["thread"].start()
        self.boxes.append(box)
        testbed.probe(0)
        box["spent"] = (testbed.spent_s, testbed.spent_usd)
        return 1


class Zero(Strategy):
    def search(self, task, testbed):
        testbed.probe(0, steps=0)
        return [0.0, None, 0]


def converse(answer):
    """What is asked until the search is over, each probe answered by seconds that fall with the number."""
    asked, line, spent = [], json.dumps(BEGIN), 0.0
    while True:
        said = json.loads(answer(line + "\n"))
        asked.append(said)
        if not {"probe", "cold_start"} & said.keys():
            return asked
        spent += 60.0
        at = said.get("probe", {}).get("configuration")
        seen = None if at is None else {"steps": None, "step_s": None, "compute_s": None, "communication_s": None,
                                        "noise_normalised": None, "reached_s": 100.0 - at, "more_than_s": None, "failed_s": None}
        line = json.dumps({"observation": seen, "spent_s": spent, "spent_usd": 0.5})


class InProcess(unittest.TestCase):
    def session(self, strategy, **settings):
        session = Session(strategy, **settings)
        self.addCleanup(session.close)
        return session

    def test_probes_and_chooses(self):
        session = self.session(Two)
        first, second = converse(session.answer), converse(session.answer)
        self.assertEqual(first, second)  # the same seed, and nothing is kept
        self.assertEqual(first[0], {"cold_start": {"configuration": 0}})
        tried = [said["probe"]["configuration"] for said in first[1:3]]
        self.assertEqual([said["probe"]["to_target"] for said in first[1:3]], [True, True])
        self.assertEqual(first[3], {"choose": max(tried)})

    def test_buys_cheap_versions_and_sees_their_quality(self):
        answer = self.session(Cheap).answer
        task = {**BEGIN["task"], "fidelities": [0.25, 0.5], "quality_at_least": 0.9, "quality_at_most": None}
        asked = json.loads(answer(json.dumps({**BEGIN, "task": task})))
        self.assertEqual(asked, {"probe": {"configuration": 0, "fidelity": 0.25}})
        for quality, said in [(0.8, {"probe": {"configuration": 1, "fidelity": 0.25}}), (0.9, {"choose": 1})]:
            told = {"observation": {"quality": quality}, "spent_s": 1.0, "spent_usd": 0.1}
            self.assertEqual(json.loads(answer(json.dumps(told))), said)

    def test_threads_of_a_search_have_their_own_answers(self):
        asked = converse(self.session(Pool).answer)
        self.assertEqual((len(asked), asked[-1]), (61, {"choose": 2}))

    def test_a_testbed_ends_with_its_search(self):
        session = self.session(Kept)
        for _ in range(3):
            self.assertEqual(converse(session.answer), [{"probe": {"configuration": 0}}, {"choose": 1}])
            box = Kept.boxes.pop()
            with self.assertRaisesRegex(RuntimeError, "the search of this testbed is over"):
                box["testbed"].probe(0)
            self.assertEqual(box["spent"], (60.0, 0.5))
            # The next search hears nothing of what a thread of this one asks.
            answer = session.answer(json.dumps(BEGIN) + "\n")
            box["late"].set()
            box["thread"].join(20)
            self.assertIsInstance(box["refused"], RuntimeError)
            self.assertEqual(json.loads(answer), {"probe": {"configuration": 0}})
            told = {"observation": None, "spent_s": 60.0, "spent_usd": 0.5}
            self.assertEqual(json.loads(session.answer(json.dumps(told))), {"choose": 1})
            Kept.boxes.pop()

    def test_what_is_nothing_is_not_left_out(self):
        # No steps are a mistake to be told, and no seconds another one; neither is the absence of a number.
        asked = converse(self.session(Zero).answer)
        self.assertEqual(asked, [{"probe": {"configuration": 0, "steps": 0}}, {"predict": [0.0, None, 0.0]}])

    def test_one_that_is_stopped_is_not_waited_for(self):
        stop = threading.Event()
        threading.Timer(0.2, stop.set).start()
        begun = time.monotonic()
        with self.assertRaises(InterruptedError):
            converse(self.session(Sleeps, stop=stop).answer)
        self.assertLess(time.monotonic() - begun, 5.0)

    def test_another_seed_draws_otherwise(self):
        session = self.session(Two)
        begun = [json.dumps({**BEGIN, "search": {**BEGIN["search"], "seed": seed}}) for seed in range(8)]
        tried = set()
        for line in begun:
            answers = iter([line])
            tried.add(str(converse(lambda told: session.answer(next(answers, told)))[1:3]))
        self.assertGreater(len(tried), 2)

    def test_an_object_is_copied_for_each_search(self):
        session = self.session(Two())
        self.assertEqual(converse(session.answer), converse(session.answer))

    def test_predicts(self):
        self.assertEqual(converse(self.session(Predicts).answer), [{"predict": [10.0, None, 3.0]}])

    def test_what_goes_wrong_fails_the_search(self):
        for strategy, why in [(Raises, "ValueError: no such luck"), (Nothing, "TypeError: Nothing.search returned None"),
                              (Strategy, "NotImplementedError"), (NotFinite, "ValueError: Out of range"), (Eats, "MemoryError")]:
            session = self.session(strategy)
            for _ in range(2):
                [said] = converse(session.answer)
                self.assertTrue(said["fail"].startswith(why), said)

    @unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
    def test_one_that_forks_answers_once_and_leaves_nothing(self):
        for strategy, said in [(Forks, [{"choose": 1}]), (ForksAndProbes, [{"probe": {"configuration": 0}}, {"choose": 1}])]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
                self.assertEqual(converse(self.session(strategy).answer), said)
            child = strategy.children.pop()
            deadline = time.monotonic() + 20
            while os.waitpid(child, os.WNOHANG) == (0, 0):
                self.assertLess(time.monotonic(), deadline, "the child lives on")
                time.sleep(0.01)

    def test_what_one_prints_is_no_answer(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(converse(self.session(Prints).answer), [{"choose": 2}])

    def test_one_that_sleeps_is_not_waited_for(self):
        with self.assertRaisesRegex(TimeoutError, "no answer within 0.2 s"):
            converse(self.session(Sleeps, timeout_s=0.2).answer)

    def test_threads_end_with_their_sessions(self):
        session = Session(Two)
        session.answer(json.dumps(BEGIN))  # in the middle of a search
        before = threading.active_count()
        session.close()
        for _ in range(100):
            if threading.active_count() < before:
                return
            time.sleep(0.01)
        self.fail("the thread goes on")


class AsAProgram(unittest.TestCase):
    def program(self, strategy):
        code = f"import sys; sys.path.insert(0, 'tests'); import test_strategy as t; from scavsim.strategy import serve; serve(t.{strategy})"
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process = subprocess.Popen([sys.executable, "-c", code], cwd=PACKAGE, **pipes)
        self.addCleanup(process.communicate)

        def answer(line):
            process.stdin.write(line)
            process.stdin.flush()
            return process.stdout.readline()

        return process, answer

    def test_says_what_it_says_in_process(self):
        process, answer = self.program("Two")
        session = Session(Two)
        self.addCleanup(session.close)
        self.assertEqual(converse(answer), converse(session.answer))
        self.assertEqual(converse(answer), converse(session.answer))

    def test_repeats_the_numbers_of_lines(self):
        _, answer = self.program("Two")

        def numbered(number, told):
            said = json.loads(answer(json.dumps({"number": number, **told}) + "\n"))
            self.assertEqual(said.pop("number"), number)
            return said

        for first in (1, 10):
            self.assertEqual(numbered(first, BEGIN), {"cold_start": {"configuration": 0}})
            spent = {"spent_s": 1.0, "spent_usd": None}
            self.assertIn("probe", numbered(first + 1, {"observation": None, **spent}))
            seen = {"observation": {"reached_s": 3.0}, **spent}
            self.assertIn("probe", numbered(first + 2, seen))
            self.assertIn("choose", numbered(first + 3, seen))
            self.assertEqual(numbered(first + 4, {"over": True}), {"ready": True})

    def test_what_it_prints_is_no_answer(self):
        _, answer = self.program("Prints")
        self.assertEqual(converse(answer), [{"choose": 2}])
        self.assertEqual(converse(answer), [{"choose": 2}])

    @unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
    def test_a_child_of_it_answers_nothing(self):
        process, answer = self.program("Forks")
        for _ in range(3):
            self.assertEqual(converse(answer), [{"choose": 1}])
        # Its output ends with it: no child holds it open.
        self.assertEqual(process.communicate(timeout=20)[0], "")

    def test_its_mistake_is_the_last_line_of_its_traceback(self):
        process, answer = self.program("Raises")
        self.assertEqual(answer(json.dumps(BEGIN) + "\n"), "")
        [*_, line, last] = process.communicate()[1].splitlines()
        self.assertEqual((line.strip(), last), ('raise ValueError("no such luck")', "ValueError: no such luck"))


if __name__ == "__main__":
    unittest.main()
