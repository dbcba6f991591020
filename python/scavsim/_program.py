"""What the program does, asked from Python: `rank`, `advise` and the like run it in a process of its own and read its JSON or
CSV, so that they do and say what it does."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _scenario

Path = Union[str, "os.PathLike[str]"]


class ProgramError(RuntimeError):
    """The program could not do what it was asked. `code` is its exit code; 2 stands for wrong input, of which the text lists
    every mistake with its place."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text.strip())
        self.code = code

    def __reduce__(self) -> Any:
        return type(self), (self.code, str(self))


class Table(Sequence[Dict[str, Any]]):
    """A table that the program made: a list of dicts, or a data frame."""

    def __init__(self, text: str) -> None:
        self.csv = text
        self._rows = [{key: _cell(cell) for key, cell in row.items()} for row in csv.DictReader(io.StringIO(text))]

    def __getitem__(self, at: Any) -> Any:
        return self._rows[at]

    def __len__(self) -> int:
        return len(self._rows)

    def to_pandas(self) -> Any:
        """As a `pandas.DataFrame`."""
        import pandas

        return pandas.read_csv(io.StringIO(self.csv))

    def to_polars(self) -> Any:
        """As a `polars.DataFrame`."""
        import polars

        return polars.read_csv(io.StringIO(self.csv))

    def __repr__(self) -> str:
        return f"<scavsim.Table: {len(self)} rows of {', '.join(self._rows[0]) if self._rows else 'nothing'}>"

    def _repr_html_(self) -> Optional[str]:
        try:
            return self.to_pandas().to_html(index=False, max_rows=20)
        except ImportError:
            return None


def run_into(scenario: _scenario.Scenario, out: Path, *, records: str = "csv", overwrite: bool = False,
             jobs: Optional[int] = None, **overrides: Any) -> pathlib.Path:
    """Runs a scenario and writes a folder of results, as `plot` and `scavsim report` read it. Cases without a result are listed in
    its `failures.csv`.

    Args:
        records: `csv`, `jsonl` or `parquet`.
        overwrite: replace the results that are there.
        overrides: keys of the scenario; `cluster__workers=[8, 16]` is `cluster.workers`.

    Returns:
        The folder.
    """
    options = {"out": os.fspath(out), "records": records, "overwrite": overwrite, "jobs": jobs, "quiet": True}
    file, given, set_ = _asked(scenario, overrides)
    program("run", file, *_words(options), *set_, given=given, fine=(0, 3))
    return pathlib.Path(out)


def rank(scenario: _scenario.Scenario, *, objective: Optional[str] = None, runs: Optional[int] = None,
         seed: Optional[int] = None, jobs: Optional[int] = None, **overrides: Any) -> Table:
    """What every configuration of a scenario takes in hours and costs in USD, the best first.

    Args:
        objective: sort by `time`, `cost` or `knee`.
        runs: simulated runs of each configuration.
        overrides: keys of the scenario; `cluster__workers=[8, 16]` is `cluster.workers`.
    """
    options = {"objective": objective, "runs": runs, "seed": seed, "jobs": jobs}
    file, given, set_ = _asked(scenario, overrides)
    return Table(program("rank", file, "--format", "csv", *_words(options), *set_, given=given, warns=True))


def advise(measurements: Any, *, samples_per_epoch: int, **options: Any) -> Dict[str, Any]:
    """Which configuration to take, and which measurement to make next.

    Args:
        measurements: a profile: a data frame, a dict of columns or the path of a CSV with `vm`, `workers`, `batch`, `step_s`.
        samples_per_epoch: samples in one pass over the data.
        options: those of `scavsim advise`, as `max_time=0.5` in hours, `max_cost=20` in USD, `objective="time"`.
    """
    with _as_csv(measurements) as file:
        told = program("advise", file, "--format", "json", *_words({"samples_per_epoch": samples_per_epoch, **options}))
    return json.loads(told)


def import_profile(measurements: Any, out: Path, *, samples_per_epoch: int, **options: Any) -> pathlib.Path:
    """Makes measurements a workload folder, which scenarios can name.

    Args:
        measurements: a data frame, a dict of columns or the path of a CSV with `vm`, `workers`, `batch`, `step_s` and, where known, `compute_s`,
            `communication_s`, `noise` (γ/K), `epochs`.
        out: the folder.
        options: those of `scavsim import profile`, as `epochs=90` or `force=True`.

    Returns:
        The folder. What was found and assumed is shown on standard output.
    """
    with _as_csv(measurements) as file:
        words = _words({"samples_per_epoch": samples_per_epoch, "out": os.fspath(out), **options})
        print(program("import", "profile", file, *words), end="")
    return pathlib.Path(out)


