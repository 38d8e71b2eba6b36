"""What a traced definition computes: expressions over whole arrays. They are compared by identity and never change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Expr:
    """An array. `dtype`: that of the reference."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def reads(self) -> tuple[Expr, ...]:
        return ()


@dataclass(frozen=True, eq=False)
class Given(Expr):
    """An input of the layer, or a part of what surrounds the body of a recurrence."""

    name: str


@dataclass(frozen=True, eq=False)
class Constant(Expr):
    array: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Map(Expr):
    """A function of single elements. `code`: of C, with {0}, {1} for the operands, which broadcast."""

    code: str
    operands: tuple[Expr, ...]

    @property
    def reads(self) -> tuple[Expr, ...]:
        return self.operands

    @property
    def is_costly(self) -> bool:
        """Whether it is better computed once and kept than computed twice."""
        return "f(" in self.code or "/" in self.code


@dataclass(frozen=True, eq=False)
class Moved(Expr):
    """Elements of the source in other places: for each its position there."""

    source: Expr
    positions: Positions

    @property
    def reads(self) -> tuple[Expr, ...]:
        return (self.source,)

    @property
    def is_reshape(self) -> bool:
        return self.size == self.source.size and bool(np.array_equal(self.positions.ravel(), np.arange(self.size)))


@dataclass(frozen=True, eq=False)
class Seen(Expr):
    """Elements of the source, and a value in front of its start and behind its end.

    The place on each axis of the source is a sum: an offset and multiples (`forms`) of the places here.
    """

    source: Expr
    forms: tuple[tuple[int, ...], ...]  # by axis of the source: a factor for each axis here
    offsets: tuple[int, ...]
    value: Any

    @property
    def reads(self) -> tuple[Expr, ...]:
        return (self.source,)


@dataclass(frozen=True, eq=False)
class Reduced(Expr):
    """Folds the source over its last axes, which are as many as its rank exceeds that of the result."""

    kind: str  # sum, prod, max, min, argmax, argmin
    source: Expr

    @property
    def reads(self) -> tuple[Expr, ...]:
        return (self.source,)


@dataclass(frozen=True, eq=False)
class Scanned(Expr):
    """Sums or products of all elements so far along the last axis."""

    kind: str  # sum, prod
    source: Expr

    @property
    def reads(self) -> tuple[Expr, ...]:
        return (self.source,)


@dataclass(frozen=True, eq=False)
class Written(Expr):
    """The base with other elements in some places, one after the other."""

    base: Expr
    positions: Positions
    value: Expr

    @property
    def reads(self) -> tuple[Expr, ...]:
        return self.base, self.value


@dataclass(frozen=True, eq=False)
class Taken(Expr):
    """Elements of the source in places that are known when the model runs; they are kept within the source."""

    source: Expr
    places: Expr  # into all elements of the source

    @property
    def reads(self) -> tuple[Expr, ...]:
        return self.source, self.places


@dataclass(frozen=True, eq=False)
class Walk(Expr):
    """A recurrence: the states of every step (`last`: of the final one), from those in front of the first.

    In the body, `step` is a Given with the input of one step, and each of `states` a Given with a state.
    """

    sequence: Expr  # [steps, ...]
    step: Given
    first: tuple[Expr, ...]
    states: tuple[Given, ...]
    following: tuple[Expr, ...]  # of the body
    backwards: bool
    which: int  # the state that is the result
    last: bool

    @property
    def reads(self) -> tuple[Expr, ...]:
        return self.sequence, *self.first


@dataclass(frozen=True, eq=False)
class Called(Expr):
    """What a procedure of C makes of whole arrays: procedure(operands, result, work, about)."""

    procedure: str
    operands: tuple[Expr | None, ...]  # None: a null pointer
    about: str  # its last arguments
    scratch: int  # numbers of double precision in work; none: there is no such argument

    @property
    def reads(self) -> tuple[Expr, ...]:
        return tuple(each for each in self.operands if each is not None)


def walk(root: Expr) -> Iterator[Expr]:
    """All expressions once, those that are read before those that read them."""
    seen: set[int] = set()
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        found, done = stack.pop()
        if done:
            yield found
        elif id(found) not in seen:
            seen.add(id(found))
            stack.append((found, True))
            stack += [(each, False) for each in reversed(found.reads)]
