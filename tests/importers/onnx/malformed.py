"""Makes model files that are wrong in two hundred ways, each with a name. The same seeds give the same files."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import AttributeProto, ModelProto, TensorProto, helper, numpy_helper

from tests.importers.onnx.harness import model_of, random

node = helper.make_node
Change = Callable[[ModelProto], None]


def healthy() -> ModelProto:
    """A small model that can be imported; the others are this one with a mistake."""
    nodes = [
        node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", ["c"], ["r"], name="relu"),
        node("Shape", ["r"], ["s"], name="shape"),
        node("Gather", ["s", "zero"], ["n"], name="gather"),
        node("Concat", ["n", "minus"], ["t"], name="concat", axis=0),
        node("Reshape", ["r", "t"], ["f"], name="reshape"),
        node("Gemm", ["f", "m"], ["g"], name="gemm"),
        node("Softmax", ["g"], ["y"], name="softmax", axis=-1),
    ]
    weights = {
        "w": random(4, 3, 3, 3),
        "b": random(4),
        "zero": np.array([0]),
        "minus": np.array([-1]),
        "m": random(64, 5),
    }
    return model_of(nodes, {"x": random(1, 3, 8, 8)}, ["y"], weights)


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """All malformed files, written into the folder one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in [*_damaged(), *((name, _changed(change)) for name, change in CHANGES.items())]:
        file = folder / f"{name}.onnx"
        file.write_bytes(data)
        yield name, file


def _changed(change: Change) -> bytes:
    model = healthy()
    change(model)
    return model.SerializeToString()


