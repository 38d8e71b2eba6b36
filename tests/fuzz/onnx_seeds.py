"""The models that fuzzing of the ONNX importer starts from: `python -m tests.fuzz.onnx_seeds` writes them.

Two small cases of each operator of the onnx package, with and without what decides shapes as weights; control flow,
quantised and contributed operators, and small networks, made here. Nothing of it is committed.
"""

from __future__ import annotations

import hashlib
import itertools
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

from buildtool.importers.onnx import supported_operators
from tests.conformance import cases
from tests.importers.onnx.mistakes import healthy

FOLDER = Path("build/fuzz/seeds/onnx_importer")
_LARGEST = 4096  # bytes of a model: larger ones make fuzzing slow and teach nothing
_EACH = 2
_FROZEN_ELEMENTS = 64
_node = helper.make_node


def stored() -> list[ModelProto]:
    """The seeds that were written last."""
    return [onnx.ModelProto.FromString(file.read_bytes()) for file in sorted(FOLDER.glob("*.onnx"))]


def main() -> None:
    """Writes all seeds."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for model in models():
        data = model.SerializeToString()
        (FOLDER / f"{hashlib.sha256(data).hexdigest()[:16]}.onnx").write_bytes(data)


def models() -> Iterator[ModelProto]:
    """All seeds."""
    return itertools.chain(_node_cases(), made())


def made() -> Iterator[ModelProto]:
    """Those that are made here."""
    return itertools.chain(_contributed(), _made())


def _node_cases() -> Iterator[ModelProto]:
    seen: Counter[tuple[str, ...]] = Counter()
    for case in sorted(cases.load("node"), key=lambda case: (case.model.ByteSize(), case.name)):
        if "_expanded" in case.name or seen[case.operators] >= _EACH:
            continue
        frozen = _frozen(case)
        if frozen.ByteSize() > _LARGEST:
            continue
        seen[case.operators] += 1
        yield case.model
        yield frozen


def _frozen(case: cases.ConformanceCase) -> ModelProto:
    """The case with its small inputs as weights, all but the first, and outputs that may change their shapes."""
    model = ModelProto()
    model.CopyFrom(case.model)
    for value in model.graph.output:
        value.ClearField("type")
    for value, array in list(zip(model.graph.input, case.data[0][0], strict=False))[1:]:
        if isinstance(array, np.ndarray) and array.size <= _FROZEN_ELEMENTS and array.dtype.kind != "O":
            model.graph.initializer.append(numpy_helper.from_array(array, value.name))
            model.graph.input.remove(value)
    return model


# -- contributed operators: one node each, on inputs of a few shapes ---------------------------------------------------
def _contributed() -> Iterator[ModelProto]:
    scale, zero = np.array(0.5, np.float32), np.array(3, np.uint8)
    image = np.arange(2 * 4 * 4 * 3, dtype=np.uint8).reshape(2, 3, 4, 4)
    rows = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)
    pairs = [image, scale, zero, image, scale, zero, scale, zero]
    inputs: dict[str, Sequence[Any]] = {
        "QLinearAdd": pairs,
        "QLinearMul": pairs,
        "QLinearConcat": [scale, zero, image, scale, zero, image, scale, zero],
        "QLinearAveragePool": [image, scale, zero, scale, zero],
        "QLinearGlobalAveragePool": [image, scale, zero, scale, zero],
        "QLinearLeakyRelu": [image, scale, zero, scale, zero],
        "QLinearSigmoid": [image, scale, zero, scale, zero],
        "QLinearSoftmax": [image, scale, zero, scale, zero],
        "QuantizeLinear": [rows, scale, zero],
        "DequantizeLinear": [image, scale, zero],
        "FusedConv": [image.astype(np.float32), np.ones((2, 3, 3, 3), np.float32), np.ones(2, np.float32)],
        "FusedMatMul": [rows, rows.T.copy()],
        "TransposeMatMul": [rows, rows.T.copy()],
        "BiasAdd": [rows, rows[0], rows],
        "SkipLayerNormalization": [rows[None], rows[None], rows[0], rows[0], rows[0]],
        "SkipSimplifiedLayerNormalization": [rows[None], rows[None], rows[0], rows[0]],
    }
    attributes: dict[str, dict[str, Any]] = {
        "QLinearConcat": {"axis": 1},
        "QLinearAveragePool": {"kernel_shape": [2, 2]},
        "FusedConv": {"activation": "Relu", "pads": [1, 1, 1, 1]},
        "FusedMatMul": {"alpha": 0.5, "transA": 1, "transB": 1},
    }
    for title in supported_operators():
        domain, _, op = title.rpartition(".")
        if not domain:
            continue
        arrays = list(inputs.get(op, [rows, rows[0], rows[0]]))
        names = [f"x{index}" for index in range(len(arrays))]
        node = _node(op, names, ["y"], domain=domain, **attributes.get(op, {}))
        fed = [index for index, array in enumerate(arrays) if array.size > 6][:2]
        yield _model(
            [node], {names[index]: arrays[index] for index in fed}, ["y"], dict(zip(names, arrays, strict=True))
        )


def _model(
    nodes: Sequence[onnx.NodeProto], fed: dict[str, Any], outputs: Sequence[str], held: dict[str, Any], opset: int = 18
) -> ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "seed",
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in fed.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in held.items() if name not in fed],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


# -- networks and control flow -----------------------------------------------------------------------------------------
def _made() -> Iterator[ModelProto]:
    yield healthy()
    yield _run_time_sizes()
    yield from _branches()
    yield _loop()
    yield _scan()
    yield _with_function()
    yield _quantised()
    for opset in (1, 6, 7, 11, 24):
        old = healthy()
        old.opset_import[0].version = opset
        yield old


def _run_time_sizes() -> ModelProto:
    model = healthy()
    for axis, word in ((0, "N"), (2, "H"), (3, "H")):
        model.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = word
    del model.graph.node[6:]
    model.graph.output[0].name = "f"
    return model


def _branch(name: str, op: str) -> onnx.GraphProto:
    inner = [_node(op, ["x"], [f"{name}_t"]), _node("Add", [f"{name}_t", f"{name}_c"], [f"{name}_y"])]
    weights = [numpy_helper.from_array(np.ones(4, np.float32), f"{name}_c")]
    return helper.make_graph(inner, name, [], [onnx.ValueInfoProto(name=f"{name}_y")], weights)


def _branches() -> Iterator[ModelProto]:
    x = np.ones((3, 4), np.float32)
    node = _node("If", ["c"], ["y"], then_branch=_branch("a", "Relu"), else_branch=_branch("b", "Exp"))
    yield _model([node], {"x": x, "c": np.array(True)}, ["y"], {})
    yield _model([node], {"x": x}, ["y"], {"c": np.array(True)})


def _info(name: str, kind: int, shape: Sequence[int] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _loop() -> ModelProto:
    body = helper.make_graph(
        [
            _node("Add", ["s_in", "x"], ["s_out"]),
            _node("Identity", ["keep_in"], ["keep_out"]),
            _node("Relu", ["s_out"], ["scanned"]),
        ],
        "body",
        [_info("i", TensorProto.INT64, []), _info("keep_in", TensorProto.BOOL, []), _info("s_in", 1, [3, 4])],
        [_info("keep_out", TensorProto.BOOL, []), _info("s_out", 1, [3, 4]), _info("scanned", 1, [3, 4])],
    )
    x = np.ones((3, 4), np.float32)
    loop = _node("Loop", ["n", "c", "s"], ["y", "all"], body=body)
    return _model([loop], {"x": x, "s": x}, ["y", "all"], {"n": np.array(3), "c": np.array(True)})


def _scan() -> ModelProto:
    body = helper.make_graph(
        [_node("Add", ["s_in", "row"], ["s_out"]), _node("Mul", ["s_out", "row"], ["line"])],
        "body",
        [_info("s_in", 1, [4]), _info("row", 1, [4])],
        [_info("s_out", 1, [4]), _info("line", 1, [4])],
    )
    x = np.ones((3, 4), np.float32)
    scan = _node("Scan", ["s", "x"], ["y", "lines"], body=body, num_scan_inputs=1)
    return _model([scan], {"x": x, "s": x[0]}, ["y", "lines"], {})


def _with_function() -> ModelProto:
    x = np.ones((3, 4), np.float32)
    model = _model([_node("Twice", ["x"], ["y"], domain="own")], {"x": x}, ["y"], {})
    body = [_node("Add", ["a", "a"], ["t"]), _node("Relu", ["t"], ["b"])]
    opsets = [helper.make_opsetid("", 18)]
    model.functions.append(helper.make_function("own", "Twice", ["a"], ["b"], body, opsets))
    model.opset_import.append(helper.make_opsetid("own", 1))
    return model


def _quantised() -> ModelProto:
    rows = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)
    nodes = [
        _node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        _node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        _node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=1),
        _node("MatMul", ["d", "wd"], ["m"]),
        _node("DynamicQuantizeLinear", ["m"], ["y", "ys", "yz"]),
        _node("MatMulInteger", ["y", "w", "yz"], ["k"]),
    ]
    held = {
        "s": np.array(0.02, np.float32),
        "z": np.array(-3, np.int8),
        "w": np.arange(36, dtype=np.int8).reshape(6, 6),
        "ws": np.full(6, 0.1, np.float32),
        "wz": np.zeros(6, np.int8),
    }
    return _model(nodes, {"x": rows}, ["k", "ys"], held)


if __name__ == "__main__":
    main()
