"""Complex tensors as two real ones: graphs have no complex numbers, and few operators of a model take them.

A reader calls `with_parts` on its nodes: a complex tensor `y` becomes `y:real` and `y:imag`. Operators that only move
elements, and constants, stand once for each part; the others take or give both parts, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from buildtool.importers.model import SourceNode

_REAL, _IMAGINARY = PARTS = (":real", ":imag")


@dataclass(frozen=True)
class ComplexOperators:
    """The operators of a framework that take or give complex tensors, by their titles."""

    making: frozenset[str]  # of real tensors
    taking: frozenset[str]  # and give real tensors
    changing: frozenset[str]  # take and give them
    moving: frozenset[str]  # treat both parts alike
    computing: frozenset[str] = frozenset()  # take and give them, by a handler of another name than that of real ones

    def __contains__(self, title: object) -> bool:
        return title in self.making | self.taking | self.changing | self.moving | self.computing


def with_parts(nodes: Sequence[SourceNode], operators: ComplexOperators) -> tuple[SourceNode, ...]:
    """The nodes, in execution order, without complex tensors. Others that read them are operators nobody knows."""
    if not any(node.title in operators.making or _is_complex(node) for node in nodes):
        return tuple(nodes)
    made: list[SourceNode] = []
    found: set[str] = set()  # the complex tensors
    for node in nodes:
        first = len(made)
        gives = node.title in operators.making
        if _is_complex(node):
            gives = True
            made += _constants(node)
        elif found.isdisjoint(node.reads):
            made.append(replace(node, outputs=_doubled(node.outputs)) if gives else node)
        elif node.title in operators.moving:
            gives = True
            made += _for_each_part(node, found)
        else:
            known = node.title in operators.taking | operators.changing
            gives = node.title in operators.changing | operators.computing
            made.append(_with_both(node, found, known, gives))
        if gives:
            found.update(node.outputs)
            made += [_as_output(name, made[first]) for name in node.outputs if name]
    return tuple(made)


def _doubled(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{name}{part}" if name else "" for name in names for part in PARTS)


def _for_each_part(node: SourceNode, found: set[str]) -> Iterator[SourceNode]:
    for part in PARTS:
        inputs = tuple(f"{name}{part}" if name in found else name for name in node.inputs)
        outputs = tuple(f"{name}{part}" if name else "" for name in node.outputs)
        name = node.name if part == _REAL else f"{node.name}{part}"
        yield replace(node, name=name, inputs=inputs, outputs=outputs)


def _is_complex(node: SourceNode) -> bool:
    """Whether it is a constant of complex numbers."""
    value = node.attributes.get("value")
    return isinstance(value, np.ndarray) and value.dtype.kind == "c"


def _constants(node: SourceNode) -> Iterator[SourceNode]:
    value = np.asarray(node.attributes["value"])
    for part, array in zip(PARTS, (value.real, value.imag), strict=True):
        name = f"{node.name}{part}"
        outputs = tuple(f"{name}{part}" for name in node.outputs)
        yield replace(node, name=name, outputs=outputs, attributes={**node.attributes, "value": array.copy()})


def _with_both(node: SourceNode, found: set[str], known: bool, gives: bool) -> SourceNode:
    inputs = [_doubled([name]) if name in found else (name,) for name in node.inputs]
    captured = [_doubled([name]) if name in found else (name,) for name in node.captured]
    return replace(
        node,
        op=node.op if known else f"{node.op} of complex numbers",
        inputs=tuple(name for names in inputs for name in names),
        captured=tuple(name for names in captured for name in names),
        outputs=_doubled(node.outputs) if gives else node.outputs,
    )


def _as_output(name: str, node: SourceNode) -> SourceNode:
    """What nobody can make: a complex output of the model. It is imported only where it is asked for."""
    return SourceNode(f"{node.op} as a complex output", "", name, _doubled([name]), (name,), {})
