"""Mistakes of operators one by one: sizes without end, indices outside, operands of the wrong type, edges in circles.

`one(...)` puts a single node between the convolution's result `c` [1, 4, 4, 4] and the rest of the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper

from tests.importers.onnx.harness import random
from tests.importers.onnx.mistakes import (
    HUGE,
    Change,
    edges,
    external,
    in_field,
    input_dims,
    ints,
    node,
    of_graph,
    replace,
    set_attribute,
    set_weight,
)

LARGE = 2**40


def one(op: str, *inputs: str, weights: dict[str, Any] | None = None, **attributes: Any) -> Change:
    """The node that makes `r` from `c` is another one."""
    arrays = {name: np.asarray(array) for name, array in (weights or {}).items()}
    return replace(1, node(op, list(inputs), ["r"], name="changed", **attributes), **arrays)


def _floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def _body() -> onnx.GraphProto:
    """A body that gives something away that nothing makes."""
    return helper.make_graph([], "body", [], [helper.make_tensor_value_info("o", TensorProto.FLOAT, [1])])


def _ring(length: int) -> Change:
    """Nodes that read each other in a circle."""
    names = [f"ring{number}" for number in range(length)]
    ring = [node("Relu", [names[number - 1]], [name]) for number, name in enumerate(names)]
    return replace(1, *ring, node("Add", ["c", names[-1]], ["r"]))


def _after_expand(shape: tuple[int, ...], then: onnx.NodeProto, **weights: Any) -> Change:
    """`c` grows to a shape, called `wide`, and another node makes `r` of it."""
    arrays = {name: np.asarray(array) for name, array in weights.items()}
    column = node("Slice", ["c", "from", "to", "axes"], ["column"])
    wide = node("Expand", ["column", "shape"], ["wide"])
    axes = {"from": ints(0, 0), "to": ints(1, 1), "axes": ints(2, 3), "shape": ints(*shape)}
    return replace(1, column, wide, then, **axes, **arrays)


def _two_inputs(model: ModelProto) -> None:
    extra = helper.make_tensor_value_info("x2", TensorProto.FLOAT, [1, 4, 4, 9])
    model.graph.input.append(extra)
    replace(1, node("Add", ["c", "x2"], ["r"]))(model)


def _names_of_bytes(model: ModelProto) -> None:
    model.graph.node[0].op_type = "Conv\0v"


def _deep_names(model: ModelProto) -> None:
    model.graph.node[1].op_type = "R" * 100_000


def _version_without_operator(model: ModelProto) -> None:
    model.opset_import[0].version = 6


CHANGES: dict[str, Change] = {
    # sizes without end
    "input-product-too-large": input_dims(2**20, 3, 2**20, 2**20),
    "input-one-side-too-large": input_dims(1, 3, 2**61, 8),
    "weight-dims-large-and-empty": set_weight("w", dims=[2**31, 0, 3, 3]),
    "weight-dims-product-wraps": set_weight("w", dims=[2**33, 2**31, 1, 1]),
    "weight-large-from-field": in_field("w", TensorProto.FLOAT, "float_data", [1.0], [2**20, 2**20, 3, 3]),
    "bias-large-without-content": in_field("b", TensorProto.FLOAT, "float_data", [], [2**30]),
    "matrix-large-without-content": set_weight("m", dims=[2**30, 2**30], raw_data=b""),
    "bool-large-without-content": in_field("b", TensorProto.BOOL, "int32_data", [], [2**31 - 1]),
    "tile-large": one("Tile", "c", "p", weights={"p": ints(LARGE, 1, 1, 1)}),
    "tile-negative": one("Tile", "c", "p", weights={"p": ints(-1, 1, 1, 1)}),
    "tile-too-few": one("Tile", "c", "p", weights={"p": ints(2, 2)}),
    "expand-more-than-any-memory": one("Expand", "c", "p", weights={"p": ints(LARGE, LARGE, 1, 1, 1, 1)}),
    "expand-impossible": one("Expand", "c", "p", weights={"p": ints(1, 3, 4, 4)}),
    "one-hot-without-end": replace(
        1,
        node("OneHot", ["i", "d", "v"], ["o"]),
        node("Add", ["c", "o"], ["r"]),
        i=ints(*range(200)),
        d=ints(LARGE),
        v=_floats(0, 1),
    ),
    "eye-without-end": replace(
        1, node("EyeLike", ["s2"], ["o"]), node("Add", ["c", "o"], ["r"]), s2=np.zeros((0, LARGE), np.float32)
    ),
    "space-to-depth-huge-block": one("SpaceToDepth", "c", blocksize=HUGE),
    "space-to-depth-zero-block": one("SpaceToDepth", "c", blocksize=0),
    "depth-to-space-huge-block": one("DepthToSpace", "c", blocksize=HUGE),
    "depth-to-space-uneven": one("DepthToSpace", "c", blocksize=3),
    "upsample-huge": one("Resize", "c", "", "", "p", weights={"p": ints(1, 4, HUGE, HUGE)}),
    "upsample-large": one("Resize", "c", "", "", "p", weights={"p": ints(1, 4, 2**25, 2**25)}),
    "upsample-negative": one("Resize", "c", "", "", "p", weights={"p": ints(1, 4, -8, 8)}),
    "upsample-zero": one("Resize", "c", "", "", "p", weights={"p": ints(1, 4, 0, 8)}),
    "upsample-sizes-of-floats": one("Resize", "c", "", "", "p", weights={"p": _floats(1, 4, 8, 8)}),
    "resize-nothing-stated": one("Resize", "c"),
    "resize-scale-negative": one("Resize", "c", "", "p", weights={"p": _floats(1, 1, -2, 2)}),
    "resize-scale-infinite": one("Resize", "c", "", "p", weights={"p": _floats(1, 1, np.inf, 2)}),
    "resize-coordinates-unknown": one(
        "Resize", "c", "", "p", weights={"p": _floats(1, 1, 2, 2)}, coordinate_transformation_mode="sideways"
    ),
    "resize-mode-unknown": one("Resize", "c", "", "p", weights={"p": _floats(1, 1, 2, 2)}, mode="magic"),
    "constant-of-shape-negative": replace(
        1, node("ConstantOfShape", ["p"], ["o"]), node("Add", ["c", "o"], ["r"]), p=ints(-4, 4)
    ),
    "constant-of-shape-huge": replace(
        1, node("ConstantOfShape", ["p"], ["o"]), node("Add", ["c", "o"], ["r"]), p=ints(HUGE, HUGE, HUGE)
    ),
    "constant-of-shape-chain": replace(
        1,
        node("ConstantOfShape", ["p"], ["o"]),
        node("ConstantOfShape", ["o"], ["o2"]),
        node("Add", ["c", "o2"], ["r"]),
        p=ints(2**30),
    ),
    "range-of-two": replace(
        1, node("Range", ["p", "q", "q"], ["o"]), node("Add", ["c", "o"], ["r"]), p=ints(0, 1), q=np.array(5)
    ),
    "range-backwards-without-end": replace(
        1,
        node("Range", ["p", "q", "d"], ["o"]),
        node("Add", ["c", "o"], ["r"]),
        p=np.array(0.0),
        q=np.array(-1e300),
        d=np.array(-1.0),
    ),
    "conv-window-larger-than-input": set_attribute(0, "dilations", [9, 9]),
    "conv-strides-huge-padding-huge": set_attribute(0, "pads", [2**31, 2**31, 2**31, 2**31]),
    "pool-pads-larger-than-window": one("MaxPool", "c", kernel_shape=[2, 2], pads=[5, 5, 5, 5]),
    "pool-kernel-of-three": one("MaxPool", "c", kernel_shape=[2, 2, 2]),
    "pool-strides-negative": one("AveragePool", "c", kernel_shape=[2, 2], strides=[-1, -1]),
    "pool-dilations-zero": one("MaxPool", "c", kernel_shape=[2, 2], dilations=[0, 0]),
    "pool-pads-huge": one("AveragePool", "c", kernel_shape=[2, 2], pads=[HUGE] * 4),
    "deconv-output-padding-huge": replace(
        1, node("ConvTranspose", ["c", "w4"], ["r"], output_padding=[HUGE, HUGE]), w4=random(4, 4, 1, 1)
    ),
    "deconv-output-shape-negative": replace(
        1, node("ConvTranspose", ["c", "w4"], ["r"], output_shape=[-5, -5]), w4=random(4, 4, 1, 1)
    ),
    "deconv-group-zero": replace(1, node("ConvTranspose", ["c", "w4"], ["r"], group=0), w4=random(4, 4, 1, 1)),
    "deconv-other-channels": replace(1, node("ConvTranspose", ["c", "w4"], ["r"]), w4=random(5, 4, 1, 1)),
    # indices and axes outside
    "gather-index-huge": set_weight("zero", raw_data=np.array([HUGE]).tobytes()),
    "gather-index-negative": set_weight("zero", raw_data=np.array([-17]).tobytes()),
    "gather-elements-other-rank": one("GatherElements", "c", "p", weights={"p": ints(0, 0)}),
    "gather-nd-too-deep": one("GatherND", "c", "p", weights={"p": ints(0, 0, 0, 0, 0, 0)}),
    "gather-nd-batch-outside": one("GatherND", "c", "p", weights={"p": ints(0)}, batch_dims=9),
    "scatter-other-shapes": one("ScatterElements", "c", "p", "u", weights={"p": ints(0), "u": _floats(1)}),
    "scatter-nd-too-deep": one("ScatterND", "c", "p", "u", weights={"p": ints(0, 0, 0, 0, 0), "u": _floats(1)}),
    "slice-axis-outside": one("Slice", "c", "p", "q", "a", weights={"p": ints(0), "q": ints(1), "a": ints(9)}),
    "slice-axis-twice": one("Slice", "c", "p", "q", "a", weights={"p": ints(0, 0), "q": ints(1, 1), "a": ints(1, 1)}),
    "slice-of-floats": one("Slice", "c", "p", "q", weights={"p": _floats(0.5), "q": _floats(1.5)}),
    "split-axis-outside": one("Split", "c", axis=9),
    "split-sizes-too-small": one("Split", "c", "p", weights={"p": ints(1)}, axis=1),
    "concat-of-other-ranks": one("Concat", "c", "b", axis=0),
    "concat-without-axis": one("Concat", "c", "c"),
    "transpose-too-short": one("Transpose", "c", perm=[0, 1]),
    "transpose-negative": one("Transpose", "c", perm=[-1, -2, -3, -4]),
    "topk-huge": one("TopK", "c", "p", weights={"p": ints(HUGE)}),
    "topk-negative": one("TopK", "c", "p", weights={"p": ints(-1)}),
    "topk-axis-outside": one("TopK", "c", "p", weights={"p": ints(1)}, axis=11),
    "softmax-axis-outside": one("Softmax", "c", axis=-9),
    "argmax-axis-outside": one("ArgMax", "c", axis=9),
    "cumsum-axis-outside": one("CumSum", "c", "p", weights={"p": np.array(9)}),
    "cumsum-axis-of-two": one("CumSum", "c", "p", weights={"p": ints(0, 1)}),
    "reduce-axis-huge": one("ReduceMax", "c", axes=[HUGE]),
    "reduce-axis-twice": one("ReduceSum", "c", "p", weights={"p": ints(1, 1)}),
    "flatten-axis-huge": one("Flatten", "c", axis=-HUGE),
    "trilu-of-a-row": replace(1, node("Trilu", ["b"], ["o"]), node("Add", ["c", "o"], ["r"])),
    "reverse-sequence-same-axes": one("ReverseSequence", "c", "p", weights={"p": ints(1)}, batch_axis=1, time_axis=1),
    # operands of the wrong type or shape
    "matmul-of-other-depths": one("MatMul", "c", "p", weights={"p": random(5, 4)}),
    "matmul-of-scalar": one("MatMul", "c", "p", weights={"p": np.array(1.0, np.float32)}),
    "einsum-nonsense": one("Einsum", "c", equation="->->..ij"),
    "add-of-integers": one("Add", "c", "p", weights={"p": ints(1)}),
    "not-of-floats": one("Not", "c"),
    "and-of-floats": one("And", "c", "c"),
    "shift-of-floats": one("BitShift", "c", "c", direction="LEFT"),
    "where-by-floats": one("Where", "c", "c", "c"),
    "prelu-too-many": one("PRelu", "c", "p", weights={"p": random(1, 1, 4, 5)}),
    "layer-norm-other-size": one("LayerNormalization", "c", "p", weights={"p": random(9)}),
    "instance-norm-other-size": one("InstanceNormalization", "c", "p", "p", weights={"p": random(9)}),
    "norm-of-matrices": one("BatchNormalization", "c", "p", "p", "p", "p", weights={"p": random(4, 4)}),
    "quantize-by-text": one("QuantizeLinear", "c", "p", weights={"p": random(3, 3)}),
    "lstm-of-image": one("LSTM", "c", "w", "w"),
    "conv-of-other-channels": set_attribute(0, "group", 3),
    "conv-filter-of-rank-2": edges(0, inputs=["x", "m"]),
    "gemm-of-three-axes": one("Gemm", "c", "c"),
    "two-inputs-that-do-not-fit": _two_inputs,
    # tables that are made on import out of sizes alone
    "empty-tensor-of-huge-dimensions": set_weight("w", dims=[0, HUGE, HUGE], raw_data=b""),
    "grid-of-a-large-picture": one(
        "AffineGrid", "turn", "size", weights={"turn": random(1, 2, 3), "size": [1, 1, 2**14, 2**14]}
    ),
    "grid-of-a-large-volume": one(
        "AffineGrid", "turn", "size", weights={"turn": random(1, 3, 4), "size": [1, 1, 2**10, 2**10, 2**10]}
    ),
    "resize-cubic-to-many": one("Resize", "c", "", "", "size", weights={"size": [1, 4, 2**25, 4]}, mode="cubic"),
    "resize-nearest-of-batches": one("Resize", "c", "", "", "size", weights={"size": [2**25, 4, 4, 4]}, mode="nearest"),
    "resize-antialias-of-many": _after_expand(
        (1, 4, 2**26, 4), node("Resize", ["wide", "", "", "size"], ["r"], mode="linear", antialias=1), size=[1, 4, 2, 4]
    ),
    "attention-over-many": _after_expand(
        (1, 4, 2**23, 4), node("Attention", ["c", "wide", "wide"], ["r"], is_causal=1)
    ),
    "attention-with-a-large-cache": _after_expand(
        (1, 4, 2**25, 4), node("Attention", ["c", "wide", "wide", "", "", "", "filled"], ["r"]), filled=[3]
    ),
    "attention-with-a-short-mask": _after_expand(
        (1, 4, 2**23, 4), node("Attention", ["c", "wide", "wide", "m2"], ["r"]), m2=np.zeros((4, 1), np.float32)
    ),
    "lp-pool-of-a-large-window": _after_expand(
        (1, 4, 2**13, 2**13), node("LpPool", ["wide"], ["r"], kernel_shape=[2**13, 2**13])
    ),
    # control flow and functions
    "if-by-floats": one("If", "c", then_branch=_body(), else_branch=_body()),
    "if-without-branches": one("If", "c"),
    "loop-of-nothing": one("Loop", "", "", "c", body=_body()),
    "scan-without-inputs": one("Scan", "c", body=_body(), num_scan_inputs=HUGE),
    # circles
    "ring-of-two": _ring(2),
    "ring-of-five-hundred": _ring(500),
    "reads-its-own-second-output": edges(1, inputs=["late"], outputs=["r", "late"]),
    "outputs-with-one-name": edges(1, outputs=["r", "r"]),
    "dangling-shape": edges(5, inputs=["r", "nowhere"]),
    "dangling-output-of-loop": edges(6, inputs=["f", "m", "gone"]),
    # names and versions
    "operator-with-a-null": _names_of_bytes,
    "operator-with-a-long-name": _deep_names,
    "opset-before-the-first": _version_without_operator,
    "output-without-name": of_graph(lambda graph: setattr(graph.output[0], "name", "")),
    "input-of-maps": of_graph(lambda graph: setattr(graph.input[0].type.map_type, "key_type", TensorProto.INT64)),
    # data in other files
    "external-by-backslash": external("..\\outside.bin"),
    "external-by-address": external("file:///etc/passwd"),
    "external-device": external("/dev/zero"),
    "external-above-by-dots": external("./.././outside.bin", offset="0", length="432"),
    "external-length-negative": external("external-length-negative.onnx", offset="0", length="-1"),
    "external-offset-behind": external("external-offset-behind.onnx", offset="99999999"),
    "external-long-name": external("a" * 5000),
    "external-of-text": external("external-of-text.onnx", offset="0x10", length="432"),
}
