"""A search strategy in Python: the same class within a program, `scavsim.run(…, strategies={"mine": Mine})`, and as a
program of its own, `serve(Mine)`, that a scenario names in `[strategy.mine]`.

    class Mine(Strategy):
        def search(self, task, testbed):
            tried = task.random.sample(range(len(task.configurations)), 3)
            return min(tried, key=lambda at: testbed.probe(at, to_target=True).reached_s or math.inf)

It needs no native part.
"""

from __future__ import annotations

import copy
import json
import operator
import os
import queue
import random
import sys
import threading
import time
from dataclasses import dataclass, field, fields
from typing import Any, Callable, Dict, List, Optional, Sequence, Type, Union

__all__ = ["AskTell", "Observation", "Strategy", "Task", "Testbed", "serve"]


@dataclass(frozen=True)
class Task:
    """What a search is asked. `scavsim` tells no more than the strategy says that it depends on."""

    workload: str
    configurations: List[Dict[str, Any]]
    """Each by its axes: `vm`, `workers`, `batch` in samples, or those of a measured grid. Results refer to their order."""
    machines: Optional[List[Optional[Dict[str, Any]]]]
    """What a VM of each configuration has: `vcpu`, `memory_gib`, `gpus`; None of those that are in no catalogue, and as a whole
    where none is."""
    samples_per_epoch: Optional[float]
    stated_epochs: Optional[float]
    parameters: Optional[float]
    cold_start_steps: int
    probe_steps: int
    limits: Dict[str, Optional[float]]
    """`max_time_s`, `max_cost_usd`, `max_miss`."""
    earlier_runs: Optional[List[Dict[str, Any]]]
    objective: Optional[str]
    """`time`, `cost` or `knee`."""
    repeats: int
    """How often the job will be run."""
    usd_per_hour: Optional[List[Optional[float]]]
    """Of each configuration."""
    random: random.Random
    """Seeded: what is drawn from it is the same on any number of threads."""
    fidelities: List[float] = field(default_factory=list)
    """Shares of a run that its cheap versions have, on part of the data or for part of the epochs, from the least."""
    quality_at_least: Optional[float] = None
    quality_at_most: Optional[float] = None
    """What the quality of a run has to come to, where that is the target."""
    other_jobs: Optional[List[Dict[str, Any]]] = None
    """Runs of other jobs on the same configurations, each job with its runs; None of a strategy that does not take them."""


@dataclass(frozen=True)
class Observation:
    """What a probe shows; None where it does not."""

    steps: Optional[int] = None
    step_s: Optional[float] = None
    """Mean seconds of a step."""
    compute_s: Optional[float] = None
    communication_s: Optional[float] = None
    noise_normalised: Optional[float] = None
    """γ/K."""
    quality: Optional[float] = None
    """What the target is about, such as an accuracy."""
    reached_s: Optional[float] = None
    """Seconds from the start to the target."""
    more_than_s: Optional[float] = None
    """It takes more than so many."""
    failed_s: Optional[float] = None
    """It is never reached: the run failed after so many."""


class Strategy:
    """A strategy. Every search has a new object of it, so that none knows of another."""

    objective = True
    """Whether it knows the objective, with a search for each."""
    prices = True
    """Whether it knows prices and what it spent, with a search for each pricing policy."""
    earlier_runs = False
    """Whether it takes all earlier runs of the workload, which records then count."""
    other_jobs = False
    """Whether it takes the runs of other jobs, which records then count."""
    max_probes = 10_000
    """Probes and cold starts beyond which a search fails. Of a program, the key of the same name in its table."""
    max_search_s = 3600.0
    """Seconds beyond which a search fails, looked at when it asks for something. Of a program, the key in its table."""

    def search(self, task: Task, testbed: "Testbed") -> Union[int, Sequence[Optional[float]]]:
        """Searches.

        Returns:
            The number of a configuration; or the seconds to the target that are predicted for each, None where nothing is
            known, from which the objective picks.
        """
        raise NotImplementedError(f"{type(self).__name__} has no search(task, testbed)")


