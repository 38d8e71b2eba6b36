"""Where the values of the graph are in the ONNX graph: under which name, in which order of axes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from buildtool.exporters.onnx.errors import NotExportableError
from buildtool.exporters.onnx.orders import Order, arranged, plain, step_between
from buildtool.exporters.onnx.sizes import Sizes
from buildtool.exporters.onnx.writer import Writer
from buildtool.ir.graph import Value


class Forms:
    """The forms that every value has. One that is missing is made of another when somebody asks for it."""

    def __init__(self, writer: Writer, sizes: Sizes) -> None:
        self._writer = writer
        self._sizes = sizes
        self._names: dict[Value, dict[Order, str]] = {}

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """What is made meanwhile, in the body of a node, is not there outside of it."""
        names = {value: dict(forms) for value, forms in self._names.items()}
        try:
            yield
        finally:
            self._names = names

    def give(self, value: Value, order: Order, name: str) -> None:
        """`name` is the value in this order."""
        self._names.setdefault(value, {}).setdefault(order, name)
        self._sizes.learn(name, arranged(value.type.shape, order))

    def orders(self, value: Value) -> tuple[Order, ...]:
        """The orders in which the value is there, the first one first; constants are there in every order."""
        return tuple(self._names.get(value, {}))

    def cost(self, value: Value, order: Order) -> int:
        """What it takes to have the value in this order: nothing, a reshape, or a transpose."""
        names = self._names.get(value, {})
        if value.constant is not None or order in names:
            return 0
        return 1 if any(self._alike(value, there, order) for there in names) else 4

    def name(self, value: Value, order: Order | None = None) -> str:
        """The value in an order (plain, where none is given)."""
        order = order or plain(value.type.rank)
        names = self._names.setdefault(value, {})
        if not names and value.constant is not None:
            constant = self._writer.constant(value.constant, value.type.dtype, value.name)
            names[plain(value.type.rank)] = constant
        if not names:
            raise NotExportableError(f"it needs '{value.name}', which cannot be exported")
        if order not in names:
            names[order] = self._turned(value, order)
        return names[order]

    def _turned(self, value: Value, order: Order) -> str:
        names, shape = self._names[value], value.type.shape
        for there, name in names.items():
            if value.constant is None and self._alike(value, there, order):
                goal, allow = self._sizes.reshape_target(arranged(shape, there), arranged(shape, order))
                return self._writer.emit("Reshape", [name, goal], value.name, allowzero=allow)[0]
        there, name = next(iter(names.items()))
        return self._writer.transposed(name, step_between(there, order), value.name)

    @staticmethod
    def _alike(value: Value, one: Order, other: Order) -> bool:
        """Whether the orders differ in the places of axes of one element only."""

        def moving(order: Order) -> Order:
            return tuple(axis for axis in order if value.type.shape[axis] != 1)

        return moving(one) == moving(other)

    def share(self, value: Value, of: Value, perm: Order) -> None:
        """`value` is `of`, transposed by `perm`: whatever is there of the one is there of the other."""
        if of.constant is not None:
            self.name(of)
        for there, name in list(self._names.get(of, {}).items()):
            self.give(value, tuple(perm.index(axis) for axis in there), name)

    def renamed(self, old: str, new: str) -> None:
        """What is called `old` is called `new` from now on."""
        for names in self._names.values():
            names.update({order: new for order, name in names.items() if name == old})
