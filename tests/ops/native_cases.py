"""Writes the case files that native/tests/op_cases_test.cc reads: every kernel, by name, on every case that fits it.

Each case becomes up to three models of one node: as it stands, with every constant as an input, and with a dimension
that is only known at run time. native/tests/op_cases_file.h specifies the files.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from buildtool.codegen import container
from buildtool.codegen.container_writer import Stored, stored_bytes
from buildtool.errors import UnsupportedError
from buildtool.ir.dims import Dim, Symbol, evaluate, is_static, symbol, symbols
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType, dtype_of
from buildtool.ops.registry import registry
from buildtool.plan import arena
from buildtool.plan.manifest import KernelInfo, Manifests
from buildtool.plan.packing import INPUT, packable
from buildtool.plan.plan import Plan
from buildtool.plan.select import misfit, select
from tests.ops.case import OpCase
from tests.ops.strided import misplaced, strided_graph, strides_of

_MARGIN = 3  # how far the bound of a symbolic dimension lies above the case's own size
_SYMBOL = "n"
_SIZE = 5  # of the input that operators without inputs take their sizes from


@dataclass(frozen=True)
class NativeCase:
    """A model of one node, what goes in and what has to come out."""

    name: str
    graph: Graph
    inputs: tuple[Array, ...]  # of the graph
    expected: tuple[Array, ...]
    summed: float = 0.0  # errors are parts of this, where it is larger than what is expected


@dataclass(frozen=True)
class Written:
    """What `write_cases` wrote: the kernels and how many files each has."""

    files: dict[str, int]


def write_cases(
    folder: Path,
    cases: Iterable[OpCase],
    manifests: Manifests,
    natives: Callable[[OpCase], Iterable[NativeCase]] | None = None,
    isas: Collection[str] | None = None,
) -> Written:
    """One file per model of a case (`natives`: all its variants if not given) and kernel that fits it.

    `isas`: instruction sets whose kernels have files; the others are counted.
    """
    files = {kernel.name: 0 for kernel in manifests}
    for case in cases:
        for number, native in enumerate((natives or variants)(case)):
            for kernel in manifests.of(case.op.name):
                if number > 0 and not kernel.algorithm.startswith(case.made_for):
                    continue
                for packing in packings(native.graph, kernel):
                    write_case(folder, files, native, kernel, packing, isas=isas)
        for kernel in manifests.of(case.op.name) if natives is None else ():
            if isas is not None and kernel.isa not in isas:
                continue
            cut, joined = strides_of(case, kernel)
            if not cut and not joined:
                continue
            native = NativeCase(f"{case.name}_strided", *strided_graph(case, cut, joined))
            for packing in packings(case_graph(case.op, case.inputs, frozenset(case.constants)), kernel)[:1]:
                write_case(folder, files, native, kernel, packing, manifests)
    return Written(files)


def write_natives(
    folder: Path,
    operator: str,
    natives: Iterable[NativeCase],
    manifests: Manifests,
    isas: Collection[str] | None = None,
) -> Written:
    """One file per model and kernel of the operator that fits it. `isas`: as for `write_cases`."""
    files = {kernel.name: 0 for kernel in manifests.of(operator)}
    for native in natives:
        for kernel in manifests.of(operator):
            for packing in packings(native.graph, kernel):
                stored = replace(native, name=f"stored_{native.name}")
                write_case(folder, files, stored, kernel, packing, isas=isas)
    return Written(files)


def write_case(
    folder: Path,
    files: dict[str, int],
    native: NativeCase,
    kernel: KernelInfo,
    packing: str,
    manifests: Manifests | None = None,
    isas: Collection[str] | None = None,
) -> None:
    """One file. `manifests`: where the kernels of other nodes are found. `isas`: as for `write_cases`."""
    stem = f"{kernel.name}_{files[kernel.name]:04}_{native.name}_{packing}".rstrip("_")
    name = re.sub(r"\W+", "_", stem)
    if isas is None or kernel.isa in isas:
        (folder / f"{name}.case").write_bytes(encode(native, kernel, packing, manifests))
    files[kernel.name] += 1


def variants(case: OpCase) -> Iterator[NativeCase]:
    """The case as graphs: fixed, without constants, and with a symbol for one dimension."""
    expected = case.op.reference(*case.inputs)
    constants = frozenset(case.constants)
    yield _native(case, "fixed", case_graph(case.op, case.inputs, constants), constants, expected)
    if constants:
        yield _native(case, "variable", case_graph(case.op, case.inputs, frozenset()), frozenset(), expected)
    if not case.inputs:
        yield NativeCase(f"{case.name}_symbol", _sized_graph(case.op), (np.zeros(_SIZE, np.float32),), expected)
    axes = range(case.inputs[0].ndim) if case.inputs and 0 not in constants else range(0)
    for axis in axes:
        graph = _symbolic_graph(case, axis, constants, expected)
        if graph is not None:
            yield _native(case, f"symbol{axis}", graph, constants, expected)


def _native(
    case: OpCase, kind: str, graph: Graph, constants: frozenset[int], expected: tuple[Array, ...]
) -> NativeCase:
    inputs = tuple(array for index, array in enumerate(case.inputs) if index not in constants)
    return NativeCase(f"{case.name}_{kind}", graph, inputs, expected)


def case_graph(
    op: Operator,
    inputs: Sequence[Array],
    constants: frozenset[int],
    shapes: Sequence[tuple[Dim, ...]] | None = None,
    known: Sequence[Symbol] = (),
) -> Graph:
    """One node on these inputs. `shapes`: what the graph says of them, where it is not their own shape."""
    graph = Graph(name="case", symbols={item.name: item for item in (*known, *op.defined_symbols())})
    operands = []
    for index, array in enumerate(inputs):
        if index in constants:
            operands.append(graph.new_constant(f"c{index}", array))
            continue
        shape = tuple(array.shape) if shapes is None else shapes[index]
        graph.inputs.append(Value(f"x{index}", TensorType(dtype_of(array), shape)))
        operands.append(graph.inputs[-1])
    node = graph.new_node(op, operands, name=op.name)
    graph.nodes.append(node)
    graph.outputs = list(node.outputs)
    return graph


def _sized_graph(op: Operator) -> Graph:
    """A node without inputs whose dimensions depend on the size of an input of the graph."""
    dim = symbol(_SYMBOL, 1, _SIZE + _MARGIN)
    changed = {
        key: tuple(dim + (size - _SIZE) for size in value if isinstance(size, int))
        for key, value in op.attributes().items()
        if isinstance(value, tuple)
    }
    graph = case_graph(replace(op, **changed), (), frozenset(), known=tuple(symbols(dim)))
    graph.inputs.append(Value("x", TensorType(DType.F32, (dim,))))
    return graph


def _symbolic_graph(case: OpCase, axis: int, constants: frozenset[int], expected: tuple[Array, ...]) -> Graph | None:
    """The graph where a dimension is a symbol, in all inputs that share it; None where the operator cannot do that."""
    size = case.inputs[0].shape[axis]
    if size < 1 or case.op.defined_symbols():  # sizes that data decides need bounds that fit the larger input
        return None
    bound = size + _MARGIN
    dim = symbol(_SYMBOL, 1, bound)
    from_end = case.inputs[0].ndim - axis
    shapes: list[tuple[Dim, ...]] = []
    for array in case.inputs:
        dims: list[Dim] = list(array.shape)
        if array.ndim >= from_end and dims[-from_end] == size and (array.ndim == case.inputs[0].ndim or size > 1):
            dims[-from_end] = dim
        shapes.append(tuple(dims))
    try:
        graph = case_graph(case.op, case.inputs, constants, shapes, tuple(symbols(dim)))
        # A session starts at the bound: the shapes must fit there too, and be those of the case at its own size.
        if not _consistent(case, graph, constants, shapes, bound):
            return None
    except OperatorError:
        return None
    at_size = [_numbers(value.type.shape, size) for value in graph.outputs]
    return graph if at_size == [array.shape for array in expected] else None


def _consistent(
    case: OpCase, graph: Graph, constants: frozenset[int], shapes: Sequence[tuple[Dim, ...]], bound: int
) -> bool:
    if all(is_static(value.type.shape) for value in graph.outputs) and not _reduces(graph):
        return False
    types = [
        TensorType(dtype_of(array), tuple(array.shape) if index in constants else _numbers(shapes[index], bound))
        for index, array in enumerate(case.inputs)
    ]
    inferred = case.op.bound({_SYMBOL: bound}).infer(types)
    return [item.shape for item in inferred] == [_numbers(value.type.shape, bound) for value in graph.outputs]


def _reduces(graph: Graph) -> bool:
    """Whether the operator may lose a dimension (a static result from a symbolic input is right then)."""
    return graph.nodes[0].op.name.startswith("reduce_")


def _numbers(shape: Sequence[Dim], value: int) -> tuple[int, ...]:
    return tuple(evaluate(dim, {_SYMBOL: value}) for dim in shape)


def fits(graph: Graph, kernel: KernelInfo) -> bool:
    """Whether the manifest says that the kernel can run the node."""
    return bool(packings(graph, kernel))


def packings(graph: Graph, kernel: KernelInfo) -> list[str]:
    """The ways in which the kernel may get the node's constant; none where the manifest says that it cannot run it."""
    node = graph.nodes[0]
    algorithms = {node: kernel.algorithm}
    stored = {node.inputs[INPUT]: kernel.reads_stored} if kernel.reads_stored and len(node.inputs) > INPUT else {}
    alone = Manifests({kernel.op: (kernel,)})
    try:
        select(graph, alone, abi="host", isas=[kernel.isa], algorithms=algorithms, stored=stored)
    except UnsupportedError:
        return []
    known = ("", kernel.pack, *sorted(kernel.takes))
    return [name for name in dict.fromkeys(known) if kernel.reads(name) and (name == "" or packable(node, name))]


