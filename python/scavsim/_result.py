"""What a run comes to."""

from __future__ import annotations

import html
import json
import math
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

from ._figure import Dot, Panel, svg
from ._table import Row, Shown, Table, as_is, between, for_people

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_MOST_PANELS = 6
_KEYS = ["setting", "workload", "pricing", "objective", "strategy"]
_NET = ["overhead_net_time", "overhead_net_cost"]
_FIGURES = ["time_h", "cost_usd", "regret_time", "regret_cost", *_NET, "search_time_h", "search_cost_usd"]
_SHOWN: Shown = [
    *((key, as_is(key)) for key in _KEYS), ("cases", as_is("cases")), ("right (95 %)", between("right", "right_low", "right_high", 100.0, " %", 0)),
    ("net time (95 %)", between("overhead_net_time", "overhead_net_time_low", "overhead_net_time_high", 100.0, " %", 1)),
    ("net cost (95 %)", between("overhead_net_cost", "overhead_net_cost_low", "overhead_net_cost_high", 100.0, " %", 1)),
    ("time, h", between("time_h", "", "")), ("cost, USD", between("cost_usd", "", "")),
    ("search, h", between("search_time_h", "", "")), ("search, USD", between("search_cost_usd", "", "")),
]


class Result:
    """The records of a run, a row per case; `docs/records.md` has every column with its unit.

    pandas, polars, PyArrow and DuckDB read it as it is, without a copy, by the PyCapsule interface of Arrow.

    Example:
        >>> import scavsim
        >>> job = {"workloads": ["scavenger-resnet18"], "replicas": 20, "search": {"objectives": ["cost"]}}
        >>> result = scavsim.run(job, search__strategies=["oracle", "random"])
        >>> len(result), result.best().strategy
        (40, 'oracle')
        >>> oracle, random = result.table
        >>> random.right_low <= random.right <= random.right_high <= 1.0
        True
    """

    def __init__(self, records: Any) -> None:
        self._records = records

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return str(self._records.name)

    @property
    def cases(self) -> int:
        """Cases that were evaluated."""
        return int(self._records.cases)

    @property
    def failed(self) -> int:
        """Of these, those without a result; `reason` says why."""
        return int(self._records.failed)

    @property
    def remarks(self) -> List[str]:
        """What is to be minded of its prices, in sentences."""
        return list(self._records.remarks)

    @property
    def nbytes(self) -> int:
        """Bytes that the columns take."""
        return int(self._records.nbytes)

    @property
    def manifest(self) -> Dict[str, Any]:
        """What it was made from, as the `manifest.json` of a folder of results says it, and how many cases it came to."""
        return {**json.loads(self._records.manifest), "cases": self.cases, "failed": self.failed, "remarks": self.remarks}

    def __len__(self) -> int:
        return len(self._records)

    def __arrow_c_schema__(self) -> Any:
        return self._records.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._records.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> "pyarrow.Table":
        """As a `pyarrow.Table`."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> "pandas.DataFrame":
        """As a `pandas.DataFrame`."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> "polars.DataFrame":
        """As a `polars.DataFrame`."""
        import polars

        return polars.DataFrame(self)

    @property
    def table(self) -> Table:
        """What replicas come to, a row per setting, where there are several, workload, pricing policy, objective and strategy: shares
        and means, with the ends of their 95 % intervals as `…_low` and `…_high`; None where a figure does not exist. `right` is the
        share of replicas whose choice is worth what the oracle's is. Times are in hours, costs in USD; regret and net overhead (with the
        search, whose steps count as training) are fractions of the oracle's."""
        groups = json.loads(self._records.summary)["groups"]
        rows = [_row(group) for group in groups]
        several = len({row["setting"] for row in rows}) > 1
        return Table([{key: value for key, value in row.items() if several or key != "setting"} for row in rows])

    def summary(self) -> "pandas.DataFrame":
        """`table` as a `pandas.DataFrame`."""
        return self.table.to_pandas()

    def best(self, by: Optional[str] = None, *, among: Optional[Sequence[str]] = None, **where: Any) -> Row:
        """The strategy that does best: the row of `table` that is least by a column, of the first setting, workload, policy and objective.

        Args:
            by: the column; if absent the net overhead of what the objective is about, for `knee` the mean of both.
            among: strategies to choose from; all if absent.
            where: which rows, as `objective="cost"` or `workload="scavenger-resnet18"`.

        Raises:
            LookupError: no row has a figure there.
        """
        rows = [row for row in self.table if all(row.get(key) == own for key, own in where.items())]
        rows = [row for row in rows if _place(row) == _place(rows[0]) and (among is None or row.strategy in among)]
        known = [(value, row) for value, row in ((row.get(by) if by else _net(row), row) for row in rows) if value is not None]
        if not known:
            of = "" if among is None else f" of {', '.join(among)}"
            raise LookupError(f"no row of {by or 'net overhead'}{of}" + "".join(f", {key} = {own!r}" for key, own in where.items()))
        return min(known, key=lambda one: float(one[0]))[1]

    def figure(self) -> str:
        """A figure as SVG: what each strategy's search and choice come to over the oracle, a panel per setting, workload, policy and
        objective. `plot` makes figures to publish."""
        return svg([Panel(title, axis, [Dot(row.strategy, *dot) for row, dot in rows]) for title, axis, rows in self._panels()[:_MOST_PANELS]])

    def plot(self, *, axes: Any = None) -> Any:
        """Draws the figure with Matplotlib: net overhead over the oracle by strategy, mean and 95 % interval, a panel per setting, workload,
        policy and objective.

        Args:
            axes: of Matplotlib, one per panel; new ones if absent.

        Returns:
            The axes, a list.
        """
        panels = self._panels()
        if axes is None:
            from matplotlib import pyplot

            most = max((len(rows) for _, _, rows in panels), default=1)
            size = (5.2 * len(panels), 1.3 + 0.3 * most)
            _, grid = pyplot.subplots(1, max(1, len(panels)), figsize=size, squeeze=False, layout="constrained")
            axes = list(grid[0])
        axes = [axes] if hasattr(axes, "errorbar") else list(axes)
        if len(axes) < len(panels):
            raise ValueError(f"expected axes for {len(panels)} panels, found {len(axes)}")
        for own, (title, axis, rows) in zip(axes, panels):
            names = [row.strategy for row, _ in rows]
            for at, (_, (percent, low, high)) in enumerate(rows):
                if percent is not None:
                    ends = None if low is None or high is None else [[percent - low], [high - percent]]
                    own.errorbar(percent, at, xerr=ends, fmt="o", color="#3b7dd8", capsize=3)
            own.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
            own.set_yticks(range(len(names)), names)
            own.invert_yaxis()
            own.set_title(title, fontsize=9)
            own.set_xlabel(axis)
        return axes

    def _panels(self) -> List[Tuple[str, str, List[Tuple[Row, Tuple[Any, Any, Any]]]]]:
        """Title, axis and rows of each panel: mean in percent and the ends of its interval."""
        panels: Dict[Tuple[str, ...], List[Row]] = {}
        for row in self.table:
            panels.setdefault(tuple(row.get(key) or "" for key in _KEYS[:-1]), []).append(row)

        def percent(row: Row, what: str) -> Tuple[Any, Any, Any]:
            ends = [row.get(f"overhead_net_{what}{end}") for end in ("", "_low", "_high")]
            mean, low, high = (None if end is None or not math.isfinite(end) else 100.0 * end for end in ends)
            return mean, low, high

        def panel(key: Tuple[str, ...], rows: List[Row]) -> Tuple[str, str, List[Tuple[Row, Tuple[Any, Any, Any]]]]:
            what = _about(key[-1])
            axis = f"net overhead of {what} over the oracle, %"
            return " · ".join(word for word in key if word), axis, [(row, percent(row, what)) for row in rows]

        return [panel(key, rows) for key, rows in panels.items()]

    def __repr__(self) -> str:
        failed = f", {self.failed} without a result" if self.failed else ""
        rows = self.table
        strategies = len(set(rows.column("strategy")))
        return f"<scavsim.Result {self.name}: {self.cases} cases{failed}; {strategies} strategies, {len(rows)} rows in .table>"

    def _repr_html_(self) -> str:
        """A figure and a table of means, in notebooks."""
        table = self.table
        shown = for_people(table, _SHOWN)
        panels = len({tuple(row.get(key) for key in _KEYS[:-1]) for row in table}) - _MOST_PANELS
        undrawn = f"<p>{panels} more panels are not drawn: <code>.plot()</code></p>" if panels > 0 else ""
        failed = f", {self.failed} without a result" if self.failed else ""
        head = f"<p><b>{html.escape(self.name)}</b>: {self.cases} cases{failed}; means over replicas; net: over the oracle, with the search</p>"
        remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in self.remarks)
        return f"{head}{remarks}{self.figure()}{undrawn}{shown}"


