"""Weights & Biases: a run of scavsim as a run there, with its settings, figures, manifest and tables.

    import scavsim
    from scavsim.integrations import wandb

    wandb.log(scavsim.run("scenario.toml"), project="clusters")
"""

from __future__ import annotations

import importlib
from typing import Any

from ._facts import Loggable, columns_and_rows, facts


def log(thing: Loggable, *, run: Any = None, folder: str = "scavsim", **init: Any) -> Any:
    """Logs to a run of Weights & Biases: the one that is given, the one that is active, or a new one.

    Args:
        thing: a `Result`, `Advice`, `Ranking`, `Comparison`, or a folder of results.
        run: where to.
        folder: before the names of settings, figures and tables.
        init: what `wandb.init` takes for a new run, as `project="clusters"` or `mode="offline"`.

    Returns:
        The run. A new one is finished.

    Raises:
        ImportError: the package `wandb` is not installed.
        TypeError: it is something else.
    """
    wandb: Any = importlib.import_module("wandb")
    told = facts(thing)
    into = run or wandb.run
    own = into is None
    if own:
        into = wandb.init(**init)
    into.config.update({folder: {**told.settings, **told.documents.get("manifest.json", {})}}, allow_val_change=True)
    for key, value in told.figures.items():
        into.summary[f"{folder}/{key}"] = value
    for name, table in told.tables.items():
        columns, rows = columns_and_rows(table)
        into.log({f"{folder}/{name}": wandb.Table(columns=columns, data=rows, allow_mixed_types=True)})
    if own:
        into.finish()
    return into
