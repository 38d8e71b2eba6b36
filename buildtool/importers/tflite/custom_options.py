"""The options of custom operators: bytes that only who defines the operator can read."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from flatbuffers import flexbuffers

from buildtool.importers.step import Step

_Kind = TypeVar("_Kind", int, float, bool)
_UNREADABLE = (struct.error, ValueError, TypeError, LookupError, OverflowError, AssertionError)


def integers(step: Step, least: int) -> tuple[int, ...]:
    """The options as numbers of 32 bits, as C has them in a structure; at least so many."""
    options = step.attribute("custom_options")
    if not isinstance(options, np.ndarray) or options.size < 4 * least:
        step.malformed(f"it has no {least} options")
    whole = options[: options.size // 4 * 4]
    return tuple(int(number) for number in np.frombuffer(whole.tobytes(), "<i4"))


class NamedOptions:
    """The options as a map of names to numbers, in the format FlexBuffers. Without a default, one has to be there."""

    def __init__(self, step: Step) -> None:
        self._step = step
        options = step.attribute("custom_options")
        self._map = None
        if isinstance(options, np.ndarray):
            self._map = self._read(lambda: flexbuffers.GetRoot(bytearray(options.tobytes())).AsMap)

    def integer(self, name: str, default: int | None = None) -> int:
        return self._number(name, lambda option: int(option.AsInt), default)

    def real(self, name: str, default: float | None = None) -> float:
        value = self._number(name, lambda option: float(option.AsFloat), default)
        if not np.isfinite(value):
            self._step.malformed(f"its option '{name}' is {value}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        return self._number(name, lambda option: bool(option.AsBool), default)

    def _number(self, name: str, read: Callable[[Any], _Kind], default: _Kind | None) -> _Kind:
        found = None if self._map is None else self._read(lambda: _entry(self._map, name))
        if found is not None:
            value: _Kind = self._read(lambda: read(found))
            return value
        if default is None:
            self._step.malformed(f"the option '{name}' is missing")
        return default

    def _read(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except _UNREADABLE:
            self._step.malformed("its options cannot be read")


def _entry(options: Any, name: str) -> Any:
    try:
        return options[name]
    except KeyError:
        return None
