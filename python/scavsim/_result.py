"""What a run comes to."""

from __future__ import annotations

from typing import Any, Optional

_MOST_SHOWN = 20


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
        """Means over replicas as a `pandas.DataFrame`: a row per workload, pricing policy, objective and strategy."""
        frame = self.to_pandas()
        keys = ["workload", "pricing", "objective", "strategy"]
        figures = ["time_h", "cost_usd", "regret_time", "regret_cost", "search_time_h", "search_cost_usd"]
        means = frame.groupby(keys, sort=False)[figures].mean()
        means.insert(0, "cases", frame.groupby(keys, sort=False).size())
        return means.reset_index()

    def __repr__(self) -> str:
        failed = f", {self.failed} without a result" if self.failed else ""
        return f"<scavsim.Result {self.name}: {self.cases} cases{failed}>"

    def _repr_html_(self) -> Optional[str]:
        """A table of means, in notebooks; None without pandas."""
        try:
            summary = self.summary()
        except ImportError:
            return None
        shown = summary.head(_MOST_SHOWN).to_html(index=False, float_format=lambda figure: f"{figure:.3g}", na_rep="")
        more = len(summary) - _MOST_SHOWN
        rest = f"<p>{more} more rows: <code>.summary()</code></p>" if more > 0 else ""
        failed = f", {self.failed} without a result" if self.failed else ""
        return f"<p><b>{_escaped(self.name)}</b>: {self.cases} cases{failed}; means over replicas</p>{shown}{rest}"


def _escaped(text: str) -> str:
    import html

    return html.escape(text)
