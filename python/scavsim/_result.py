"""What a run comes to."""

from __future__ import annotations

import html
import math
from typing import Any, Dict, List, Optional, Tuple

from ._figure import Dot, Panel, svg

_MOST_SHOWN = 20
_MOST_PANELS = 6
_KEYS = ["setting", "workload", "pricing", "objective", "strategy"]
_NET = ["overhead_net_time", "overhead_net_cost"]
_FIGURES = ["time_h", "cost_usd", "regret_time", "regret_cost", *_NET, "search_time_h", "search_cost_usd"]


class Result:
    """The records of a run, a row per case; `docs/records.md` has every column with its unit.

    pandas, polars, PyArrow and DuckDB read it as it is, without a copy, by the PyCapsule interface of Arrow.
    """

    def __init__(self, records: Any) -> None:
        self._records = records

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self._records.name

    @property
    def cases(self) -> int:
        """Cases that were evaluated."""
        return self._records.cases

    @property
    def failed(self) -> int:
        """Of these, those without a result; `reason` says why."""
        return self._records.failed

    @property
    def remarks(self) -> List[str]:
        """What is to be minded of its prices, in sentences."""
        return list(self._records.remarks)

    @property
    def nbytes(self) -> int:
        """Bytes that the columns take."""
        return self._records.nbytes

    def __len__(self) -> int:
        return len(self._records)

    def __arrow_c_schema__(self) -> Any:
        return self._records.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._records.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> Any:
        """As a `pyarrow.Table`."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> Any:
        """As a `pandas.DataFrame`."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """As a `polars.DataFrame`."""
        import polars

        return polars.DataFrame(self)

    def summary(self) -> Any:
        """Means over replicas as a `pandas.DataFrame`: a row per setting, where there are several, workload, pricing policy, objective
        and strategy. Times are in hours, costs in USD; regret and net overhead (with the search, whose steps count as training) are
        fractions of the oracle's."""
        grouped = self._grouped()
        means = grouped[_FIGURES].mean()
        means.insert(0, "cases", grouped.size())
        means = means.reset_index()
        return means if means["setting"].nunique() > 1 else means.drop(columns="setting")

    def figure(self) -> str:
        """A figure as SVG: what each strategy's search and choice come to over the oracle, a panel per setting, workload, policy and
        objective.
        `plot` makes figures to publish."""
        grouped = self._grouped()
        means, errors = grouped[_NET].mean() * 100.0, grouped[_NET].sem() * 100.0
        panels: Dict[Tuple[str, ...], Panel] = {}
        for key in means.index:
            *place, objective, strategy = key
            what = "time" if objective == "time" else "cost"
            axis = f"net overhead of {what} over the oracle, mean ± standard error"
            panel = panels.setdefault(key[:-1], Panel(" · ".join(word for word in (*place, objective) if word), axis, []))
            column = f"overhead_net_{what}"
            panel.dots.append(Dot(strategy, _known(means.at[key, column]), _known(errors.at[key, column])))
        return svg(list(panels.values())[:_MOST_PANELS])

    def _grouped(self) -> Any:
        frame = self.to_arrow().select([*_KEYS, *_FIGURES]).to_pandas()
        frame["setting"] = frame["setting"].fillna("")
        return frame.groupby(_KEYS, sort=False)

    def __repr__(self) -> str:
        failed = f", {self.failed} without a result" if self.failed else ""
        return f"<scavsim.Result {self.name}: {self.cases} cases{failed}>"

    def _repr_html_(self) -> Optional[str]:
        """A figure and a table of means, in notebooks; None without pandas and PyArrow."""
        try:
            summary, figure = self.summary(), self.figure()
        except ImportError:
            return None
        shown = summary.head(_MOST_SHOWN).to_html(index=False, float_format=lambda figure: f"{figure:.3g}", na_rep="")
        more = len(summary) - _MOST_SHOWN
        rest = f"<p>{more} more rows: <code>.summary()</code></p>" if more > 0 else ""
        places = [key for key in _KEYS[:-1] if key in summary]
        panels = len(summary[places].drop_duplicates()) - _MOST_PANELS
        undrawn = f"<p>{panels} more panels are not drawn: <code>scavsim.plot</code></p>" if panels > 0 else ""
        failed = f", {self.failed} without a result" if self.failed else ""
        head = f"<p><b>{html.escape(self.name)}</b>: {self.cases} cases{failed}; means over replicas</p>"
        remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in self.remarks)
        return f"{head}{remarks}{figure}{undrawn}{shown}{rest}"


def _known(figure: Any) -> Optional[float]:
    return float(figure) if math.isfinite(figure) else None
