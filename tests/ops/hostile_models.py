"""Models of one node that no importer would write: attributes, shapes, types and operands that do not fit together.

They start as valid models, so that a change gets past the checks before the one that it is meant for. Half of the
changes are made to the operator, whose shape inference then still gives the outputs a chance to be right; the others
are made to the finished message.
"""

from __future__ import annotations

import copy
import math
import random
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from buildtool.codegen import container_writer
from buildtool.ir.attributes import AttrKind
from buildtool.ir.graph import Graph, Node
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.plan.manifest import KernelInfo
from buildtool.plan.plan import ALIGNMENT
from buildtool.schemas import container_pb2 as pb
from tests.ops.case import OpCase
from tests.ops.native_cases import NativeCase, blob, case_graph, packings

HOSTILE_PER_OPERATOR = 100
_T = TypeVar("_T")
_Change = Callable[[pb.Model, random.Random], None]
_INTS = (-(2**62), -(2**31), -7, -2, -1, 0, 0, 1, 1, 2, 2, 3, 4, 5, 8, 100, 2**20, 2**30, 2**31, 2**40, 2**63 - 1)
_DIMS = (0, 1, 1, 2, 3, 4, 5, 7, 16, 17, 64, 2**16, 2**31, 2**40, 2**61)
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-30, 1e30, math.inf, -math.inf, math.nan)
_WORDS = ("none", "relu", "clip", "sigmoid", "elu", "constant", "reflect", "edge", "nearest", "linear", "asymmetric")
_MAX_CONSTANT = 1 << 16  # elements


def write_hostile(
    folder: Path, cases: Sequence[OpCase], stored: Sequence[NativeCase], kernels: Sequence[KernelInfo], seed: int
) -> None:
    """The files of an operator with these cases, of which `stored` have stored numbers, and with these kernels."""
    operator = kernels[0].op
    (folder / f"{operator}.hostile").write_bytes(hostile_file([*cases, *stored], HOSTILE_PER_OPERATOR, seed))
    graphs = [*(_graph_of(case) for case in _some(cases, 8)), *(case.graph for case in _some(stored, 8))]
    (folder / f"{operator}.refused").write_bytes(refused_file(graphs, None))
    for kernel in kernels:
        fitting = [graph for graph in graphs if "" in packings(graph, kernel)]
        if not fitting:
            every = (*map(_graph_of, cases), *(case.graph for case in stored))
            fitting = list(islice((graph for graph in every if "" in packings(graph, kernel)), 1))
        (folder / f"{kernel.name}__planned.refused").write_bytes(refused_file(_some(fitting, 3), kernel.name))
        (folder / f"{kernel.name}__planned.shortened").write_bytes(shortened_file(_some(fitting, 3), kernel.name))


