"""Follows pickles without doing what they ask for: the one reader of pickled files.

A pickle is a program that builds objects by calling functions. `follow` executes the few instructions that data needs
and builds dictionaries, lists, tuples, numbers, texts and bytes. A function is never looked up: its name is taken to
a builder of the caller, and where the caller has none, what would have come of it is an `Opaque`.
"""

from __future__ import annotations

import io
import pickletools
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

#: Makes a value of the arguments that a pickle would have called a function with. RefusedError where they do not fit.
Builder: TypeAlias = Callable[[tuple[Any, ...]], Any]
NOTHING: Mapping[str, Builder] = MappingProxyType({})
_MARK = object()
_PLAIN = (str, bytes, int, float, type(None))  # bool is an int


class RefusedError(Exception):
    """Why a pickle cannot be read."""


@dataclass(eq=False)
class Opaque:
    """Something that a file describes and nobody here needs."""

    name: str = ""


@dataclass(frozen=True)
class Name:
    """A function or class that a pickle refers to."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(eq=False)
class Stateful:
    """What a builder makes that is to know the state that a pickle gives it afterwards."""

    state: Any = None


@dataclass
class Followed:
    """What a pickle builds, and the names of all functions and classes that it mentions."""

    value: Any
    names: frozenset[Name]


def follow(
    stream: io.BytesIO, builders: Mapping[str, Builder] = NOTHING, persistent: Builder | None = None
) -> Followed:
    """Follow one pickle up to its end, behind which the stream stands then.

    `builders`: by `module.name`. `persistent` gets what the pickle says of an object outside of it; without it, that
    is an Opaque. RefusedError where this is no pickle, or asks for something unusual.
    """
    machine = _Machine(stream, builders, persistent)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in texts, which damaged files may hold
            value = machine.run()
    except (IndexError, TypeError, AttributeError, KeyError, OverflowError, MemoryError, RecursionError) as error:
        raise RefusedError(f"damaged: {type(error).__name__}") from None
    except ValueError as error:  # a UnicodeError is one
        raise RefusedError(f"damaged: {error}") from None
    return Followed(value, frozenset(machine.names))


@dataclass
class _Machine:
    """Follows one pickle."""

    stream: io.BytesIO
    builders: Mapping[str, Builder]
    persistent: Builder | None
    stack: list[Any] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)
    names: set[Name] = field(default_factory=set)

    def run(self) -> Any:
        for opcode, argument, _ in pickletools.genops(self.stream):
            if opcode.name == "STOP":
                return self.pop()
            step = _STEPS.get(opcode.name)
            if step is None:
                raise RefusedError(f"the instruction {opcode.name} is unusual")
            step(self, argument)
        raise RefusedError("it ends too early")

    def pop(self) -> Any:
        return self.stack.pop()

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def push_name(self, module: Any, name: Any) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            raise RefusedError("damaged: a name is not a string")
        found = Name(module, name)
        self.names.add(found)
        self.push(found)

    def since_mark(self) -> list[Any]:
        items: list[Any] = []
        while (item := self.stack.pop()) is not _MARK:
            items.append(item)
        return items[::-1]

    def made(self, function: Any, arguments: Any) -> Any:
        """What the caller makes instead of the result of a call."""
        if not isinstance(function, Name) or not isinstance(arguments, tuple):
            return Opaque()
        builder = self.builders.get(str(function))
        return Opaque(str(function)) if builder is None else builder(arguments)


def _reduce(machine: _Machine, _: Any) -> None:
    arguments, function = machine.pop(), machine.pop()
    machine.push(machine.made(function, arguments))


def _persistent(machine: _Machine, _: Any) -> None:
    words = machine.pop()
    if not isinstance(words, tuple):
        raise RefusedError("damaged: an external object has no description")
    machine.push(Opaque() if machine.persistent is None else machine.persistent(words))


def _global(machine: _Machine, argument: Any) -> None:
    module, _, name = str(argument).partition(" ")
    machine.push_name(module, name)


def _stack_global(machine: _Machine, _: Any) -> None:
    name, module = machine.pop(), machine.pop()
    machine.push_name(module, name)


def _build(machine: _Machine, _: Any) -> None:
    """What an object remembers beside its contents."""
    state = machine.pop()
    target = machine.stack[-1]
    if isinstance(target, Stateful):
        target.state = state


def _set_items(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    _update(machine.stack[-1], items)


def _set_item(machine: _Machine, _: Any) -> None:
    value, key = machine.pop(), machine.pop()
    _update(machine.stack[-1], [key, value])


def _update(target: Any, items: list[Any]) -> None:
    if isinstance(target, dict):
        target.update(mapping(items))


def mapping(items: list[Any]) -> dict[Any, Any]:
    """A dictionary of keys and values in turn. RefusedError for keys within which Python would recurse."""
    for key in items[::2]:
        parts = key if isinstance(key, tuple) else (key,)
        if not all(isinstance(part, (*_PLAIN, Name, Opaque)) for part in parts):
            raise RefusedError("a dictionary has unusual keys")
    return dict(zip(items[::2], items[1::2], strict=True))


def _append(machine: _Machine, _: Any) -> None:
    item = machine.pop()
    _extend(machine.stack[-1], [item])


def _appends(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    _extend(machine.stack[-1], items)


def _extend(target: Any, items: list[Any]) -> None:
    if isinstance(target, list):
        target.extend(items)


def _put(machine: _Machine, argument: Any) -> None:
    machine.memo[int(argument)] = machine.stack[-1]


def _memoize(machine: _Machine, _: Any) -> None:
    machine.memo[len(machine.memo)] = machine.stack[-1]


def _get(machine: _Machine, argument: Any) -> None:
    machine.push(machine.memo[int(argument)])


def _dictionary(machine: _Machine, _: Any) -> None:
    machine.push(mapping(machine.since_mark()))


def _tuple_of(count: int) -> Callable[[_Machine, Any], None]:
    def step(machine: _Machine, _: Any) -> None:
        items = [machine.pop() for _ in range(count)]
        machine.push(tuple(items[::-1]))

    return step


def _constant(value: Callable[[], Any]) -> Callable[[_Machine, Any], None]:
    return lambda machine, _: machine.push(value())


def _nothing(machine: _Machine, _: Any) -> None:
    pass


def _argument(machine: _Machine, argument: Any) -> None:
    machine.push(sys.intern(argument) if isinstance(argument, str) else argument)


_STEPS: Mapping[str, Callable[[_Machine, Any], None]] = MappingProxyType(
    {
        **dict.fromkeys(("PROTO", "FRAME"), _nothing),
        **dict.fromkeys(
            ("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "INT", "LONG", "BINFLOAT", "FLOAT"), _argument
        ),
        **dict.fromkeys(("BINUNICODE", "SHORT_BINUNICODE", "UNICODE", "BINUNICODE8"), _argument),
        **dict.fromkeys(("SHORT_BINSTRING", "BINSTRING", "STRING"), _argument),
        **dict.fromkeys(("SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8"), _argument),
        "NONE": _constant(lambda: None),
        "NEWTRUE": _constant(lambda: True),
        "NEWFALSE": _constant(lambda: False),
        "EMPTY_DICT": _constant(dict),
        "EMPTY_LIST": _constant(list),
        "EMPTY_TUPLE": _constant(tuple),
        "EMPTY_SET": _constant(Opaque),
        "MARK": lambda machine, _: machine.push(_MARK),
        "TUPLE": lambda machine, _: machine.push(tuple(machine.since_mark())),
        "TUPLE1": _tuple_of(1),
        "TUPLE2": _tuple_of(2),
        "TUPLE3": _tuple_of(3),
        "LIST": lambda machine, _: machine.push(machine.since_mark()),
        "DICT": _dictionary,
        "APPEND": _append,
        "APPENDS": _appends,
        "ADDITEMS": _appends,
        "SETITEM": _set_item,
        "SETITEMS": _set_items,
        "GLOBAL": _global,
        "STACK_GLOBAL": _stack_global,
        "REDUCE": _reduce,
        "NEWOBJ": _reduce,
        "BUILD": _build,
        "BINPERSID": _persistent,
        **dict.fromkeys(("BINPUT", "LONG_BINPUT", "PUT"), _put),
        **dict.fromkeys(("BINGET", "LONG_BINGET", "GET"), _get),
        "MEMOIZE": _memoize,
        "POP": lambda machine, _: machine.stack.pop() and None,
        "DUP": lambda machine, _: machine.push(machine.stack[-1]),
    }
)
