"""Every operator gives what TensorFlow gives, imported and optimised."""

from __future__ import annotations

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
