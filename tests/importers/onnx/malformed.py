"""Makes model files that are wrong in three hundred ways, each with a name. The same seeds give the same files."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.importers.onnx import hostile_sizes
from tests.importers.onnx.harness import random
from tests.importers.onnx.mistakes import (
    HUGE,
    Change,
    duplicate_attribute,
    edges,
    external,
    healthy,
    in_field,
    input_dims,
    ints,
    lying_attribute,
    node,
    of_graph,
    recursive_function,
    replace,
    set_attribute,
    set_weight,
)


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """All malformed files, written into the folder one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in [
        *_damaged(),
        *((name, _changed(change)) for name, change in {**CHANGES, **hostile_sizes.CHANGES}.items()),
    ]:
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
    yield "text", b"this is not a model\n" * 40
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


CHANGES: dict[str, Change] = {
    # tensors whose content is not what their type and shape say
    "raw-too-short": set_weight("w", raw_data=b"\0" * 7),
    "raw-too-long": set_weight("w", raw_data=b"\0" * 4000),
    "raw-empty": set_weight("w", raw_data=b""),
    "dtype-lie-double": set_weight("w", data_type=TensorProto.DOUBLE),
    "dtype-lie-int8": set_weight("w", data_type=TensorProto.INT8),
    "dtype-lie-half": set_weight("w", data_type=TensorProto.FLOAT16),
    "dtype-int-weights": set_weight("w", data_type=TensorProto.INT32),
    "dtype-string": set_weight("w", data_type=TensorProto.STRING),
    "dtype-complex": set_weight("w", data_type=TensorProto.COMPLEX64),
    "dtype-int4": set_weight("w", data_type=TensorProto.INT4),
    "dtype-undefined": set_weight("w", data_type=0),
    "dtype-unknown": set_weight("w", data_type=4711),
    "dims-negative": set_weight("w", dims=[4, 3, -3, -3]),
    "dims-too-many": set_weight("w", dims=[1] * 60 + [108]),
    "dims-do-not-match": set_weight("w", dims=[4, 3, 3, 4]),
    "dims-huge": set_weight("w", dims=[HUGE, HUGE, 3, 3]),
    "dims-large": set_weight("w", dims=[2**20, 2**20]),
    "dims-overflow": set_weight("w", dims=[2**32, 2**32, 1, 108]),
    "dims-scalar": set_weight("w", dims=[]),
    "field-too-short": in_field("w", TensorProto.FLOAT, "float_data", [1.0, 2.0], [4, 3, 3, 3]),
    "field-of-another-type": in_field("w", TensorProto.FLOAT, "int64_data", [1] * 108, [4, 3, 3, 3]),
    "field-does-not-fit": in_field("minus", TensorProto.INT8, "int32_data", [300], [1]),
    "field-negative-unsigned": in_field("minus", TensorProto.UINT8, "int32_data", [-1], [1]),
    "segment": of_graph(lambda graph: graph.initializer[0].segment.CopyFrom(TensorProto.Segment(begin=0, end=9))),
    "weight-without-name": set_weight("b", name=""),
    "weight-twice": of_graph(lambda graph: graph.initializer.append(graph.initializer[0])),
    "sparse-weight": of_graph(lambda graph: graph.sparse_initializer.add()),
    # data in other files
    "external-above": external("../outside.bin"),
    "external-far-above": external("../../../../../../etc/passwd"),
    "external-hidden-above": external("a/../../outside.bin"),
    "external-absolute": external("/etc/passwd"),
    "external-missing": external("not_there.bin"),
    "external-folder": external("."),
    "external-empty": external(""),
    "external-null": external("a\0b"),
    "external-itself-too-long": external("external-itself-too-long.onnx", offset="0", length="999999999"),
    "external-negative": external("external-negative.onnx", offset="-4"),
    "external-wrong-length": external("external-wrong-length.onnx", offset="0", length="16"),
    "external-no-number": external("external-no-number.onnx", offset="zero"),
    "external-huge-offset": external("external-huge-offset.onnx", offset=str(2**80)),
    # the graph as a whole
    "no-graph": lambda model: model.ClearField("graph"),
    "no-nodes": of_graph(lambda graph: graph.ClearField("node")),
    "no-outputs": of_graph(lambda graph: graph.ClearField("output")),
    "no-inputs": of_graph(lambda graph: graph.ClearField("input")),
    "no-weights": of_graph(lambda graph: graph.ClearField("initializer")),
    "no-ir-version": lambda model: model.ClearField("ir_version"),
    "no-opset": lambda model: model.ClearField("opset_import"),
    "opset-twice": lambda model: model.opset_import.extend([helper.make_opsetid("", 13)]),
    "opset-zero": lambda model: setattr(model.opset_import[0], "version", 0),
    "opset-negative": lambda model: setattr(model.opset_import[0], "version", -5),
    "opset-huge": lambda model: setattr(model.opset_import[0], "version", HUGE),
    "opset-of-others-only": lambda model: setattr(model.opset_import[0], "domain", "ai.onnx.ml"),
    "input-twice": of_graph(lambda graph: graph.input.append(graph.input[0])),
    "input-without-name": of_graph(lambda graph: setattr(graph.input[0], "name", "")),
    "input-sequence": of_graph(lambda graph: graph.input[0].type.sequence_type.elem_type.tensor_type.shape.dim.add()),
    "input-no-shape": of_graph(lambda graph: graph.input[0].type.tensor_type.ClearField("shape")),
    "input-unknown-dtype": of_graph(lambda graph: setattr(graph.input[0].type.tensor_type, "elem_type", 99)),
    "input-string": of_graph(lambda graph: setattr(graph.input[0].type.tensor_type, "elem_type", TensorProto.STRING)),
    "input-int": of_graph(lambda graph: setattr(graph.input[0].type.tensor_type, "elem_type", TensorProto.INT32)),
    "input-rank-0": input_dims(),
    "input-rank-3": input_dims(3, 8, 8),
    "input-rank-17": input_dims(*([1] * 17)),
    "input-negative": input_dims(1, 3, -8, 8),
    "input-zero": input_dims(1, 3, 0, 8),
    "input-large": input_dims(2**30, 3, 2**30, 2**30),
    "input-huge": input_dims(HUGE, 3, HUGE, HUGE),
    "input-other-channels": input_dims(1, 4, 8, 8),
    "input-too-small": input_dims(1, 3, 1, 1),
    "output-unknown": of_graph(lambda graph: setattr(graph.output[0], "name", "nowhere")),
    "output-twice": of_graph(lambda graph: graph.output.append(graph.output[0])),
    "recursive-function": recursive_function,
    # edges
    "cycle": edges(0, inputs=["r", "w", "b"]),
    "long-cycle": edges(0, inputs=["y", "w", "b"]),
    "cycle-of-one": edges(1, inputs=["r"]),
    "dangling-input": edges(1, inputs=["nothing"]),
    "made-twice": edges(1, outputs=["c"]),
    "makes-an-input": edges(1, outputs=["x"]),
    "makes-a-weight": edges(1, outputs=["w"]),
    "makes-nothing": edges(1, outputs=[]),
    "makes-empty": edges(1, outputs=[""]),
    "reads-nothing": edges(1, inputs=[]),
    "reads-empty": edges(1, inputs=[""]),
    "no-filter": edges(0, inputs=["x"]),
    "bias-as-filter": edges(0, inputs=["x", "b"]),
    "filter-as-bias": edges(0, inputs=["x", "w", "w"]),
    "gather-floats": edges(3, inputs=["s", "b"]),
    "reshape-by-floats": edges(5, inputs=["r", "b"]),
    "reshape-by-matrix": edges(5, inputs=["r", "w"]),
    "gemm-of-image": edges(6, inputs=["r", "m"]),
    # nodes
    "no-operator": of_graph(lambda graph: setattr(graph.node[1], "op_type", "")),
    "unknown-operator": of_graph(lambda graph: setattr(graph.node[1], "op_type", "Rellu")),
    "unknown-domain": of_graph(lambda graph: setattr(graph.node[1], "domain", "evil")),
    "loop-without-body": of_graph(lambda graph: setattr(graph.node[1], "op_type", "Loop")),
    "attribute-twice": duplicate_attribute,
    "attribute-lies": lying_attribute,
    "attribute-without-kind": of_graph(lambda graph: setattr(graph.node[0].attribute[0], "type", 0)),
    "attribute-of-graphs": set_attribute(0, "pads", onnx.GraphProto()),
    "pads-too-few": set_attribute(0, "pads", [1, 1]),
    "pads-negative": set_attribute(0, "pads", [-1, -1, -1, -1]),
    "pads-huge": set_attribute(0, "pads", [HUGE] * 4),
    "pads-large": set_attribute(0, "pads", [2**30] * 4),
    "pads-text": set_attribute(0, "pads", "same"),
    "pads-floats": set_attribute(0, "pads", [0.5, 0.5, 0.5, 0.5]),
    "strides-zero": set_attribute(0, "strides", [0, 0]),
    "strides-negative": set_attribute(0, "strides", [-1, 1]),
    "strides-too-many": set_attribute(0, "strides", [1, 1, 1]),
    "dilations-huge": set_attribute(0, "dilations", [HUGE, HUGE]),
    "dilations-zero": set_attribute(0, "dilations", [0, 1]),
    "group-zero": set_attribute(0, "group", 0),
    "group-negative": set_attribute(0, "group", -3),
    "group-uneven": set_attribute(0, "group", 2),
    "group-huge": set_attribute(0, "group", HUGE),
    "auto-pad-unknown": set_attribute(0, "auto_pad", "SIDEWAYS"),
    "kernel-shape-lies": set_attribute(0, "kernel_shape", [5, 5]),
    "axis-outside": set_attribute(7, "axis", 7),
    "axis-huge": set_attribute(7, "axis", -HUGE),
    "axis-float": set_attribute(7, "axis", 1.5),
    "concat-axis-outside": set_attribute(4, "axis", 3),
    "gather-axis-outside": set_attribute(3, "axis", 3),
    "gemm-alpha-text": set_attribute(6, "alpha", "much"),
    "gemm-transposed": set_attribute(6, "transB", 1),
    "index-outside": set_weight("zero", raw_data=np.array([9]).tobytes()),
    "reshape-impossible": set_weight("minus", raw_data=np.array([17]).tobytes()),
    "reshape-negative": set_weight("minus", raw_data=np.array([-17]).tobytes()),
    "reshape-huge": set_weight("minus", raw_data=np.array([HUGE]).tobytes()),
    "reshape-zero": set_weight("minus", raw_data=np.array([0]).tobytes()),
    "pool-without-kernel": replace(1, node("MaxPool", ["c"], ["r"])),
    "pool-huge-kernel": replace(1, node("MaxPool", ["c"], ["r"], kernel_shape=[HUGE, HUGE])),
    "pool-large-kernel": replace(1, node("AveragePool", ["c"], ["r"], kernel_shape=[2**30, 2**30])),
    "pool-zero-kernel": replace(1, node("AveragePool", ["c"], ["r"], kernel_shape=[0, 0])),
    "deconv-huge-stride": replace(
        1, node("ConvTranspose", ["c", "w4"], ["r"], strides=[HUGE, HUGE]), w4=random(4, 4, 1, 1)
    ),
    "deconv-large-stride": replace(
        1, node("ConvTranspose", ["c", "w4"], ["r"], strides=[2**30, 2**30]), w4=random(4, 4, 1, 1)
    ),
    "transpose-twice-the-same": replace(1, node("Transpose", ["c"], ["r"], perm=[0, 1, 1, 2])),
    # Found by fuzzing: it was compared with a list.
    "transpose-by-a-tensor": replace(
        1, node("Transpose", ["c"], ["r"], perm=helper.make_tensor("p", TensorProto.INT64, [300], [0] * 300))
    ),
    "transpose-outside": replace(1, node("Transpose", ["c"], ["r"], perm=[0, 1, 2, 9])),
    "pad-huge": replace(1, node("Pad", ["c", "p"], ["r"]), p=ints(*[HUGE] * 8)),
    "pad-large": replace(1, node("Pad", ["c", "p"], ["r"]), p=ints(*[2**30] * 8)),
    "pad-too-few": replace(1, node("Pad", ["c", "p"], ["r"]), p=ints(1, 1)),
    "pad-unknown-mode": replace(1, node("Pad", ["c", "p"], ["r"], mode="magic"), p=ints(*[1] * 8)),
    "crop-everything": replace(1, node("Pad", ["c", "p"], ["r"]), p=ints(0, 0, -50, 0, 0, 0, 0, 0)),
    "slice-step-zero": replace(
        1, node("Slice", ["c", "p", "q", "a", "z"], ["r"]), p=ints(0), q=ints(2), a=ints(1), z=ints(0)
    ),
    "slice-lists-differ": replace(1, node("Slice", ["c", "p", "q"], ["r"]), p=ints(0, 0), q=ints(2)),
    "expand-huge": replace(1, node("Expand", ["c", "p"], ["r"]), p=ints(HUGE, 1, 1, 1, 1)),
    "expand-large": replace(1, node("Expand", ["c", "p"], ["r"]), p=ints(2**30, 1, 1, 1, 1)),
    "tile-huge": replace(1, node("Tile", ["c", "p"], ["r"]), p=ints(HUGE, 1, 1, 1)),
    "ones-without-end": replace(
        1, node("ConstantOfShape", ["p"], ["o"]), node("Add", ["c", "o"], ["r"]), p=ints(2**20, 2**20)
    ),
    "range-without-end": replace(
        1,
        node("Range", ["p", "q", "d"], ["o"]),
        node("Add", ["c", "o"], ["r"]),
        p=np.array(0),
        q=np.array(HUGE),
        d=np.array(1),
    ),
    "range-step-zero": replace(
        1,
        node("Range", ["p", "q", "d"], ["o"]),
        node("Add", ["c", "o"], ["r"]),
        p=np.array(0),
        q=np.array(5),
        d=np.array(0),
    ),
    "power-without-end": replace(
        1, node("Pow", ["p", "q"], ["o"]), node("Reshape", ["c", "o"], ["r"]), p=ints(7), q=ints(HUGE)
    ),
    "constant-without-value": replace(1, node("Constant", [], ["o"]), node("Add", ["c", "o"], ["r"])),
    "constant-of-text": replace(1, node("Constant", [], ["o"], value_string="x"), node("Add", ["c", "o"], ["r"])),
    "resize-scale-zero": replace(1, node("Resize", ["c", "", "p"], ["r"]), p=np.array([1, 1, 0, 2], np.float32)),
    "resize-scale-nan": replace(1, node("Resize", ["c", "", "p"], ["r"]), p=np.array([1, 1, np.nan, 2], np.float32)),
    "resize-scale-huge": replace(1, node("Resize", ["c", "", "p"], ["r"]), p=np.array([1, 1, 1e30, 1e30], np.float32)),
    "resize-too-few": replace(1, node("Resize", ["c", "", "p"], ["r"]), p=np.array([2, 1, 1], np.float32)),
    "split-too-much": replace(1, node("Split", ["c", "p"], ["r", "r2"], axis=1), p=ints(HUGE, -HUGE + 4)),
    "split-outputs": replace(1, node("Split", ["c"], ["r"], axis=1, num_outputs=HUGE)),
    "cast-to-nothing": replace(1, node("Cast", ["c"], ["r"], to=99)),
    "cast-to-text": replace(1, node("Cast", ["c"], ["r"], to=8)),
    "norm-wrong-size": replace(1, node("BatchNormalization", ["c", "p", "p", "p", "p"], ["r"]), p=random(5)),
    "norm-epsilon-nan": replace(
        1, node("BatchNormalization", ["c", "p", "p", "p", "p"], ["r"], epsilon=float("nan")), p=random(4)
    ),
    "broadcast-impossible": replace(1, node("Add", ["c", "p"], ["r"]), p=random(3)),
    "clip-crossed-text": replace(1, node("Clip", ["c", "p"], ["r"]), p=random(4)),
    "squeeze-full-axis": replace(1, node("Squeeze", ["c", "p"], ["r"]), p=ints(1)),
    "unsqueeze-same-axis": replace(1, node("Unsqueeze", ["c", "p"], ["r"]), p=ints(0, 0)),
    "unsqueeze-many": replace(1, node("Unsqueeze", ["c", "p"], ["r"]), p=np.arange(40)),
    "unsqueeze-very-many": replace(1, node("Unsqueeze", ["c", "p"], ["r"]), p=np.arange(100_000)),
    "reduce-axis-outside": replace(1, node("ReduceMean", ["c"], ["r"], axes=[9])),
    "flatten-axis-outside": replace(1, node("Flatten", ["c"], ["r"], axis=9)),
}
