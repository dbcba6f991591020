"""scavsim from Python: machine-learning training on rented clusters, simulated; search strategies against an oracle.

    import scavsim

    result = scavsim.run({"workloads": ["scavenger-resnet18"], "replicas": 20})
    print(result.summary())

`run` and `check` are here; `run_into`, `rank`, `advise`, `import_profile`, `validate`, `reproduce`, `plot` ask the program. A strategy of
one's own is a `Strategy`. `scavsim.record` writes the profile of a real training, and `scavsim.ray` runs on more than one machine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, List

# Imported when they are asked for: `scavsim.record` and `scavsim.strategy` need no native part.
_PLACES = {
    "run": "_run",
    "check": "_run",
    "Mistakes": "_native",
    "Stopped": "_native",
    "__version__": "_native",
    "Result": "_result",
    "ProgramError": "_program",
    "Table": "_program",
    "run_into": "_program",
    "rank": "_program",
    "advise": "_program",
    "import_profile": "_program",
    "validate": "_program",
    "reproduce": "_program",
    "plot": "_program",
    "Observation": "strategy",
    "Strategy": "strategy",
    "Task": "strategy",
    "Testbed": "strategy",
}

__all__ = [name for name in _PLACES if not name.startswith("_")]

if TYPE_CHECKING:
    from ._native import Mistakes, Stopped, __version__
    from ._program import ProgramError, Table, advise, import_profile, plot, rank, reproduce, run_into, validate
    from ._result import Result
    from ._run import check, run
    from .strategy import Observation, Strategy, Task, Testbed


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'scavsim' has no attribute {name!r}")
    return getattr(import_module("." + _PLACES[name], __name__), name)


def __dir__() -> List[str]:
    return sorted([*globals(), *_PLACES])
