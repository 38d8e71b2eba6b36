"""Makes the smallest model with the same fault: fewer outputs, fewer nodes, inner values as inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import onnx
from onnx import helper, numpy_helper

from buildtool.ir.operator import Array
from tests.strangers import oracle
from tests.strangers.drawing import RUNS, Model, Size

_ROUNDS = 60


def shrink(model: Model, fails: Callable[[Model], bool]) -> Model:
    """`fails` says whether a model has the fault. The model itself has it."""
    for _ in range(_ROUNDS):
        smaller = next((candidate for candidate in _smaller(model) if fails(candidate)), None)
        if smaller is None:
            return model
        model = smaller
    return model


def _smaller(model: Model) -> Iterator[Model]:
    """What may be tried next, the boldest first."""
    graph = model.proto.graph
    outputs = [item.name for item in graph.output]
    if len(outputs) > 1:
        for name in outputs:
            yield _with(model, [name], {})
    try:
        shapes = _values(model)
    except oracle.RefusedError:
        return
    made = [name for node in graph.node for name in node.output if name in shapes]
    for name in made:  # as the only output
        if name not in outputs:
            yield _with(model, [name], {})
    held = {item.name for item in graph.input}
    for name in reversed(made):  # as an input
        if name not in held and name not in outputs and (declared := _declared(model, name, shapes[name])) is not None:
            yield _with(model, outputs, {name: declared})
    if model.symbols:
        for word in model.symbols:
            yield _without(model, word)


def _values(model: Model) -> dict[str, list[Array]]:
    """All values of the outer graph at all sizes."""
    watched = onnx.ModelProto()
    watched.CopyFrom(model.proto)
    names = [name for node in watched.graph.node for name in node.output if name]
    del watched.graph.output[:]
    watched.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    opened = oracle.session(watched.SerializeToString())
    found = [oracle.run(opened, model.feeds(run)) for run in range(RUNS)]
    return {name: [arrays[index] for arrays in found] for index, name in enumerate(names)}


def _declared(model: Model, name: str, arrays: list[Array]) -> onnx.ValueInfoProto | None:
    """A value as an input; None where its sizes are not those of an input."""
    words: dict[Size, str] = {sizes: word for word, sizes in model.symbols.items()}
    shape: list[int | str] = []
    for axis in range(arrays[0].ndim):
        size: Size = tuple(array.shape[axis] for array in arrays)
        if len(set(size)) > 1 and size not in words:
            return None
        shape.append(words[size] if len(set(size)) > 1 else size[0])
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(arrays[0].dtype), shape)


def _with(model: Model, outputs: list[str], inputs: dict[str, onnx.ValueInfoProto]) -> Model:
    """The model with these outputs and with these inner values as inputs, without what nobody reads then."""
    old = model.proto.graph
    wanted, nodes = set(outputs), []
    for node in reversed(old.node):
        if any(name in wanted and name not in inputs for name in node.output):
            nodes.append(node)
            wanted.update(reads(node))
    made = {name for node in nodes for name in node.output}
    declared = [item for item in old.input if item.name in wanted] + [
        item for name, item in inputs.items() if name in wanted and name not in made
    ]
    graph = helper.make_graph(
        nodes[::-1],
        old.name,
        declared,
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [tensor for tensor in old.initializer if tensor.name in wanted],
    )
    proto = helper.make_model(graph, opset_imports=model.proto.opset_import, ir_version=model.proto.ir_version)
    words = {dim.dim_param for item in declared for dim in item.type.tensor_type.shape.dim}
    return Model(proto, {word: size for word, size in model.symbols.items() if word in words}, model.seed)


def _without(model: Model, word: str) -> Model:
    """The model with one size fewer that is known at run time only."""
    proto = onnx.ModelProto()
    proto.CopyFrom(model.proto)
    for item in proto.graph.input:
        for dim in item.type.tensor_type.shape.dim:
            if dim.dim_param == word:
                dim.dim_value = model.symbols[word][0]
    return Model(proto, {other: size for other, size in model.symbols.items() if other != word}, model.seed)


def reads(node: onnx.NodeProto) -> set[str]:
    """The names that a node and the nodes inside of it read."""
    found = set(node.input)
    for attribute in node.attribute:
        if attribute.HasField("g"):
            found.update(name for inner in attribute.g.node for name in reads(inner))
            found.update(item.name for item in attribute.g.output)
    return found - {""}


def text(model: Model) -> str:
    """A model for readers: inputs, nodes, small weights."""
    lines = [onnx.printer.to_text(_plain(model.proto))]
    for tensor in model.proto.graph.initializer:
        array = numpy_helper.to_array(tensor)
        lines.append(f"{tensor.name}: {array.dtype}{list(array.shape)} {np.array2string(array.ravel()[:12])}")
    return "\n".join([*lines, f"sizes: {model.symbols}"])


def _plain(proto: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    del copy.graph.initializer[:]
    return copy
