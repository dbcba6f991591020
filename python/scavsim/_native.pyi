from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union
from pathlib import Path

__version__: str

class Mistakes(ValueError):
    """All that is wrong with a scenario."""

    mistakes: List[dict]

class Records:
    name: str
    cases: int
    failed: int
    nbytes: int
    remarks: List[str]
    summary: str
    manifest: str
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

class UnknownOption(TypeError):
    """A command takes no such option."""

    told: Dict[str, Optional[str]]

class Stopped(RuntimeError):
    """A run was stopped from outside."""

Opened = Tuple[str, Callable[[], Any], Tuple[bool, bool, bool, bool], Tuple[int, float]]
_Strategies = Sequence[Opened]

def ask(arguments: List[str], given: Optional[str] = None) -> Tuple[int, str, List[str]]: ...
def options(command: str) -> List[str]: ...
def main(arguments: List[str]) -> int: ...
def check(text: Union[str, Path], set: List[str], strategies: _Strategies) -> Tuple[str, int]: ...
def run(
    text: Union[str, Path],
    set: List[str],
    strategies: _Strategies,
    jobs: Optional[int],
    progress: Optional[Callable[[int, int], None]],
    stop: Optional[Any],
    over: Any,
    most_bytes: int,
    programs: bool,
) -> Records: ...
