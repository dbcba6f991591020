"""Tables of what was answered: rows whose cells are attributes, and frames of them. Needs no other package."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, overload

_MOST_SHOWN = 20


class Row(Mapping[str, Any]):
    """Named values, read as `row["cost_usd"]` or `row.cost_usd`.

    Example:
        >>> from scavsim import Row
        >>> row = Row({"vm": "g5.xlarge", "workers": 2})
        >>> row.vm, row["workers"]
        ('g5.xlarge', 2)
        >>> row.worker
        Traceback (most recent call last):
        AttributeError: no `worker` here; there are vm, workers
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            known = ", ".join(self.__dict__.get("_values", ()))
            raise AttributeError(f"no `{name}` here; there are {known}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        return f"Row({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"

    def _repr_html_(self) -> str:
        """The values below each other, in notebooks."""
        return _html(["", ""], list(self._values.items()), heads=False)


class Table(Sequence[Row]):
    """Rows with the same columns, as a list of `Row`. pandas, polars, PyArrow and `csv` make frames of it.

    Example:
        >>> from scavsim import Table
        >>> table = Table([{"vm": "a", "usd": 1.5}, {"vm": "b", "usd": 0.5}])
        >>> len(table), table[0].vm, table.columns
        (2, 'a', ['vm', 'usd'])
        >>> min(table, key=lambda row: row.usd).vm
        'b'
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]], columns: Optional[Sequence[str]] = None) -> None:
        self._rows = [row if isinstance(row, Row) else Row(row) for row in rows]
        self._columns = list(columns) if columns is not None else list(dict.fromkeys(name for row in self._rows for name in row))

    @property
    def columns(self) -> List[str]:
        """Names of the columns."""
        return list(self._columns)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> "Table": ...
    def __getitem__(self, at: Union[int, slice]) -> Union[Row, "Table"]:
        return Table(self._rows[at], self._columns) if isinstance(at, slice) else self._rows[at]

    def __len__(self) -> int:
        return len(self._rows)

    def column(self, name: str) -> List[Any]:
        """The cells of a column."""
        return [row.get(name) for row in self._rows]

    def to_dicts(self) -> List[Dict[str, Any]]:
        """As a list of dicts."""
        return [{name: row.get(name) for name in self._columns} for row in self._rows]

    def to_csv(self) -> str:
        """As a text of CSV; what is not known is an empty cell."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(self._columns)
        rows.writerows(["" if row.get(name) is None else row.get(name) for name in self._columns] for row in self._rows)
        return text.getvalue()

    def to_pandas(self) -> Any:
        """As a `pandas.DataFrame`."""
        import pandas

        return pandas.DataFrame(self.to_dicts(), columns=self._columns)

    def to_polars(self) -> Any:
        """As a `polars.DataFrame`."""
        import polars

        return polars.DataFrame({name: self.column(name) for name in self._columns}, strict=False)

    def to_arrow(self) -> Any:
        """As a `pyarrow.Table`."""
        import pyarrow

        return pyarrow.table({name: self.column(name) for name in self._columns})

    def __repr__(self) -> str:
        """The first rows, in columns."""
        shown = [[_cell(row.get(name)) for name in self._columns] for row in self._rows[:_MOST_SHOWN]]
        wide = [max(len(cell) for cell in cells) for cells in zip(self._columns, *shown)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(cells, wide)).rstrip() for cells in [self._columns, *shown]]
        more = len(self) - len(shown)
        rest = [f"… {more} more rows"] if more > 0 else []
        return "\n".join([*(line if len(line) <= 160 else line[:159] + "…" for line in lines), *rest])

    def _repr_html_(self) -> str:
        """The first rows, in notebooks."""
        more = len(self) - _MOST_SHOWN
        shown = _html(self._columns, [[row.get(name) for name in self._columns] for row in self._rows[:_MOST_SHOWN]])
        return shown + (f"<p>{more} more rows: <code>.to_pandas()</code></p>" if more > 0 else "")


Shown = Sequence[Tuple[str, Callable[[Row], Any]]]
"""Columns for people: each with its head, and what it shows of a row."""


def for_people(table: Table, columns: Shown) -> str:
    """The first rows as HTML, in columns for people; those that say nothing are left out."""
    rows = [[show(row) for _, show in columns] for row in table[:_MOST_SHOWN]]
    used = [at for at in range(len(columns)) if any(row[at] not in (None, "") for row in rows)]
    more = len(table) - _MOST_SHOWN
    shown = _html([columns[at][0] for at in used], [[row[at] for at in used] for row in rows]) if rows else ""
    return shown + (f"<p>{more} more rows: <code>.table.to_pandas()</code></p>" if more > 0 else "")


def as_is(name: str) -> Callable[[Row], Any]:
    """Shows a cell as it is."""
    return lambda row: row.get(name)


def between(name: str, low: str, high: str, scale: float = 1.0, unit: str = "", digits: int = 2) -> Callable[[Row], Any]:
    """Shows a value with the ends of its interval, where it has them."""

    def show(row: Row) -> Any:
        value, ends = row.get(name), [row.get(low), row.get(high)]
        if value is None:
            return None
        text = f"{scale * value:.{digits}f}{unit}"
        known = [end for end in ends if end is not None]
        return text + (f" ({' to '.join(f'{scale * end:.{digits}f}' for end in known)})" if len(known) == 2 else "")

    return show


def percent(name: str, digits: int = 0) -> Callable[[Row], Any]:
    """Shows a share in percent."""
    return lambda row: None if row.get(name) is None else f"{100.0 * row[name]:.{digits}f} %"


def chance(name: str) -> Callable[[Row], Any]:
    """Shows a chance in percent, where it is one in two thousand or more."""
    return lambda row: None if (row.get(name) or 0.0) < 5e-4 else f"{100.0 * row[name]:.1f} %"


def ordered(columns: Iterable[str], first: Sequence[str]) -> List[str]:
    """Columns in the order of `first`, and then those that it does not name."""
    there = list(columns)
    return [name for name in first if name in there] + [name for name in there if name not in first]


_NUMBER = re.compile(r"[-+~]?[0-9]")


def _html(columns: Sequence[str], rows: Iterable[Sequence[Any]], heads: bool = True) -> str:
    texts = [[_cell(value) for value in row] for row in rows]
    # Numbers stand below each other, under heads on their side.
    sides = ["right" if all(_NUMBER.match(row[at]) or not row[at] for row in texts) else "left" for at in range(len(columns))]

    def line(tag: str, cells: Sequence[str]) -> str:
        one = (f'<{tag} style="text-align:{side}">{html.escape(text)}</{tag}>' for side, text in zip(sides, cells))
        return f"<tr>{''.join(one)}</tr>"

    head = f"<thead>{line('th', columns)}</thead>" if heads else ""
    return f"<table>{head}<tbody>{''.join(line('td', row) for row in texts)}</tbody></table>"


def _cell(value: Any) -> str:
    """A value as people read it: three digits of a fraction, nothing where nothing is known."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if math.isfinite(value) and abs(value) >= 1000 else f"{value:.3g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_cell, value))
    return str(value)
