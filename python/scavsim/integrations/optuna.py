"""Optuna: its samplers as strategies.

    import optuna, scavsim
    from scavsim.integrations.optuna import Sampler

    tpe = Sampler(lambda seed: optuna.samplers.TPESampler(seed=seed), n_trials=10)
    scavsim.run(scenario, strategies={"tpe": tpe}, search__strategies=["oracle", "tpe", "random"])
"""

from __future__ import annotations

import importlib
from typing import Any, Callable, Dict, List, Optional, Tuple

from ..strategy import AskTell

# Proposals, one after the other, of combinations that there are not or that were run before; then one is drawn.
_MOST_IN_VAIN = 50


class Sampler(AskTell):
    """A strategy that runs what a sampler of Optuna suggests, and takes the best. Each axis of the configurations is categorical. A
    combination that there is not is told as worse than all, and costs nothing. Optuna's messages of less than a warning are turned off.

    Args:
        sampler: makes a sampler from a seed, so that results do not depend on the number of threads.
        n_trials: runs that are paid for.
    """

    def __init__(self, sampler: Callable[[int], Any], n_trials: int = 10) -> None:
        self.sampler = sampler
        self.n_trials = n_trials

    def start(self) -> None:
        optuna: Any = importlib.import_module("optuna")
        # A line per search would be thousands.
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._study = optuna.create_study(sampler=self.sampler(self.task.random.randrange(2**32)))
        configurations = self.task.configurations
        self._levels: Dict[str, List[Any]] = {key: list(dict.fromkeys(own[key] for own in configurations)) for key in configurations[0]}
        self._places: Dict[Tuple[Any, ...], int] = {tuple(own[key] for key in self._levels): at for at, own in enumerate(configurations)}
        self._trial: Any = None
        self._worst = 1.0

    def ask(self) -> int:
        for _ in range(_MOST_IN_VAIN):
            self._trial = self._study.ask()
            at = self._places.get(tuple(self._trial.suggest_categorical(key, own) for key, own in self._levels.items()))
            if at is not None and at not in self.trials:
                return at
            # A hole is worse than all; what was run before is told again.
            self.tell(at if at is not None else -1, None if at is None else self.trials[at])
        self._trial = None
        return self.task.random.choice([at for at in range(len(self.task.configurations)) if at not in self.trials])

    def tell(self, configuration: int, value: Optional[float]) -> None:
        self._worst = max(self._worst, value or 0.0)
        if self._trial is not None:
            self._study.tell(self._trial, 3.0 * self._worst if value is None else value)
