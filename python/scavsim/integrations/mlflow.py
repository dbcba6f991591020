"""MLflow: a run of scavsim as a run there, with its settings, figures, manifest and tables.

    import scavsim
    from scavsim.integrations import mlflow

    mlflow.log(scavsim.run("scenario.toml"))
"""

from __future__ import annotations

import importlib
from typing import Any

from ._facts import Loggable, facts

# MLflow cuts longer values.
_LONGEST = 500


def log(thing: Loggable, *, folder: str = "scavsim") -> str:
    """Logs to the active run of MLflow, or to a new one.

    Args:
        thing: a `Result`, `Advice`, `Ranking`, `Comparison`, or a folder of results.
        folder: of the artifacts; also before the names of settings and figures.

    Returns:
        The id of the run.

    Raises:
        ImportError: the package `mlflow` or `mlflow-skinny` is not installed.
        TypeError: it is something else.
    """
    mlflow: Any = importlib.import_module("mlflow")
    told = facts(thing)
    active = mlflow.active_run()
    run = active or mlflow.start_run()
    try:
        mlflow.log_params({f"{folder}.{key}": str(value)[:_LONGEST] for key, value in told.settings.items()})
        mlflow.log_metrics({f"{folder}/{key}": value for key, value in told.figures.items()})
        for name, document in told.documents.items():
            mlflow.log_dict(document, f"{folder}/{name}")
        for name, table in told.tables.items():
            mlflow.log_text(table.to_csv(), f"{folder}/{name}.csv")
    finally:
        if active is None:
            mlflow.end_run()
    return str(run.info.run_id)
