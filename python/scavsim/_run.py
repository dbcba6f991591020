"""`run` and `check`, in this process."""

from __future__ import annotations

import sys
import threading
import time
import traceback
import warnings
from typing import Any, Dict, List, Mapping, Optional, Tuple

from . import _native, _scenario
from ._result import Result
from .strategy import Maker, Session, Strategy


def run(scenario: _scenario.Given, *, jobs: Optional[int] = None, strategies: Optional[Mapping[str, Maker]] = None,
        timeout_s: float = 60.0, progress: Optional[bool] = None, stop: Optional[threading.Event] = None,
        memory_gb: float = 8.0, programs: bool = False, **overrides: Any) -> Result:
    """Runs a scenario on all cores. The interpreter's lock is released; Ctrl-C ends it within a second.

    Args:
        scenario: a path; a text of TOML; a dict; a `Scenario`.
        jobs: threads; all cores if absent. Results do not depend on it.
        strategies: strategies of one's own by the names that the scenario gives them, each a class of `Strategy`.
        timeout_s: seconds within which each answer of these comes.
        progress: whether it is shown; on a terminal and in notebooks if absent.
        stop: ends the run once it is set, as Ctrl-C does where the run has the main thread.
        memory_gb: what its records may take in memory; `run_into` writes them to a folder.
        programs: start the programs that a scenario names whose file is outside of the working folder.
        overrides: keys of the scenario; `cluster__workers=[8, 16]` is `cluster.workers`.

    Warns:
        UserWarning: what is to be minded of prices: none is named, one holds for several VM types, spot prices are without losses.
            A strategy of one's own that raised, with the traceback of its first exception.

    Raises:
        Mistakes: all that is wrong with the scenario, with its places.
        ProgramError: the file is outside of the working folder and names programs, and `programs` is not set. None was started.
        MemoryError: its records would take more than `memory_gb`.
        Stopped: `stop` was set.
        TypeError: what was given is no scenario.

    Example:
        >>> import scavsim
        >>> result = scavsim.run({"workloads": ["scavenger-resnet18"], "replicas": 5, "search": {"strategies": ["oracle", "random"]}})
        >>> result.failed, sorted({row.strategy for row in result.table})
        (0, ['oracle', 'random'])
    """
    text, places = _scenario.read(scenario)
    over = threading.Event()
    raised: Dict[str, str] = {}
    shown = _Progress() if (progress if progress is not None else _is_watched()) else None
    try:
        opened = _opened(strategies, timeout_s, over, raised)
        records = _native.run(text, _scenario.overrides(overrides), opened, jobs, shown, stop, over, int(memory_gb * 1e9), programs)
    except _native.Mistakes as mistakes:
        raise _scenario.placed(mistakes, places) from None
    finally:
        if shown:
            shown.clear()
    for remark in records.remarks:
        warnings.warn(f"{records.name}: {remark}", stacklevel=2)
    for name, told in raised.items():
        warnings.warn(f"{records.name}: the strategy `{name}` raised an exception, which failed its case\n{told}", stacklevel=2)
    return Result(records)


def check(scenario: _scenario.Given, *, strategies: Optional[Mapping[str, Maker]] = None, **overrides: Any) -> Dict[str, Any]:
    """Checks a scenario and runs nothing.

    Returns:
        Its `name`, and how many `cases` it has.

    Raises:
        Mistakes: all that is wrong with it, with its places.

    Example:
        >>> import scavsim
        >>> scavsim.check({"name": "small", "workloads": ["scavenger-resnet18"], "replicas": 2, "search": {"strategies": ["oracle"]}})["name"]
        'small'
    """
    text, places = _scenario.read(scenario)
    try:
        name, cases = _native.check(text, _scenario.overrides(overrides), _opened(strategies, 60.0, threading.Event(), {}))
    except _native.Mistakes as mistakes:
        raise _scenario.placed(mistakes, places) from None
    return {"name": name, "cases": cases}


def _opened(strategies: Optional[Mapping[str, Maker]], timeout_s: float, over: threading.Event, raised: Dict[str, str]) -> List[_native.Opened]:
    def opened(name: str, maker: Maker) -> Any:
        def keep(error: BaseException) -> None:
            if name not in raised:
                raised[name] = "".join(traceback.format_exception(error))

        return lambda: Session(maker, timeout_s, over, keep)

    def told(maker: Maker, what: str) -> Any:
        return getattr(maker, what, getattr(Strategy, what))

    def told_of(maker: Maker) -> Tuple[bool, bool, bool, bool]:
        of = [bool(told(maker, what)) for what in ("objective", "prices", "earlier_runs", "other_jobs")]
        return of[0], of[1], of[2], of[3]

    own = (strategies or {}).items()
    return [(name, opened(name, s), told_of(s), (int(told(s, "max_probes")), float(told(s, "max_search_s")))) for name, s in own]


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class _Progress:
    """A line that is written over, after a first second without."""

    def __init__(self) -> None:
        self._next = time.monotonic() + 1.0
        self._written = 0

    def __call__(self, done: int, cases: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 0.2
        line = f"{done} of {cases} cases"
        sys.stderr.write("\r" + line.ljust(self._written))
        sys.stderr.flush()
        self._written = len(line)

    def clear(self) -> None:
        if self._written:
            sys.stderr.write("\r" + " " * self._written + "\r")
            sys.stderr.flush()
