"""What trackers are told of an answer: settings, figures, tables and documents."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Tuple, Union

from .._answers import Advice, Comparison, Ranking
from .._result import Result
from .._table import Table

Loggable = Union[Result, Advice, Ranking, Comparison, str, "os.PathLike[str]"]

# Of a manifest, what tells runs apart in a list.
_SETTINGS = ["scavsim", "scenario", "scenario_hash", "seed", "replicas", "fidelity", "policies", "cases", "failed"]
_OF_BEST = ["time_h", "time_p5_h", "time_p95_h", "cost_usd", "cost_p5_usd", "cost_p95_usd", "miss"]
_WHERE = ["provider", "region", "market", "vm", "vms", "workers", "batch", "gpu", "gpus", "plan"]


@dataclass
class Facts:
    """Settings and figures by name, tables by name, documents by the name of their file."""

    settings: Dict[str, Any] = field(default_factory=dict)
    figures: Dict[str, float] = field(default_factory=dict)
    tables: Dict[str, Table] = field(default_factory=dict)
    documents: Dict[str, Any] = field(default_factory=dict)


def facts(thing: Loggable) -> Facts:
    """What is to be told of a result, advice, a ranking, a comparison, or a folder that `run_into` wrote.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(thing, Result):
        return _of_run(thing.manifest, thing.table)
    if isinstance(thing, Advice):
        return _of_advice(thing)
    if isinstance(thing, Ranking):
        best = thing.best
        return Facts({key: best[key] for key in ("scenario", "workload", *_WHERE) if best.get(key) is not None}, _figures(best), {"ranking": thing})
    if isinstance(thing, Comparison):
        figures = {_name(row.objective, f"{row.repeats}x", row.strategy, "rank"): float(row["rank"]) for row in thing.table}
        return Facts({"replicas": thing.replicas}, figures, {"strategies": thing.table, "units": thing.units}, {"comparison.json": thing.to_dict()})
    if isinstance(thing, (str, os.PathLike)):
        return _of_folder(pathlib.Path(thing))
    raise TypeError(f"a Result, Advice, Ranking, Comparison or a folder of results can be logged; found {type(thing).__name__}")


def _of_run(manifest: Mapping[str, Any], table: Table) -> Facts:
    figures: Dict[str, float] = {}
    for row in table:
        place = [row.get(key) or "" for key in ("setting", "workload", "pricing", "objective", "strategy")]
        for name in ("right", "regret_time", "regret_cost", "overhead_net_time", "overhead_net_cost"):
            if row.get(name) is not None:
                figures[_name(*place, name)] = float(row[name])
    return Facts({key: manifest[key] for key in _SETTINGS if key in manifest}, figures, {"summary": table}, {"manifest.json": dict(manifest)})


def _of_advice(advice: Advice) -> Facts:
    best: Mapping[str, Any] = advice.best or advice.nearest or {}
    settings = {key: advice[key] for key in ("name", "model", "objective") if key in advice}
    settings.update({key: best[key] for key in _WHERE if best.get(key) is not None})
    return Facts(settings, _figures(best), {"choices": advice.table, "measurements": advice.measurements}, {"advice.json": advice.to_dict()})


def _of_folder(folder: pathlib.Path) -> Facts:
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        text = (folder / "summary.csv").read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{folder} is no folder of results that `scavsim run --out` finished: {error.filename} is missing") from None
    rows = [{name: _cell(cell) for name, cell in row.items()} for row in csv.DictReader(text.splitlines())]
    short: List[Dict[str, Any]] = [{_short(name): value for name, value in row.items()} for row in rows]
    made = _of_run(manifest, Table(short))
    made.tables = {"summary": Table(rows)}
    return made


def _short(column: str) -> str:
    return column.removesuffix("_mean")


def _figures(row: Mapping[str, Any]) -> Dict[str, float]:
    return {key: float(row[key]) for key in _OF_BEST if row.get(key) is not None}


def _name(*parts: str) -> str:
    """A name that every tracker takes."""
    return "/".join(re.sub(r"[^\w. -]", "_", part) for part in parts if part)


def _cell(cell: str) -> Any:
    if cell == "":
        return None
    try:
        return float(cell)
    except ValueError:
        return cell


def columns_and_rows(table: Table) -> Tuple[List[str], List[List[Any]]]:
    """A table as its heads and its cells; a cell that is a list or a table of its own is text."""
    plain = (str, int, float, bool, type(None))
    rows = [[cell if isinstance(cell, plain) else json.dumps(cell) for cell in map(row.get, table.columns)] for row in table]
    return table.columns, rows