def _damaged() -> Iterator[tuple[str, bytes]]:
    """Files whose bytes are wrong: cut off, not ONNX at all, or filled with something else."""
    whole = healthy().SerializeToString()
    for cut in range(24):
        yield f"cut-at-{cut}-of-24", whole[: len(whole) * cut // 24]
    yield "one-byte-short", whole[:-1]
    generator = np.random.default_rng(7)
    for number in range(12):
        yield f"random-{number}", generator.bytes(10 ** (number % 5))
    yield "text", b"this is no model\n" * 40
    yield "json", b'{"ir_version": 8, "graph": {}}'
    yield "zip", b"PK\x03\x04" + bytes(200)
    yield "png", b"\x89PNG\r\n\x1a\n" + bytes(200)
    yield "hdf5", b"\x89HDF\r\n\x1a\n" + bytes(500)
    yield "tflite", struct.pack("<I", 28) + b"TFL3" + bytes(100)
    yield "zeros", bytes(5000)
    yield "ones", b"\xff" * 5000
    yield "doubled", whole + whole
    yield "length-lie", b"\x3a\xff\xff\xff\xff\x07" + whole
    yield "nested-groups", b"\x3b" * 5000
    yield "nested-messages", _nested(3000)


def _nested(depth: int) -> bytes:
    """A model whose graph holds a node that holds a graph and so on."""
    data = b""
    for _ in range(depth):
        data = b"\x32" + _length(len(data)) + data  # AttributeProto.g
        data = b"\x2a" + _length(len(data)) + data  # NodeProto.attribute
        data = b"\x0a" + _length(len(data)) + data  # GraphProto.node
        if len(data) > 60000:
            break
    return b"\x08\x08\x3a" + _length(len(data)) + data


def _length(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def _weight(model: ModelProto, name: str = "w") -> TensorProto:
    return next(tensor for tensor in model.graph.initializer if tensor.name == name)


def _set_weight(of: str, /, **fields: object) -> Change:
    def change(model: ModelProto) -> None:
        tensor = _weight(model, of)
        for key, value in fields.items():
            if isinstance(value, list):
                del getattr(tensor, key)[:]
                getattr(tensor, key).extend(value)
            else:
                setattr(tensor, key, value)

    return change


def _external(location: str, **more: str) -> Change:
    def change(model: ModelProto) -> None:
        tensor = _weight(model)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in {"location": location, **more}.items():
            tensor.external_data.add(key=key, value=value)

    return change


def _in_field(name: str, code: int, field: str, values: list[int] | list[float], dims: list[int]) -> Change:
    def change(model: ModelProto) -> None:
        tensor = _weight(model, name)
        tensor.ClearField("raw_data")
        tensor.data_type = code
        del tensor.dims[:]
        tensor.dims.extend(dims)
        getattr(tensor, field).extend(values)

    return change


def _attribute(number: int, name: str, value: object) -> Change:
    def change(model: ModelProto) -> None:
        target = model.graph.node[number]
        kept = [attribute for attribute in target.attribute if attribute.name != name]
        del target.attribute[:]
        target.attribute.extend([*kept, helper.make_attribute(name, value)])

    return change


def _replace(number: int, *replacement: onnx.NodeProto, **weights: np.ndarray) -> Change:
    def change(model: ModelProto) -> None:
        nodes = list(model.graph.node)
        nodes[number : number + 1] = replacement
        del model.graph.node[:]
        model.graph.node.extend(nodes)
        model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())

    return change


def _edges(number: int, inputs: list[str] | None = None, outputs: list[str] | None = None) -> Change:
    def change(model: ModelProto) -> None:
        for field, names in (("input", inputs), ("output", outputs)):
            if names is not None:
                del getattr(model.graph.node[number], field)[:]
                getattr(model.graph.node[number], field).extend(names)

    return change


def _input_dims(*dims: int) -> Change:
    def change(model: ModelProto) -> None:
        shape = model.graph.input[0].type.tensor_type.shape
        del shape.dim[:]
        for dim in dims:
            shape.dim.add(dim_value=dim)

    return change


def _of_graph(function: Callable[[onnx.GraphProto], object]) -> Change:
    return lambda model: [function(model.graph), None][1]  # type: ignore[func-returns-value]


def _duplicate_attribute(model: ModelProto) -> None:
    model.graph.node[0].attribute.append(model.graph.node[0].attribute[0])


def _lying_attribute(model: ModelProto) -> None:
    """An attribute that says it is a number and holds a list."""
    model.graph.node[0].attribute[0].type = AttributeProto.INT


def _recursive_function(model: ModelProto) -> None:
    body = [node("Again", ["a"], ["b"], domain="local")]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    model.functions.append(helper.make_function("local", "Again", ["a"], ["b"], body, imports))
    model.opset_import.append(helper.make_opsetid("local", 1))
    model.graph.node[1].op_type, model.graph.node[1].domain = "Again", "local"


def _ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


HUGE = 2**62
CHANGES: dict[str, Change] = {
    # tensors whose content is not what their type and shape say
    "raw-too-short": _set_weight("w", raw_data=b"\0" * 7),
    "raw-too-long": _set_weight("w", raw_data=b"\0" * 4000),
    "raw-empty": _set_weight("w", raw_data=b""),
    "dtype-lie-double": _set_weight("w", data_type=TensorProto.DOUBLE),
    "dtype-lie-int8": _set_weight("w", data_type=TensorProto.INT8),
    "dtype-lie-half": _set_weight("w", data_type=TensorProto.FLOAT16),
    "dtype-int-weights": _set_weight("w", data_type=TensorProto.INT32),
    "dtype-string": _set_weight("w", data_type=TensorProto.STRING),
    "dtype-complex": _set_weight("w", data_type=TensorProto.COMPLEX64),
    "dtype-int4": _set_weight("w", data_type=TensorProto.INT4),
    "dtype-undefined": _set_weight("w", data_type=0),
    "dtype-unknown": _set_weight("w", data_type=4711),
    "dims-negative": _set_weight("w", dims=[4, 3, -3, -3]),
    "dims-too-many": _set_weight("w", dims=[1] * 60 + [108]),
    "dims-do-not-match": _set_weight("w", dims=[4, 3, 3, 4]),
    "dims-huge": _set_weight("w", dims=[HUGE, HUGE, 3, 3]),
    "dims-large": _set_weight("w", dims=[2**20, 2**20]),
    "dims-overflow": _set_weight("w", dims=[2**32, 2**32, 1, 108]),
    "dims-scalar": _set_weight("w", dims=[]),
    "field-too-short": _in_field("w", TensorProto.FLOAT, "float_data", [1.0, 2.0], [4, 3, 3, 3]),
    "field-of-another-type": _in_field("w", TensorProto.FLOAT, "int64_data", [1] * 108, [4, 3, 3, 3]),
    "field-does-not-fit": _in_field("minus", TensorProto.INT8, "int32_data", [300], [1]),
    "field-negative-unsigned": _in_field("minus", TensorProto.UINT8, "int32_data", [-1], [1]),
    "segment": _of_graph(lambda graph: graph.initializer[0].segment.CopyFrom(TensorProto.Segment(begin=0, end=9))),
    "weight-without-name": _set_weight("b", name=""),
    "weight-twice": _of_graph(lambda graph: graph.initializer.append(graph.initializer[0])),
    "sparse-weight": _of_graph(lambda graph: graph.sparse_initializer.add()),
    # data in other files
    "external-above": _external("../outside.bin"),
    "external-far-above": _external("../../../../../../etc/passwd"),
    "external-hidden-above": _external("a/../../outside.bin"),
    "external-absolute": _external("/etc/passwd"),
    "external-missing": _external("not_there.bin"),
    "external-folder": _external("."),
    "external-empty": _external(""),
    "external-null": _external("a\0b"),
    "external-itself-too-long": _external("external-itself-too-long.onnx", offset="0", length="999999999"),
    "external-negative": _external("external-negative.onnx", offset="-4"),
    "external-wrong-length": _external("external-wrong-length.onnx", offset="0", length="16"),
    "external-no-number": _external("external-no-number.onnx", offset="zero"),
    "external-huge-offset": _external("external-huge-offset.onnx", offset=str(2**80)),
    # the graph as a whole
    "no-graph": lambda model: model.ClearField("graph"),
    "no-nodes": _of_graph(lambda graph: graph.ClearField("node")),
    "no-outputs": _of_graph(lambda graph: graph.ClearField("output")),
    "no-inputs": _of_graph(lambda graph: graph.ClearField("input")),
    "no-weights": _of_graph(lambda graph: graph.ClearField("initializer")),
    "no-ir-version": lambda model: model.ClearField("ir_version"),
    "no-opset": lambda model: model.ClearField("opset_import"),
    "opset-twice": lambda model: model.opset_import.extend([helper.make_opsetid("", 13)]),
    "opset-zero": lambda model: setattr(model.opset_import[0], "version", 0),
    "opset-negative": lambda model: setattr(model.opset_import[0], "version", -5),
    "opset-huge": lambda model: setattr(model.opset_import[0], "version", HUGE),
    "opset-of-others-only": lambda model: setattr(model.opset_import[0], "domain", "ai.onnx.ml"),
    "input-twice": _of_graph(lambda graph: graph.input.append(graph.input[0])),
    "input-without-name": _of_graph(lambda graph: setattr(graph.input[0], "name", "")),
    "input-sequence": _of_graph(lambda graph: graph.input[0].type.sequence_type.elem_type.tensor_type.shape.dim.add()),
    "input-no-shape": _of_graph(lambda graph: graph.input[0].type.tensor_type.ClearField("shape")),
    "input-unknown-dtype": _of_graph(lambda graph: setattr(graph.input[0].type.tensor_type, "elem_type", 99)),
    "input-string": _of_graph(lambda graph: setattr(graph.input[0].type.tensor_type, "elem_type", TensorProto.STRING)),
    "input-int": _of_graph(lambda graph: setattr(graph.input[0].type.tensor_type, "elem_type", TensorProto.INT32)),
    "input-rank-0": _input_dims(),
    "input-rank-3": _input_dims(3, 8, 8),
    "input-rank-17": _input_dims(*([1] * 17)),
    "input-negative": _input_dims(1, 3, -8, 8),
    "input-zero": _input_dims(1, 3, 0, 8),
    "input-large": _input_dims(2**30, 3, 2**30, 2**30),
    "input-huge": _input_dims(HUGE, 3, HUGE, HUGE),
    "input-other-channels": _input_dims(1, 4, 8, 8),
    "input-too-small": _input_dims(1, 3, 1, 1),
    "output-unknown": _of_graph(lambda graph: setattr(graph.output[0], "name", "nowhere")),
    "output-twice": _of_graph(lambda graph: graph.output.append(graph.output[0])),
    "recursive-function": _recursive_function,
    # edges
    "cycle": _edges(0, inputs=["r", "w", "b"]),
    "long-cycle": _edges(0, inputs=["y", "w", "b"]),
    "cycle-of-one": _edges(1, inputs=["r"]),
    "dangling-input": _edges(1, inputs=["nothing"]),
    "made-twice": _edges(1, outputs=["c"]),
    "makes-an-input": _edges(1, outputs=["x"]),
    "makes-a-weight": _edges(1, outputs=["w"]),
    "makes-nothing": _edges(1, outputs=[]),
    "makes-empty": _edges(1, outputs=[""]),
    "reads-nothing": _edges(1, inputs=[]),
    "reads-empty": _edges(1, inputs=[""]),
    "no-filter": _edges(0, inputs=["x"]),
    "bias-as-filter": _edges(0, inputs=["x", "b"]),
    "filter-as-bias": _edges(0, inputs=["x", "w", "w"]),
    "gather-floats": _edges(3, inputs=["s", "b"]),
    "reshape-by-floats": _edges(5, inputs=["r", "b"]),
    "reshape-by-matrix": _edges(5, inputs=["r", "w"]),
    "gemm-of-image": _edges(6, inputs=["r", "m"]),
    # nodes
    "no-operator": _of_graph(lambda graph: setattr(graph.node[1], "op_type", "")),
    "unknown-operator": _of_graph(lambda graph: setattr(graph.node[1], "op_type", "Rellu")),
    "unknown-domain": _of_graph(lambda graph: setattr(graph.node[1], "domain", "evil")),
    "loop-without-body": _of_graph(lambda graph: setattr(graph.node[1], "op_type", "Loop")),
    "attribute-twice": _duplicate_attribute,
    "attribute-lies": _lying_attribute,
    "attribute-without-kind": _of_graph(lambda graph: setattr(graph.node[0].attribute[0], "type", 0)),
    "attribute-of-graphs": _attribute(0, "pads", onnx.GraphProto()),
    "pads-too-few": _attribute(0, "pads", [1, 1]),
    "pads-negative": _attribute(0, "pads", [-1, -1, -1, -1]),
    "pads-huge": _attribute(0, "pads", [HUGE] * 4),
    "pads-large": _attribute(0, "pads", [2**30] * 4),
    "pads-text": _attribute(0, "pads", "same"),
    "pads-floats": _attribute(0, "pads", [0.5, 0.5, 0.5, 0.5]),
    "strides-zero": _attribute(0, "strides", [0, 0]),
    "strides-negative": _attribute(0, "strides", [-1, 1]),
    "strides-too-many": _attribute(0, "strides", [1, 1, 1]),
    "dilations-huge": _attribute(0, "dilations", [HUGE, HUGE]),
    "dilations-zero": _attribute(0, "dilations", [0, 1]),
    "group-zero": _attribute(0, "group", 0),
    "group-negative": _attribute(0, "group", -3),
    "group-uneven": _attribute(0, "group", 2),
    "group-huge": _attribute(0, "group", HUGE),
    "auto-pad-unknown": _attribute(0, "auto_pad", "SIDEWAYS"),
    "kernel-shape-lies": _attribute(0, "kernel_shape", [5, 5]),
    "axis-outside": _attribute(7, "axis", 7),
    "axis-huge": _attribute(7, "axis", -HUGE),
    "axis-float": _attribute(7, "axis", 1.5),
    "concat-axis-outside": _attribute(4, "axis", 3),
    "gather-axis-outside": _attribute(3, "axis", 3),
    "gemm-alpha-text": _attribute(6, "alpha", "much"),
    "gemm-transposed": _attribute(6, "transB", 1),
    "index-outside": _set_weight("zero", raw_data=np.array([9]).tobytes()),
    "reshape-impossible": _set_weight("minus", raw_data=np.array([17]).tobytes()),
    "reshape-negative": _set_weight("minus", raw_data=np.array([-17]).tobytes()),
    "reshape-huge": _set_weight("minus", raw_data=np.array([HUGE]).tobytes()),
    "reshape-zero": _set_weight("minus", raw_data=np.array([0]).tobytes()),
    "pool-without-kernel": _replace(1, node("MaxPool", ["c"], ["r"])),
    "pool-huge-kernel": _replace(1, node("MaxPool", ["c"], ["r"], kernel_shape=[HUGE, HUGE])),
    "pool-large-kernel": _replace(1, node("AveragePool", ["c"], ["r"], kernel_shape=[2**30, 2**30])),
    "pool-zero-kernel": _replace(1, node("AveragePool", ["c"], ["r"], kernel_shape=[0, 0])),
    "deconv-huge-stride": _replace(
        1, node("ConvTranspose", ["c", "w4"], ["r"], strides=[HUGE, HUGE]), w4=random(4, 4, 1, 1)
    ),
    "deconv-large-stride": _replace(
        1, node("ConvTranspose", ["c", "w4"], ["r"], strides=[2**30, 2**30]), w4=random(4, 4, 1, 1)
    ),
    "transpose-twice-the-same": _replace(1, node("Transpose", ["c"], ["r"], perm=[0, 1, 1, 2])),
    "transpose-outside": _replace(1, node("Transpose", ["c"], ["r"], perm=[0, 1, 2, 9])),
    "pad-huge": _replace(1, node("Pad", ["c", "p"], ["r"]), p=_ints(*[HUGE] * 8)),
    "pad-large": _replace(1, node("Pad", ["c", "p"], ["r"]), p=_ints(*[2**30] * 8)),
    "pad-too-few": _replace(1, node("Pad", ["c", "p"], ["r"]), p=_ints(1, 1)),
    "pad-unknown-mode": _replace(1, node("Pad", ["c", "p"], ["r"], mode="magic"), p=_ints(*[1] * 8)),
    "crop-everything": _replace(1, node("Pad", ["c", "p"], ["r"]), p=_ints(0, 0, -50, 0, 0, 0, 0, 0)),
    "slice-step-zero": _replace(
        1, node("Slice", ["c", "p", "q", "a", "z"], ["r"]), p=_ints(0), q=_ints(2), a=_ints(1), z=_ints(0)
    ),
    "slice-lists-differ": _replace(1, node("Slice", ["c", "p", "q"], ["r"]), p=_ints(0, 0), q=_ints(2)),
    "expand-huge": _replace(1, node("Expand", ["c", "p"], ["r"]), p=_ints(HUGE, 1, 1, 1, 1)),
    "expand-large": _replace(1, node("Expand", ["c", "p"], ["r"]), p=_ints(2**30, 1, 1, 1, 1)),
    "tile-huge": _replace(1, node("Tile", ["c", "p"], ["r"]), p=_ints(HUGE, 1, 1, 1)),
    "ones-without-end": _replace(
        1, node("ConstantOfShape", ["p"], ["o"]), node("Add", ["c", "o"], ["r"]), p=_ints(2**20, 2**20)
    ),
    "range-without-end": _replace(
        1,
        node("Range", ["p", "q", "d"], ["o"]),
        node("Add", ["c", "o"], ["r"]),
        p=np.array(0),
        q=np.array(HUGE),
        d=np.array(1),
    ),
    "range-step-zero": _replace(
        1,
        node("Range", ["p", "q", "d"], ["o"]),
        node("Add", ["c", "o"], ["r"]),
        p=np.array(0),
        q=np.array(5),
        d=np.array(0),
    ),
    "power-without-end": _replace(
        1, node("Pow", ["p", "q"], ["o"]), node("Reshape", ["c", "o"], ["r"]), p=_ints(7), q=_ints(HUGE)
    ),
    "constant-without-value": _replace(1, node("Constant", [], ["o"]), node("Add", ["c", "o"], ["r"])),
    "constant-of-text": _replace(1, node("Constant", [], ["o"], value_string="x"), node("Add", ["c", "o"], ["r"])),
    "resize-scale-zero": _replace(1, node("Resize", ["c", "", "p"], ["r"]), p=np.array([1, 1, 0, 2], np.float32)),
    "resize-scale-nan": _replace(1, node("Resize", ["c", "", "p"], ["r"]), p=np.array([1, 1, np.nan, 2], np.float32)),
    "resize-scale-huge": _replace(1, node("Resize", ["c", "", "p"], ["r"]), p=np.array([1, 1, 1e30, 1e30], np.float32)),
    "resize-batch": _replace(1, node("Resize", ["c", "", "p"], ["r"]), p=np.array([2, 1, 1, 1], np.float32)),
    "split-too-much": _replace(1, node("Split", ["c", "p"], ["r", "r2"], axis=1), p=_ints(HUGE, -HUGE + 4)),
    "split-outputs": _replace(1, node("Split", ["c"], ["r"], axis=1, num_outputs=HUGE)),
    "cast-to-nothing": _replace(1, node("Cast", ["c"], ["r"], to=99)),
    "cast-to-text": _replace(1, node("Cast", ["c"], ["r"], to=8)),
    "norm-wrong-size": _replace(1, node("BatchNormalization", ["c", "p", "p", "p", "p"], ["r"]), p=random(5)),
    "norm-epsilon-nan": _replace(
        1, node("BatchNormalization", ["c", "p", "p", "p", "p"], ["r"], epsilon=float("nan")), p=random(4)
    ),
    "broadcast-impossible": _replace(1, node("Add", ["c", "p"], ["r"]), p=random(3)),
    "clip-crossed-text": _replace(1, node("Clip", ["c", "p"], ["r"]), p=random(4)),
    "squeeze-full-axis": _replace(1, node("Squeeze", ["c", "p"], ["r"]), p=_ints(1)),
    "unsqueeze-same-axis": _replace(1, node("Unsqueeze", ["c", "p"], ["r"]), p=_ints(0, 0)),
    "unsqueeze-many": _replace(1, node("Unsqueeze", ["c", "p"], ["r"]), p=np.arange(40)),
    "reduce-axis-outside": _replace(1, node("ReduceMean", ["c"], ["r"], axes=[9])),
    "flatten-axis-outside": _replace(1, node("Flatten", ["c"], ["r"], axis=9)),
}
