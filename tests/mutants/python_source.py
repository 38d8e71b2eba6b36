"""The faults that can be planted in a Python source: by its syntax tree, in the bodies of functions only.

Messages are left alone: what is raised, what is refused, and formatted texts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.mutants.mutation import Mutation

_BINARY = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
_COMPARED = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_MESSAGES = ("malformed", "unsupported", "refuse", "fail", "wrong", "note", "problem", "_problem", "_refuse", "_wrong")


def mutations(source: str) -> list[Mutation]:
    """All faults, in the order of the source."""
    found: list[Mutation] = []
    tree = ast.parse(source)
    finder = _Finder(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for statement in node.body:
                found += finder.of(statement)
    unique = {(one.start, one.end, one.text): one for one in found}  # functions are in functions
    return [unique[key] for key in sorted(unique)]


class _Finder:
    def __init__(self, source: str) -> None:
        self._source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._ascii = source.isascii()

    def of(self, node: ast.AST) -> Iterator[Mutation]:
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.FunctionDef | ast.AnnAssign):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node, ast.Call) and _name(node.func) in _MESSAGES:
            return
        if isinstance(node, ast.keyword) and node.arg == "strict":
            return  # of zip: an assertion
        yield from self._own(node)
        for child in ast.iter_child_nodes(node):
            yield from self.of(child)

    def _own(self, node: ast.AST) -> Iterator[Mutation]:
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY and not _is_text(node):
            yield from self._between(node.left, node.right, *_BINARY[type(node.op)], "another operator")
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
            yield from self._between(
                node.left, node.comparators[0], *_COMPARED[type(node.ops[0])], "another comparison"
            )
        elif isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            yield from self._between(node.values[0], node.values[1], old, new, "and for or")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield self._replaced(node, self._text(node.operand), "a condition the other way round")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield self._replaced(node, self._text(node.operand), "a sign left out")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield self._replaced(node, str(not node.value), "true for false")
        elif isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield self._replaced(node, str(node.value + 1), "off by one, or another axis")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield self._replaced(node, "pass", "a call left out")
        elif isinstance(node, ast.AugAssign):
            yield self._replaced(node, "pass", "a sum left out")
        elif isinstance(node, ast.Break | ast.Continue):
            yield self._replaced(node, "pass", "a jump left out")
        elif isinstance(node, ast.If) and not node.orelse and isinstance(node.body[0], ast.Return | ast.Continue):
            yield self._replaced(node.test, "False", "a case left out")

    def _between(self, left: ast.expr, right: ast.expr, old: str, new: str, what: str) -> Iterator[Mutation]:
        """The operator between two operands, which parentheses may surround."""
        start, end = self._place(left)[1], self._place(right)[0]
        at = self._source.find(old, start, end)
        if at >= 0 and "#" not in self._source[start:end]:
            yield Mutation(at, at + len(old), new, what)

    def _replaced(self, node: ast.expr | ast.stmt, text: str, what: str) -> Mutation:
        start, end = self._place(node)
        return Mutation(start, end, text, what)

    def _text(self, node: ast.expr) -> str:
        start, end = self._place(node)
        return f"({self._source[start:end]})"

    def _place(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        ends = ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
        start, end = (self._starts[line - 1] + self._letters(line, column) for line, column in ends)
        return start, end

    def _letters(self, line: int, column: int) -> int:
        """Syntax trees count bytes."""
        if self._ascii:
            return column
        text = self._source[self._starts[line - 1] : self._starts[line]]
        return len(text.encode()[:column].decode())


def _name(function: ast.expr) -> str:
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in sides
    )
