"""Who needs a library that is loaded."""

from __future__ import annotations

import _ctypes


class Users:
    """Those who need a library loaded; the last one that goes unloads it. References do not do: of objects that refer
    to each other in a circle, Python ends a library before its engines."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._others: list[None] = []  # one for each but the first; a list, as its methods are atomic

    def enter(self) -> None:
        self._others.append(None)

    def leave(self) -> None:
        try:
            self._others.pop()
        except IndexError:
            if self._handle:
                _ctypes.dlclose(self._handle)  # type: ignore[attr-defined, unused-ignore]
