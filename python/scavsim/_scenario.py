"""A scenario as Python has it, a path, a text, a dict or a `Scenario`, → what the native part reads."""

from __future__ import annotations

import json
import math
import os
import pathlib
import re
from typing import Any, Dict, Iterator, List, Mapping, Tuple, Union

Given = Union[str, "os.PathLike[str]", Mapping[str, Any]]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read(scenario: Given) -> Tuple[Union[str, pathlib.Path], List[str]]:
    """The text or the path, and of a dict the place of each line, as `["cluster"]["workers"]`.

    A text has a line break or an `=`; anything else is a path.
    """
    if isinstance(scenario, Mapping):
        lines = list(_lines(scenario, ()))
        return "".join(line + "\n" for _, line in lines), ["".join(f"[{key!r}]" for key in path) for path, _ in lines]
    if isinstance(scenario, str) and ("\n" in scenario or "=" in scenario):
        return scenario, []
    if not isinstance(scenario, (str, os.PathLike)):
        found = type(scenario).__name__
        raise TypeError(f"a scenario is a path, a text of TOML, a dict or a scavsim.Scenario; found {found}: {scenario!r:.60}")
    return pathlib.Path(scenario), []


def overrides(changed: Mapping[str, Any]) -> List[str]:
    """A line of TOML for each; `cluster__workers` is the key `cluster.workers`."""
    return [f"{key.replace('__', '.')} = {value(own)}" for key, own in changed.items()]


def set_words(changed: Mapping[str, Any]) -> List[str]:
    """The same as options of the program."""
    return [word for line in overrides(changed) for word in ("-s", line.replace(" = ", "=", 1))]


def value(own: Any) -> str:
    """A value as TOML.

    Raises:
        TypeError: TOML has no such value.
    """
    if hasattr(own, "item") and not hasattr(own, "__len__"):  # a number of NumPy
        own = own.item()
    if isinstance(own, bool):
        return "true" if own else "false"
    if isinstance(own, int):
        return str(own)
    if isinstance(own, float):
        return repr(own) if math.isfinite(own) else str(own)
    if isinstance(own, (str, os.PathLike)):
        return json.dumps(os.fspath(own), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(own, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {value(inner)}" for key, inner in own.items()) + " }"
    if isinstance(own, (list, tuple, range)) or hasattr(own, "tolist"):
        return "[" + ", ".join(value(inner) for inner in own) + "]"
    raise TypeError(f"a scenario cannot hold {own!r}: expected texts, numbers, true and false, lists and dicts")


def _lines(table: Mapping[str, Any], above: Tuple[str, ...]) -> Iterator[Tuple[Tuple[str, ...], str]]:
    for key, own in table.items():
        if not isinstance(key, str):
            raise TypeError(f"{key!r} is no key of a scenario: expected a text")
        path = (*above, key)
        if isinstance(own, Mapping) and own:
            yield from _lines(own, path)
        elif own is not None:
            yield path, f"{'.'.join(map(_key, path))} = {value(own)}"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else value(key)


def placed(error: Any, places: List[str]) -> Any:
    """Adds the place in the dict to each mistake, as `path`."""
    for mistake in getattr(error, "mistakes", []):
        line = mistake["line"]
        if mistake["file"] == "scenario" and line and line <= len(places):
            mistake["path"] = places[line - 1]
    return error
