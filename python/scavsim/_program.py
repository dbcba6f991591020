"""What the program can fail with."""

from __future__ import annotations

from typing import Any


class ProgramError(RuntimeError):
    """scavsim could not do what it was asked, for another reason than mistakes in it. `code` is the exit code that the program ends
    with."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text.strip())
        self.code = code

    def __reduce__(self) -> Any:
        return type(self), (self.code, str(self))