def encode(case: NativeCase, kernel: KernelInfo, packing: str = "", manifests: Manifests | None = None) -> bytes:
    """The bytes of a case file. `manifests`: where the kernels of other nodes are found."""
    kernels = [kernel if node.op.name == kernel.op else _other(node, manifests) for node in case.graph.nodes]
    memory = arena.plan(case.graph, kernels)
    if manifests is not None:
        assert list(misplaced(case.graph, {place.value: place.offset for place in memory.placements})) == []
    packed = [packing if item is kernel else "" for item in kernels]
    names = tuple((item.name,) for item in kernels)
    plan = Plan("host", names, memory.placements, memory.size, tuple(packed) if packing else ())
    stored = _STORED[kernel.reads_stored] if kernel.reads_stored else Stored()
    files = container.write(case.graph, name="case", stored=stored, plan=plan)
    expected = _of_stored(case, files) if kernel.reads_stored else case.expected
    inputs = zip(case.inputs, case.graph.inputs, strict=True)
    outputs = zip(expected, case.graph.outputs, strict=True)
    return b"".join(
        [
            b"LATHECASE",
            blob(kernel.name.encode()),
            struct.pack("<dd", kernel.rtol, kernel.atol + kernel.rtol * _more(case)),
            blob(files.model),
            blob(files.data),
            *_tensors([(array, value.type.dtype) for array, value in inputs]),
            *_tensors([(array, value.type.dtype) for array, value in outputs]),
        ]
    )