class AskTell(Strategy):
    """A search by trials, as libraries of optimisation have it: `ask` proposes a configuration, which is run to the target, and `tell`
    hears what that came to. After `n_trials` different runs the best of them is taken.

    Example:
        >>> from scavsim import AskTell
        >>> class Next(AskTell):
        ...     n_trials = 3
        ...     def ask(self):
        ...         return len(self.trials)  # numbers of configurations, in their order
    """

    n_trials = 10
    """Runs that are paid for; at most one of each configuration."""

    task: Task
    """What is asked: `task.configurations`, `task.random`, `task.objective`."""
    trials: Dict[int, Optional[float]]
    """Configurations that were run, each with its value; None where the target was not reached."""

    def start(self) -> None:
        """Called once before the first `ask`, when `task` is known."""

    def ask(self) -> int:
        """The number of the configuration to try next."""
        raise NotImplementedError(f"{type(self).__name__} has no ask()")

    def tell(self, configuration: int, value: Optional[float]) -> None:
        """What a run came to: seconds where the objective is `time`, USD where it is `cost`, their product where it is `knee`; None
        where it did not reach the target. The less, the better. One that was run before is told again, and costs nothing."""

    def search(self, task: Task, testbed: "Testbed") -> int:
        """Asks and tells until `n_trials` configurations were run: the best of them."""
        self.task, self.trials = task, {}
        self.start()
        most = min(self.n_trials, len(task.configurations))
        asked = 0
        while len(self.trials) < most:
            asked += 1
            if asked > 100 * most:
                raise RuntimeError(f"{type(self).__name__}.ask proposed only {len(self.trials)} configurations in {asked - 1} trials")
            at = operator.index(self.ask())
            if at not in self.trials:
                before = testbed.spent_usd
                seconds = testbed.probe(at, to_target=True).reached_s
                self.trials[at] = _value(task.objective, seconds, before, testbed.spent_usd)
            self.tell(at, self.trials[at])
        reached = {at: value for at, value in self.trials.items() if value is not None}
        if not reached:
            raise RuntimeError("no run reached the target")
        return min(reached, key=lambda at: reached[at])


def _value(objective: Optional[str], seconds: Optional[float], before_usd: Optional[float], after_usd: Optional[float]) -> Optional[float]:
    if seconds is None or objective in (None, "time"):
        return seconds
    if after_usd is None:
        raise RuntimeError("a strategy that asks and tells by cost needs `prices = True`")
    usd = after_usd - (before_usd or 0.0)
    return usd if objective == "cost" else seconds * usd


Maker = Union[Strategy, Type[Strategy], Callable[[], Strategy]]


class Testbed:
    """Where configurations can be tried, by their numbers. What was spent so far stands in `spent_s` and `spent_usd`.

    Threads of a search may share it: one question is answered after the other. It is closed when `search` returns."""

    def __init__(self, ask: Callable[[Dict[str, Any]], Dict[str, Any]]) -> None:
        self._ask: Optional[Callable[[Dict[str, Any]], Dict[str, Any]]] = ask
        self._lock = threading.Lock()
        self._process = os.getpid()
        self.spent_s = 0.0
        self.spent_usd: Optional[float] = None

    def probe(
        self,
        configuration: int,
        *,
        steps: Optional[int] = None,
        share: Optional[float] = None,
        fidelity: Optional[float] = None,
        seconds: Optional[float] = None,
        usd: Optional[float] = None,
        to_target: bool = False,
    ) -> Observation:
        """Tries a configuration for so many steps, a share of a run, so many seconds or USD, or in a run of its own to the
        target; in a cheap version, one of `task.fidelities`; for `probe_steps` of the task where nothing is said."""
        said = {"steps": steps, "share": share, "fidelity": fidelity, "seconds": seconds, "usd": usd, "to_target": to_target or None}
        probe = {key: value for key, value in said.items() if value is not None}
        return self._tell({"probe": {"configuration": operator.index(configuration), **probe}})

    def cold_start(self, configuration: int, steps: Optional[int] = None) -> None:
        """Trains a configuration until its noise has settled: `cold_start_steps` of the task where nothing is said."""
        cold_start: Dict[str, Any] = {"configuration": operator.index(configuration)}
        if steps is not None:
            cold_start["steps"] = steps
        self._tell({"cold_start": cold_start})

    def _tell(self, question: Dict[str, Any]) -> Observation:
        if os.getpid() != self._process:
            raise RuntimeError("a forked child has no testbed")
        with self._lock:
            if self._ask is None:
                raise RuntimeError("the search of this testbed is over")
            told = self._ask(question)
            self.spent_s, self.spent_usd = told["spent_s"], told["spent_usd"]
        return Observation(**(told["observation"] or {}))

    def _close(self) -> None:
        """Ends it, once the question under way has been answered: an answer has nobody else to go to."""
        with self._lock:
            self._ask = None


