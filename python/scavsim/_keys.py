"""What the classes of `scavsim.scenario` share: keys as attributes, checked by name, written as a dict."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, ClassVar, Dict, Iterator, List, Mapping, Type

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Any:
        return lambda made: made


def key(*, default: Any = None) -> Any:
    """A key that may be set, for those who check types."""


@dataclass_transform(kw_only_default=True, field_specifiers=(key,))
class Keys(Mapping[str, Any]):
    """Keys of a table of a scenario. Those that are not set have their default, and are not there as a mapping."""

    _tables: Dict[str, Type["Keys"]] = {}
    _known: Dict[str, str] = {}
    """Each attribute, and the key that it writes."""
    _set: ClassVar[Any]
    """Of each object, the keys that are set."""
    _is_open = False
    """Whether there may be keys of the user's own, as names of strategies."""

    def __init_subclass__(cls) -> None:
        # Attributes are looked up among what is set, not in the class.
        for name in cls._known:
            if name in cls.__dict__:
                delattr(cls, name)

    def __init__(self, **keys: Any) -> None:
        object.__setattr__(self, "_set", {})
        for name, value in keys.items():
            self._put(name, value, TypeError)

    def _put(self, name: str, value: Any, error: Type[Exception]) -> None:
        if name not in self._known and not self._is_open:
            near = difflib.get_close_matches(name, self._known, 1)
            tip = f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(self._known)}"
            raise error(f"{type(self).__name__} has no key `{name}`{tip}")
        table = self._tables.get(name)
        if table is not None and type(value) is dict:
            value = table(**{_attribute(key): own for key, own in value.items()})
        self._set[self._known.get(name, name)] = value

    if not TYPE_CHECKING:  # Names of keys are checked where types are.

        def __setattr__(self, name: str, value: Any) -> None:
            self._put(name, value, AttributeError)

        def __delattr__(self, name: str) -> None:
            self._set.pop(self._known.get(name, name), None)

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or (name not in self._known and name not in self._set):
                near = difflib.get_close_matches(name, self._known, 1)
                raise AttributeError(f"{type(self).__name__} has no key `{name}`" + (f"; did you mean `{near[0]}`?" if near else ""))
            key = self._known.get(name, name)
            if key not in self._set and name in self._tables:
                # So that `scenario.cluster.workers = [8]` needs no `scenario.cluster = Cluster()`.
                self._set[key] = self._tables[name]()
            return self._set.get(key)

    def _there(self) -> Dict[str, Any]:
        return {key: value for key, value in self._set.items() if value is not None and not (isinstance(value, Keys) and not value._there())}

    def __getitem__(self, key: str) -> Any:
        return self._there()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._there())

    def __len__(self) -> int:
        return len(self._there())

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._known]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{_attribute(key)}={value!r}' for key, value in self._there().items())})"

    def to_dict(self) -> Dict[str, Any]:
        """As a dict of dicts."""
        return {key: _plain(value) for key, value in self._there().items()}

    def to_toml(self) -> str:
        """As the text of a scenario file."""
        from . import _scenario

        text, _ = _scenario.read(self)
        return str(text)


def _plain(value: Any) -> Any:
    """A value without objects of classes of keys."""
    if isinstance(value, Mapping):
        return {key: _plain(own) for key, own in value.items()}
    return [_plain(own) for own in value] if isinstance(value, (list, tuple)) else value


def _attribute(key: str) -> str:
    return key.replace("-", "_")
