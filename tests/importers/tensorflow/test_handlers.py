"""Every operator gives what TensorFlow gives, imported and optimised."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from buildtool.importers.tensorflow import supported_operators
from buildtool.importers.tensorflow.reading import READ
from buildtool.passes.pipeline import optimise
from buildtool.schemas import tensorflow_graph_pb2 as pb
from tests.importers.tensorflow.harness import Case, cases, compare, imported, requests, run

#: Operators without a case of their own: forms that are read from networks, or are not run by TensorFlow any more.
_ELSEWHERE = {
    "BatchNormWithGlobalNormalization": "test_old_operators",
    "If": "test_networks",
    "ReadVariableOp": "test_networks",
    "ResourceGather": "test_networks",
    "ResourceGatherNd": "test_reading",
    "Stack": "test_old_operators",
    "StatelessIf": "test_networks",
    "StatelessWhile": "test_networks",
    **dict.fromkeys(
        (
            *("Angle", "Complex", "ComplexAbs", "Conj", "FFT", "IFFT", "IRFFT", "Imag", "RFFT", "Real"),
            *("EmptyTensorList", "TensorArrayGatherV3", "TensorArrayReadV3", "TensorArrayScatterV3"),
            *("TensorArraySizeV3", "TensorArrayV3", "TensorArrayWriteV3", "TensorListElementShape"),
            *("TensorListFromTensor", "TensorListGather", "TensorListGetItem", "TensorListLength"),
            *("TensorListPopBack", "TensorListPushBack", "TensorListReserve", "TensorListSetItem", "TensorListStack"),
        ),
        "test_networks",
    ),
    "Unstack": "test_old_operators",
    "VarHandleOp": "test_networks",
    "Variable": "test_reading",
    "VariableV2": "test_networks",
    "While": "test_networks",
}
#: TensorFlow adds up single products with fused steps, which the reference does not.
_LOOSE = {"Conv3DBackpropInputV2": 1e-4, "Conv3D": 1e-4, "Einsum": 1e-4}


@pytest.mark.parametrize("case", cases(), ids=str)
def test_operator(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "model.pb"
    file.write_bytes(case.graph)
    outputs = requests(*case.outputs)
    graph = imported(file, requests(*case.inputs), outputs).graph
    tolerance = _LOOSE.get(case.name.split("-")[0], 2e-5)
    compare(run(graph, case.inputs), case.outputs, tolerance, tolerance)
    optimise(graph)
    compare(run(graph, case.inputs), case.outputs, tolerance, tolerance)


def test_every_operator_has_a_case() -> None:
    tried = {node.op for case in cases() for node in pb.GraphDef.FromString(case.graph).node}
    assert set(supported_operators()) - READ - tried == set(_ELSEWHERE)


#: The defaults of TensorFlow's definitions of operators, which `strip_default_attrs` leaves out of files: for which
#: operators, the attribute, its default.
_DEFAULTS: tuple[tuple[str, str, pb.AttrValue], ...] = tuple(
    (pattern, key, value)
    for pattern, key, value in (
        (r"(Batch)?MatMul$", "transpose_a", pb.AttrValue(b=False)),
        (r"(Batch)?MatMul$", "transpose_b", pb.AttrValue(b=False)),
        (r"BatchMatMul", "adj_x", pb.AttrValue(b=False)),
        (r"BatchMatMul", "adj_y", pb.AttrValue(b=False)),
        (
            r"Conv2D|DepthwiseConv2d|Pool$|FusedBatchNorm|BiasAdd|ToDepth|ToSpace",
            "data_format",
            pb.AttrValue(s=b"NHWC"),
        ),
        (r"Conv3D|Pool3D", "data_format", pb.AttrValue(s=b"NDHWC")),
        (r"Conv2D|DepthwiseConv2d", "dilations", pb.AttrValue(list=pb.AttrValue.ListValue(i=[1, 1, 1, 1]))),
        (r"Conv3D", "dilations", pb.AttrValue(list=pb.AttrValue.ListValue(i=[1, 1, 1, 1, 1]))),
        (r"Conv2D|MaxPool$|DepthwiseConv2d", "explicit_paddings", pb.AttrValue(list=pb.AttrValue.ListValue())),
        (r"Sum|Mean|Prod|Max|Min|Any|All|EuclideanNorm", "keep_dims", pb.AttrValue(b=False)),
        (r"Cumsum|Cumprod|CumulativeLogsumexp", "exclusive", pb.AttrValue(b=False)),
        (r"Cumsum|Cumprod|CumulativeLogsumexp", "reverse", pb.AttrValue(b=False)),
        (r"Resize", "align_corners", pb.AttrValue(b=False)),
        (r"Resize", "half_pixel_centers", pb.AttrValue(b=False)),
        (r"Pack|Unpack", "axis", pb.AttrValue(i=0)),
        (r"Squeeze", "squeeze_dims", pb.AttrValue(list=pb.AttrValue.ListValue())),
        *((r"StridedSlice", f"{part}_mask", pb.AttrValue(i=0)) for part in ("begin", "end", "ellipsis", "new_axis")),
        (r"StridedSlice", "shrink_axis_mask", pb.AttrValue(i=0)),
        (r"TopK", "sorted", pb.AttrValue(b=True)),
        (r"GatherV2|Gather", "batch_dims", pb.AttrValue(i=0)),
        (r"LRN", "depth_radius", pb.AttrValue(i=5)),
        (r"LRN", "bias", pb.AttrValue(f=1.0)),
        (r"LRN", "alpha", pb.AttrValue(f=1.0)),
        (r"LRN", "beta", pb.AttrValue(f=0.5)),
        (r"FusedBatchNorm", "epsilon", pb.AttrValue(f=0.0001)),
        (r"LeakyRelu", "alpha", pb.AttrValue(f=0.2)),
        (r"CropAndResize", "method", pb.AttrValue(s=b"bilinear")),
        (r"CropAndResize", "extrapolation_value", pb.AttrValue(f=0.0)),
        (r"Shape|Size", "out_type", pb.AttrValue(type=pb.DT_INT32)),
        (r"ArgMax|ArgMin", "output_type", pb.AttrValue(type=pb.DT_INT64)),
        (r"MatrixDiag", "align", pb.AttrValue(s=b"RIGHT_LEFT")),
        (r"ReverseSequence", "batch_dim", pb.AttrValue(i=0)),
        (r"(Not)?Equal", "incompatible_shape_error", pb.AttrValue(b=True)),
        (r"NonMaxSuppressionV5", "soft_nms_sigma", pb.AttrValue(f=0.0)),
        (r"CombinedNonMaxSuppression", "pad_per_class", pb.AttrValue(b=False)),
        (r"CombinedNonMaxSuppression", "clip_boxes", pb.AttrValue(b=True)),
        (r"OneHot", "axis", pb.AttrValue(i=-1)),
        (r"Cast", "Truncate", pb.AttrValue(b=False)),
        (r"QuantizeV2|Dequantize", "mode", pb.AttrValue(s=b"MIN_COMBINED")),
        (r"FakeQuant", "num_bits", pb.AttrValue(i=8)),
        (r"FakeQuant", "narrow_range", pb.AttrValue(b=False)),
    )
)


def _stripped(graph: bytes) -> tuple[bytes, frozenset[tuple[str, str]]]:
    """A graph without the attributes that are as TensorFlow would have them; operators and names of those."""
    model, left_out = pb.GraphDef.FromString(graph), set()
    for node in model.node:
        for pattern, key, value in _DEFAULTS:
            if re.match(pattern, node.op) and key in node.attr and node.attr[key] == value:
                del node.attr[key]
                left_out.add((node.op, key))
    return model.SerializeToString(), frozenset(left_out)


def _stripped_cases() -> list[Case]:
    seen: set[tuple[str, str]] = set()
    found = []
    for case in cases():
        graph, left_out = _stripped(case.graph)
        if left_out - seen:
            seen |= left_out
            found.append(replace(case, graph=graph))
    return found


@pytest.mark.parametrize("case", _stripped_cases(), ids=str)
def test_attributes_that_are_left_out(case: Case, tmp_path: Path) -> None:
    (tmp_path / "model.pb").write_bytes(case.graph)
    graph = imported(tmp_path / "model.pb", requests(*case.inputs), requests(*case.outputs)).graph
    tolerance = _LOOSE.get(case.name.split("-")[0], 2e-5)
    compare(run(graph, case.inputs), case.outputs, tolerance, tolerance)