def serve(strategy: Maker) -> None:
    """Searches as a program of its own, until there is no more to do. A mistake in the strategy ends the program, and its
    last line becomes the reason of the failed case."""
    output = sys.stdout
    # What the strategy prints is no answer.
    sys.stdout = sys.stderr
    number = None

    def hear() -> Dict[str, Any]:
        nonlocal number
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        told = json.loads(line)
        number = told.pop("number", None)
        return told

    def say(answer: Dict[str, Any]) -> None:
        output.write(_line(answer if number is None else {"number": number, **answer}))
        output.flush()

    def ask(question: Dict[str, Any]) -> Dict[str, Any]:
        say(question)
        return hear()

    while True:
        told = hear()
        say({"ready": True} if "over" in told else _searched(strategy, told, ask))


class Session:
    """A conversation with a strategy in this process, which searches on a thread of its own; `stop` ends the wait for it, and `raised`
    hears what it raises."""

    def __init__(self, strategy: Maker, timeout_s: float = 60.0, stop: Optional[threading.Event] = None,
                 raised: Callable[[BaseException], Any] = lambda error: None) -> None:
        self._strategy = strategy
        self._timeout_s = timeout_s
        self._stop = stop
        self._raised = raised
        self._told: "queue.SimpleQueue[Optional[str]]" = queue.SimpleQueue()
        self._said: "queue.SimpleQueue[str]" = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True, name="scavsim strategy").start()

    def answer(self, line: str) -> str:
        """The answer to a line of JSON."""
        self._told.put(line)
        deadline = time.monotonic() + self._timeout_s
        while (left := deadline - time.monotonic()) > 0.0:
            try:
                return self._said.get(timeout=min(left, _LOOK_S))
            except queue.Empty:
                if self._stop is not None and self._stop.is_set():
                    raise InterruptedError("interrupted") from None
        raise TimeoutError(f"the strategy gave no answer within {self._timeout_s:g} s")

    def close(self) -> None:
        """Ends the thread, once it asks for something."""
        self._told.put(None)

    def _listen(self) -> None:
        try:
            while (line := self._told.get()) is not None:
                try:
                    answer = _line(_searched(self._strategy, json.loads(line), self._ask))
                except _Closed:
                    raise
                except BaseException as error:  # whatever it is, it ends a search and not the run
                    self._raised(error)
                    answer = _line({"fail": f"{type(error).__name__}: {error}"})
                self._said.put(answer)
        except _Closed:
            pass

    def _ask(self, question: Dict[str, Any]) -> Dict[str, Any]:
        self._said.put(_line(question))
        line = self._told.get()
        if line is None:
            # For each thread that asks, and for the search itself.
            self._told.put(None)
            raise _Closed
        return json.loads(line)


# Between two looks at whether anybody waits any more.
_LOOK_S = 0.05


class _Closed(SystemExit):
    """The search is over, and nobody listens: whichever thread asks ends without a word."""


_OF_TASK = {of.name for of in fields(Task)}


def _line(answer: Dict[str, Any]) -> str:
    return json.dumps(answer, allow_nan=False) + "\n"


def _searched(strategy: Maker, told: Dict[str, Any], ask: Callable[[Dict[str, Any]], Dict[str, Any]]) -> Dict[str, Any]:
    """The answer that ends a search."""
    # What a later version says besides is nothing to a strategy of today.
    known = {key: value for key, value in told["task"].items() if key in _OF_TASK}
    search = told["search"]
    drawn = random.Random(search.pop("seed"))
    own = copy.deepcopy(strategy) if isinstance(strategy, Strategy) else strategy()
    begun = os.getpid()
    testbed = Testbed(ask)
    try:
        result = own.search(Task(**known, **search, random=drawn), testbed)
    finally:
        if os.getpid() != begun:
            # A child that the strategy forked and did not end: what it says would be a second answer, and nobody ends it.
            os._exit(0)
        testbed._close()
    if hasattr(result, "__index__"):
        return {"choose": operator.index(result)}
    if result is None:
        raise TypeError(f"{type(own).__name__}.search returned None; expected a configuration or predicted seconds of each")
    return {"predict": [None if time_s is None else float(time_s) for time_s in result]}
