"""Dimensions that are known only at run time, as ONNX nodes that compute them from the shapes of values."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from buildtool.exporters.onnx.errors import NotExportableError
from buildtool.exporters.onnx.writer import Writer
from buildtool.ir.dims import Dim, DimExpr, DimOp, bounds, is_static

_KEEP, _COUNT = 0, -1  # what a reshape understands: the size of the same axis, and what is left
_PLAIN = {DimOp.ADD: "Add", DimOp.SUB: "Sub", DimOp.MUL: "Mul", DimOp.MOD: "Mod", DimOp.MIN: "Min", DimOp.MAX: "Max"}


class Sizes:
    """Makes tensors of dimensions; each expression is computed once."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._sources: dict[str, tuple[str, int]] = {}
        self._known: dict[Dim, str] = {}

    def learn(self, name: str, shape: Sequence[Dim]) -> None:
        """A value whose dimensions tell symbols that nothing before has told."""
        for axis, dim in enumerate(shape):
            if isinstance(dim, DimExpr) and dim.symbol is not None:
                self._sources.setdefault(dim.symbol.name, (name, axis))

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """What is computed meanwhile, in the body of a node, is not there outside of it."""
        sources, known = dict(self._sources), dict(self._known)
        try:
            yield
        finally:
            self._sources, self._known = sources, known

    def scalar(self, dim: Dim) -> str:
        """The dimension as s64[1]."""
        if isinstance(dim, int):
            return self._writer.integers([dim])
        if dim not in self._known:
            self._known[dim] = self._symbol(dim) if dim.symbol is not None else self._computed(dim)
        return self._known[dim]

    def vector(self, dims: Sequence[Dim]) -> str:
        """The dimensions as s64[n]; runs of numbers are one constant."""
        if is_static(dims):
            return self._writer.integers([dim for dim in dims if isinstance(dim, int)])
        parts: list[str] = []
        numbers: list[int] = []
        for dim in dims:
            if isinstance(dim, int):
                numbers.append(dim)
                continue
            if numbers:
                parts.append(self._writer.integers(numbers))
                numbers = []
            parts.append(self.scalar(dim))
        if numbers:
            parts.append(self._writer.integers(numbers))
        return self._writer.joined(parts, 0, "sizes")

    def reshape_target(self, before: Sequence[Dim], after: Sequence[Dim]) -> tuple[str, int | None]:
        """The second operand of a Reshape, and its `allowzero`.

        Sizes that are taken over from the same axis, and one that follows from the others, need no computation. A 0 in
        their company would mean something else, which is why nothing that may be 0 is mixed with them.
        """
        if is_static(after):
            return self.vector(after), 1 if 0 in after else None
        open_ = [axis for axis, dim in enumerate(after) if not isinstance(dim, int)]
        kept = [axis for axis in open_ if axis < len(before) and before[axis] == after[axis]]
        rest = [axis for axis in open_ if axis not in kept]
        numbers = [dim for dim in after if isinstance(dim, int)]
        if not rest:
            rest, kept = kept[-1:], kept[:-1]
        sure = 0 not in numbers and all(bounds(after[axis])[0] > 0 for axis in kept)
        if not sure or len(rest) > 1:
            return self.vector(after), 1
        chosen: list[int] = []
        for axis, dim in enumerate(after):
            chosen.append(_KEEP if axis in kept else _COUNT if axis in rest else dim if isinstance(dim, int) else 0)
        return self._writer.integers(chosen), None

    def _symbol(self, dim: DimExpr) -> str:
        assert dim.symbol is not None
        if dim.symbol.name not in self._sources:
            raise NotExportableError(f"the size '{dim.symbol.name}' is the dimension of no value before it")
        name, axis = self._sources[dim.symbol.name]
        return self._writer.emit("Shape", [name], dim.symbol.name, start=axis, end=axis + 1)[0]

    def _computed(self, dim: DimExpr) -> str:
        assert dim.op is not None
        left, right = self.scalar(dim.left), self.scalar(dim.right)
        if dim.op in _PLAIN:
            return self._emit(_PLAIN[dim.op], left, right)
        low = bounds(dim.left)[0]
        if dim.op is DimOp.CEILDIV:
            left = self._emit("Add", left, self._emit("Sub", right, self.scalar(1)))
        if low < 0:  # Div cuts towards zero, Mod has the sign of the divisor
            left = self._emit("Sub", left, self._emit("Mod", left, right))
        return self._emit("Div", left, right)

    def _emit(self, op: str, left: str, right: str) -> str:
        return self._writer.emit(op, [left, right], "size")[0]
