"""Writes `scavsim/scenario.py` from the schema of scenarios: `python tools/scenario_classes.py` after `docs/scenario.schema.json` changed.
A test holds them together."""

from __future__ import annotations

import json
import keyword
import pathlib
import sys
import textwrap
from collections.abc import Mapping
from typing import Any, Dict, List, Set

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs" / "scenario.schema.json"
OUT = ROOT / "python" / "scavsim" / "scenario.py"

HEAD = '''"""Scenarios as objects: every key an attribute with its type and what it is, so that editors and notebooks complete them.

    from scavsim.scenario import Cluster, Scenario, Search

    scenario = Scenario(workloads=["scavenger-resnet18"], cluster=Cluster(workers=[8, 16]))
    scenario.search.strategies = ["oracle", "random"]
    result = scavsim.run(scenario)

Written by `tools/scenario_classes.py` from `docs/scenario.schema.json`; not to be changed by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Sequence, Union

from ._keys import Keys, key

'''
WIDE = 140


class Writer:
    def __init__(self, schema: Dict[str, Any]) -> None:
        self.schema, self.defs = schema, schema["$defs"]
        self.names = {"": "Scenario"}
        self.order: List[str] = []
        self.visit("", set())

    def node(self, name: str) -> Dict[str, Any]:
        return self.defs[name] if name else self.schema

    def visit(self, name: str, under_way: Set[str]) -> None:
        """Tables that a table holds come before it."""
        if name in self.order or name in under_way:
            return
        under_way.add(name)
        for own in self.node(name)["properties"].values():
            for table in self.tables_in(own):
                self.names[table] = table.removesuffix("Table")
                self.visit(table, under_way)
        self.order.append(name)

    def tables_in(self, node: Any) -> List[str]:
        """Names of the tables with keys that a value may be or hold."""
        if isinstance(node, list):
            return [name for own in node for name in self.tables_in(own)]
        if not isinstance(node, dict):
            return []
        if "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[-1]
            return [name] if self.is_table(name) else self.tables_in(self.defs[name])
        return [name for key in ("anyOf", "oneOf", "items", "additionalProperties") for name in self.tables_in(node.get(key))]

    def is_table(self, name: str) -> bool:
        return bool(self.defs[name].get("properties")) and self.defs[name].get("type") == "object" and not self.is_small(name)

    def is_small(self, name: str) -> bool:
        """A dict says what it is as well: tables that protocols and the like are."""
        return name == "Range"

    def type_of(self, node: Any) -> str:
        found = list(dict.fromkeys(self.types_of(node)))
        if "Any" in found or not found:
            return "Any"
        literals = [own for own in found if own.startswith("Literal[")]
        others = [own for own in found if not own.startswith("Literal[") and not (own == "int" and "float" in found)]
        if len(literals) > 1:
            literals = ["Literal[" + ", ".join(own[8:-1] for own in literals) + "]"]
        both = literals + others
        return both[0] if len(both) == 1 else f"Union[{', '.join(both)}]"

    def types_of(self, node: Any) -> List[str]:
        if not isinstance(node, dict):
            return ["Any"]
        if "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[-1]
            return [self.names[name], "Dict[str, Any]"] if name in self.names else self.types_of(self.defs[name])
        if "const" in node:
            return [f"Literal[{node['const']!r}]"]
        if "enum" in node:
            # Names of shipped things are told by `scavsim.workloads()` and the like; a path may stand there, too.
            return ["str"]
        if "anyOf" in node or "oneOf" in node:
            return [own for part in node.get("anyOf", node.get("oneOf")) for own in self.types_of(part)]
        kinds = node.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        return [own for kind in kinds for own in self.of_kind(kind, node)]

    def of_kind(self, kind: Any, node: Dict[str, Any]) -> List[str]:
        simple = {"boolean": "bool", "integer": "int", "number": "float", "string": "str"}
        if kind == "null":
            return []
        if kind in simple:
            return [simple[kind]]
        if kind == "array":
            return [f"Sequence[{self.type_of(node['items']) if 'items' in node else 'Any'}]"]
        if kind == "object" and isinstance(node.get("additionalProperties"), dict):
            return [f"Dict[str, {self.type_of(node['additionalProperties'])}]"]
        return ["Dict[str, Any]"] if kind == "object" else ["Any"]

    def table_of(self, node: Dict[str, Any]) -> str:
        """The table that a key is, where it is one and nothing else."""
        parts = [own for own in node.get("anyOf", [node]) if own.get("type") != "null"]
        if len(parts) == 1 and "$ref" in parts[0]:
            return self.names.get(parts[0]["$ref"].rsplit("/", 1)[-1], "")
        return ""

    def text(self) -> str:
        names = sorted(set(self.names.values()))
        exported = textwrap.fill(", ".join(f'"{name}"' for name in names), WIDE, initial_indent="    ", subsequent_indent="    ")
        return HEAD + f"__all__ = [\n{exported},\n]\n" + "".join(self.class_of(name) for name in self.order)

    def class_of(self, name: str) -> str:
        node = self.node(name)
        described = node["description"].split("\n\n")[0] if name else "A scenario. Keys that are not set have their defaults."
        lines = ["", "", f"class {self.names[name]}(Keys):", *docstring(described), ""]
        known, tables = {}, {}
        for key, own in node["properties"].items():
            attribute = key.replace("-", "_")
            if keyword.iskeyword(attribute) or hasattr(Mapping, attribute):
                attribute += "_"
            known[attribute] = key
            table = self.table_of(own)
            if table:
                tables[attribute] = table
            lines.append(f"    {attribute}: {table or self.type_of(own)} = key(default=None)")
            lines += docstring(self.said_of(own))
        lines.append("")
        lines.append(f"    _known = {literal(known)}")
        lines.append("    _tables = {" + ", ".join(f'"{key}": {own}' for key, own in tables.items()) + "}")
        if isinstance(node.get("additionalProperties"), dict):
            lines += ["    _is_open = True", "", "    if TYPE_CHECKING:", "", "        def __getattr__(self, name: str) -> Any: ...",
                      "        def __setattr__(self, name: str, value: Any) -> None: ..."]
        return "\n".join(lines) + "\n"

    def said_of(self, own: Dict[str, Any]) -> str:
        said = own.get("description", "")
        default = own.get("default")
        if isinstance(default, (bool, int, float, str)) or (isinstance(default, list) and default):
            said += f" [{json.dumps(default)}]"
        return said


def literal(known: Dict[str, str]) -> str:
    return "{" + ", ".join(f"{json.dumps(a)}: {json.dumps(b)}" for a, b in known.items()) + "}"


def docstring(said: str) -> List[str]:
    said = " ".join(said.split()).replace("\\", "\\\\").replace('"""', "'''")
    if not said:
        return []
    if said.endswith('"'):
        said += " "
    return textwrap.wrap(f'"""{said}"""', WIDE, initial_indent="    ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def written() -> str:
    """What `scavsim/scenario.py` is to be."""
    return Writer(json.loads(SCHEMA.read_text(encoding="utf-8"))).text()


if __name__ == "__main__":
    OUT.write_text(written(), encoding="utf-8")
    print(f"{OUT.relative_to(ROOT)} is written", file=sys.stderr)
