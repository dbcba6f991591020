"""scavsim from Python: machine-learning training on rented clusters, simulated; search strategies against an oracle.

    import scavsim

    result = scavsim.run({"workloads": ["scavenger-resnet18"], "replicas": 20})
    print(result.summary())

- What to rent, from measurements: `advise`; a workload of them: `import_profile`.
- A scenario, as a path, a text, a dict or a `Scenario`: `run`, `check`, `run_into`, `rank`, `compare`.
- What scenarios can name: `workloads`, `strategies`, `policies`, `vms`, `prices`.
- How true it is: `validate`, `reproduce`. Figures and pages: `plot`, `report`.
- A strategy of one's own: `Strategy`, or `AskTell`; with Optuna's samplers, `scavsim.integrations.optuna`.
- A policy of one's own, which decides during a run: `scavsim.policy`.
- `scavsim.record` writes the profile of a real training, `scavsim.ray` runs on more than one machine, `scavsim.integrations` logs to
  MLflow and Weights & Biases.
"""

from __future__ import annotations

import importlib as _importlib
import typing as _typing

# Imported when they are asked for: `scavsim.policy`, `scavsim.record` and `scavsim.strategy` need no native part.
_PLACES = {
    "_answers": ["Advice", "Comparison", "Ranking"],
    "_commands": ["advise", "compare", "import_profile", "plot", "policies", "prices", "rank", "report", "reproduce", "run_into", "strategies",
                  "validate", "vms", "workloads"],
    "_native": ["Mistakes", "Stopped", "__version__"],
    "_program": ["ProgramError"],
    "_result": ["Result"],
    "_run": ["check", "run"],
    "_table": ["Row", "Table"],
    "scenario": ["Scenario"],
    "strategy": ["AskTell", "Observation", "Strategy", "Task", "Testbed"],
}
_PLACE = {name: place for place, names in _PLACES.items() for name in names}
_MODULES = ["integrations", "policy", "ray", "record", "scenario", "strategy"]

# Written out for those who check types; a test holds it to the places.
__all__ = [
    "Advice", "AskTell", "Comparison", "Mistakes", "Observation", "ProgramError", "Ranking", "Result", "Row", "Scenario", "Stopped",
    "Strategy", "Table", "Task", "Testbed", "advise", "check", "compare", "import_profile", "plot", "policies", "prices", "rank", "report",
    "reproduce", "run", "run_into", "strategies", "validate", "vms", "workloads",
]

if _typing.TYPE_CHECKING:
    from ._answers import Advice, Comparison, Ranking
    from ._commands import (advise, compare, import_profile, plot, policies, prices, rank, report, reproduce, run_into, strategies, validate, vms,
                            workloads)
    from ._native import Mistakes, Stopped
    from ._native import __version__ as __version__
    from ._program import ProgramError
    from ._result import Result
    from ._run import check, run
    from ._table import Row, Table
    from .scenario import Scenario
    from .strategy import AskTell, Observation, Strategy, Task, Testbed

del annotations


def __getattr__(name: str) -> _typing.Any:
    if name in _PLACE:
        return getattr(_importlib.import_module("." + _PLACE[name], __name__), name)
    if name in _MODULES:
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'scavsim' has no attribute {name!r}")


def __dir__() -> _typing.List[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