def _row(group: Dict[str, Any]) -> Dict[str, Any]:
    """A group of the summary as a row."""
    row: Dict[str, Any] = {key: group.get(key) for key in _KEYS}
    row["cases"] = group["replicas"]
    row["failed"] = group.get("failed", 0)
    right = group.get("shares", {}).get("right") or {}
    row.update(_ends("right", right.get("share"), right.get("interval95")))
    metrics = group.get("metrics", {})
    for name in _FIGURES:
        own = metrics.get(name) or {}
        row.update(_ends(name, own.get("mean"), own.get("interval95")))
    choice = group.get("choice") or {}
    row.update({f"choice_{key}": choice.get(key) for key in ("vm", "workers", "batch")})
    return row


def _ends(name: str, value: Optional[float], interval: Optional[Sequence[float]]) -> Dict[str, Union[float, None]]:
    low, high = interval if interval is not None else (None, None)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _place(row: Row) -> Tuple[Any, ...]:
    """What strategies compete on."""
    return tuple(row.get(key) for key in _KEYS[:-1])


def _net(row: Row) -> Optional[float]:
    """Net overhead of what the objective is about."""
    time, cost = (row.get(name) for name in _NET)
    if row.objective == "knee":
        return None if time is None or cost is None else float(time + cost) / 2.0
    return row.get(f"overhead_net_{_about(row.objective)}")


def _about(objective: str) -> str:
    """Whether an objective is about time or cost, for a figure of one of them."""
    return "time" if objective == "time" else "cost"