_STORED = {
    DType.F16: Stored(DType.F16),
    DType.BF16: Stored(DType.BF16),
    DType.S16: Stored(large_weights="int16"),
    DType.S8: Stored(large_weights="int8"),
    DType.U8: Stored(large_weights="int4"),
}


def _of_stored(case: NativeCase, files: container.Container) -> tuple[Array, ...]:
    """What the node gives with its constants as the files have them."""
    graph, _ = container.read(files.model, files.data, registry())
    (node,) = graph.nodes
    known = dict(zip(graph.inputs, case.inputs, strict=True))
    return tuple(
        node.op.reference(
            *(known[value] if value.constant is None else np.asarray(value.constant) for value in node.inputs)
        )
    )


def _more(case: NativeCase) -> float:
    """How much larger than all that is expected the numbers were that went into it."""
    if not case.summed:
        return 0.0
    return max(0.0, case.summed - max(float(np.max(np.abs(array), initial=0.0)) for array in case.expected))


def _other(node: Node, manifests: Manifests | None) -> KernelInfo:
    assert manifests is not None, "the graph has one node"
    fitting = [kernel for kernel in manifests.of(node.op.name) if misfit(kernel, node) is None]
    (kernel,) = [kernel for kernel in fitting if kernel.parts] or fitting
    return kernel


def blob(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def _tensors(tensors: Sequence[tuple[Array, DType]]) -> Iterator[bytes]:
    yield struct.pack("<I", len(tensors))
    for array, dtype in tensors:
        yield struct.pack(f"<II{array.ndim}q", dtype.code, array.ndim, *array.shape)
        yield blob(stored_bytes(array, dtype)[0])