def _some(items: Sequence[_T], count: int) -> Sequence[_T]:
    return items[:: max(1, len(items) // count)]


def _graph_of(case: OpCase) -> Graph:
    return case_graph(case.op, tuple(case.inputs), frozenset(case.constants))


def hostile_file(
    cases: Sequence[OpCase | NativeCase], count: int, seed: int, around: Callable[[Graph], Graph] | None = None
) -> bytes:
    """`count` models, all made from these cases. Those of stored numbers are changed as messages only. `around` puts
    the graph of a case into another one."""
    rng = random.Random(seed)
    parts = [b"LATHEHOST", struct.pack("<I", count)]
    for _ in range(count):
        case = rng.choice(cases)
        if isinstance(case, OpCase):
            message = _changed_operator(case, rng, around)
        else:
            message = container_writer.encode(case.graph, "hostile", container_writer.Stored(), None)[0]
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
            rng.choice(_CHANGES)(message, rng)
        data = _fill_constants(message, rng)
        message.data_size = len(data)
        parts += [blob(message.SerializeToString(deterministic=True)), blob(data)]
    return b"".join(parts)


def refused_file(graphs: Sequence[Graph], kernel: str | None) -> bytes:
    """Models of these nodes that no kernel may take: with an operand too many or too few, or with an input longer by
    one along one axis, where shape inference refuses that. `kernel`: the one that they are planned for; of several that
    a library could choose from, the first one that is asked would refuse for all."""
    models = [
        blob(message.SerializeToString(deterministic=True)) + blob(data)
        for graph in graphs
        for message, data in _refused(graph, kernel)
    ]
    return b"".join((b"LATHEHOST", struct.pack("<I", len(models)), *models))


def shortened_file(graphs: Sequence[Graph], kernel: str) -> bytes:
    """Models of these nodes, planned for a kernel, that it may take until an input is resized: one dimension can be
    shorter by one, where shape inference refuses that."""
    models = [
        blob(message.SerializeToString(deterministic=True)) + blob(data)
        for graph in graphs
        if not graph.symbols  # what data decides has other bounds
        for message, data in _shortened(graph, kernel)
    ]
    return b"".join((b"LATHEHOST", struct.pack("<I", len(models)), *models))


def _shortened(graph: Graph, kernel: str) -> Iterator[tuple[pb.Model, bytes]]:
    (node,) = graph.nodes
    for index, axis in _sizes_refused(node, -1):
        if node.inputs[index].constant is not None:
            continue
        message, data = container_writer.encode(graph, "shortened", container_writer.Stored(), None)
        _plan(message, kernel)
        dim = message.graph.values[message.graph.body.nodes[0].inputs[index]].dims[axis]
        message.graph.symbols.add(name="shorter", low=dim.size - 1, high=dim.size)
        dim.expr = len(message.graph.exprs)
        message.graph.exprs.add(code=[(len(message.graph.symbols) - 1) << 4 | 1])
        yield message, data


def _refused(graph: Graph, kernel: str | None) -> Iterator[tuple[pb.Model, bytes]]:
    (node,) = graph.nodes
    rng = random.Random(0)
    for change in (*_other_operands(node.op), *_other_sizes(node)):
        message = container_writer.encode(graph, "refused", container_writer.Stored(), None)[0]
        change(message, rng)
        data = _fill_constants(message, rng)
        message.data_size = len(data)
        if kernel is not None:
            _plan(message, kernel)
        yield message, data


def _other_operands(op: Operator) -> Iterator[_Change]:
    least, most = op.arity
    counts = [] if least == 0 else [least - 1]
    if most is not None:
        counts.append(most + 1)
    for count in counts:
        yield partial(_count_inputs, count)
    yield _add_output


def _count_inputs(count: int, message: pb.Model, rng: random.Random) -> None:
    inputs = message.graph.body.nodes[0].inputs
    del inputs[count:]
    inputs.extend([inputs[-1] if inputs else 0] * (count - len(inputs)))


def _other_sizes(node: Node) -> Iterator[_Change]:
    return (partial(_lengthen, index, axis) for index, axis in _sizes_refused(node, 1))


def _sizes_refused(node: Node, more: int) -> Iterator[tuple[int, int]]:
    """The inputs and their axes that shape inference refuses where they are longer by so many elements."""
    types = [_of_numbers(value.type) for value in node.inputs]
    if _refuses(node.op, types):
        return
    for index, item in enumerate(types):
        for axis, size in enumerate(item.shape):
            if not isinstance(size, int) or size + more < 0:
                continue
            changed = replace(item, shape=(*item.shape[:axis], size + more, *item.shape[axis + 1 :]))
            if _refuses(node.op, [*types[:index], changed, *types[index + 1 :]]):
                yield index, axis


def _lengthen(index: int, axis: int, message: pb.Model, rng: random.Random) -> None:
    message.graph.values[message.graph.body.nodes[0].inputs[index]].dims[axis].size += 1


def _plan(message: pb.Model, kernel: str) -> None:
    """Each value has a place of its own."""
    sizes = {dtype.code: dtype.itemsize for dtype in DType}
    message.plan.abi = "host"
    message.plan.nodes.add(kernels=[kernel])
    for index, value in enumerate(message.graph.values):
        if value.HasField("constant"):
            continue
        size = sizes.get(value.dtype, 8) * math.prod(dim.size for dim in value.dims)
        message.plan.arena.add(value=index, offset=message.plan.arena_size, size=size)
        message.plan.arena_size += -(-size // ALIGNMENT) * ALIGNMENT


def _of_numbers(item: TensorType) -> TensorType:
    """What stored numbers stand for."""
    return item if item.quant is None else replace(item, dtype=DType.F32, quant=None)


def _refuses(op: Operator, types: Sequence[TensorType]) -> bool:
    try:
        op.infer(types)
    except OperatorError:
        return True
    return False


def _changed_operator(case: OpCase, rng: random.Random, around: Callable[[Graph], Graph] | None) -> pb.Model:
    """The model of a case after changes to attributes and input shapes that shape inference still understood."""
    op, inputs, constants = case.op, tuple(case.inputs), frozenset(case.constants)
    for _ in range(rng.choice((0, 1, 1, 2))):
        changed_op = _with_attribute(op, rng) if rng.random() < 0.6 else op
        changed_inputs = inputs if changed_op is not op else _with_shape(inputs, rng)
        if rng.random() < 0.2:
            constants = frozenset(index for index in range(len(inputs)) if rng.random() < 0.5)
        if _infers(changed_op, changed_inputs):
            op, inputs = changed_op, changed_inputs
    graph = case_graph(op, inputs, constants)
    whole = graph if around is None else around(graph)
    return container_writer.encode(whole, "hostile", container_writer.Stored(), None)[0]


def _infers(op: Operator, inputs: Sequence[Array]) -> bool:
    try:
        graph: Graph = case_graph(op, inputs, frozenset())
        container_writer.encode(graph, "hostile", container_writer.Stored(), None)
    except Exception:  # whatever inference says of an operator that could not have been made
        return False
    return all(isinstance(dim, int) and dim >= 0 for value in graph.outputs for dim in value.type.shape)


def _with_attribute(op: Operator, rng: random.Random) -> Operator:
    """A copy with one attribute of the right kind and any value, past the operator's own checks."""
    kinds = op.attribute_kinds()
    if not kinds:
        return op
    name, kind = rng.choice(list(kinds.items()))
    value = _any_value(kind, getattr(op, name), rng)
    changed = copy.copy(op)
    object.__setattr__(changed, name, value)
    return changed


def _any_value(kind: AttrKind, value: Any, rng: random.Random) -> Any:
    match kind:
        case AttrKind.BOOL:
            return not value
        case AttrKind.INT:
            return rng.choice(_INTS)
        case AttrKind.FLOAT:
            return rng.choice(_FLOATS)
        case AttrKind.STRING:
            return rng.choice(_WORDS)
        case AttrKind.DTYPE:
            return rng.choice(list(DType))
    items = list(value)
    if not items or rng.random() < 0.1:
        return tuple(items[:-1]) if items else (1,)
    items[rng.randrange(len(items))] = rng.choice(_FLOATS if kind is AttrKind.FLOATS else _INTS)
    return tuple(items)


def _with_shape(inputs: tuple[Array, ...], rng: random.Random) -> tuple[Array, ...]:
    """One dimension of one input is another small number; the elements do not matter."""
    if not inputs:
        return inputs
    index = rng.randrange(len(inputs))
    array = inputs[index]
    if array.ndim == 0:
        return inputs
    shape = list(array.shape)
    shape[rng.randrange(len(shape))] = rng.choice((0, 1, 2, 3, 5, 8, 9))
    return (*inputs[:index], np.zeros(shape, array.dtype), *inputs[index + 1 :])


def _any_node(message: pb.Model, rng: random.Random) -> pb.Node:
    nodes = list(message.graph.body.nodes)
    nodes += [inner for node in nodes for region in node.regions for inner in region.nodes]
    return nodes[0] if len(nodes) == 1 else rng.choice(nodes)


def _change_attribute(message: pb.Model, rng: random.Random) -> None:
    attrs = _any_node(message, rng).attrs
    attr = rng.choice(attrs) if attrs else pb.Attr()
    kind = attr.WhichOneof("kind")
    if kind is None:
        return
    if rng.random() < 0.1:
        attr.ClearField(kind)
    elif kind == "i":
        attr.i = rng.choice(_INTS)
    elif kind == "f":
        attr.f = rng.choice(_FLOATS)
    elif kind == "s":
        attr.s = rng.choice((*_WORDS, "", "x" * 300))
    elif kind == "dtype":
        attr.dtype = rng.randrange(1, 14)
    elif kind == "ints":
        attr.ints.v[:] = _changed_list(list(attr.ints.v), _INTS, rng)
    elif kind == "floats":
        attr.floats.v[:] = _changed_list(list(attr.floats.v), _FLOATS, rng)
    elif kind == "dims" and attr.dims.v:
        rng.choice(attr.dims.v).size = rng.choice(_DIMS)


def _changed_list(items: list[Any], pool: Sequence[Any], rng: random.Random) -> list[Any]:
    if not items or rng.random() < 0.2:
        return [rng.choice(pool) for _ in range(rng.choice((0, 1, 2, 4, 9, 100)))]
    items[rng.randrange(len(items))] = rng.choice(pool)
    return items


def _change_dimension(message: pb.Model, rng: random.Random) -> None:
    dims = rng.choice(message.graph.values).dims
    if dims:
        rng.choice(dims).size = rng.choice(_DIMS)


def _change_rank(message: pb.Model, rng: random.Random) -> None:
    dims = rng.choice(message.graph.values).dims
    if dims and rng.random() < 0.5:
        del dims[-1]
    elif len(dims) < 8:
        dims.add(size=rng.choice((0, 1, 1, 2, 3)))


def _change_type(message: pb.Model, rng: random.Random) -> None:
    rng.choice(message.graph.values).dtype = rng.randrange(1, 14)


def _change_operands(message: pb.Model, rng: random.Random) -> None:
    """One input less, one twice, or the inputs in another order."""
    inputs = _any_node(message, rng).inputs
    match rng.randrange(3):
        case 0 if inputs:
            del inputs[-1]
        case 1 if inputs:
            inputs.append(rng.choice(list(inputs)))
        case _:
            order = list(inputs)
            rng.shuffle(order)
            inputs[:] = order


def _add_output(message: pb.Model, rng: random.Random) -> None:
    value = message.graph.values.add(name="another")
    value.dtype = rng.choice(message.graph.values).dtype
    value.dims.extend(message.graph.values[0].dims)
    _any_node(message, rng).outputs.append(len(message.graph.values) - 1)


def _toggle_constant(message: pb.Model, rng: random.Random) -> None:
    """Makes an input of the graph a constant, or the other way round."""
    body = message.graph.body
    index = rng.randrange(len(message.graph.values))
    value = message.graph.values[index]
    if value.HasField("constant"):
        value.ClearField("constant")
        body.inputs.append(index)
    elif index in body.inputs:
        body.inputs[:] = [item for item in body.inputs if item != index]
        value.constant.SetInParent()


def _pack(message: pb.Model, rng: random.Random) -> None:
    """Says that input 1 is packed; half of the time it has dimensions that this could have."""
    node = _any_node(message, rng)
    value = message.graph.values[node.inputs[1]] if len(node.inputs) > 1 else None
    if value is None or not value.HasField("constant"):
        return
    value.constant.packing = rng.choice((1, 2, 2, 2, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12))
    dims = [dim.size for dim in value.dims]
    if len(dims) not in (2, 4) or rng.random() < 0.5:
        return
    if value.constant.packing == 12 and len(dims) == 4:
        for dim, size in zip(value.dims, (-(-dims[0] // 8), 16, -(-dims[3] // 4) * 4, 16), strict=True):
            dim.size = size
        return
    width = (4, 8, 16)[value.constant.packing - 1] if value.constant.packing <= 3 else 8
    groups = max(1, next((attr.i for attr in node.attrs if attr.name == "groups"), 1))
    inner = dims[1:] if len(dims) == 4 else [1, 1, *dims[1:]]
    del value.dims[:]
    value.dims.extend(pb.Dim(size=size) for size in (groups, -(-dims[0] // groups // width), *inner, width))


def _change_quantisation(model: pb.Model, rng: random.Random) -> None:
    """What stored numbers stand for; none of what it was, and any where there was none."""
    value = rng.choice(model.graph.values)
    quant = value.quant
    change = rng.randrange(6)
    if change == 0:
        value.ClearField("quant")
    elif change == 1:
        quant.axis = rng.choice((-2, -1, 0, 1, 2, 7, 2**31 - 1))
    elif change == 2:
        quant.bits = rng.choice((0, 1, 4, 8, 16, 17, 2**31))
    elif change == 3 and quant.scales:
        quant.scales[rng.randrange(len(quant.scales))] = rng.choice(_FLOATS)
    elif change == 4 and quant.zero_points:
        quant.zero_points[rng.randrange(len(quant.zero_points))] = rng.choice(
            (-(2**31), -129, -1, 1, 127, 255, 2**31 - 1)
        )
    else:
        quant.scales.append(0.5)
        if rng.random() < 0.7:
            quant.zero_points.append(0)


_CHANGES: tuple[_Change, ...] = (
    _change_attribute,
    _change_attribute,
    _change_dimension,
    _change_dimension,
    _change_rank,
    _change_type,
    _pack,
    _change_operands,
    _add_output,
    _toggle_constant,
    _change_quantisation,
)


def _fill_constants(message: pb.Model, rng: random.Random) -> bytes:
    """Data for the constants as they are now; those that became too large become inputs."""
    data = bytearray()
    by_code = {dtype.code: dtype for dtype in DType}
    for index, value in enumerate(message.graph.values):
        if not value.HasField("constant"):
            continue
        count = math.prod(dim.size for dim in value.dims)
        if count > _MAX_CONSTANT:
            value.ClearField("constant")
            message.graph.body.inputs.append(index)
            continue
        data.extend(bytes(-len(data) % 64))
        contents = rng.randbytes(count * by_code[value.dtype].itemsize)
        if rng.random() < 0.5:  # small integers, so that indices are sometimes right
            contents = bytes(len(contents)) if rng.random() < 0.5 else bytes(byte & 1 for byte in contents)
        packing = value.constant.packing
        value.constant.CopyFrom(pb.Constant(offset=len(data), size=len(contents), storage=value.dtype, packing=packing))
        data.extend(contents)
    return bytes(data)
