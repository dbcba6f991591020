from typing import Any, Callable, List, Optional, Sequence, Tuple, Union
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
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

_Strategies = Sequence[Tuple[str, Callable[[], Any], bool, bool, bool]]

def main(arguments: List[str]) -> int: ...
def check(text: Union[str, Path], set: List[str], strategies: _Strategies) -> Tuple[str, int]: ...
def run(
    text: Union[str, Path],
    set: List[str],
    strategies: _Strategies,
    jobs: Optional[int],
    progress: Optional[Callable[[int, int], None]],
) -> Records: ...
