"""Commands of the program, asked in this process: what they print is handed back, mistakes are exceptions."""

from __future__ import annotations

import csv
import os
import tempfile
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from . import _native, _scenario
from ._program import ProgramError


def ask(function: str, *arguments: str, given: Optional[str] = None, fine: Sequence[int] = (0,), aside: Sequence[Tuple[str, str]] = (),
        places: Sequence[str] = ()) -> str:
    """Asks a command: what it prints. What it says beside that becomes warnings.

    Args:
        function: the name of the function that asks, for messages.
        given: the text that `-` as a scenario stands for.
        fine: exit codes beside which it has failed.
        aside: files that were written aside, and what messages call them.
        places: of a scenario that was a dict, the place of each line.

    Raises:
        Mistakes: all that is wrong with what was asked, with places.
        TypeError: an option that there is not.
        ProgramError: it failed for another reason.
    """
    try:
        code, printed, notes = _native.ask([str(word) for word in arguments], given)
    except _native.Mistakes as mistakes:
        raise _scenario.placed(_renamed(mistakes, aside), list(places)) from None
    except _native.UnknownOption as unknown:
        own, near = (_as_name(unknown.told[key]) for key in ("option", "near"))
        tip = f"; did you mean `{near}`?" if near else ""
        raise TypeError(f"{function}() has no argument `{own}`{tip}") from None
    except RuntimeError as error:
        raise ProgramError(1, str(error)) from None
    if code not in fine:
        raise ProgramError(code, "\n".join(notes) or printed)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return printed


def asked(scenario: _scenario.Given, overrides: Mapping[str, Any]) -> Tuple[str, Optional[str], List[str], List[str]]:
    """The file, what is given in place of one, the words that replace keys, and the places of lines."""
    text, places = _scenario.read(scenario)
    set_ = _scenario.set_words(overrides)
    return ("-", text, set_, places) if isinstance(text, str) else (os.fspath(text), None, set_, places)


def words(options: Mapping[str, Any]) -> List[str]:
    """Options of the program: a list repeats one, a dict gives pairs, None and False leave it away."""
    all_: List[str] = []
    for name, value in options.items():
        name = "--" + name.replace("_", "-")
        if value is True:
            all_.append(name)
        elif isinstance(value, Mapping):
            all_ += [word for key, own in value.items() for word in (name, f"{key}={own}")]
        elif isinstance(value, (list, tuple)):
            all_ += [word for own in value for word in (name, str(own))]
        elif value is not None and value is not False:
            # A negative number is no option.
            all_.append(f"{name}={value}")
    return all_


class as_csv:
    """The path of a table; of a data frame or a dict of columns, that of a file that is there for as long as it is needed."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self._folder: Optional[tempfile.TemporaryDirectory[str]] = None

    def __enter__(self) -> Tuple[str, List[Tuple[str, str]]]:
        if isinstance(self._table, (str, os.PathLike)):
            return os.fspath(self._table), []
        self._folder = tempfile.TemporaryDirectory(prefix="scavsim-")
        path = os.path.join(self._folder.name, "profile.csv")
        try:
            _write(path, self._table)
        except BaseException:
            self._folder.cleanup()
            raise
        return path, [(path, "measurements")]

    def __exit__(self, *_: Any) -> None:
        if self._folder:
            self._folder.cleanup()


def _write(path: str, table: Any) -> None:
    if hasattr(table, "write_csv"):  # polars
        table.write_csv(path)
    elif hasattr(table, "to_csv") and hasattr(table, "columns") and hasattr(table, "iloc"):  # pandas
        table.to_csv(path, index=False)
    elif hasattr(table, "to_pydict"):  # PyArrow
        _write_columns(path, table.to_pydict())
    elif hasattr(table, "to_dicts"):  # a table of scavsim
        _write_columns(path, {name: table.column(name) for name in table.columns})
    elif isinstance(table, Mapping):
        _write_columns(path, table)
    else:
        raise TypeError(f"measurements are a data frame, a dict of columns or the path of a CSV; found {type(table).__name__}")


def _write_columns(path: str, columns: Mapping[str, Any]) -> None:
    """Writes a CSV of columns of equal length; None is an empty cell."""
    lists: Dict[str, List[Any]] = {name: list(values) for name, values in columns.items() if not isinstance(values, (str, bytes)) and hasattr(values, "__iter__")}
    if len(lists) < len(columns) or len({len(values) for values in lists.values()}) > 1:
        raise ValueError("expected columns of equal length, each a list of values")
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(lists)
        rows.writerows(["" if value is None else value for value in row] for row in zip(*lists.values()))


def _renamed(mistakes: Any, aside: Sequence[Tuple[str, str]]) -> Any:
    """Mistakes in a file that was written aside are those of what it was written from."""
    if not aside:
        return mistakes
    text = str(mistakes)
    for path, name in aside:
        text = text.replace(path, name)
    again = type(mistakes)(text)
    again.mistakes = []
    for own in mistakes.mistakes:
        for path, name in aside:
            own = {key: value.replace(path, name) if isinstance(value, str) else value for key, value in own.items()}
        again.mistakes.append(own)
    return again


def _as_name(option: Optional[str]) -> Optional[str]:
    return option and option.split("=")[0].strip("- ").replace("-", "_")
