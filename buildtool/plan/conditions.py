"""The `when` of a kernel: a small expression language over a node, parsed with `ast` and evaluated by hand.

Allowed are attributes of the operator by name (with constant indices: `strides[0]`), `rank(i)`, `dim(i, axis)` and
`is_constant(i)` of input i, numbers, strings, tuples, `and or not`, comparisons, `in`, and `+ - * // %`.
A condition that depends on a dimension which is unknown at build time does not hold.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from buildtool.ir.graph import Node

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_FUNCTIONS = {"rank": 1, "dim": 2, "is_constant": 1}


class ConditionError(ValueError):
    """The text is not a condition, or names what the node does not have."""


class _UnknownError(Exception):
    """A dimension that only the runtime knows was asked for."""


@dataclass(frozen=True)
class Condition:
    """A parsed condition. The empty text always holds."""

    text: str = ""

    def __post_init__(self) -> None:
        if self.text:
            _check(_parse(self.text))

    def names(self) -> frozenset[str]:
        """The attributes that the condition reads."""
        if not self.text:
            return frozenset()
        nodes = list(ast.walk(_parse(self.text)))
        called = [node.func for node in nodes if isinstance(node, ast.Call)]
        return frozenset(node.id for node in nodes if isinstance(node, ast.Name) and node not in called)

    def holds(self, node: Node) -> bool:
        """Whether the node meets the condition. ConditionError where it reads an attribute that does not exist."""
        if not self.text:
            return True
        try:
            return bool(_evaluate(_parse(self.text), node))
        except _UnknownError:
            return False
        except (TypeError, IndexError, ZeroDivisionError) as problem:
            raise ConditionError(f"'{self.text}' cannot be evaluated: {problem}") from problem

    def __str__(self) -> str:
        return self.text


@functools.cache
def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise ConditionError(f"'{text}' is not an expression") from problem


def _check(tree: ast.expr) -> None:
    """Refuse what `_evaluate` does not know."""
    match tree:
        case ast.BoolOp(values=values):
            for value in values:
                _check(value)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            _check(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            _check(left)
            _check(right)
        case ast.Compare(left=left, ops=ops, comparators=comparators) if all(type(op) in _COMPARE for op in ops):
            for item in (left, *comparators):
                _check(item)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if _FUNCTIONS.get(name) == len(arguments):
            for argument in arguments:
                _check(argument)
        case ast.Subscript(value=value, slice=index):
            _check(value)
            _check(index)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item in items:
                _check(item)
        case ast.Constant(value=bool() | int() | float() | str()) | ast.Name():
            pass
        case _:
            raise ConditionError(f"'{ast.unparse(tree)}' is not allowed in a condition")


def _evaluate(tree: ast.expr, node: Node) -> Any:
    match tree:
        case ast.BoolOp(op=op, values=values):
            return _evaluate_lazily(isinstance(op, ast.And), values, node)
        case ast.UnaryOp(op=op, operand=operand):
            value = _evaluate(operand, node)
            return not value if isinstance(op, ast.Not) else -value
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_evaluate(left, node), _evaluate(right, node))
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            values = [_evaluate(item, node) for item in (left, *comparators)]
            return all(
                _COMPARE[type(op)](first, second) for op, first, second in zip(ops, values, values[1:], strict=False)
            )
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, [_evaluate(argument, node) for argument in arguments], node)
        case ast.Subscript(value=value, slice=index):
            return _evaluate(value, node)[_evaluate(index, node)]
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return tuple(_evaluate(item, node) for item in items)
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            attributes = node.op.attributes()
            if name not in attributes:
                raise ConditionError(f"operator '{node.op.name}' has no attribute '{name}'")
            return attributes[name]
    raise ConditionError(f"'{ast.unparse(tree)}' is not allowed in a condition")


def _evaluate_lazily(conjunction: bool, values: list[ast.expr], node: Node) -> bool:
    """`and` and `or` stop at the first operand that decides; an unknown operand leaves the decision to the others."""
    unknown = False
    for value in values:
        try:
            if bool(_evaluate(value, node)) is not conjunction:
                return not conjunction
        except _UnknownError:
            unknown = True
    if unknown:
        raise _UnknownError
    return conjunction


def _call(name: str, arguments: list[Any], node: Node) -> Any:
    if not all(isinstance(argument, int) for argument in arguments):
        raise ConditionError(f"the arguments of {name}() are integers")
    value = node.input(arguments[0])
    if name == "is_constant":
        return value is not None and value.is_constant
    if name == "rank":
        return -1 if value is None else value.type.rank
    if value is None or not -value.type.rank <= arguments[1] < value.type.rank:
        raise _UnknownError
    dim = value.type.shape[arguments[1]]
    if not isinstance(dim, int):
        raise _UnknownError
    return dim