def validate(*workloads: Path) -> Any:
    """Measurements left out of workloads, and what the rest says of them; all shipped workloads where none is named."""
    return json.loads(program("validate", *map(os.fspath, workloads), "--format", "json"))


def reproduce(*papers: str) -> Any:
    """Published figures beside those of scavsim; all papers where none is named."""
    return json.loads(program("reproduce", *papers, "--format", "json", fine=(0, 4)))


def plot(results: Path, out: Path, *, kind: Union[str, Iterable[str]] = "all", **options: Any) -> List[pathlib.Path]:
    """Figures of a folder of results that `scavsim run --out` wrote, as SVG, PNG and Vega-Lite.

    Returns:
        The files.
    """
    kinds = [kind] if isinstance(kind, str) else kind
    words = [word for own in kinds for word in ("--kind", own)]
    program("plot", os.fspath(results), *words, *_words({"out": os.fspath(out), **options}))
    return sorted(pathlib.Path(out).iterdir())


def program(*arguments: str, given: Optional[str] = None, fine: Sequence[int] = (0,), warns: bool = False) -> str:
    """Runs the program: what it writes to standard output. Where it `warns`, lines of standard error are warnings.

    Raises:
        ProgramError: it ended with another exit code than those that are `fine`.
    """
    command = [sys.executable, "-m", "scavsim", *arguments]
    done = subprocess.run(command, input=given or "", capture_output=True, text=True, encoding="utf-8")
    if done.returncode not in fine:
        raise ProgramError(done.returncode, done.stderr or done.stdout)
    for line in done.stderr.splitlines() if warns else ():
        warnings.warn(line, stacklevel=3)
    return done.stdout


def _asked(scenario: _scenario.Scenario, overrides: Mapping[str, Any]) -> Tuple[str, Optional[str], List[str]]:
    """The file, what is given on standard input in place of one, and the words that replace keys."""
    text, _ = _scenario.read(scenario)
    set_ = _scenario.set_words(overrides)
    return ("-", text, set_) if isinstance(text, str) else (os.fspath(text), None, set_)


def _words(options: Mapping[str, Any]) -> List[str]:
    words: List[str] = []
    for name, value in options.items():
        name = "--" + name.replace("_", "-")
        if value is True:
            words.append(name)
        elif isinstance(value, (list, tuple)):
            words += [word for own in value for word in (name, str(own))]
        elif value is not None and value is not False:
            words += [name, str(value)]
    return words


class _as_csv:
    """The path of a table; of a data frame or a dict of columns, that of a file that is there for as long as it is needed."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self._folder: Optional[tempfile.TemporaryDirectory[str]] = None

    def __enter__(self) -> str:
        if isinstance(self._table, (str, os.PathLike)):
            return os.fspath(self._table)
        self._folder = tempfile.TemporaryDirectory(prefix="scavsim-")
        path = os.path.join(self._folder.name, "profile.csv")
        if hasattr(self._table, "write_csv"):  # polars
            self._table.write_csv(path)
        elif hasattr(self._table, "to_csv"):  # pandas
            self._table.to_csv(path, index=False)
        elif hasattr(self._table, "to_pydict"):  # PyArrow
            _write_columns(path, self._table.to_pydict())
        elif isinstance(self._table, Mapping):
            try:
                _write_columns(path, self._table)
            except BaseException:
                self._folder.cleanup()
                raise
        else:
            self._folder.cleanup()
            raise TypeError(f"expected a data frame, a dict of columns or a path, found {type(self._table).__name__}")
        return path

    def __exit__(self, *_: Any) -> None:
        if self._folder:
            self._folder.cleanup()


def _write_columns(path: str, columns: Mapping[str, Any]) -> None:
    """Writes a CSV of columns of equal length; None is an empty cell."""
    lists = {name: list(values) for name, values in columns.items() if not isinstance(values, (str, bytes))}
    if len(lists) < len(columns) or len({len(values) for values in lists.values()}) > 1:
        raise ValueError("expected columns of equal length, each a list of values")
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(lists)
        rows.writerows(["" if value is None else value for value in row] for row in zip(*lists.values()))


def _cell(cell: str) -> Any:
    if cell == "":
        return None
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(cell, cell)
