"""Reads the text form of a graph, which `buildtool.ir.text` describes and writes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from buildtool.errors import GraphError, Where
from buildtool.ir.dims import Dim, Symbol, static
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.text_scanner import Scanner, TextError
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.ir.verify import verify

HEADER = "lathe graph 1"
PLAIN_NAME = r"[A-Za-z0-9_./:$@#-]*[A-Za-z0-9_./$@#-]"  # no colon at the end: one follows the name

_MAX_REGION_DEPTH = 64


def read(
    text: str, constants: Mapping[str, Array], operators: Mapping[str, type[Operator]], file: str = "<graph>"
) -> Graph:
    """The graph that `write` wrote: verified, and ready to be changed.

    GraphError with the line where the text is wrong, or with the rules that the graph breaks.
    """
    reader = _Reader(constants, operators)
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            reader.line(line, number)
        except (TextError, OperatorError) as problem:
            raise GraphError(str(problem), where=Where(file=file, line=number)) from problem
    if not reader.complete():
        what = "the text ends in the middle of a graph"
        raise GraphError(what, where=Where(file=file, line=text.count("\n") + 1))
    verify(reader.graph)
    reader.graph.continue_names()
    return reader.graph


class _Reader:
    """Takes one line at a time. `_open` holds the regions that the line stands in, the graph itself first."""

    def __init__(self, constants: Mapping[str, Array], operators: Mapping[str, type[Operator]]) -> None:
        self.graph = Graph(name="")
        self._constants = constants
        self._operators = operators
        self._values: dict[str, Value] = {}
        self._open: list[Region] = [self.graph]
        self._lines = 0

    def complete(self) -> bool:
        return len(self._open) == 1 and self._lines >= 2

    def line(self, line: str, number: int) -> None:
        scanner = Scanner(line)
        if scanner.at_end():
            return
        self._lines += 1
        if self._lines == 1:
            if line.strip() != HEADER:
                raise TextError(f"this is not a graph that this version reads: the first line must be '{HEADER}'")
        elif self._lines == 2:
            scanner.expect("model")
            self.graph.name = scanner.take_string()
            scanner.expect_end()
        else:
            self._statement(scanner)
            scanner.expect_end()

    def _statement(self, scanner: Scanner) -> None:
        region = self._open[-1]
        if scanner.accept("symbol"):
            self._symbol(scanner)
        elif scanner.accept("range"):
            self._range(scanner)
        elif scanner.accept("input"):
            region.inputs.append(self._input(scanner, region))
        elif scanner.accept("constant"):
            self._constant(scanner)
        elif scanner.accept("output"):
            region.outputs.append(self._use(scanner))
        elif scanner.accept("region"):
            self._open_region(region)
        elif scanner.accept("end"):
            if len(self._open) == 1:
                raise TextError("'end' without 'region'")
            self._open.pop()
        else:
            region.nodes.append(self._node(scanner))

    def _symbol(self, scanner: Scanner) -> None:
        name = scanner.take_word("a symbol")
        low = scanner.take_pattern(r"[0-9]{1,20}", "a number")
        scanner.expect("..")
        high = scanner.take_pattern(r"[0-9]{1,20}", "a number")
        if name in self.graph.symbols:
            raise TextError(f"the symbol '{name}' is declared twice")
        try:
            self.graph.symbols[name] = Symbol(name, int(low), int(high))
        except ValueError as problem:
            raise TextError(str(problem)) from None

    def _range(self, scanner: Scanner) -> None:
        name = scanner.take_string()
        if name in self.graph.ranges:
            raise TextError(f"the range of '{name}' is declared twice")
        scanner.expect("quant")
        self.graph.ranges[name] = self._quant(scanner)

    def _open_region(self, region: Region) -> None:
        if not region.nodes:
            raise TextError("'region' without a node before it")
        if len(self._open) > _MAX_REGION_DEPTH:
            raise TextError(f"regions nest deeper than {_MAX_REGION_DEPTH}")
        inner = Region()
        region.nodes[-1].regions.append(inner)
        self._open.append(inner)

    def _name(self, scanner: Scanner) -> str:
        scanner.expect("%")
        return scanner.take_string() if scanner.sees('"') else scanner.take_pattern(PLAIN_NAME, "the name of a value")

    def _use(self, scanner: Scanner) -> Value:
        name = self._name(scanner)
        if name not in self._values:
            raise TextError(f"'%{name}' is not defined before this line")
        return self._values[name]

    def _definition(self, scanner: Scanner) -> Value:
        name = self._name(scanner)
        if name in self._values:
            raise TextError(f"'%{name}' is defined twice")
        scanner.expect(":")
        type_ = self._type(scanner)
        source = scanner.take_list(scanner.take_string) if scanner.accept("from") else ()
        value = Value(name, type_, source)
        self._values[name] = value
        return value

    def _type(self, scanner: Scanner) -> TensorType:
        dtype = scanner.take_dtype()
        shape: tuple[Dim, ...] = scanner.take_list(lambda: scanner.take_dim(self.graph.symbols))
        return TensorType(dtype, shape, self._quant(scanner) if scanner.accept("quant") else None)

    def _quant(self, scanner: Scanner) -> QuantType:
        scanner.expect("{scales=")
        scales = scanner.take_list(scanner.take_float)
        scanner.expect(", zero_points=")
        zero_points = scanner.take_list(scanner.take_int)
        scanner.expect(", axis=")
        axis = None if scanner.accept("none") else scanner.take_int()
        scanner.expect(", bits=")
        bits = scanner.take_int()
        scanner.expect("}")
        try:
            return QuantType(scales, zero_points, axis, bits)
        except ValueError as problem:
            raise TextError(str(problem)) from None

    def _constant(self, scanner: Scanner) -> None:
        value = self._definition(scanner)
        scanner.expect("=")
        value.constant = self._content(scanner, value)

    def _input(self, scanner: Scanner, region: Region) -> Value:
        """Of the graph itself: with the elements that a state begins with, if they are there."""
        value = self._definition(scanner)
        if region is self.graph and scanner.accept("="):
            self.graph.initial[value.name] = self._content(scanner, value)
        return value

    def _content(self, scanner: Scanner, value: Value) -> Array:
        if scanner.sees("["):
            array = self._elements(scanner, value.type)
        else:
            key = scanner.take_pattern(r"sha256:[0-9a-f]+", "the elements or the key of an array")
            if key not in self._constants:
                raise TextError(f"the array {key} is missing")
            array = self._constants[key]
        array.setflags(write=False)
        return array

    def _elements(self, scanner: Scanner, type_: TensorType) -> Array:
        items: tuple[Any, ...]
        if type_.dtype is DType.BOOL:
            items = scanner.take_list(scanner.take_bool)
        elif type_.dtype.is_integer:
            items = scanner.take_list(scanner.take_int)
        else:
            items = scanner.take_list(scanner.take_number)
        try:
            shape = static(type_.shape)
        except ValueError as problem:
            raise TextError(f"a constant has a known shape: {problem}") from None
        if math.prod(shape) != len(items) or min(shape, default=0) < 0:
            raise TextError(f"{len(items)} elements for {type_}, which has {math.prod(shape)}")
        try:
            kind: Any = type_.dtype.numpy.type
            return np.array([kind(item) for item in items], type_.dtype.numpy).reshape(shape)
        except (ValueError, OverflowError) as problem:
            raise TextError(f"an element is not of type {type_.dtype.value}: {problem}") from None

    def _node(self, scanner: Scanner) -> Node:
        outputs: list[Value] = []
        while not scanner.accept("="):
            if outputs:
                scanner.expect(",")
            outputs.append(self._definition(scanner))
        op = self._operator(scanner)
        inputs = list(scanner.take_list(lambda: self._use(scanner), "(", ")"))
        name = scanner.take_string() if scanner.accept("named") else ""
        return Node(op, inputs, outputs, name)

    def _operator(self, scanner: Scanner) -> Operator:
        name = scanner.take_word("an operator or a statement")
        operator = self._operators.get(name)
        if operator is None:
            raise TextError(f"there is no operator '{name}'")
        kinds = operator.attribute_kinds()
        found: dict[str, Any] = {}

        def take_pair() -> None:
            key = scanner.take_word("an attribute")
            if key not in kinds or key in found:
                raise TextError(f"'{name}' {'has no' if key not in kinds else 'already has the'} attribute '{key}'")
            scanner.expect("=")
            found[key] = scanner.take_attribute(kinds[key], self.graph.symbols)

        if scanner.sees("{"):
            scanner.take_list(take_pair, "{", "}")
        missing = [key for key in kinds if key not in found]
        if missing:
            raise TextError(f"'{name}' needs the attribute '{missing[0]}'")
        return operator(**found)
