"""The file that is written: the CSV that `scavsim import profile` reads, and what it has no column for beside it."""

from __future__ import annotations

import json
import os
from typing import Mapping, Optional, Union

COLUMNS = ("vm", "workers", "batch", "step_s", "communication_s", "noise", "epochs")
_HEADER = ",".join(COLUMNS) + "\n"

Cell = Union[str, int, float, None]


class Profile:
    """A profile CSV that all runs of one job append to, a row at a time, and `NAME.jsonl` beside it with a line per row.

    Args:
        path: the CSV. Made with its header if it is not there.

    Raises:
        ValueError: the file is there with another header.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.fspath(path)
        self.beside = os.path.splitext(self.path)[0] + ".jsonl"
        try:
            # Only one of several jobs that begin at the same moment writes the header.
            with open(self.path, "x", encoding="utf-8") as file:
                file.write(_HEADER)
        except FileExistsError:
            with open(self.path, encoding="utf-8") as file:
                header = file.readline()
            if header != _HEADER:
                raise ValueError(
                    f"{self.path}:1: the header is {header.strip()!r}; expected {_HEADER.strip()!r}: "
                    "name another file, or move this one away"
                ) from None

    def append(self, row: Mapping[str, Cell], beside: Optional[Mapping[str, object]] = None) -> None:
        """Appends a row, each line by one write, so that runs that share the file do not mix their lines."""
        unknown = set(row) - set(COLUMNS)
        if unknown:
            raise ValueError(f"no such columns: {', '.join(sorted(unknown))}; legal are {', '.join(COLUMNS)}")
        _append(self.path, ",".join(_cell(row.get(column)) for column in COLUMNS) + "\n")
        if beside is not None:
            _append(self.beside, json.dumps({**row, **beside}, ensure_ascii=False) + "\n")


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    if any(character in text for character in ',"\r\n'):
        raise ValueError(f"a cell cannot hold {text!r}")
    return text


def _append(path: str, line: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(descriptor, line.encode("utf-8"))
    finally:
        os.close(descriptor)
