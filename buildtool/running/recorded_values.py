"""What a run computed inside: the file of `lathe_run --values`, value by value, and single nodes computed again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.errors import RunError, Where
from buildtool.ir.evaluate import bind_symbols, evaluate_node
from buildtool.ir.graph import Graph, Node, Value
from buildtool.running.metrics import Array


class Values(Mapping[str, Array]):
    """Arrays by name, read from the file when they are asked for: at most one is in memory because of this."""

    def __init__(self, file: Path, names: Sequence[str]) -> None:
        self._file = file
        self._offsets: dict[str, int] = {}
        try:
            with file.open("rb") as stream:
                for name in names:
                    self._offsets[name] = stream.tell()
                    _skip(stream)
        except (OSError, ValueError, EOFError) as problem:
            raise RunError(f"the values of the run cannot be read: {problem}", where=Where(file=str(file))) from problem

    def __getitem__(self, name: str) -> Array:
        with self._file.open("rb") as stream:
            stream.seek(self._offsets[name])
            array: Array = np.lib.format.read_array(stream, allow_pickle=False)
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)


def _skip(stream: Any) -> None:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    stream.seek(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize, 1)


def operands(node: Node) -> list[Value]:
    """What a node and its regions read, but for constants; each once."""
    return [value for value in dict.fromkeys((*node.inputs, *node.captured())) if value.constant is None]


class Evaluation:
    """The nodes of a graph in NumPy, one at a time and on any operands."""

    def __init__(self, graph: Graph, inputs: Mapping[str, Array]) -> None:
        self._graph = graph
        self._symbols = bind_symbols(graph, {name: array.shape for name, array in inputs.items()})

    def of(self, node: Node, operands: Mapping[Value, Array]) -> dict[Value, Array]:
        """The results of a node. A size that its data decides is known to the nodes behind it."""
        with np.errstate(all="ignore"):  # a library that went wrong may feed anything
            return evaluate_node(node, operands, self._symbols, self._graph)


class Expected:
    """What the whole network should compute, node by node; values that nobody reads any more are dropped."""

    def __init__(self, graph: Graph, inputs: Mapping[str, Array]) -> None:
        self._evaluation = Evaluation(graph, inputs)
        self._left: dict[Value, int] = {}
        for node in graph.nodes:
            for value in operands(node):
                self._left[value] = self._left.get(value, 0) + 1
        self._values = {value: np.asarray(inputs[value.name]) for value in graph.inputs}

    def of(self, node: Node) -> dict[Value, Array]:
        """The results of the next node: they have to be asked for in order."""
        results = self._evaluation.of(node, self._values)
        self._values.update(results)
        for value in operands(node):
            self._left[value] -= 1
            if not self._left[value]:
                del self._values[value]
        return results


@dataclass(frozen=True)
class Names:
    """What nodes and values are called in the source, also where the library knows only numbers of them."""

    obscured: Mapping[str, tuple[str, ...]]

    def of_node(self, node: Node) -> str:
        return self.obscured.get(node.name, (node.name,))[0] or node.op.name

    def of_value(self, value: Value) -> tuple[str, ...]:
        """The names that a value had in the source model; none for what only Lathe knows."""
        return self.obscured[value.name][1:] if value.name in self.obscured else value.source_names


def file_name(index: int, value: str) -> str:
    """Where a dump keeps a value: in the order of the run, under a name that every file system takes."""
    return f"{index:04d}_{re.sub(r'[^A-Za-z0-9_.-]', '_', value)[:80]}.npy"
